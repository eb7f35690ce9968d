// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Shows that the final check (build-tool/proof) catches what it should: makes
 * one change at a time to a finished module and runs the check on each.
 *
 *	mutate [-n NUMBER] [-s SEED] [-v] FOLDER...
 *
 * Each folder is what pokepatch-build --keep left.  NUMBER is how many changes are
 * made to each (way, section) of each module; a fixed seed gives the same ones
 * each time.  Every change alters what the module means: each way below says why,
 * and what would alter only padding, an order without meaning or one
 * representation for another is not made.
 *
 * Prints a table and the changes that were not caught.  Status 1: fewer than 95 of
 * 100 in a class, one of a relocation of code, or fewer than 500 in all.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "object.h"
#include "pokepatch_format.h"
#include "proof.h"

#define LEAST_CHANGES 500
#define LEAST_PERCENT 95

static uint64_t random_state;

static uint64_t random_below(uint64_t limit) /* xorshift64*: the same everywhere */
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * 0x2545f4914f6cdd1dULL >> 11) % limit;
}

/* ---- what a byte or an entry means ---------------------------------------------------------- */

static bool is_loaded(const struct section *section)
{
	return section && (section->flags & SHF_ALLOC) && section->size;
}

static bool is_table_of_ours(const struct section *section)
{
	return has_prefix(section->name, ".pokepatch.");
}

/* Tables whose entries the kernel sorts, or reads in any order: linux/jump_label.h and others. */
static const struct table {
	const char *name;
	uint8_t size;
	uint8_t used; /* bytes of an entry that mean something */
} tables[] = {
	{"__bug_table", 12, 12},   {"__ex_table", 12, 12},	 {"__jump_table", 16, 16},
	{".altinstructions", 12, 12}, {".smp_locks", 4, 4},	 {".parainstructions", 16, 10},
	{"__mcount_loc", 8, 8},	   {".return_sites", 4, 4},	 {".retpoline_sites", 4, 4},
	{".static_call_sites", 8, 8}, {".orc_unwind_ip", 4, 4}, {".orc_unwind", 6, 6},
	{".pokepatch.funcs", sizeof(struct pokepatch_func),
	 sizeof(struct pokepatch_func)},
};

static const struct table *find_table(const struct section *section)
{
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (!strcmp(tables[i].name, section->name))
			return &tables[i];
	return NULL;
}

static const struct reloc *reloc_over(const struct object *object, const struct section *section,
				      uint64_t at)
{
	for (size_t i = 0; i < section->relocs.count; i++) {
		const struct reloc *reloc = &section->relocs.list[i];
		const struct reloc_kind *kind = arch_reloc(object->arch, reloc->type);

		if (at >= reloc->offset && at < reloc->offset + (kind ? kind->size : 0))
			return reloc;
	}
	return NULL;
}

static bool within_symbol(const struct object *object, const struct section *section, uint64_t at)
{
	for (size_t i = 1; i < object->symbols.count; i++) {
		const struct symbol *symbol = object->symbols.list[i];

		if (symbol->section == section && at >= symbol->value &&
		    at - symbol->value < symbol->size)
			return true;
	}
	return false;
}

/* struct orc_entry of 6.1: what is behind a register that is not known is not looked at. */
static bool orc_byte_means(const unsigned char *entry, uint64_t at, uint8_t bit)
{
	bool sp = entry[4] & 0x0f, bp = entry[4] & 0xf0;

	return at < 2 ? sp : at < 4 ? bp : at == 4 || bit < 4;
}

/* Does flipping that bit change what the module does? */
static bool bit_means(const struct object *object, const struct section *section, uint64_t at,
		      uint8_t bit)
{
	const unsigned char *data = section->data;
	const struct table *table = find_table(section);

	/* ld's hash over the file, which nothing can be compared with. */
	if (!strcmp(section->name, ".note.gnu.build-id"))
		return false;
	if (reloc_over(object, section, at))
		return true; /* the loader refuses a field that is not zero */
	if (!strcmp(section->name, ".orc_unwind"))
		return orc_byte_means(data + at / 6 * 6, at % 6, bit);
	if (table)
		return at % table->size < table->used;
	if (section_is_text(section) || section->flags & SHF_WRITE)
		return within_symbol(object, section, at) ||
		       !strcmp(section->name, ".altinstr_replacement");
	if (!strcmp(section->name, "__versions")) /* 4 bytes of CRC, 4 that are 0, a name */
		return at % 64 < 8 || data[at];
	/* Strings and constants: not the zeroes that align the next one. */
	return data[at] || (at && data[at - 1]);
}

