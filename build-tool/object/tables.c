// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables whose entries belong to code, and the pieces of sections that such entries point to. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "object/split.h"

/* The layout by which every entry has a relocation in its code field. */
static const struct entry_layout *find_layout(const struct section *section)
{
	for (size_t i = 0; i < ENTRY_LAYOUTS; i++) {
		const struct entry_layout *layout = &section->rule->layouts[i];
		uint64_t rest = layout->size ? section->size % layout->size : 1, start = 0;

		if (rest && !(layout->size && layout->short_last))
			continue;
		for (size_t j = 0; j < section->relocs.count && start < section->size; j++)
			if (section->relocs.list[j].offset == start + layout->code)
				start += layout->size;
		if (start >= section->size)
			return layout;
	}
	return NULL;
}

/*
 * Note where the relative addresses of a table's entries count from.  The address of an end is
 * taken one byte in front of it, which still lies in the thing that ends there.
 */
void measure_table(struct object *object, struct section *section)
{
	const struct entry_layout *layout = section->size ? find_layout(section) : NULL;

	(void)object;
	for (size_t i = 0; layout && i < section->relocs.count; i++) {
		struct reloc *reloc = &section->relocs.list[i];
		uint64_t field = reloc->offset % layout->size;

		if (layout->from_entry)
			reloc->behind = -(int32_t)field;
		if (field && (field == layout->code_end || field == layout->partner_end))
			reloc->behind--;
	}
}

void attach_entries(struct object *object, struct section *section, const char *unit,
		    struct refusals *refusals)
{
	const struct entry_layout *layout = section->size ? find_layout(section) : NULL;

	if (section->size && !layout)
		refusals_add(refusals, "section-unknown", unit, section->name,
			     "the entries of section '%s' (%" PRIu64 " bytes) have no known size",
			     section->name, section->size);
	for (uint64_t start = 0; layout && start < section->size; start += layout->size) {
		size_t count;
		struct reloc *relocs = section_relocs(section, start + layout->code,
						      start + layout->code + 1, &count);
		struct reference code = reloc_reference(object, section, relocs);

		if (!code.atom) {
			refusals_add(refusals, "symbol-unknown", unit, section->name,
				     "entry at %" PRIu64 " of section '%s' points to no function",
				     start, section->name);
			continue;
		}
		check_fields(object, section, start, start + layout->size, unit, refusals);
		uint64_t rest = section->size - start;
		*vec_push(&code.atom->entries) = (struct entry){
			.section = section,
			.start = start,
			.layout = layout,
			.size = rest < layout->size ? rest : layout->size,
		};
	}
}

/* Of an entry that has the addresses of its partner's start and end: whether they are equal. */
static bool partner_ends_at_start(const struct entry *entry)
{
	const struct entry_layout *layout = entry->layout;
	size_t count;
	const struct reloc *relocs =
		section_relocs(entry->section, entry->start + layout->partner,
			       entry->start + layout->partner_end + 1, &count);

	/* measure_table() has moved the end by one byte. */
	return count == 2 && relocs[0].symbol == relocs[1].symbol &&
	       reloc_target(&relocs[0]) == reloc_target(&relocs[1]) + 1;
}

/*
 * A length of zero may also belong to arm64's ALTERNATIVE_CB(), which names the function that makes
 * the replacement; the address of such a function means something.  The address of a piece without
 * bytes lies behind code or within it.
 */
bool entry_partner_is_empty(const struct object *object, const struct entry *entry,
			    const struct reloc *reloc)
{
	const struct entry_layout *layout = entry->layout;
	uint64_t field = reloc->offset - entry->start;

	if (!layout->partner || (field != layout->partner && field != layout->partner_end))
		return false;
	if (layout->partner_end)
		return partner_ends_at_start(entry);
	if (!layout->partner_length || entry->section->data[entry->start + layout->partner_length])
		return false;
	struct reference reference = reloc_reference(object, entry->section, reloc);
	return reference.symbol->section &&
	       !(reference.atom && reference.atom->class == ATOM_CODE &&
		 reference.target == reference.atom->start);
}

static int entry_order(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	int order = strcmp(a->section->name, b->section->name);

	return order ?: a->start < b->start ? -1 : a->start > b->start;
}

/* By name: the order of the tables themselves follows from their first use in the unit. */
void sort_entries(struct object *object)
{
	for (size_t i = 0; i < object->atoms.count; i++) {
		struct atom *atom = object->atoms.list[i];

		if (atom->entries.count > 1)
			qsort(atom->entries.list, atom->entries.count,
			      sizeof(*atom->entries.list), entry_order);
	}
}

struct piece {
	uint64_t start, end;
};

struct pieces {
	VEC(struct piece) list;
};

