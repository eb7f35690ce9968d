// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes of pokepatch's own tables, by their fields. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"
#include "pokepatch_format.h"

/* All fields but the addresses: those are relocated, and relocs.c changes them. */
#define FIELD(type, field, pointer, count)                                                        \
	{#type "." #field, offsetof(struct type, field), sizeof(((struct type *)0)->field),       \
	 sizeof(struct type), offsetof(struct pokepatch_image, pointer),                           \
	 offsetof(struct pokepatch_image, count)}
#define IMAGE(field)                                                                               \
	{"pokepatch_image." #field, offsetof(struct pokepatch_image, field),                       \
	 sizeof(((struct pokepatch_image *)0)->field), sizeof(struct pokepatch_image), 0, 0}
static const struct image_field {
	const char *name;
	size_t offset, size, row, pointer, count;
} image_fields[] = {
	IMAGE(magic),
	IMAGE(format),
	IMAGE(size),
	IMAGE(transition),
	IMAGE(nr_objects),
	IMAGE(nr_symbols),
	IMAGE(nr_funcs),
	IMAGE(nr_relocs),
	IMAGE(nr_callbacks),
	IMAGE(strings_size),
	IMAGE(name),
	IMAGE(flags),
	IMAGE(nr_stubs),
	IMAGE(texts_size),
	IMAGE(nr_markers),
	IMAGE(level),
	IMAGE(least_level),
	FIELD(pokepatch_object, name, objects, nr_objects),
	FIELD(pokepatch_object, build_id_len, objects, nr_objects),
	FIELD(pokepatch_object, build_id, objects, nr_objects),
	FIELD(pokepatch_object, reserved, objects, nr_objects),
	FIELD(pokepatch_symbol, offset, symbols, nr_symbols),
	FIELD(pokepatch_symbol, size, symbols, nr_symbols),
	FIELD(pokepatch_symbol, object, symbols, nr_symbols),
	FIELD(pokepatch_symbol, name, symbols, nr_symbols),
	FIELD(pokepatch_symbol, section, symbols, nr_symbols),
	FIELD(pokepatch_symbol, pos, symbols, nr_symbols),
	FIELD(pokepatch_symbol, flags, symbols, nr_symbols),
	FIELD(pokepatch_symbol, reserved, symbols, nr_symbols),
	FIELD(pokepatch_func, new_size, funcs, nr_funcs),
	FIELD(pokepatch_func, new_cold_size, funcs, nr_funcs),
	FIELD(pokepatch_func, symbol, funcs, nr_funcs),
	FIELD(pokepatch_func, cold, funcs, nr_funcs),
	FIELD(pokepatch_func, mode, funcs, nr_funcs),
	FIELD(pokepatch_func, flags, funcs, nr_funcs),
	FIELD(pokepatch_func, text, funcs, nr_funcs),
	FIELD(pokepatch_func, cold_text, funcs, nr_funcs),
	FIELD(pokepatch_reloc, addend, relocs, nr_relocs),
	FIELD(pokepatch_reloc, symbol, relocs, nr_relocs),
	FIELD(pokepatch_reloc, type, relocs, nr_relocs),
	FIELD(pokepatch_callback, object, callbacks, nr_callbacks),
	FIELD(pokepatch_callback, kind, callbacks, nr_callbacks),
};

/* The rows of a field's table; NULL: the image does not say that they are in this section. */
static unsigned char *image_rows(struct mutation *mutation, const struct image_field *field,
				 uint32_t *ret_count)
{
	struct section *image = object_find_section(mutation->object, POKEPATCH_SECTION_IMAGE);

	*ret_count = 1;
	if (!field->pointer)
		return mutation->section == image ? image->data : NULL;
	const struct reloc *reloc = reloc_over(mutation->object, image, field->pointer);
	*ret_count = object_get32(mutation->object, image->data + field->count);
	return reloc && *ret_count && reloc->symbol->section == mutation->section
		       ? mutation->section->data + reloc->symbol->value + reloc->addend
		       : NULL;
}

static bool change_field(struct mutation *mutation)
{
	const struct image_field *field = &image_fields[random_below(ARRAY_SIZE(image_fields))];
	uint32_t count;

	unsigned char *rows = image_rows(mutation, field, &count);
	if (!rows)
		return false;
	uint64_t row = random_below(count), byte = random_below(field->size);
	uint8_t bit = random_below(8);
	tell(mutation, "%s of row %" PRIu64 ": bit %u of byte %" PRIu64 " flipped", field->name,
	     row, bit, byte);
	rows[row * field->row + field->offset + byte] ^= 1 << bit;
	return true;
}