/* ---- the ways ----------------------------------------------------------------------------------- */

struct mutation {
	struct object *object;
	struct section *section;
	char *what; /* owned */
};

static struct reloc *pick_reloc(struct mutation *mutation)
{
	struct section *section = mutation->section;

	return section->relocs.count
		       ? &section->relocs.list[random_below(section->relocs.count)]
		       : NULL;
}

static void tell(struct mutation *mutation, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void tell(struct mutation *mutation, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	mutation->what = xvasprintf(format, arguments);
	va_end(arguments);
}

/* R_X86_64_PLT32 and PC32 are the same to the module loader (apply_relocate_add()). */
static bool change_type(struct mutation *mutation)
{
	const struct arch *arch = mutation->object->arch;
	struct reloc *reloc = pick_reloc(mutation);

	if (!reloc)
		return false;
	const struct reloc_kind *kind = &arch->relocs[random_below(arch->reloc_count)];
	if (kind->idle || arch_reloc_meaning(arch, kind->type) ==
				  arch_reloc_meaning(arch, reloc->type))
		return false;
	if (kind->pc_relative && kind->size == 4 && arch_reloc(arch, reloc->type)->pc_relative &&
	    arch_reloc(arch, reloc->type)->size == 4)
		return false;
	tell(mutation, "%s+%#" PRIx64 ": type %u becomes %u", mutation->section->name,
	     reloc->offset, reloc->type, kind->type);
	reloc->type = kind->type;
	return true;
}

static bool same_place(const struct symbol *a, const struct symbol *b)
{
	return a == b || (a->section && a->section == b->section && a->value == b->value) ||
	       (!a->section && !b->section && !strcmp(a->name, b->name));
}

/* To a symbol at another place. */
static bool change_symbol(struct mutation *mutation)
{
	struct object *object = mutation->object;
	struct reloc *reloc = pick_reloc(mutation);

	if (!reloc)
		return false;
	struct symbol *symbol =
		object->symbols.list[1 + random_below(object->symbols.count - 1)];
	if (symbol->type == STT_FILE || symbol->special == SHN_ABS ||
	    same_place(symbol, reloc->symbol))
		return false;
	tell(mutation, "%s+%#" PRIx64 ": '%s' becomes '%s'", mutation->section->name,
	     reloc->offset, reloc->symbol->name, symbol->name);
	reloc->symbol = symbol;
	return true;
}

static bool change_addend(struct mutation *mutation)
{
	static const int64_t by[] = {1, -1, 2, 4, -4, 8, -8, 16, 64, -64, 4096};
	struct reloc *reloc = pick_reloc(mutation);

	if (!reloc)
		return false;
	int64_t delta = by[random_below(ARRAY_SIZE(by))];
	tell(mutation, "%s+%#" PRIx64 ": addend %+" PRId64, mutation->section->name, reloc->offset,
	     delta);
	reloc->addend += delta;
	return true;
}

static bool change_offset(struct mutation *mutation)
{
	static const int64_t by[] = {1, -1, 2, -2, 4, -4, 8, 16};
	struct reloc *reloc = pick_reloc(mutation);

	if (!reloc)
		return false;
	int64_t at = reloc->offset + by[random_below(ARRAY_SIZE(by))];
	if (at < 0 || at + 8 > (int64_t)mutation->section->size)
		return false;
	tell(mutation, "%s+%#" PRIx64 ": offset becomes %#" PRIx64, mutation->section->name,
	     reloc->offset, (uint64_t)at);
	reloc->offset = at;
	return true;
}

static bool delete_reloc(struct mutation *mutation)
{
	struct section *section = mutation->section;
	struct reloc *reloc = pick_reloc(mutation);

	if (!reloc)
		return false;
	tell(mutation, "%s+%#" PRIx64 ": relocation deleted", section->name, reloc->offset);
	*reloc = section->relocs.list[--section->relocs.count];
	return true;
}

/* The second finds the field not zero any more, and the loader refuses. */
static bool double_reloc(struct mutation *mutation)
{
	struct section *section = mutation->section;
	struct reloc *reloc = pick_reloc(mutation);

	if (!reloc)
		return false;
	struct reloc copy = *reloc;
	tell(mutation, "%s+%#" PRIx64 ": relocation doubled", section->name, reloc->offset);
	*vec_push(&section->relocs) = copy;
	return true;
}

/*
 * Two entries of a table that the kernel sorts or searches, which are the same but for
 * the address of code: with those swapped, the table holds the same entries.
 */
static bool are_interchangeable(const struct mutation *mutation, const struct reloc *a,
				const struct reloc *b)
{
	const struct section *section = mutation->section;
	const struct table *table = find_table(section);
	const unsigned char *data = section->data;
	uint64_t size = table ? table->size : 0, i, j;

	if (!table || a->offset % size || b->offset % size)
		return false;
	i = a->offset / size;
	j = b->offset / size;
	if (!strcmp(section->name, ".orc_unwind_ip")) { /* the rest of it is elsewhere */
		data = object_find_section(mutation->object, ".orc_unwind")->data;
		size = 6;
	} else if (size != (uint64_t)arch_reloc(mutation->object->arch, a->type)->size) {
		return false; /* more of the entry is relocated */
	}
	return !memcmp(data + i * size, data + j * size, size);
}

static bool swap_relocs(struct mutation *mutation)
{
	struct reloc *a = pick_reloc(mutation), *b = pick_reloc(mutation);

	if (!a || a == b || (same_place(a->symbol, b->symbol) && a->addend == b->addend) ||
	    are_interchangeable(mutation, a, b))
		return false;
	tell(mutation, "%s: targets of %#" PRIx64 " and %#" PRIx64 " swapped",
	     mutation->section->name, a->offset, b->offset);
	struct reloc copy = *a;
	a->symbol = b->symbol;
	a->addend = b->addend;
	b->symbol = copy.symbol;
	b->addend = copy.addend;
	return true;
}

/* Not to be written through the file's mapping by an address that others share. */
static void own_data(struct section *section, uint64_t room)
{
	unsigned char *data = xcalloc(1, room + 1);

	memcpy(data, section->data, section->size < room ? section->size : room);
	if (section->own_data)
		free(section->data);
	section->data = data;
	section->own_data = true;
	section->room = room + 1;
}

static bool flip_bit(struct mutation *mutation)
{
	struct section *section = mutation->section;
	uint64_t at = random_below(section->size);
	uint8_t bit = random_below(8);

	if (is_table_of_ours(section) || !section->data ||
	    !bit_means(mutation->object, section, at, bit))
		return false;
	tell(mutation, "%s+%#" PRIx64 ": bit %u flipped", section->name, at, bit);
	section->data[at] ^= 1 << bit;
	return true;
}

/* A row of a special section, or of our table of functions: with what is relocated in it. */
static bool remove_row(struct section *section, uint64_t at, uint64_t size)
{
	size_t kept = 0;

	own_data(section, section->size);
	memmove(section->data + at, section->data + at + size, section->size - at - size);
	section->size -= size;
	for (size_t i = 0; i < section->relocs.count; i++) {
		struct reloc reloc = section->relocs.list[i];

		if (reloc.offset >= at && reloc.offset < at + size)
			continue;
		if (reloc.offset > at)
			reloc.offset -= size;
		section->relocs.list[kept++] = reloc;
	}
	section->relocs.count = kept;
	return true;
}

static bool delete_row(struct mutation *mutation)
{
	struct section *section = mutation->section;
	const struct table *table = find_table(section);

	if (!table || section->size < table->size)
		return false;
	uint64_t at = random_below(section->size / table->size) * table->size;
	tell(mutation, "%s+%#" PRIx64 ": entry deleted", section->name, at);
	return remove_row(section, at, table->size);
}

static bool double_row(struct mutation *mutation)
{
	struct section *section = mutation->section;
	const struct table *table = find_table(section);

	if (!table || section->size < table->size)
		return false;
	uint64_t at = random_below(section->size / table->size) * table->size;
	uint64_t end = section->size;
	size_t count = section->relocs.count;
	own_data(section, end + table->size);
	memcpy(section->data + end, section->data + at, table->size);
	section->size += table->size;
	for (size_t i = 0; i < count; i++) {
		struct reloc reloc = section->relocs.list[i];

		if (reloc.offset < at || reloc.offset >= at + table->size)
			continue;
		reloc.offset += end - at;
		*vec_push(&section->relocs) = reloc;
	}
	tell(mutation, "%s+%#" PRIx64 ": entry doubled", section->name, at);
	return true;
}

/* What is not relocated of two entries changes places, and so belongs to the wrong code. */
static bool swap_rows(struct mutation *mutation)
{
	struct section *section = mutation->section;
	const struct table *table = find_table(section);
	uint64_t count = table ? section->size / table->size : 0;
	unsigned char copy[256];

	if (count < 2)
		return false;
	unsigned char *a = section->data + random_below(count) * table->size;
	unsigned char *b = section->data + random_below(count) * table->size;
	if (!memcmp(a, b, table->used))
		return false;
	tell(mutation, "%s: entries at %#tx and %#tx swapped, but for their addresses",
	     section->name, a - section->data, b - section->data);
	memcpy(copy, a, table->size);
	memcpy(a, b, table->size);
	memcpy(b, copy, table->size);
	return true;
}

/*
 * Whole entries change places.  Only where two alternatives are for one place does
 * the order mean anything: the later wins (apply_alternatives()).
 */
static bool reorder_rows(struct mutation *mutation)
{
	struct section *section = mutation->section;
	const struct table *table = find_table(section);

	if (!table || strcmp(section->name, ".altinstructions"))
		return false;
	uint64_t count = section->size / table->size;
	for (uint64_t i = random_below(count), tries = 0; tries < count; tries++, i = (i + 1) % count) {
		const struct reloc *a = reloc_over(mutation->object, section, i * table->size);
		const struct reloc *b = reloc_over(mutation->object, section, (i + 1) * table->size);

		if (i + 1 >= count || !a || !b || a->symbol != b->symbol || a->addend != b->addend)
			continue;
		uint64_t at = i * table->size;
		unsigned char copy[64];
		memcpy(copy, section->data + at, table->size);
		memcpy(section->data + at, section->data + at + table->size, table->size);
		memcpy(section->data + at + table->size, copy, table->size);
		for (size_t j = 0; j < section->relocs.count; j++) {
			struct reloc *reloc = &section->relocs.list[j];

			if (reloc->offset >= at && reloc->offset < at + table->size)
				reloc->offset += table->size;
			else if (reloc->offset >= at + table->size &&
				 reloc->offset < at + 2 * table->size)
				reloc->offset -= table->size;
		}
		tell(mutation, "%s+%#" PRIx64 ": reordered with the next", section->name, at);
		return true;
	}
	return false;
}

/* ---- the image ------------------------------------------------------------------------------------- */

/* Fields whose value the core uses; those that are reserved it only wants to be 0. */
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
	IMAGE(strings_size),
	IMAGE(name),
	IMAGE(flags),
	FIELD(pokepatch_object, name, objects, nr_objects),
	FIELD(pokepatch_object, build_id_len, objects, nr_objects),
	FIELD(pokepatch_object, build_id, objects, nr_objects),
	FIELD(pokepatch_symbol, offset, symbols, nr_symbols),
	FIELD(pokepatch_symbol, size, symbols, nr_symbols),
	FIELD(pokepatch_symbol, object, symbols, nr_symbols),
	FIELD(pokepatch_symbol, name, symbols, nr_symbols),
	FIELD(pokepatch_symbol, section, symbols, nr_symbols),
	FIELD(pokepatch_symbol, pos, symbols, nr_symbols),
	FIELD(pokepatch_symbol, flags, symbols, nr_symbols),
	FIELD(pokepatch_func, new_size, funcs, nr_funcs),
	FIELD(pokepatch_func, new_cold_size, funcs, nr_funcs),
	FIELD(pokepatch_func, symbol, funcs, nr_funcs),
	FIELD(pokepatch_func, cold, funcs, nr_funcs),
	FIELD(pokepatch_func, mode, funcs, nr_funcs),
	FIELD(pokepatch_reloc, addend, relocs, nr_relocs),
	FIELD(pokepatch_reloc, symbol, relocs, nr_relocs),
	FIELD(pokepatch_reloc, type, relocs, nr_relocs),
};

