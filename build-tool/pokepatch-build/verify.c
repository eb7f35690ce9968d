// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Phase: verify that source, configuration and compiler are those of the kernel to patch.  kbuild
 * has compiled the original with exactly the kernel's flags.  For every function that the patch
 * replaces, including its cold part, it must have the same bytes as vmlinux or the module, and
 * relocated fields must lead to the same things (linked_fields.c).  The tables that objtool made
 * must have the same places of the function.
 *
 * The verified bytes go into the patch module, where the core compares live code with them.
 *
 * The units are verified in several processes (common/worker.h).  A worker makes a struct
 * unit_verdict and changes nothing else.  We take the verdicts over in the order of the units, so
 * the outcome does not depend on the number of processes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "common/worker.h"
#include "pokepatch-build/comparison.h"
#include "object/object.h"
#include "pokepatch-build/objtool.h"
#include "pokepatch-build/split_check.h"
#include "pokepatch-build/texts.h"
#include "pokepatch-build/units.h"
#include "pokepatch-build/verdict.h"
#include "pokepatch-build/exact.h"

/* "foo.cold" for "foo.cold.3": gcc up to version 8 numbers the cold parts of a unit; or NULL. */
static char *unnumbered_cold(const char *name)
{
	const char *cold = strstr(name, ".cold.");
	const char *number = cold ? cold + strlen(".cold.") : "";

	return *number && !number[strspn(number, "0123456789")]
		       ? xstrndup(name, (size_t)(number - 1 - name))
		       : NULL;
}

void exact_functions_init(const struct object *object, struct exact_functions *ret)
{
	*ret = (struct exact_functions){0};
	for (size_t i = 1; i < object->symbols.count; i++) {
		struct symbol *symbol = object->symbols.list[i];
		_free_ char *cold = NULL;

		if (symbol->type != STT_FUNC || !symbol->section)
			continue;
		cold = unnumbered_cold(symbol->name);
		if (cold)
			args_add(&ret->names, cold);
		*map_slot(&ret->by_name,
			  cold ? ret->names.list[ret->names.count - 1] : symbol->name) = symbol;
	}
}

const struct symbol *exact_function(const struct exact_functions *functions, const char *name)
{
	_free_ char *cold = unnumbered_cold(name);

	return map_get(&functions->by_name, cold ?: name);
}

void exact_functions_deinit(struct exact_functions *functions)
{
	map_deinit(&functions->by_name);
	args_deinit(&functions->names);
}

static const struct reloc *first_reloc(const struct section *section, uint64_t offset)
{
	const struct reloc *list = section->relocs.list;

	return list + first_index(i, section->relocs.count, list[i].offset >= offset);
}

/* Offset of the first byte that differs outside relocated fields; the size if none does. */
static uint64_t first_difference(const struct object *object, const struct symbol *symbol,
				 const unsigned char *live)
{
	const struct section *section = symbol->section;
	const struct reloc *reloc = first_reloc(section, symbol->value);
	const struct reloc *end = section->relocs.list + section->relocs.count;

	for (uint64_t i = 0; i < symbol->size; i++) {
		const struct reloc_kind *kind = NULL;

		while (reloc < end && reloc->offset < symbol->value + i)
			reloc++;
		if (reloc < end && reloc->offset == symbol->value + i)
			kind = arch_reloc(object->arch, reloc->type);
		if (kind && kind->size) {
			i += kind->size - 1;
			continue;
		}
		if (section->data[symbol->value + i] != live[i])
			return i;
	}
	return symbol->size;
}

