// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs the differ's passes over a pair of objects, and fills in struct diff_result. */
#include "diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "diff/author.h"
#include "diff/emit.h"
#include "diff/externals.h"
#include "diff/judge_types.h"
#include "diff/promoted.h"
#include "diff/select.h"
#include "diff/sleepers.h"
#include "object/debuginfo.h"

static void add_function(const struct selection *selection, struct diff_result *result,
			 const struct atom *atom, enum diff_change change)
{
	struct diff_function *function = vec_push(&result->functions);

	function->name = xstrdup(atom->name);
	function->change = change;
	function->old = function->old_cold = POKEPATCH_NONE;
	if (change != DIFF_REMOVED)
		function->new_size = atom->end - atom->start + select_stub_bytes(selection, atom);
	if (change != DIFF_NEW) {
		const struct atom *old = change == DIFF_CHANGED ? atom->twin : atom;

		function->old_size = old->end - old->start;
	}
}

static bool is_datum(const struct atom *atom)
{
	return (atom->class == ATOM_DATA || atom->class == ATOM_RODATA) && atom->symbol;
}

static void add_datum(struct diff_result *result, const struct atom *atom,
		      enum diff_change change)
{
	*vec_push(&result->data) =
		(struct diff_datum){.name = xstrdup(atom->name), .change = change};
}

static int by_function_name(const void *left, const void *right)
{
	const struct diff_function *a = left, *b = right;

	return strcmp(a->name, b->name) ?: (int)a->change - (int)b->change;
}

static int by_datum_name(const void *left, const void *right)
{
	const struct diff_datum *a = left, *b = right;

	return strcmp(a->name, b->name) ?: (int)a->change - (int)b->change;
}

static void add_inlined(struct selection *selection, struct diff_function *function)
{
	const struct debuginfo_names *names =
		debuginfo_inlined_into(debuginfo_of(selection->patched), function->name);

	for (size_t i = 0; names && i < names->count; i++)
		*vec_push(&function->inlined_into) = xstrdup(names->list[i]);
}

/* Offset at which a carrier that has not changed itself first refers to a carried function. */
static uint64_t first_carried_use(const struct selection *selection, const struct atom *atom)
{
	for (size_t i = 0; i < atom->reloc_count; i++) {
		const struct atom *used = reloc_reference(selection->patched, atom->section,
							  &atom->relocs[i])
						  .atom;

		if (used && select_is_carried(selection, used) && used != atom)
			return atom->relocs[i].offset - atom->start;
	}
	return atom->end - atom->start;
}

static void add_carriers(const struct selection *selection, const struct atom *atom,
			 struct diff_function *function)
{
	const struct carrying *carrying = &selection->carrying[atom->index];

	function->has_entry = !carrying->carried && !carrying->overwrites.length;
	function->overwrites = carrying->overwrites.length;
	function->only_carries = carrying->only_carries;
	for (size_t i = 0; i < carrying->carriers.count; i++)
		*vec_push(&function->carried_by) = xstrdup(carrying->carriers.list[i]->name);
}

/* select_is_touched(), asked once about each function: one may be inlined into hundreds. */
static bool is_touched_once(struct selection *selection, const char *name, const char *location)
{
	enum { NO = 1, YES };
	void **answer = map_slot(&selection->touched, name);

	if (!*answer)
		*answer = (void *)(uintptr_t)(select_is_touched(selection, name, location) ? YES : NO);
	return (uintptr_t)*answer == YES;
}

static void add_touched_inlined(struct selection *selection, const struct atom *atom,
				struct diff_function *function)
{
	struct debuginfo_names names = {0};

	debuginfo_inlined_names(debuginfo_of(selection->patched), atom->section->index,
				atom->start, &names);
	for (size_t i = 0; i < names.count; i++) {
		const char *location =
			debuginfo_declaration(debuginfo_of(selection->orig), names.list[i]);

		if (location && is_touched_once(selection, names.list[i], location))
			*vec_push(&function->touched_inlined) = (struct diff_place){
				xstrdup(names.list[i]), xstrdup(location)};
	}
	free(names.list);
}

/* Find out what may tell why a function differs, once its first difference is known. */
static void add_causes(struct selection *selection, const struct atom *atom,
		       struct diff_function *function)
{
	if (!selection->options->explain)
		return;

