// SPDX-License-Identifier: GPL-2.0-or-later
/* Making the runs of original bytes that the core compares live code with; see texts.h. */
#include "pokepatch-build/texts.h"

#include "common/search.h"
#include "object/atoms.h"
#include "pokepatch_format.h"

#include <stdlib.h>
#include <string.h>

/* ---- places that the running kernel rewrites ---------------------------------------- */

static int place_order(const void *left, const void *right)
{
	const struct rewritten_place *a = left, *b = right;

	if (a->section != b->section)
		return a->section->index < b->section->index ? -1 : 1;
	return a->start < b->start ? -1 : a->start > b->start;
}

/*
 * Does the section consist of entries of this size, with one relocation at the start of each?  The
 * last entry may lack its padding (.parainstructions), but not the byte at last_read.
 */
static bool has_entries(const struct section *section, uint8_t entry, uint8_t last_read)
{
	uint64_t rest = section->size % entry, found = 0;

	for (size_t i = 0; i < section->relocs.count; i++)
		found += section->relocs.list[i].offset % entry == 0;
	return section->data && found == (section->size + entry - 1) / entry &&
	       (!rest || rest > last_read);
}

/*
 * The section and offset of the code that an entry refers to; NULL if no entry begins at this
 * relocation, or it refers to something else than code of this object.
 */
static const struct section *entry_code(const struct reloc *reloc, uint8_t entry, uint64_t *ret)
{
	const struct section *code = reloc->symbol->section;

	*ret = reloc->symbol->value + reloc->addend;
	return reloc->offset % entry || !code || !code->data || *ret >= code->size ? NULL : code;
}

static void add_sites(const struct section *section, const struct site_table *table,
		      struct rewritten *ret)
{
	uint64_t start;

	if (strcmp(section->name, table->section) ||
	    !has_entries(section, table->entry, table->length_at))
		return;
	for (size_t i = 0; i < section->relocs.count; i++) {
		const struct reloc *reloc = &section->relocs.list[i];
		const struct section *code = entry_code(reloc, table->entry, &start);

		if (code)
			*vec_push(&ret->places) = (struct rewritten_place){
				code, start,
				table->length_at ? section->data[reloc->offset + table->length_at]
						 : table->length,
				NULL};
	}
}

/*
 * The number of bytes at start that are NOPs: 4-byte words of zeroes, as on MIPS.
 */
static uint64_t count_nops(const struct section *code, uint64_t start, uint64_t length)
{
	uint64_t found = 0;

	while (found + 4 <= length && start + found + 4 <= code->size &&
	       !memcmp(code->data + start + found, "\0\0\0", 4))
		found += 4;
	return found;
}

static void add_late(const struct section *section, const struct late_table *table,
		     struct rewritten *ret)
{
	uint64_t start;

	if (!has_entries(section, table->entry, 0))
		return;
	for (size_t i = 0; i < section->relocs.count; i++) {
		const struct section *code =
			entry_code(&section->relocs.list[i], table->entry, &start);
		bool other = code && table->first && code->data[start] &&
			     strchr(table->first, code->data[start]);

		if (code && start >= table->before)
			*vec_push(&ret->places) = (struct rewritten_place){
				code, start - table->before,
				other	      ? table->first_length
				: table->nops ? count_nops(code, start, table->length)
					      : table->length,
				table};
	}
}

void rewritten_init(const struct object *object, struct rewritten *ret)
{
	*ret = (struct rewritten){0};
	for (size_t i = 1; i < object->sections.count; i++) {
		const struct section *section = object->sections.list[i];

		for (const struct site_table *table = object->arch->loader.site_tables;
		     table && table->section; table++)
			add_sites(section, table, ret);
		for (const struct late_table *table = object->arch->loader.late_tables;
		     table && table->section; table++)
			if (!strcmp(section->name, table->section))
				add_late(section, table, ret);
		for (const struct late_table *table = object->arch->loader.late_prefixes;
		     table && table->section; table++)
			if (has_prefix(section->name, table->section))
				add_late(section, table, ret);
	}
	if (ret->places.count)
		qsort(ret->places.list, ret->places.count, sizeof(*ret->places.list), place_order);
}

void rewritten_deinit(struct rewritten *rewritten)
{
	vec_deinit(&rewritten->places);
}

/* ---- bytes to leave out of the comparison ------------------------------------------- */

static void mask(bool *masked, const struct symbol *symbol, uint64_t start, uint64_t length)
{
	for (uint64_t i = start; i < start + length; i++)
		if (i - symbol->value < symbol->size)
			masked[i - symbol->value] = true;
}