static int place_order(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Does a table that objtool made have the same places of a function here and in the parent? */
static bool same_sites(const struct object *object, const struct symbol *symbol,
		       const struct parent *parent, const struct parent_symbol *old,
		       const char *table)
{
	const struct parent_sites *sites = parent_sites(parent, table);
	const struct section *section = object_find_section(object, table);
	size_t count, found = 0;
	const struct parent_site *theirs = parent_sites_in(parent, sites, old, &count);
	VEC(uint64_t) ours = {0};

	for (size_t i = 0; section && i < section->relocs.count; i++) {
		const struct reloc *reloc = &section->relocs.list[i];
		uint64_t place = reloc->symbol->value + reloc->addend - symbol->value;

		if (reloc->symbol->section == symbol->section && place < symbol->size)
			*vec_push(&ours) = place;
	}
	if (ours.count)
		qsort(ours.list, ours.count, sizeof(*ours.list), place_order);
	while (found < count && found < ours.count &&
	       ours.list[found] == theirs[found].value - old->value)
		found++;
	bool same = found == count && found == ours.count;
	vec_deinit(&ours);
	return same;
}

/* The table that objtool made otherwise for the parent than for the exact object; or NULL. */
static const char *different_sites(const struct object *object, const struct symbol *symbol,
				   const struct parent *parent, const struct parent_symbol *old)
{
	for (const char *const *table = object->arch->loader.objtool_tables; table && *table;
	     table++)
		if (!same_sites(object, symbol, parent, old, *table))
			return *table;
	return NULL;
}

bool verify_differs(const struct exact_names *names, const struct symbol *symbol,
		    const struct parent *parent, const struct parent_symbol *old,
		    const unsigned char *bytes, uint64_t room, struct verify_difference *ret)
{
	const struct object *object = names->object;

	*ret = (struct verify_difference){0};
	if (symbol->size != old->size || symbol->size > room)
		return true;
	ret->at = first_difference(object, symbol, bytes);
	if (ret->at < symbol->size)
		return true;
	ret->table = different_sites(object, symbol, parent, old);
	linked_fields_check(names, symbol, parent, old, bytes, &ret->fields);
	return ret->table || ret->fields.target;
}

/* The hot or the cold part of a function, in the exact object and in the parent. */
struct part {
	const struct unit *unit;
	const struct exact_names *names; /* of the unit's exact object */
	const struct rewritten *rewritten; /* of the object */
	const char *name;
	const struct symbol *symbol; /* in the object; may be NULL */
	const struct external *external; /* in the parent */
	struct buffer *text; /* gets the verified bytes as runs */
};

static enum diff_verified verify_part(struct refusals *refusals, const struct part *part)
{
	const struct symbol *symbol = part->symbol;
	const struct parent *parent = part->external->parent;
	const struct parent_symbol *old = part->external->symbol;
	uint64_t room;
	const unsigned char *live = parent_bytes(parent, old, &room);

	if ((!symbol || !live) && part->unit->edited) {
		unit_refuse_edited(refusals, part->unit);
		return DIFF_UNVERIFIED;
	}
	if (!symbol || !live) {
		refusals_add(refusals, "verify-mismatch", part->unit->source, part->name,
			     "'%s' cannot be compared with %s: %s has no such code; are source and "
			     "configuration those of this kernel?",
			     part->name, parent->path,
			     symbol ? parent->path : part->unit->exact_object);
		return DIFF_UNVERIFIED;
	}
	struct verify_difference difference;
	bool differs =
		verify_differs(part->names, symbol, parent, old, live, room, &difference);
	if (differs && part->unit->edited) {
		unit_refuse_edited(refusals, part->unit);
		return DIFF_UNEQUAL;
	}
	if (differs && difference.table) {
		refusals_add(refusals, "verify-mismatch", part->unit->source, part->name,
			     "objtool lists other places of '%s' in %s than those that %s has; "
			     "check that its objtool is this kernel's",
			     part->name, difference.table, parent->path);
		return DIFF_UNEQUAL;
	}
	if (differs && difference.fields.target) {
		refusals_add(refusals, "verify-mismatch", part->unit->source, part->name,
			     "'%s' as compiled here refers to '%s' at byte %" PRIu64
			     ", and %s does not; check source, configuration and compiler",
			     part->name, difference.fields.target, difference.fields.at,
			     parent->name);
		return DIFF_UNEQUAL;
	}
	if (!differs) {
		text_source_add_runs(&(struct text_source){.object = part->names->object,
							   .rewritten = part->rewritten,
							   .symbol = symbol,
							   .parent = parent,
							   .old = old,
							   .bytes = live},
			  part->text);
		return DIFF_EQUAL;
	}
	refusals_add(refusals, "verify-mismatch", part->unit->source, part->name,
		     "'%s' as compiled here (%" PRIu64 " bytes) is not what %s has (%" PRIu64
		     " bytes), from byte %" PRIu64 " on; check source, configuration and compiler",
		     part->name, symbol->size, parent->name, old->size, difference.at);
	return DIFF_UNEQUAL;
}

/* Verify both parts: the compiler moves rarely executed code of a function f to f.cold. */
static void verify_function(const struct externals *externals, struct part common,
			    const struct exact_functions *functions,
			    const struct diff_function *function, struct refusals *refusals,
			    struct function_verdict *ret)
{
	const struct external *old = externals->list.list[function->old];
	/* The old names: a clone may have another number in the patched object. */
	const struct external *old_cold = function->old_cold == POKEPATCH_NONE
						  ? NULL
						  : externals->list.list[function->old_cold];
	char *cold_name _free_ =
		old_cold ? xstrdup(old_cold->name) : xasprintf("%s.cold", old->name);
	struct part hot = common, cold = common;

	hot.name = old->name;
	hot.symbol = exact_function(functions, old->name);
	hot.external = old;
	hot.text = &ret->hot;
	ret->verified = verify_part(refusals, &hot);
	if (ret->verified != DIFF_EQUAL)
		return;
	cold.name = cold_name;
	cold.symbol = exact_function(functions, cold_name);
	if (old_cold) {
		cold.external = old_cold;
		cold.text = &ret->cold;
		ret->verified = verify_part(refusals, &cold);
	} else if (cold.symbol) {
		ret->verified = DIFF_UNEQUAL;
		refusals_add(refusals, "verify-mismatch", common.unit->source, function->name,
			     "'%s' as compiled by the kernel's own build has a part '%s', and "
			     "as compiled for comparison it has none",
			     function->name, cold_name);
	}
}

static struct error *verify_unit(const struct build *build, size_t index,
				 struct unit_verdict *verdict)
{
	const struct comparison *comparison = build->comparison;
	const struct diff_result *result = &comparison->results[index];
	const struct unit *unit = &build->units[index];
	struct rewritten rewritten;
	struct exact_functions functions;
	struct exact_names names;
	struct object exact;

	TRY(object_read_code(unit->exact_object, &exact));
	rewritten_init(&exact, &rewritten);
	exact_functions_init(&exact, &functions);
	exact_names_init(&exact, &names);
	const struct part common = {.unit = unit, .names = &names, .rewritten = &rewritten};
	for (size_t i = 0; i < result->functions.count; i++) {
		const struct diff_function *function = &result->functions.list[i];

		if (function->change != DIFF_CHANGED || function->old == POKEPATCH_NONE)
			continue;
		struct function_verdict *ret = vec_push(&verdict->functions);
		ret->index = i;
		verify_function(&comparison->externals, common, &functions, function,
				&verdict->refusals, ret);
	}
	struct error *error = split_check(unit, &exact, result, &verdict->refusals);
	rewritten_deinit(&rewritten);
	exact_functions_deinit(&functions);
	exact_names_deinit(&names);
	object_deinit(&exact);
	return error;
}

static struct error *run_unit(void *data, size_t index, struct buffer *ret)
{
	const struct build *build = data;
	struct unit_verdict verdict = {0};
	struct error *error = NULL;

	if (build->comparison->outputs[index])
		error = verify_unit(build, index, &verdict);
	if (!error)
		unit_verdict_write(&verdict, ret);
	unit_verdict_deinit(&verdict);
	return error;
}

struct error *verify_units(struct build *build)
{
	struct comparison *comparison = build->comparison;
	size_t count = build->nr_units;

	TRY(objtool_finish_exact(build));
	comparison->nr_texts = comparison->externals.list.count;
	comparison->texts = xcalloc(comparison->nr_texts + 1, sizeof(*comparison->texts));
	struct buffer *verdicts = xcalloc(count + 1, sizeof(*verdicts));
	struct error *error =
		workers_run_all(run_unit, build, count, build->options.jobs, verdicts);
	for (size_t i = 0; i < count; i++) {
		if (!error)
			error = unit_verdict_apply(build, i, &verdicts[i]);
		buffer_deinit(&verdicts[i]);
	}
	free(verdicts);
	return error ?: build_check_refusals(build);
}