/*
 * Are the rows of two of vmlinux's constants with the same contents, whose names differ in their
 * numbers only?  Which is which no object tells, nor does it matter.
 */
static bool same_constants(const struct mutation *mutation, const unsigned char *a,
			   const unsigned char *b)
{
	const struct object *object = mutation->object;
	const struct section *strings = object_find_section(object, POKEPATCH_SECTION_STRINGS);
	const struct {
		uint64_t offset, size;
		uint32_t parent, flags;
		const char *name;
	} rows[] = {
#define ROW(row)                                                                                   \
	{object_get64(object, row + offsetof(struct pokepatch_symbol, offset)),                    \
	 object_get64(object, row + offsetof(struct pokepatch_symbol, size)),                      \
	 object_get32(object, row + offsetof(struct pokepatch_symbol, object)),                    \
	 object_get32(object, row + offsetof(struct pokepatch_symbol, flags)),                     \
	 (const char *)strings->data +                                                             \
		 object_get32(object, row + offsetof(struct pokepatch_symbol, name))}
		ROW(a), ROW(b)};
	const char *dot = strrchr(rows[0].name, '.');

	return dot && !strncmp(rows[0].name, rows[1].name, dot + 1 - rows[0].name) &&
	       rows[0].size && rows[0].size == rows[1].size && !rows[0].parent &&
	       !rows[1].parent && !rows[0].flags && !rows[1].flags &&
	       same_contents(mutation->vmlinux, rows[0].offset, rows[1].offset, rows[0].size);
}

/* Swap two rows of a table, and leave alone the rows that name them by number. */
static bool swap_image_rows(struct mutation *mutation)
{
	const struct image_field *field = &image_fields[random_below(ARRAY_SIZE(image_fields))];
	unsigned char copy[128];
	uint32_t count;

	if (!field->pointer)
		return false;
	unsigned char *rows = image_rows(mutation, field, &count);
	if (!rows || count < 2)
		return false;
	unsigned char *a = rows + random_below(count) * field->row;
	unsigned char *b = rows + random_below(count) * field->row;
	if (!memcmp(a, b, field->row))
		return false;
	tell(mutation, "%.*s: rows %td and %td swapped", (int)strcspn(field->name, "."),
	     field->name, (a - rows) / (ptrdiff_t)field->row, (b - rows) / (ptrdiff_t)field->row);
	if (field->pointer == offsetof(struct pokepatch_image, symbols) &&
	    same_constants(mutation, a, b))
		mutation->same = "two constants with the same contents";
	memcpy(copy, a, field->row);
	memcpy(a, b, field->row);
	memcpy(b, copy, field->row);
	return true;
}

/* Count one row less or one more than the table has. */
static bool count_rows(struct mutation *mutation)
{
	static const char *const names[] = {"nr_objects", "nr_symbols", "nr_funcs", "nr_relocs",
					     "nr_callbacks"};
	static const size_t counts[] = {
		offsetof(struct pokepatch_image, nr_objects),
		offsetof(struct pokepatch_image, nr_symbols),
		offsetof(struct pokepatch_image, nr_funcs),
		offsetof(struct pokepatch_image, nr_relocs),
		offsetof(struct pokepatch_image, nr_callbacks),
	};
	size_t which = random_below(ARRAY_SIZE(counts));
	bool more = random_below(2);

	if (strcmp(mutation->section->name, POKEPATCH_SECTION_IMAGE))
		return false;
	unsigned char *count = mutation->section->data + counts[which];
	uint32_t value = object_get32(mutation->object, count);
	if (!value && !more)
		return false;
	object_put32(mutation->object, count, more ? value + 1 : value - 1);
	tell(mutation, "%s: one %s", names[which], more ? "more" : "less");
	return true;
}

const struct way image_ways[] = {
	{.name = "image: field", .apply = change_field, .weight = 12},
	{.name = "image: rows swapped", .apply = swap_image_rows, .weight = 3},
	{.name = "image: row count", .apply = count_rows, .weight = 3},
	{0},
};