	const char *location =
		debuginfo_declaration(debuginfo_of(selection->orig),
				      select_source_name(selection->orig, atom->twin));
	const char *inlined =
		debuginfo_inlined_at(debuginfo_of(selection->patched), atom->section->index,
				     atom->start + function->first_change);
	function->location = location ? xstrdup(location) : NULL;
	function->inlined_from = inlined ? xstrdup(inlined) : NULL;
	add_touched_inlined(selection, atom, function);
}

/* Note for each carrier which functions it is replaced for. */
static void add_carried(struct diff_result *result)
{
	struct map functions = {0};

	for (size_t i = 0; i < result->functions.count; i++)
		*map_slot(&functions, result->functions.list[i].name) = &result->functions.list[i];
	for (size_t i = 0; i < result->functions.count; i++) {
		const struct diff_function *carried = &result->functions.list[i];

		for (size_t j = 0; j < carried->carried_by.count; j++) {
			struct diff_function *carrier =
				map_get(&functions, carried->carried_by.list[j]);

			if (carrier)
				*vec_push(&carrier->carries) = xstrdup(carried->name);
		}
	}
	map_deinit(&functions);
}

static void add_first_change(struct selection *selection, const struct atom *atom,
			     struct diff_function *function)
{
	function->first_change = atom_first_difference(&selection->pairing, atom->twin, atom);
	if (function->first_change == function->new_size) /* a carrier */
		function->first_change = first_carried_use(selection, atom);
	function->source = debuginfo_line(debuginfo_of(selection->patched), atom->section->index,
					  atom->start + function->first_change);
}

static void add_listings(struct selection *selection, const struct atom *atom,
			 struct diff_function *function)
{
	if (!selection->options->list_code)
		return;
	listing_make(selection->patched, atom, &function->new_code);
	if (atom->twin)
		listing_make(selection->orig, atom->twin, &function->old_code);
}

static struct error *describe(struct selection *selection, struct diff_result *result)
{
	for (size_t i = 0; i < selection->included.count; i++) {
		const struct atom *atom = selection->included.list[i];

		if (atom->class == ATOM_CODE && !atom->parent) {
			add_function(selection, result, atom,
				     atom->twin ? DIFF_CHANGED : DIFF_NEW);
			struct diff_function *function =
				&result->functions.list[result->functions.count - 1];
			add_inlined(selection, function);
			add_listings(selection, atom, function);
			if (atom->twin) {
				add_first_change(selection, atom, function);
				add_causes(selection, atom, function);
				add_carriers(selection, atom, function);
				TRY(externals_find_old(selection, atom->twin, &function->old));
				if (atom->twin->cold)
					TRY(externals_find_old(selection, atom->twin->cold,
						       &function->old_cold));
			}
		}
		if (is_datum(atom))
			add_datum(result, atom, atom->twin ? DIFF_CHANGED : DIFF_NEW);
	}
	for (size_t i = 0; i < selection->orig->atoms.count; i++) {
		const struct atom *atom = selection->orig->atoms.list[i];

		if (atom->twin || atom->ambiguous)
			continue;
		if (atom->class == ATOM_CODE && !atom->parent) {
			add_function(selection, result, atom, DIFF_REMOVED);
			result->functions.list[result->functions.count - 1].was_global =
				atom->symbol && atom->symbol->bind != STB_LOCAL;
		}
		if (is_datum(atom))
			add_datum(result, atom, DIFF_REMOVED);
	}
	for (size_t i = 0; i < selection->callbacks.count; i++) {
		const struct callback *callback = &selection->callbacks.list[i];

		*vec_push(&result->callbacks) = (struct diff_callback){
			.function = xstrdup(callback->atom->name),
			.location = xstrdup(select_location(selection, callback->atom->name)),
			.kind = callback->kind,
		};
	}
	if (result->functions.count)
		qsort(result->functions.list, result->functions.count,
		      sizeof(*result->functions.list), by_function_name);
	add_carried(result);
	if (result->data.count)
		qsort(result->data.list, result->data.count, sizeof(*result->data.list),
		      by_datum_name);
	return NULL;
}

static void place_deinit(struct diff_place *place)
{
	free(place->name);
	free(place->location);
}