static int piece_order(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end < b->end ? -1 : a->end > b->end;
}

/* The end of the piece that an entry's field points to by reloc; UINT64_MAX: the next piece. */
static uint64_t partner_end(const struct section *section, const struct entry_layout *layout,
			    const struct reloc *reloc)
{
	uint64_t start = reloc->offset - layout->partner;
	size_t count;

	if (layout->partner_length)
		return reloc_target(reloc) + section->data[start + layout->partner_length];
	if (!layout->partner_end)
		return UINT64_MAX;
	const struct reloc *end = section_relocs(section, start + layout->partner_end,
						 start + layout->partner_end + 1, &count);
	return count ? reloc_target(end) + 1 : UINT64_MAX;
}

/*
 * A partner section has no symbols, so its pieces follow from the references into it.  An entry
 * (.altinstructions) may have the length or the end of its piece.  A piece that only code, or an
 * entry without a length, points to reaches to the next piece (.altinstr_aux, .fixup).
 */
void split_partner(struct object *object, struct section *partner)
{
	VEC(struct piece) pieces = {0};

	for (size_t i = 1; i < object->sections.count; i++) {
		struct section *section = object->sections.list[i];
		const struct section_rule *rule = section->rule;
		const struct entry_layout *layout =
			rule && rule->policy == SECTION_TABLE ? find_layout(section) : NULL;

		if (!rule || (rule->policy != SECTION_CODE && rule->policy != SECTION_INIT &&
			      !(layout && layout->partner)))
			continue;
		for (size_t j = 0; j < section->relocs.count; j++) {
			const struct reloc *reloc = &section->relocs.list[j];
			uint64_t start;

			if (reloc->symbol->section != partner ||
			    (layout && reloc->offset % layout->size != layout->partner))
				continue;
			start = reloc_target(reloc);
			if (start > partner->size)
				continue;
			uint64_t end = layout ? partner_end(section, layout, reloc) : UINT64_MAX;
			*vec_push(&pieces) = (struct piece){start, end};
		}
	}
	if (pieces.count)
		qsort(pieces.list, pieces.count, sizeof(*pieces.list), piece_order);
	for (size_t i = 0; i < pieces.count; i++) {
		struct piece *piece = &pieces.list[i];
		uint64_t next = partner->size;

		if (i + 1 < pieces.count)
			next = pieces.list[i + 1].start;
		if (next == piece->start && i + 1 < pieces.count)
			continue; /* it is empty, or the next is the same and longer */
		if (piece->end > next)
			piece->end = next;
		add_atom(object, partner, NULL, piece->start, piece->end);
	}
	vec_deinit(&pieces);
}

static void find_replacements(const struct section *code, uint64_t from,
			      const struct section *table, struct pieces *ret)
{
	const struct entry_layout *layout = find_layout(table);

	if (!layout || !layout->partner)
		return;
	for (size_t i = 0; i < table->relocs.count; i++) {
		const struct reloc *reloc = &table->relocs.list[i];
		uint64_t entry = reloc->offset - reloc->offset % layout->size;
		uint64_t start = reloc_target(reloc);
		uint8_t length = table->data[entry + layout->partner_length];

		if (reloc->symbol->section == code && reloc->offset - entry == layout->partner &&
		    start >= from && start < code->size && length)
			*vec_push(&ret->list) = (struct piece){start, start + length};
	}
}

static void add_piece(struct object *object, struct section *section, uint64_t start, uint64_t end)
{
	size_t count;

	section_relocs(section, start, end, &count);
	if (start >= end || (!count && object->arch->code.is_padding &&
			     object->arch->code.is_padding(object, section, start, end)))
		return;
	add_atom(object, section, NULL, start, end)->class = ATOM_PARTNER;
}

void split_tail(struct object *object, struct section *section, uint64_t start)
{
	struct pieces pieces = {0};

	for (size_t i = 1; i < object->sections.count; i++) {
		struct section *table = object->sections.list[i];

		if (table->rule && table->rule->policy == SECTION_TABLE && table->data)
			find_replacements(section, start, table, &pieces);
	}
	if (pieces.list.count)
		qsort(pieces.list.list, pieces.list.count, sizeof(*pieces.list.list), piece_order);
	for (size_t i = 0; i < pieces.list.count; i++) {
		struct piece *piece = &pieces.list.list[i];
		uint64_t end = piece->end < section->size ? piece->end : section->size;

		if (piece->start < start) /* a second entry for the same piece */
			continue;
		add_piece(object, section, start, piece->start);
		add_piece(object, section, piece->start, end);
		start = end;
	}
	add_piece(object, section, start, section->size);
	vec_deinit(&pieces.list);
}