/* Rows of a field's table, where the image says it is. */
static unsigned char *image_rows(struct mutation *mutation, const struct image_field *field,
				 uint32_t *ret_count)
{
	struct section *image = object_find_section(mutation->object, POKEPATCH_SECTION_IMAGE);

	*ret_count = 1;
	if (!field->pointer)
		return image->data;
	const struct reloc *reloc = reloc_over(mutation->object, image, field->pointer);
	*ret_count = object_get32(mutation->object, image->data + field->count);
	return reloc && *ret_count
		       ? reloc->symbol->section->data + reloc->symbol->value + reloc->addend
		       : NULL;
}

static bool change_field(struct mutation *mutation)
{
	const struct image_field *field = &image_fields[random_below(ARRAY_SIZE(image_fields))];
	uint32_t count;

	if (strcmp(mutation->section->name, POKEPATCH_SECTION_IMAGE))
		return false;
	unsigned char *rows = image_rows(mutation, field, &count);
	if (!rows)
		return false;
	uint64_t row = random_below(count), byte = random_below(field->size);
	uint8_t bit = random_below(8);
	if (!strcmp(field->name, "pokepatch_object.build_id") && byte >= 20)
		return false;
	tell(mutation, "%s of row %" PRIu64 ": bit %u of byte %" PRIu64 " flipped", field->name,
	     row, bit, byte);
	rows[row * field->row + field->offset + byte] ^= 1 << bit;
	return true;
}