/* The place in the function that the table names by an address in front of it. */
static uint64_t place_behind(const struct text_source *source, const struct late_table *table)
{
	const struct symbol *symbol = source->symbol;
	const char *pad = table->landing_pad;

	return pad && symbol->size >= 4 &&
			       !memcmp(symbol->section->data + symbol->value, pad, 4)
		       ? symbol->value + 4
		       : symbol->value;
}

/* How far in front of a function the place that a table names for it may be, at most. */
static uint64_t longest_lead(const struct text_source *source)
{
	const struct late_table *table = source->object->arch->loader.late_tables;
	uint64_t longest = 0;

	for (; table && table->section; table++)
		if (table->lead > longest)
			longest = table->lead;
	return longest;
}

/*
 * A place never crosses the end of a function, so the first one to look at begins in this one, or
 * right in front of it.
 */
static void mask_places(const struct text_source *source, bool *masked)
{
	const struct symbol *symbol = source->symbol;
	uint64_t lead = longest_lead(source);
	const struct rewritten_place key = {
		.section = symbol->section,
		.start = symbol->value > lead ? symbol->value - lead : 0,
	};
	const struct rewritten_place *list = source->rewritten->places.list;
	size_t count = source->rewritten->places.count;

	for (size_t i = first_index(j, count, place_order(&list[j], &key) >= 0);
	     i < count && list[i].section == symbol->section &&
	     list[i].start < symbol->value + symbol->size;
	     i++) {
		const struct late_table *table = list[i].table;

		if (list[i].start >= symbol->value)
			mask(masked, symbol, list[i].start, list[i].length);
		else if (table && table->lead && list[i].start + table->lead == symbol->value)
			mask(masked, symbol, place_behind(source, table), list[i].length);
	}
}

/* Landing pads that the kernel seals. */
static void mask_seals(const struct text_source *source, bool *masked)
{
	const struct arch_loader *loader = &source->object->arch->loader;
	size_t count;

	if (!loader->seal_table)
		return;
	const struct parent_site *list = parent_sites_in(
		source->parent, parent_sites(source->parent, loader->seal_table), source->old,
		&count);
	for (size_t i = 0; i < count; i++)
		mask(masked, source->symbol,
		     list[i].value - source->old->value + source->symbol->value,
		     loader->seal_length);
}

/* More than the size of any kernel's image. */
#define IMAGE_MAX (1ull << 30)

/*
 * Is the field the distance between two places in vmlinux?  KASLR moves vmlinux as a whole, by
 * pages, so distances within it do not change, nor do instructions that hold one.  A distance from
 * code to a per-CPU symbol does change, because per-CPU symbols have offsets for addresses.  Those
 * are out of reach for a field within an instruction (kind->mask).
 */
static bool is_distance(const struct text_source *source, const struct reloc_kind *kind,
			uint64_t at)
{
	const struct object *object = source->object;

	if (strcmp(source->parent->name, "vmlinux") || !kind->pc_relative || kind->size != 4)
		return false;
	if (kind->mask)
		return true;
	int32_t distance = object_get32(object, source->bytes + at);
	uint64_t target = source->old->value + at + distance;
	return target - source->parent->base < IMAGE_MAX;
}

static void mask_relocs(const struct text_source *source, bool *masked)
{
	const struct symbol *symbol = source->symbol;
	size_t count;
	const struct reloc *relocs = section_relocs(symbol->section, symbol->value,
						    symbol->value + symbol->size, &count);

	for (size_t i = 0; i < count; i++) {
		const struct reloc_kind *kind = arch_reloc(source->object->arch, relocs[i].type);
		uint64_t at = relocs[i].offset - symbol->value;
		uint64_t length = kind ? kind->size : 8; /* an unknown type: no field is longer */

		if (!kind || at + length > symbol->size || !is_distance(source, kind, at))
			mask(masked, symbol, relocs[i].offset, length);
	}
}

/* ---- runs ------------------------------------------------------------------------------- */

/* The number of bytes from from on that are masked, or are not; at most what a run can hold. */
static uint64_t run_length(const bool *masked, uint64_t from, uint64_t size, bool what)
{
	uint64_t length = 0;

	while (length < POKEPATCH_RUN_MAX && from + length < size && masked[from + length] == what)
		length++;
	return length;
}

void text_source_add_runs(const struct text_source *source, struct buffer *ret)
{
	uint64_t size = source->symbol->size;
	bool *masked _free_ = xcalloc(size + 1, sizeof(*masked));

	mask_places(source, masked);
	mask_seals(source, masked);
	mask_relocs(source, masked);
	for (uint64_t at = 0; at < size;) {
		unsigned char head[2];

		head[0] = run_length(masked, at, size, true);
		head[1] = run_length(masked, at + head[0], size, false);
		buffer_add(ret, (const char *)head, sizeof(head));
		buffer_add(ret, (const char *)source->bytes + at + head[0], head[1]);
		at += head[0] + head[1];
	}
}
