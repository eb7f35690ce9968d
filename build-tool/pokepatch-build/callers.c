// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Refuses functions whose prototypes change, or that are removed, while a caller of theirs stays as
 * it is.
 *
 * A caller that is compiled here needs no look: if its own code changes with the prototype, it is
 * in the patch, and if not, the old code passes what the new function takes.  Others have a
 * declaration of their own, or are written in assembler.  The differ judges addresses that a
 * function's own unit holds (diff/judge_types.c), and exports.c judges what modules may call.
 *
 * Where a function is removed and a caller stays, the kernel links only because another unit has a
 * weak function of the name: kernel/sys_ni.c has them for system calls.  The running kernel goes on
 * with the old one, which may be what the patch is about.
 */
#include "pokepatch-build/callers.h"

#include <stdlib.h>
#include <string.h>

#include "object/object.h"
#include "object/parent_users.h"
#include "pokepatch-build/comparison.h"

/* The functions and variables of the units that are compiled here. */
struct compiled {
	struct map names; /* "NAME" if it is global, "FILE:NAME" if not, FILE without folders */
	struct map now;	  /* the globals that the patched side defines; if a function is removed */
	struct map used;  /* and what it refers to and does not define */
	VEC(char *) owned;
};

/* The functions of one parent whose prototypes change, or that are removed. */
struct caller_search {
	struct build *build;
	const struct parent *parent;
	const struct compiled *compiled;
	struct map changes; /* struct type_change, by name; or the struct unit that had it */
	struct map refused; /* those for which a caller was found */
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void note_original(struct compiled *compiled, const struct unit *unit,
			  const struct symbol *symbol)
{
	char *name;

	if (!symbol->section)
		return;
	name = *vec_push(&compiled->owned) =
		symbol->bind == STB_LOCAL ? xasprintf("%s:%s", base_name(unit->source), symbol->name)
					  : xstrdup(symbol->name);
	map_slot(&compiled->names, name);
}

static void note_patched(struct compiled *compiled, const struct unit *unit,
			 const struct symbol *symbol)
{
	char *name;

	(void)unit;
	if (symbol->bind == STB_LOCAL)
		return;
	name = *vec_push(&compiled->owned) = xstrdup(symbol->name);
	map_slot(symbol->section ? &compiled->now : &compiled->used, name);
}

/* Call note for the named symbols of all units' original or patched objects. */
static struct error *read_symbols(const struct build *build, bool patched, struct compiled *ret,
				  void (*note)(struct compiled *compiled, const struct unit *unit,
					       const struct symbol *symbol))
{
	for (size_t i = 0; i < build->nr_units; i++) {
		const struct unit *unit = &build->units[i];
		struct object object;

		if (unit->shares)
			continue;
		TRY(object_read_code(patched ? unit->patched_object : unit->orig_object, &object));
		for (size_t j = 1; j < object.symbols.count; j++) {
			const struct symbol *symbol = object.symbols.list[j];

			if (symbol->type != STT_SECTION && *symbol->name)
				note(ret, unit, symbol);
		}
		object_deinit(&object);
	}
	return NULL;
}

static void compiled_deinit(struct compiled *compiled)
{
	map_deinit(&compiled->names);
	map_deinit(&compiled->now);
	map_deinit(&compiled->used);
	for (size_t i = 0; i < compiled->owned.count; i++)
		free(compiled->owned.list[i]);
	vec_deinit(&compiled->owned);
}

static bool is_compiled(const struct compiled *compiled, const struct parent *parent,
			const struct parent_symbol *symbol)
{
	if (symbol->global || symbol->weak)
		return map_has(&compiled->names, symbol->name);
	if (symbol->block >= parent->blocks.count)
		return false;
	_free_ char *name =
		xasprintf("%s:%s", parent->blocks.list[symbol->block].file, symbol->name);
	return map_has(&compiled->names, name);
}

/*
 * A variable that holds the address is a table of operations, whose callers are not known, also if
 * its unit is compiled here: the compiler accepts any address by a cast.
 *
 * Relocations are in the order of addresses, so the first caller is the same in each run.
 */
static void judge_caller(void *context, const char *name, const struct parent_symbol *user)
{
	struct caller_search *search = context;
	const struct type_change *change = map_get(&search->changes, name);

	if (!change || map_has(&search->refused, change->name) ||
	    (user->function && is_compiled(search->compiled, search->parent, user)))
		return;
	map_slot(&search->refused, change->name);
	refusals_add(&search->build->refusals, "prototype-changed", change->location, change->name,
		     "the prototype of '%s' changes, but '%s' %s: leave it, and use a new "
		     "function, or --allow prototype-changed:%s",
		     change->name, user->name,
		     user->function ? "uses it as it was and is in no unit that changes"
				    : "holds its address, and what calls it by that passes what it "
				      "passed before",
		     change->name);
}

static bool is_changed_prototype(const struct type_change *change, bool defined)
{
	return change->kind == TYPE_FUNCTION && change->verdict == TYPE_MISREAD &&
	       change->defined == defined;
}

/* The parent of the units' functions, and vmlinux's units may be declared in modules' too. */
static const struct parent *parent_of(const struct comparison *comparison, const struct unit *unit)
{
	return unit->parent_path ? map_get(&comparison->modules_by_name, unit->parent)
				 : comparison->vmlinux;
}

static void search_parent(struct build *build, const struct compiled *compiled,
			  const struct parent *parent)
{
	struct caller_search search = {.build = build, .parent = parent, .compiled = compiled};

	for (size_t i = 0; i < build->nr_units; i++) {
		const struct diff_result *result = &build->comparison->results[i];

		if (parent_of(build->comparison, &build->units[i]) != parent)
			continue;
		for (size_t j = 0; j < result->types.list.count; j++) {
			const struct type_change *change = &result->types.list.list[j];

			if (is_changed_prototype(change, true) && change->global)
				*map_slot(&search.changes, change->name) = (void *)change;
		}
	}
	if (search.changes.count)
		parent_users(parent, build->machine, &search.changes, judge_caller, &search);
	map_deinit(&search.changes);
	map_deinit(&search.refused);
}

/* A function that is declared otherwise, and that no unit defines which is compiled here. */
static void judge_declared(struct build *build, const struct compiled *compiled,
			   const struct type_change *change)
{
	if (map_has(&compiled->names, change->name))
		return;
	refusals_add(&build->refusals, "prototype-changed", change->location, change->name,
		     "'%s' is declared with another prototype, but the function itself does not "
		     "change: declare it as it is, or --allow prototype-changed:%s",
		     change->name, change->name);
}

static bool any_changed_prototype(const struct build *build)
{
	for (size_t i = 0; i < build->nr_units; i++) {
		const struct diff_result *result = &build->comparison->results[i];

		for (size_t j = 0; j < result->types.list.count; j++) {
			const struct type_change *change = &result->types.list.list[j];

			if (is_changed_prototype(change, false) ||
			    (is_changed_prototype(change, true) && change->global))
				return true;
		}
	}
	return false;
}

/* ---- functions that are removed ----------------------------------------------------- */

static bool any_removed(const struct build *build)
{
	for (size_t i = 0; i < build->nr_units; i++) {
		const struct diff_result *result = &build->comparison->results[i];

		for (size_t j = 0; j < result->functions.count; j++)
			if (result->functions.list[j].was_global)
				return true;
	}
	return false;
}

static void refuse_removed(struct caller_search *search, const char *name, const char *user)
{
	const struct unit *unit = map_get(&search->changes, name);

	if (!unit || map_has(&search->refused, name))
		return;
	map_slot(&search->refused, name);
	refusals_add(&search->build->refusals, "function-removed", unit->source, name,
		     "'%s' is removed, but %s%s%s goes on using it in the running kernel: leave it, "
		     "and have it do what shall be done in its place, or --allow function-removed:%s",
		     name, user ? "'" : "", user ?: "code of the patch", user ? "'" : "", name);
}

static void judge_user(void *context, const char *name, const struct parent_symbol *user)
{
	struct caller_search *search = context;

	if (!is_compiled(search->compiled, search->parent, user))
		refuse_removed(search, name, user->name);
}

static void search_removed(struct build *build, const struct compiled *compiled,
			   const struct parent *parent)
{
	struct caller_search search = {.build = build, .parent = parent, .compiled = compiled};

	for (size_t i = 0; i < build->nr_units; i++) {
		const struct diff_result *result = &build->comparison->results[i];
		struct unit *unit = &build->units[i];

		if (parent_of(build->comparison, unit) != parent)
			continue;
		for (size_t j = 0; j < result->functions.count; j++) {
			const char *name = result->functions.list[j].name;

			if (!result->functions.list[j].was_global || map_has(&compiled->now, name))
				continue;
			*map_slot(&search.changes, name) = unit;
			if (map_has(&compiled->used, name))
				refuse_removed(&search, name, NULL);
		}
	}
	if (search.changes.count)
		parent_users(parent, build->machine, &search.changes, judge_user, &search);
	map_deinit(&search.changes);
	map_deinit(&search.refused);
}

struct error *callers_check(struct build *build)
{
	const struct comparison *comparison = build->comparison;
	const bool prototypes = any_changed_prototype(build), removed = any_removed(build);
	struct compiled compiled = {0};

	if (!prototypes && !removed)
		return NULL;
	struct error *error = read_symbols(build, false, &compiled, note_original);
	if (!error && removed)
		error = read_symbols(build, true, &compiled, note_patched);
	for (size_t i = 0; !error && i < build->nr_units; i++) {
		const struct diff_result *result = &comparison->results[i];

		for (size_t j = 0; j < result->types.list.count; j++)
			if (is_changed_prototype(&result->types.list.list[j], false))
				judge_declared(build, &compiled, &result->types.list.list[j]);
	}
	for (size_t i = 0; !error && i <= comparison->modules.count; i++) {
		const struct parent *parent =
			i ? comparison->modules.list[i - 1] : comparison->vmlinux;

		search_parent(build, &compiled, parent);
		if (removed)
			search_removed(build, &compiled, parent);
	}
	compiled_deinit(&compiled);
	return error;
}
