// SPDX-License-Identifier: GPL-2.0-or-later
/* Comparing what the compiler made with and without split sections; see split_check.h. */
#include "pokepatch-build/split_check.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "object/debuginfo.h"
#include "object/names.h"

/* objtool and clang give names to what is in front of functions; cold parts are verified. */
static bool is_function(const struct symbol *symbol)
{
	return symbol->type == STT_FUNC && symbol->section && symbol->size &&
	       symbol->section->flags & SHF_ALLOC && !has_prefix(symbol->name, "__pfx_") &&
	       !has_prefix(symbol->name, "__cfi_") && !strstr(symbol->name, ".cold");
}

/* The functions of an object, without the numbers of clones. */
struct functions {
	struct map by_name; /* the symbol's own name */
	struct args names;  /* owns the keys */
};

static void functions_init(const struct object *object, struct functions *ret)
{
	*ret = (struct functions){0};
	for (size_t i = 1; i < object->symbols.count; i++) {
		const struct symbol *symbol = object->symbols.list[i];
		char *family _free_ = NULL;

		if (!is_function(symbol))
			continue;
		family = clone_family(symbol->name);
		if (map_has(&ret->by_name, family))
			continue;
		args_add(&ret->names, family);
		*map_slot(&ret->by_name, ret->names.list[ret->names.count - 1]) =
			(void *)symbol->name;
	}
}

static void functions_deinit(struct functions *functions)
{
	map_deinit(&functions->by_name);
	args_deinit(&functions->names);
}

static const char *first_missing(const struct functions *from, const struct functions *in)
{
	for (size_t i = 0; i < from->names.count; i++)
		if (!map_has(&in->by_name, from->names.list[i]))
			return map_get(&from->by_name, from->names.list[i]);
	return NULL;
}

static void check_functions(struct refusals *refusals, const struct unit *unit,
			    const struct object *exact, const struct object *split)
{
	struct functions ours, theirs;

	functions_init(split, &ours);
	functions_init(exact, &theirs);
	const char *only_theirs = first_missing(&theirs, &ours);
	const char *only_ours = first_missing(&ours, &theirs);
	if (only_theirs || only_ours)
		refusals_add(refusals, "split-differs", unit->source,
			     only_theirs ?: only_ours,
			     "as compiled for comparison, with one section for each function, this "
			     "file has %s '%s', and as compiled for the kernel it has %s",
			     only_theirs ? "no" : "a function", only_theirs ?: only_ours,
			     only_theirs ? "one" : "none");
	functions_deinit(&ours);
	functions_deinit(&theirs);
}

/* The first function of a list that is not in the other one. */
static const char *not_in(const struct debuginfo_names *list, const struct debuginfo_names *other)
{
	struct map names = {0};
	const char *found = NULL;

	for (size_t i = 0; other && i < other->count; i++)
		*map_slot(&names, other->list[i]) = (void *)other->list[i];
	for (size_t i = 0; list && !found && i < list->count; i++)
		if (!map_has(&names, list->list[i]))
			found = list->list[i];
	map_deinit(&names);
	return found;
}

static void check_inlining(struct refusals *refusals, const struct unit *unit, struct object *exact,
			   struct object *split, const char *name)
{
	const struct debuginfo_names *theirs = debuginfo_inlined_into(debuginfo_of(exact), name);
	const struct debuginfo_names *ours = debuginfo_inlined_into(debuginfo_of(split), name);
	const char *only_theirs = not_in(theirs, ours), *only_ours = not_in(ours, theirs);

	if (only_theirs || only_ours)
		refusals_add(refusals, "split-differs", unit->source, name,
			     "'%s' is inlined into '%s' as compiled %s, and not as compiled %s", name,
			     only_theirs ?: only_ours,
			     only_theirs ? "for the kernel" : "for comparison",
			     only_theirs ? "for comparison" : "for the kernel");
}

struct error *split_check(const struct unit *unit, struct object *exact,
			  const struct diff_result *result, struct refusals *refusals)
{
	struct object split;

	TRY(object_read_code(unit->orig_object, &split));
	check_functions(refusals, unit, exact, &split);
	for (size_t i = 0; i < result->functions.count; i++) {
		const struct diff_function *function = &result->functions.list[i];

		if (function->change != DIFF_NEW)
			check_inlining(refusals, unit, exact, &split, function->name);
	}
	object_deinit(&split);
	return NULL;
}
