// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statics that the patch makes global.  A fix drops "static" from f() in one file, and calls f() in
 * another.  The kernel has f() as a local symbol, which only its own unit can find, by the unit's
 * block of symbols.  So the differ notes such symbols, and other units look there for names that
 * the kernel does not have.
 */
#include "diff/promoted.h"

#include <stdlib.h>

#include "diff/externals.h"

static bool is_promoted(const struct atom *atom)
{
	const struct atom *twin = atom->twin;

	return twin && !atom->parent && atom->symbol && twin->symbol &&
	       (atom->class == ATOM_CODE || atom->class == ATOM_DATA ||
		atom->class == ATOM_RODATA) &&
	       atom->symbol->bind != STB_LOCAL && twin->symbol->bind == STB_LOCAL;
}

/*
 * Find the kernel's symbol.  If there is none, or it cannot be told from others, that is no reason
 * to refuse the patch, as long as no other unit needs it.
 */
static struct error *look_up(struct selection *selection, const struct atom *twin,
			     struct parent **ret_parent, const struct parent_symbol **ret)
{
	struct refusals *refusals = selection->refusals, none = {0};
	bool failed = selection->failed_block;

	selection->refusals = &none;
	struct error *error = externals_look_up(selection, twin->symbol, ret_parent, ret);
	selection->refusals = refusals;
	selection->failed_block = failed;
	refusals_deinit(&none);
	return error;
}

static void **find_slot(struct externals *externals, const char *parent, const char *name)
{
	return map_slot(&externals->promoted,
			*vec_push(&externals->keys) = xasprintf("%s:%s", parent, name));
}

struct error *promoted_add(struct selection *selection, struct diff_result *lender)
{
	const struct diff_options *options = selection->options;
	struct externals *externals = options->externals;

	for (size_t i = 0; options->parent && i < selection->patched->atoms.count; i++) {
		const struct atom *atom = selection->patched->atoms.list[i];
		const struct parent_symbol *symbol;
		struct parent *parent;

		if (!is_promoted(atom))
			continue;
		externals_refuse_second(selection, atom->name);
		TRY(look_up(selection, atom->twin, &parent, &symbol));
		if (!symbol)
			continue;
		void **slot = find_slot(externals, parent->name, atom->name);
		if (*slot) /* the unit was compared before */
			continue;
		struct promoted *new = *vec_push(&externals->promoted_list) =
			xcalloc(1, sizeof(*new));
		*new = (struct promoted){.name = xstrdup(atom->name),
					 .parent = parent,
					 .symbol = symbol,
					 .lender = lender};
		*slot = new;
		slot = map_slot(&externals->promoted, new->name);
		if (!*slot)
			*slot = new;
	}
	return NULL;
}

static const struct promoted *lend(struct promoted *promoted)
{
	if (promoted)
		promoted->lender->lends = true;
	return promoted;
}

static struct promoted *find_own(const struct diff_options *options, const char *name)
{
	if (!options->parent || !options->externals->promoted_list.count)
		return NULL;
	char *key _free_ = xasprintf("%s:%s", options->parent->name, name);
	return map_get(&options->externals->promoted, key);
}

const struct promoted *promoted_own(struct selection *selection, const char *name)
{
	return lend(find_own(selection->options, name));
}

const struct promoted *promoted_other(struct selection *selection, const char *name)
{
	return lend(map_get(&selection->options->externals->promoted, name));
}

bool promoted_exists(const struct diff_options *options, const char *name)
{
	return find_own(options, name) || map_has(&options->externals->promoted, name);
}