void diff_result_deinit(struct diff_result *result)
{
	for (size_t i = 0; i < result->functions.count; i++) {
		free(result->functions.list[i].name);
		free(result->functions.list[i].source);
		free(result->functions.list[i].inlined_from);
		free(result->functions.list[i].location);
		for (size_t j = 0; j < result->functions.list[i].touched_inlined.count; j++)
			place_deinit(&result->functions.list[i].touched_inlined.list[j]);
		vec_deinit(&result->functions.list[i].touched_inlined);
		listing_deinit(&result->functions.list[i].old_code);
		listing_deinit(&result->functions.list[i].new_code);
		for (size_t j = 0; j < result->functions.list[i].inlined_into.count; j++)
			free(result->functions.list[i].inlined_into.list[j]);
		vec_deinit(&result->functions.list[i].inlined_into);
		for (size_t j = 0; j < result->functions.list[i].carried_by.count; j++)
			free(result->functions.list[i].carried_by.list[j]);
		vec_deinit(&result->functions.list[i].carried_by);
		for (size_t j = 0; j < result->functions.list[i].carries.count; j++)
			free(result->functions.list[i].carries.list[j]);
		vec_deinit(&result->functions.list[i].carries);
	}
	for (size_t i = 0; i < result->data.count; i++)
		free(result->data.list[i].name);
	for (size_t i = 0; i < result->callbacks.count; i++) {
		free(result->callbacks.list[i].function);
		free(result->callbacks.list[i].location);
	}
	for (size_t i = 0; i < result->missing.count; i++)
		free(result->missing.list[i]);
	vec_deinit(&result->missing);
	vec_deinit(&result->functions);
	vec_deinit(&result->data);
	vec_deinit(&result->callbacks);
	type_changes_deinit(&result->types);
}

static struct error *run(struct selection *selection, struct diff_result *ret)
{
	const struct diff_options *options = selection->options;
	size_t before = refusals_fatal(selection->refusals);

	if (selection->orig->arch != selection->patched->arch)
		return error_new(STATUS_REFUSED,
				 "%s: refused [elf-unsupported]: it is for %s, but %s is for %s",
				 options->patched, selection->patched->arch->name, options->orig,
				 selection->orig->arch->name);
	author_read(selection->author, selection);
	author_drop_sections(selection->author, selection);
	TRY(object_split(selection->orig, options->unit, selection->refusals));
	TRY(object_split(selection->patched, options->unit, selection->refusals));
	if (refusals_fatal(selection->refusals) > before)
		return NULL;
	correlate(selection->orig, selection->patched, options->authored, &selection->pairing);
	select_init(selection);
	selection->result = ret;
	TRY(promoted_add(selection, ret));
	TRY(select_changes(selection));
	TRY(describe(selection, ret));
	types_judge(selection, &ret->types);
	sleepers_warn(selection);
	if (refusals_fatal(selection->refusals) > before || !selection->included.count ||
	    !options->out)
		return NULL;
	ret->has_output = true;
	ret->escapes = selection->escapes;
	return emit_object(selection, options->out);
}

bool diff_is_late(const struct diff_options *options, const struct diff_result *result)
{
	for (size_t i = 0; i < result->missing.count; i++)
		if (promoted_exists(options, result->missing.list[i]))
			return true;
	return false;
}

/* The source file that the compiler named in the FILE symbol, else the object's path. */
static const char *unit_name(const struct object *object)
{
	for (size_t i = 1; i < object->symbols.count; i++)
		if (object->symbols.list[i]->type == STT_FILE && *object->symbols.list[i]->name)
			return object->symbols.list[i]->name;
	return object->path;
}

struct error *diff_run(const struct diff_options *options, struct refusals *refusals,
		       struct diff_result *ret)
{
	struct object orig, patched;
	struct diff_options named = *options;
	struct selection selection = {
		.options = &named, .orig = &orig, .patched = &patched, .refusals = refusals};
	struct author author = {0};

	*ret = (struct diff_result){0};
	TRY(object_read_code(options->orig, &orig));
	if (!named.unit)
		named.unit = unit_name(&orig);
	struct error *error = object_read_code(options->patched, &patched);
	if (error) {
		object_deinit(&orig);
		return error;
	}
	selection.author = &author;
	error = run(&selection, ret);
	if (error) /* the unit's name may come from the object */
		error->text = one_line(error->text);
	author_finish(&author, &selection);
	select_deinit(&selection);
	pairing_deinit(&selection.pairing);
	object_unsplit(&orig);
	object_unsplit(&patched);
	object_deinit(&orig);
	object_deinit(&patched);
	return error;
}
