/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An input of the fuzzer of images: changes to the tables of a good patch module, 8 bytes each.
 * fuzz_image makes them in memory, vm/programs/hostile.c in a copy of a module, so that what the
 * fuzzer has found can be loaded into a kernel.
 */
#ifndef IMAGE_EDITS_H
#define IMAGE_EDITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum image_table { IMAGE, OBJECTS, SYMBOLS, FUNCS, RELOCS, CALLBACKS, MARKERS, TEXTS, STRINGS };

/* A field of an entry of a table.  The module loader relocates addresses: they can be added to only. */
struct image_field {
	enum image_table table;
	size_t offset, size;
	bool address;
};

#define IMAGE_FIELD(table, type, member, address) \
	{ table, offsetof(struct type, member), sizeof(((struct type *)0)->member), address }
#define IMAGE_N(member) IMAGE_FIELD(IMAGE, pokepatch_image, member, false)
#define IMAGE_A(member) IMAGE_FIELD(IMAGE, pokepatch_image, member, true)
#define OBJECT_N(member) IMAGE_FIELD(OBJECTS, pokepatch_object, member, false)
#define SYMBOL_N(member) IMAGE_FIELD(SYMBOLS, pokepatch_symbol, member, false)
#define FUNC_N(member) IMAGE_FIELD(FUNCS, pokepatch_func, member, false)
#define RELOC_N(member) IMAGE_FIELD(RELOCS, pokepatch_reloc, member, false)
#define CALLBACK_N(member) IMAGE_FIELD(CALLBACKS, pokepatch_callback, member, false)
#define MARKER_N(member) IMAGE_FIELD(MARKERS, pokepatch_marker, member, false)
#define MARKER_A(member) IMAGE_FIELD(MARKERS, pokepatch_marker, member, true)

static const struct image_field image_fields[] = {
	IMAGE_N(magic), IMAGE_N(format), IMAGE_N(size), IMAGE_N(transition), IMAGE_N(nr_objects),
	IMAGE_N(nr_symbols), IMAGE_N(nr_funcs), IMAGE_N(nr_relocs), IMAGE_N(nr_callbacks),
	IMAGE_N(strings_size), IMAGE_N(flags), IMAGE_N(texts_size), IMAGE_N(nr_markers),
	IMAGE_A(objects), IMAGE_A(symbols), IMAGE_A(funcs), IMAGE_A(relocs), IMAGE_A(callbacks),
	IMAGE_A(strings), IMAGE_A(texts), IMAGE_A(stubs), IMAGE_N(nr_stubs), IMAGE_N(name),
	IMAGE_A(markers), IMAGE_N(level), IMAGE_N(least_level),
	OBJECT_N(name), OBJECT_N(build_id_len), OBJECT_N(build_id), OBJECT_N(reserved),
	SYMBOL_N(offset), SYMBOL_N(size), SYMBOL_N(object), SYMBOL_N(name), SYMBOL_N(section),
	SYMBOL_N(pos), SYMBOL_N(flags), SYMBOL_N(reserved),
	IMAGE_FIELD(FUNCS, pokepatch_func, new_addr, true),
	IMAGE_FIELD(FUNCS, pokepatch_func, new_cold_addr, true),
	FUNC_N(new_size), FUNC_N(new_cold_size), FUNC_N(symbol), FUNC_N(cold), FUNC_N(mode),
	FUNC_N(flags), FUNC_N(text), FUNC_N(cold_text),
	IMAGE_FIELD(RELOCS, pokepatch_reloc, where, true),
	RELOC_N(addend), RELOC_N(symbol), RELOC_N(type),
	IMAGE_FIELD(CALLBACKS, pokepatch_callback, func, true),
	CALLBACK_N(object), CALLBACK_N(kind),
	MARKER_N(probes), MARKER_N(core), MARKER_N(missed), MARKER_A(name), MARKER_A(format),
	MARKER_A(file), MARKER_N(line), MARKER_N(reserved),
	{ TEXTS, 0, 1, false }, { STRINGS, 0, 1, false },
};

/* One change: where, and what. */
struct image_edit {
	const struct image_field *field;
	unsigned int entry;	/* to be taken modulo the number of the table's entries */
	bool add;
	uint64_t value;		/* an int32_t, sign-extended */
};

/* Read the @nr-th change of an input.  Return: false if there is none. */
static inline bool image_edit_read(const uint8_t *data, size_t size, size_t nr,
				   struct image_edit *edit)
{
	const size_t fields = sizeof(image_fields) / sizeof(image_fields[0]);
	uint16_t entry;
	int32_t value;

	if (size / 8 <= nr)
		return false;
	data += nr * 8;
	memcpy(&entry, data + 2, sizeof(entry));
	memcpy(&value, data + 4, sizeof(value));
	*edit = (struct image_edit){
		.field = &image_fields[data[0] % fields],
		.entry = entry,
		.add = data[1] & 1,
		.value = (uint64_t)(int64_t)value,
	};
	return true;
}

/* The new value of a field that is not an address.  Of a long field, change the first 8 bytes. */
static inline void image_edit_number(const struct image_edit *edit, uint8_t *field)
{
	const size_t size = edit->field->size < 8 ? edit->field->size : 8;
	uint64_t value = 0;

	memcpy(&value, field, size);
	value = edit->add ? value + edit->value : edit->value;
	memcpy(field, &value, size);
}

#endif /* IMAGE_EDITS_H */