/* Rows of one table change places, and those that name them by number do not. */
static bool swap_image_rows(struct mutation *mutation)
{
	const struct image_field *field = &image_fields[random_below(ARRAY_SIZE(image_fields))];
	unsigned char copy[128];
	uint32_t count;

	if (strcmp(mutation->section->name, POKEPATCH_SECTION_IMAGE) || !field->pointer)
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
	memcpy(copy, a, field->row);
	memcpy(a, b, field->row);
	memcpy(b, copy, field->row);
	return true;
}

/* The last row is no longer counted, or the row before the first of the next table is. */
static bool count_rows(struct mutation *mutation)
{
	static const char *const names[] = {"nr_objects", "nr_symbols", "nr_funcs", "nr_relocs"};
	static const size_t counts[] = {
		offsetof(struct pokepatch_image, nr_objects),
		offsetof(struct pokepatch_image, nr_symbols),
		offsetof(struct pokepatch_image, nr_funcs),
		offsetof(struct pokepatch_image, nr_relocs),
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

/* ---- symbols and sections ------------------------------------------------------------------------------ */

static bool is_used(const struct object *object, const struct symbol *symbol)
{
	for (size_t i = 1; i < object->sections.count; i++) {
		const struct section *section = object->sections.list[i];

		for (size_t j = 0; is_loaded(section) && j < section->relocs.count; j++)
			if (section->relocs.list[j].symbol == symbol)
				return true;
	}
	return false;
}

/* Of one that relocations use, as all else is for whoever debugs. */
static bool move_symbol(struct mutation *mutation)
{
	struct object *object = mutation->object;
	struct symbol *symbol = object->symbols.list[1 + random_below(object->symbols.count - 1)];

	if (symbol->section != mutation->section || symbol->type == STT_SECTION ||
	    !is_used(object, symbol))
		return false;
	uint64_t by = 1 + random_below(16);
	if (symbol->value + symbol->size + by > symbol->section->size) {
		if (symbol->value < by)
			return false;
		by = -by;
	}
	symbol->value += by;
	tell(mutation, "symbol '%s' moved by %" PRId64, symbol->name, (int64_t)by);
	return true;
}

static bool rename_undefined(struct mutation *mutation)
{
	struct object *object = mutation->object;
	struct symbol *symbol = object->symbols.list[1 + random_below(object->symbols.count - 1)];
	struct symbol *other = object->symbols.list[1 + random_below(object->symbols.count - 1)];

	/* Counted for code, where most undefined symbols are used. */
	if (strcmp(mutation->section->name, ".text") || symbol->section || other->section ||
	    symbol->special || other->special || symbol->type == STT_FILE ||
	    other->type == STT_FILE || !is_used(object, symbol) ||
	    !strcmp(symbol->name, other->name))
		return false;
	tell(mutation, "undefined '%s' renamed to '%s'", symbol->name, other->name);
	symbol->name = other->name;
	return true;
}

static bool is_named_by_number(const struct object *object, const struct section *section)
{
	for (size_t i = 1; i < object->symbols.count; i++)
		if (object->symbols.list[i]->section == section &&
		    is_used(object, object->symbols.list[i]))
			return true;
	return false;
}

/* The headers of two sections change places, and the symbols' numbers of sections do not. */
static bool swap_sections(struct mutation *mutation)
{
	struct object *object = mutation->object;
	struct section *a = mutation->section;
	struct section *b = object->sections.list[1 + random_below(object->sections.count - 1)];

	/* Where no number is used, the order of sections has no meaning. */
	if (!is_loaded(b) || a == b || !(is_named_by_number(object, a) || is_named_by_number(object, b)))
		return false;
	tell(mutation, "sections %s and %s swapped", a->name, b->name);
	struct section copy = *a;
	*a = *b;
	*b = copy;
	a->symbol = b->symbol;
	b->symbol = copy.symbol;
	return true;
}

/* The kernel finds special sections by name, and places others by their flags. */
static bool change_header(struct mutation *mutation)
{
	static const uint64_t flags[] = {SHF_WRITE, SHF_EXECINSTR, SHF_ALLOC};
	struct section *section = mutation->section;

	if (find_table(section) && !is_table_of_ours(section)) {
		tell(mutation, "section %s renamed", section->name);
		section->name = ".rodata.other";
		return true;
	}
	if (!section_is_text(section) && !(section->flags & SHF_WRITE) &&
	    !has_prefix(section->name, ".rodata"))
		return false;
	uint64_t flag = flags[random_below(ARRAY_SIZE(flags))];
	section->flags ^= flag;
	tell(mutation, "flag %#" PRIx64 " of section %s flipped", flag, section->name);
	return true;
}

static const struct way {
	const char *name;
	bool of_reloc;
	bool (*apply)(struct mutation *mutation); /* false: it does not apply there */
} ways[] = {
	{"relocation type", true, change_type},
	{"relocation symbol", true, change_symbol},
	{"relocation addend", true, change_addend},
	{"relocation offset", true, change_offset},
	{"relocation deleted", true, delete_reloc},
	{"relocation doubled", true, double_reloc},
	{"relocations swapped", true, swap_relocs},
	{"bit flipped", false, flip_bit},
	{"entry deleted", false, delete_row},
	{"entry doubled", false, double_row},
	{"entries swapped", false, swap_rows},
	{"entries reordered", false, reorder_rows},
	{"image: field", false, change_field},
	{"image: rows swapped", false, swap_image_rows},
	{"image: row count", false, count_rows},
	{"symbol moved", false, move_symbol},
	{"undefined symbol", false, rename_undefined},
	{"section order", false, swap_sections},
	{"section header", false, change_header},
};

/* ---- running ------------------------------------------------------------------------------------------------ */

struct score {
	char *name;
	size_t made, caught;
};

struct run {
	struct score by_way[ARRAY_SIZE(ways)], text_relocs;
	VEC(struct score) by_section;
	VEC(char *) survivors;
	struct map seen;
	VEC(char *) keys;
	size_t number;
	bool verbose;
	char *file; /* where a changed module is written */
};

static void die(struct error *error)
{
	if (!error)
		return;
	fprintf(stderr, "mutate: %s\n", error->text);
	exit(STATUS_FAILED);
}

static struct score *section_score(struct run *run, const char *name)
{
	for (size_t i = 0; i < run->by_section.count; i++)
		if (!strcmp(run->by_section.list[i].name, name))
			return &run->by_section.list[i];
	struct score *score = vec_push(&run->by_section);
	score->name = xstrdup(name);
	return score;
}

static void count(struct score *score, bool caught)
{
	score->made++;
	score->caught += caught;
}

/* One change; false if it does not apply, or was made before. */
static bool mutate_once(struct run *run, struct proof *proof, const char *ko, size_t way,
			size_t section_index)
{
	struct object object;

	die(object_read(ko, &object));
	struct mutation mutation = {&object, object.sections.list[section_index], NULL};
	char *section _free_ = xstrdup(mutation.section->name);
	bool text = section_is_text(mutation.section) && ways[way].of_reloc;
	bool applied = ways[way].apply(&mutation);

	if (applied) {
		char *key = xasprintf("%s: %s", ko, mutation.what);

		*vec_push(&run->keys) = key;
		applied = !map_has(&run->seen, key);
		*map_slot(&run->seen, key) = NULL;
	}
	if (applied) {
		die(object_write(&object, run->file));
		struct error *error = proof_check(proof, run->file);

		if (run->verbose)
			printf("%s: %s\n", mutation.what, error ? error->text : "not caught");
		if (!error)
			*vec_push(&run->survivors) = xasprintf("%s: %s", ko, mutation.what);
		count(&run->by_way[way], error != NULL);
		count(section_score(run, section), error != NULL);
		if (text)
			count(&run->text_relocs, error != NULL);
		error_destroy(error);
	}
	free(mutation.what);
	object_deinit(&object);
	return applied;
}

static char *find_module(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char *ko = NULL;

	while (dir && (entry = readdir(dir)))
		if (!ko && has_suffix(entry->d_name, ".ko"))
			ko = xasprintf("%s/%s", folder, entry->d_name);
	if (dir)
		closedir(dir);
	if (!ko)
		die(error_new(STATUS_FAILED, "%s: no module there", folder));
	return ko;
}

/* As it is, and as object_write() writes it: neither may be called wrong. */
static void check_unchanged(struct run *run, struct proof *proof, const char *ko,
			    struct object *object)
{
	die(proof_check(proof, ko));
	die(object_write(object, run->file));
	die(proof_check(proof, run->file));
}

static void mutate_module(struct run *run, const char *folder)
{
	char *input_file _free_ = xasprintf("%s/proof.txt", folder);
	char *ko _free_ = find_module(folder);
	struct proof_input input;
	struct proof *proof;
	struct object object;

	die(proof_input_read(input_file, &input));
	die(proof_open(&input, &proof));
	die(object_read(ko, &object));
	check_unchanged(run, proof, ko, &object);
	for (size_t way = 0; way < ARRAY_SIZE(ways); way++)
		for (size_t i = 1; i < object.sections.count; i++) {
			size_t made = 0;

			if (!is_loaded(object.sections.list[i]))
				continue;
			for (size_t tries = 0; made < run->number && tries < run->number * 6; tries++)
				made += mutate_once(run, proof, ko, way, i);
		}
	object_deinit(&object);
	proof_close(proof);
	proof_input_deinit(&input);
}

static bool print_score(const struct score *score, const char *name, size_t percent)
{
	bool good = score->caught * 100 >= score->made * percent;

	if (score->made)
		printf("  %-28s %5zu of %5zu  %s\n", name, score->caught, score->made,
		       good ? "" : "TOO FEW");
	return good;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct score *)left)->name, ((const struct score *)right)->name);
}

