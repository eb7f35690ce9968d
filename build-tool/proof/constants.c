// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changed constants.  The module has a new copy, and the kernel keeps the old one.  So every
 * reference to the old one must be in a function that the module replaces, or in another constant
 * of that kind.
 */
#include "proof/proof_constants.h"

#include <stdlib.h>
#include <string.h>

#include "proof/proof_check.h"

static bool same_bare_name(const char *left, const char *right)
{
	char *a _free_ = bare_name(left), *b _free_ = bare_name(right);

	return !strcmp(a, b);
}

/* The symbol of the original in which an offset of a section lies; or NULL. */
static const struct symbol *symbol_around(const struct object *orig, const struct section *section,
					  uint64_t offset)
{
	for (size_t i = 1; i < orig->symbols.count; i++) {
		const struct symbol *symbol = orig->symbols.list[i];

		if (symbol->section == section && symbol->size && symbol->value <= offset &&
		    offset - symbol->value < symbol->size &&
		    (symbol->type == STT_FUNC || symbol->type == STT_OBJECT))
			return symbol;
	}
	return NULL;
}

/* Do all things that have a symbol's name, but for numbers, go out of use with the original? */
static bool is_replaced(const struct source *source, const struct symbol *user)
{
	const bool code = user->type == STT_FUNC;
	char *name _free_ = xstrdup(user->name);
	char *cold = code ? strstr(name, ".cold") : NULL;

	if (cold)
		*cold = '\0';
	for (size_t i = 0; i < source->things.count; i++) {
		const struct thing *thing = source->things.list[i];

		if (!thing->symbol || section_is_text(thing->section) != code ||
		    (code && thing->function != thing) ||
		    !same_bare_name(thing->symbol->name, name))
			continue;
		if (code ? !thing->replaced : thing->reported != REPORTED_CHANGED)
			return false;
	}
	return true;
}

static struct error *check_users(struct check *check, const struct source *source,
				 const struct symbol *old)
{
	const struct object *orig = &source->orig;

	if (old->bind != STB_LOCAL)
		return wrong(check, "constant '%s' is replaced, but other units may use the old one",
			     old->name);
	for (size_t i = 1; i < orig->sections.count; i++) {
		const struct section *section = orig->sections.list[i];

		if (!section_is_loaded(section) || !strncmp(section->name, ".discard", 8))
			continue;
		for (size_t j = 0; j < section->relocs.count; j++) {
			const struct reloc *reloc = &section->relocs.list[j];
			const struct symbol *user;

			if (reloc->symbol->section != old->section)
				continue;
			user = symbol_around(orig, section, reloc->offset);
			if (!user || !is_replaced(source, user))
				return wrong(check, "constant '%s' is replaced, but '%s' uses the "
						    "old one",
					     old->name, user ? user->name : section->name);
		}
	}
	return NULL;
}

static struct error *check_constant_thing(struct check *check, const struct source *source,
					  const struct thing *thing)
{
	bool found = false;

	if (thing->section->flags & (SHF_WRITE | SHF_EXECINSTR))
		return wrong(check, "'%s' is replaced, but is no constant", thing_name(thing));
	for (size_t i = 1; i < source->orig.symbols.count; i++) {
		const struct symbol *symbol = source->orig.symbols.list[i];

		if (symbol->type != STT_OBJECT || !symbol->section ||
		    !same_bare_name(symbol->name, thing->symbol->name))
			continue;
		found = true;
		TRY(check_users(check, source, symbol));
	}
	return found ? NULL
		     : wrong(check, "'%s' is replaced, but is in no original", thing_name(thing));
}

struct error *constants_check(struct check *check)
{
	for (size_t i = 0; i < check->proof->sources.count; i++) {
		const struct source *source = check->proof->sources.list[i];

		for (size_t j = 0; source->have_orig && j < source->things.count; j++) {
			const struct thing *thing = source->things.list[j];

			if (thing->reported == REPORTED_CHANGED &&
			    !section_is_text(thing->section))
				TRY(check_constant_thing(check, source, thing));
		}
	}
	return NULL;
}
