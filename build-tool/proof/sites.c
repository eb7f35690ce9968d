// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Code that the module loader rewrites, and the jumps that pokepatch adds.  The core makes its
 * relocations after the loader, so one in such code would overwrite what the loader wrote.  A call
 * from such code leads to an added jump, which the core can relocate.
 */
#include "proof/proof_sites.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "proof/proof_check.h"
#include "proof/proof_match.h"

struct site {
	const struct section *section;
	uint64_t start, end; /* after sorting, end is the furthest end up to this site */
};
struct sites {
	VEC(struct site) list;
};

static int site_order(const void *left, const void *right)
{
	const struct site *a = left, *b = right;

	if (a->section != b->section)
		return a->section->index < b->section->index ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

/* Code that the loader copies to such a place. */
static void read_piece(const struct check *check, const struct module_table *table,
		       const struct module_entry *entry, struct sites *ret)
{
	uint64_t place = entry->start + table->rule->piece;
	uint64_t length = table->section->data[entry->start + table->size +
					       table->rule->piece_length];
	struct cursor cursor = cursor_at((struct check *)check, table->section, place);
	struct fixup fixup;

	if (!length || !cursor_next(&cursor, place + 1, &fixup) || !fixup.symbol ||
	    !fixup.symbol->section)
		return;
	uint64_t start = fixup.symbol->value + fixup.addend;
	*vec_push(&ret->list) = (struct site){fixup.symbol->section, start, start + length};
}

static void read_sites(const struct check *check, struct sites *ret)
{
	for (size_t i = 0; i < check->tables.count; i++) {
		const struct module_table *table = &check->tables.list[i];
		const struct proof_table *rule = table->rule;

		for (size_t j = 0; j < table->entries.count; j++) {
			const struct module_entry *entry = &table->entries.list[j];
			const unsigned char *end =
				table->section->data + entry->start + table->size;
			uint64_t length = rule->site_length ? end[rule->site_length] : rule->site;

			if (length)
				*vec_push(&ret->list) = (struct site){
					entry->section, entry->code, entry->code + length};
			if (rule->piece)
				read_piece(check, table, entry, ret);
		}
	}
	if (!ret->list.count)
		return;
	qsort(ret->list.list, ret->list.count, sizeof(*ret->list.list), site_order);
	/* Sites nest: an alternative of several instructions may have a call's site in it. */
	for (size_t i = 1; i < ret->list.count; i++) {
		struct site *site = &ret->list.list[i];

		if (site->section == site[-1].section && site->end < site[-1].end)
			site->end = site[-1].end;
	}
}

static bool is_rewritten(const struct sites *sites, const struct row *row)
{
	const struct site key = {row->section, row->place, 0};
	const struct site *list = sites->list.list;
	size_t behind = first_index(i, sites->list.count, site_order(&list[i], &key) > 0);

	return behind && list[behind - 1].section == row->section &&
	       row->place < list[behind - 1].end;
}

static struct error *check_late(const struct check *check, const struct row *row)
{
	const struct proof_rules *rules = check->proof->rules;
	const char *problem = rules->late_problem && section_is_text(row->section)
				      ? rules->late_problem(row->type, row->place)
				      : NULL;

	if (rules->late_problem && section_is_text(row->section) &&
	    row->section->align < rules->late_align && rules->late_bound(row->type))
		return wrong(check, "section %s is aligned to %" PRIu64 " bytes", row->section->name,
			     row->section->align);
	if (problem)
		return wrong(check, "the core would make a relocation of type %u at %s+%#" PRIx64
				    ", %s",
			     row->type, row->section->name, row->place, problem);
	return NULL;
}

struct error *sites_check(struct check *check)
{
	const char *copied = check->proof->rules->copied;
	struct sites sites = {0};
	struct error *error = NULL;

	for (size_t i = 1; i < check->object.sections.count; i++) {
		const struct section *section = check->object.sections.list[i];

		/* apply_relocations() leaves it out: layout_and_allocate() cleared SHF_ALLOC */
		if (has_prefix(section->name, ".data..percpu") && section->relocs.count)
			return wrong(check, "the module loader makes no relocation at %s+%#" PRIx64,
				     section->name, section->relocs.list[0].offset);
	}
	read_sites(check, &sites);
	for (size_t i = 0; !error && i < check->rows.count; i++) {
		const struct row *row = &check->rows.list[i];

		/* kernel/module/main.c, post_relocation() copies it for each processor */
		if (has_prefix(row->section->name, ".data..percpu") ||
		    (copied && !strcmp(row->section->name, copied)) || is_rewritten(&sites, row))
			error = wrong(check, "the core would relocate %s+%#" PRIx64
					     ", which the module loader has rewritten or copied by then",
				      row->section->name, row->place);
		else
			error = check_late(check, row);
	}
	vec_deinit(&sites.list);
	return error;
}

/* ---- jumps that pokepatch adds ------------------------------------------------------ */

/* Does the second field lead to where the first one does? */
static bool is_second(const struct proof_veneer *veneer, struct cursor *cursor, int64_t place,
		      const struct fixup *first)
{
	struct fixup second;

	if (!veneer->second_type)
		return true;
	if (!cursor_next(cursor, place + veneer->size, &second) ||
	    second.place != (uint64_t)place + veneer->second_place ||
	    second.type != veneer->second_type || second.addend != first->addend ||
	    !second.row != !first->row ||
	    (second.row ? second.row->symbol != first->row->symbol
			: second.symbol != first->symbol))
		return false;
	if (second.row)
		second.row->used = true;
	return true;
}

static bool is_veneer_at(struct check *check, const struct section *section, int64_t place,
			 const char *code, struct fixup *ret)
{
	const struct proof_veneer *veneer = &check->proof->rules->veneer;
	struct fixup more;

	if (!code || !section_is_text(section) || !section->data || place < 0 ||
	    (uint64_t)place > section->size || section->size - place < veneer->size ||
	    memcmp(section->data + place, code, veneer->size))
		return false;
	struct cursor cursor = cursor_at(check, section, place);
	return cursor_next(&cursor, place + veneer->size, ret) &&
	       ret->place == (uint64_t)place + veneer->place && ret->type == veneer->type &&
	       is_second(veneer, &cursor, place, ret) &&
	       !cursor_next(&cursor, place + veneer->size, &more);
}

static const char *veneer_code(const struct proof_veneer *veneer, const struct thing *from,
			       const struct reloc *reloc)
{
	return from->source->other_veneers ||
			       (veneer->needs_other && from->section->data &&
				reloc->offset + 8 <= from->end &&
				veneer->needs_other(from->section->data + reloc->offset))
		       ? veneer->other
		       : veneer->code;
}

struct error *veneer_follow(struct check *check, const struct thing *from,
			    const struct reloc *reloc, const struct fixup *fixup, bool *is_veneer,
			    struct fixup *ret)
{
	const struct reloc_kind *kind = arch_reloc(check->object.arch, reloc->type);
	const struct proof_veneer *veneer = &check->proof->rules->veneer;
	const struct section *section = fixup->symbol ? fixup->symbol->section : NULL;

	*is_veneer = false;
	if (!kind || !kind->branch || !section)
		return NULL;
	int64_t place = fixup->symbol->value + fixup->addend + kind->origin;
	if (!is_veneer_at(check, section, place, veneer_code(veneer, from, reloc), ret) ||
	    ret->addend != veneer->addend ||
	    (!ret->row && (!veneer->exported || ret->symbol->section)))
		return NULL;
	*is_veneer = true;
	if (ret->row)
		ret->row->used = true;
	ret->addend -= veneer->addend + kind->origin; /* count as the call does */
	*vec_push(&check->veneers) = (struct our_jump){section, place, -1};
	return extent_add(check, section, place, veneer->size, veneer->align, WHOLE,
		     "a jump of pokepatch's own");
}

/* ---- jumps that follow a function --------------------------------------------------- */

static size_t first_short_jump(const struct thing *thing, uint64_t offset)
{
	return first_index(i, thing->short_jumps.count,
			   thing->short_jumps.list[i].field >= offset);
}

bool is_short_field(const struct thing *thing, uint64_t offset)
{
	size_t first = first_short_jump(thing, offset);

	return first < thing->short_jumps.count && thing->short_jumps.list[first].field == offset;
}

/* Where a short jump leads in the module, as an offset from the thing; 0: it leaves the section. */
static uint64_t led_to(const struct thing *thing, const struct section *section, uint64_t place,
		       const struct short_jump *jump)
{
	uint64_t field = jump->field - thing->start;

	if (!section->data || place > section->size || field >= section->size - place)
		return 0;
	return field + 1 + (int8_t)section->data[place + field];
}

uint64_t thing_tail(const struct check *check, const struct thing *thing,
		    const struct section *section, uint64_t place)
{
	uint64_t size = thing->end - thing->start, end = size;

	for (size_t i = 0; i < thing->short_jumps.count; i++) {
		uint64_t to = led_to(thing, section, place, &thing->short_jumps.list[i]) +
			      check->proof->rules->veneer.size;

		if (to > end && to <= size + thing->short_jumps.count *
						     check->proof->rules->veneer.size)
			end = to;
	}
	return end - size;
}

static struct error *match_short_jump(struct check *check, struct thing *thing,
				      const struct short_jump *jump)
{
	const struct proof_veneer *veneer = &check->proof->rules->veneer;
	uint64_t size = thing->end - thing->start;
	uint64_t to = led_to(thing, thing->at, thing->place, jump);
	uint64_t field = jump->field - thing->start;
	struct fixup fixup;

	if (to < size ||
	    !is_veneer_at(check, thing->at, thing->place + to, veneer->code, &fixup))
		return wrong(check, "the short jump at %#" PRIx64 " of '%s' leads to no other", field,
			     thing_name(thing));
	struct section *section = (struct section *)thing->section;
	const struct reloc reloc = {
		.offset = jump->field,
		.type = veneer->type,
		.symbol = object_section_symbol(&thing->source->object, section),
		.addend = (int64_t)jump->target + veneer->addend,
		.behind = -veneer->addend,
	};
	*vec_push(&check->veneers) = (struct our_jump){thing->at, thing->place + to,
						       thing->place + field};
	TRY(extent_add(check, thing->at, thing->place + to, veneer->size, 1, WHOLE,
		  "a jump of pokepatch's own"));
	return match_target(check, thing, NULL, &reloc, true, &fixup);
}

struct error *match_tail(struct check *check, struct thing *thing)
{
	for (size_t i = 0; i < thing->short_jumps.count; i++)
		TRY(match_short_jump(check, thing, &thing->short_jumps.list[i]));
	return NULL;
}