static bool print_all(struct run *run, double seconds)
{
	struct score all = {0};
	bool good = true;

	printf("Caught, by what was changed:\n");
	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		good &= print_score(&run->by_way[i], ways[i].name, LEAST_PERCENT);
		all.made += run->by_way[i].made;
		all.caught += run->by_way[i].caught;
	}
	printf("by section:\n");
	if (run->by_section.count)
		qsort(run->by_section.list, run->by_section.count, sizeof(*run->by_section.list),
		      by_name);
	for (size_t i = 0; i < run->by_section.count; i++)
		good &= print_score(&run->by_section.list[i], run->by_section.list[i].name,
				    LEAST_PERCENT);
	good &= print_score(&run->text_relocs, "relocations of code", 100);
	good &= print_score(&all, "all", LEAST_PERCENT);
	printf("%.1f seconds\n", seconds);
	for (size_t i = 0; i < run->survivors.count; i++)
		printf("not caught: %s\n", run->survivors.list[i]);
	return good && all.made >= LEAST_CHANGES;
}

int main(int argc, char **argv)
{
	struct run run = {.number = 2};
	double start = now_seconds();
	char *folder;
	int option;

	random_state = 20221211;
	while ((option = getopt(argc, argv, "n:s:v")) != -1) {
		if (option == 'n')
			run.number = strtoul(optarg, NULL, 10);
		else if (option == 's')
			random_state = strtoull(optarg, NULL, 10) | 1;
		else if (option == 'v')
			run.verbose = true;
		else
			return STATUS_FAILED;
	}
	die(temp_dir(&folder));
	run.file = xasprintf("%s/changed.ko", folder);
	for (int i = optind; i < argc; i++)
		mutate_module(&run, argv[i]);
	die(remove_tree(folder));

	bool good = print_all(&run, now_seconds() - start);
	for (size_t i = 0; i < run.keys.count; i++)
		free(run.keys.list[i]);
	for (size_t i = 0; i < run.survivors.count; i++)
		free(run.survivors.list[i]);
	for (size_t i = 0; i < run.by_section.count; i++)
		free(run.by_section.list[i].name);
	vec_deinit(&run.keys);
	vec_deinit(&run.survivors);
	vec_deinit(&run.by_section);
	map_deinit(&run.seen);
	free(run.file);
	free(folder);
	return good ? STATUS_DONE : STATUS_FAILED;
}
