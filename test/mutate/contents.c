// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes of a module's bytes, entries, sections and symbols. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"
#include "pokepatch_format.h"

/* Give the section its own copy of its data, with room to grow, in place of the file's mapping. */
static void own_data(struct section *section, uint64_t room)
{
	unsigned char *data = xcalloc(1, room + 1);

	if (section->data)
		memcpy(data, section->data, section->size < room ? section->size : room);
	if (section->own_data)
		free(section->data);
	section->data = data;
	section->own_data = true;
	section->room = room + 1;
}

/* ---- bytes -------------------------------------------------------------------------- */

/* Is it one of pokepatch's own tables, whose fields image.c changes? */
static bool has_fields(const struct section *section)
{
	return !strcmp(section->name, POKEPATCH_SECTION_IMAGE) ||
	       !strcmp(section->name, POKEPATCH_SECTION_TABLES) ||
	       !strcmp(section->name, ".pokepatch.funcs") ||
	       !strcmp(section->name, ".pokepatch.callbacks");
}

static bool flip_bit(struct mutation *mutation)
{
	struct section *section = mutation->section;
	uint64_t at = random_below(section->size);
	uint8_t bit = random_below(8);

	if (has_fields(section) || !section->data)
		return false;
	tell(mutation, "%s+%#" PRIx64 ": bit %u flipped", section->name, at, bit);
	mutation->same = bit_argument(mutation->before, section, at, bit);
	section->data[at] ^= 1 << bit;
	return true;
}

/* ---- entries of tables -------------------------------------------------------------- */

/* Remove bytes, with their relocations. */
static void remove_bytes(struct section *section, uint64_t at, uint64_t size)
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
}

/* A function that is not sealed can be called indirectly, as before the kernel had seals. */
static const char *seal_argument(const struct section *section)
{
	return strcmp(section->name, ".ibt_endbr_seal") ? NULL : "a landing pad that stays";
}

static bool delete_entry(struct mutation *mutation)
{
	struct section *section = mutation->section;
	const struct table *table = find_table(mutation->object, section);

	if (!table || section->size < table->size)
		return false;
	uint64_t at = random_below(section->size / table->size) * table->size;
	mutation->same = seal_argument(section);
	tell(mutation, "%s+%#" PRIx64 ": entry deleted", section->name, at);
	remove_bytes(section, at, table->size);
	return true;
}

static bool double_entry(struct mutation *mutation)
{
	struct section *section = mutation->section;
	const struct table *table = find_table(mutation->object, section);

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

/* Swap the bytes of two entries but not their relocations, so that each has the other's code. */
static bool swap_entries(struct mutation *mutation)
{
	struct section *section = mutation->section;
	const struct table *table = find_table(mutation->object, section);
	uint64_t count = table ? section->size / table->size : 0;
	unsigned char copy[256];

	if (count < 2)
		return false;
	unsigned char *a = section->data + random_below(count) * table->size;
	unsigned char *b = section->data + random_below(count) * table->size;
	if (a == b || !memcmp(a, b, table->size))
		return false;
	tell(mutation, "%s: entries at %#tx and %#tx swapped, but for their addresses",
	     section->name, a - section->data, b - section->data);
	memcpy(copy, a, table->size);
	memcpy(a, b, table->size);
	memcpy(b, copy, table->size);
	return true;
}

/* Swap an entry with the next one, with their relocations. */
static void reorder(struct section *section, uint64_t at, uint64_t size)
{
	unsigned char copy[256];

	memcpy(copy, section->data + at, size);
	memcpy(section->data + at, section->data + at + size, size);
	memcpy(section->data + at + size, copy, size);
	for (size_t i = 0; i < section->relocs.count; i++) {
		struct reloc *reloc = &section->relocs.list[i];

		if (reloc->offset >= at && reloc->offset < at + size)
			reloc->offset += size;
		else if (reloc->offset >= at + size && reloc->offset < at + 2 * size)
			reloc->offset -= size;
	}
}

/* Swap two entries; in an ordered table, two that are for one place if there are any. */
static bool reorder_entries(struct mutation *mutation)
{
	struct section *section = mutation->section;
	const struct table *table = find_table(mutation->object, section);
	uint64_t count = table ? section->size / table->size : 0;

	if (count < 2 || !strncmp(section->name, ".orc_", 5))
		return false;
	uint64_t first = random_below(count - 1);
	for (uint64_t n = 0; table->ordered && n < count - 1; n++) {
		uint64_t i = (first + n) % (count - 1);
		const struct reloc *a = reloc_over(mutation->object, section, i * table->size);
		const struct reloc *b =
			reloc_over(mutation->object, section, (i + 1) * table->size);

		if (!a || !b || a->symbol != b->symbol || a->addend != b->addend)
			continue;
		first = i;
		break;
	}
	reorder(section, first * table->size, table->size);
	tell(mutation, "%s+%#" PRIx64 ": entry swapped with the next", section->name,
	     first * table->size);
	return true;
}

/* ---- modinfo ------------------------------------------------------------------------ */

static bool change_line(struct mutation *mutation)
{
	struct section *section = mutation->section;
	VEC(uint64_t) lines = {0};

	if (strcmp(section->name, ".modinfo"))
		return false;
	for (uint64_t at = 0; at < section->size; at += strlen((char *)section->data + at) + 1)
		if (section->data[at])
			*vec_push(&lines) = at;
	uint64_t at = lines.list[random_below(lines.count)];
	vec_deinit(&lines);
	char *line _free_ = xstrdup((char *)section->data + at);
	uint64_t length = strlen(line);
	static const char *const hows[] = {"deleted", "doubled", "with another key",
					   "with a longer value"};
	size_t how = random_below(ARRAY_SIZE(hows));

	tell(mutation, "modinfo: '%s' %s", line, hows[how]);
	if (how == 0) {
		remove_bytes(section, at, length + 1);
	} else if (how == 1) {
		section_append(section, line, length + 1, 1);
	} else if (how == 2) {
		section->data[at] ^= 4;
	} else {
		remove_bytes(section, at, length + 1);
		section_append(section, line, length, 1);
		section_append(section, "x", 2, 1);
	}
	return true;
}

/* ---- symbols ------------------------------------------------------------------------ */

/* Is the symbol a variable of zeroes, on a natural boundary, where no other is? */
static bool is_alone(const struct object *object, const struct symbol *symbol)
{
	if (symbol->type != STT_OBJECT || symbol->section->data || symbol->value % symbol->size)
		return false;
	for (size_t i = 1; i < object->symbols.count; i++) {
		const struct symbol *other = object->symbols.list[i];

		if (other != symbol && other->section == symbol->section &&
		    other->value < symbol->value + symbol->size &&
		    symbol->value < other->value + other->size)
			return false;
	}
	return true;
}

/*
 * Only symbols that relocations use: the kernel and debuggers show the others.  A variable without
 * bytes, as a struct lock_class_key without lockdep, may be anywhere.
 */
static bool move_symbol(struct mutation *mutation)
{
	struct object *object = mutation->object;
	struct symbol *symbol = object->symbols.list[1 + random_below(object->symbols.count - 1)];

	if (symbol->section != mutation->section || symbol->type == STT_SECTION ||
	    !is_used(object, symbol) || (symbol->type == STT_OBJECT && !symbol->size))
		return false;
	uint64_t by = 1 + random_below(16);
	if (symbol->value + symbol->size + by > symbol->section->size) {
		if (symbol->value < by)
			return false;
		by = -by;
	}
	symbol->value += by;
	if (is_alone(object, symbol))
		mutation->same = "a variable of zeroes, where there was padding of zeroes";
	tell(mutation, "symbol '%s' moved by %" PRId64, symbol->name, (int64_t)by);
	return true;
}

static bool is_undefined(const struct symbol *symbol)
{
	return !symbol->section && !symbol->special && symbol->type != STT_FILE;
}

static bool rename_undefined(struct mutation *mutation)
{
	struct object *object = mutation->object;
	struct symbol *symbol = object->symbols.list[1 + random_below(object->symbols.count - 1)];
	struct symbol *other = object->symbols.list[1 + random_below(object->symbols.count - 1)];

	/* Counts for .text, which uses most undefined symbols. */
	if (strcmp(mutation->section->name, ".text") || !is_undefined(symbol) ||
	    !is_undefined(other) || !is_used(object, symbol) ||
	    !strcmp(symbol->name, other->name))
		return false;
	tell(mutation, "undefined '%s' renamed to '%s'", symbol->name, other->name);
	symbol->name = other->name;
	return true;
}

/* ---- sections ----------------------------------------------------------------------- */

static bool is_named_by_number(const struct object *object, const struct section *section)
{
	for (size_t i = 1; i < object->symbols.count; i++)
		if (object->symbols.list[i]->section == section &&
		    is_used(object, object->symbols.list[i]))
			return true;
	return false;
}

/* Swap the headers of two sections, and leave alone the symbols that name them by number. */
static bool swap_sections(struct mutation *mutation)
{
	struct object *object = mutation->object;
	struct section *a = mutation->section;
	struct section *b = object->sections.list[1 + random_below(object->sections.count - 1)];

	if (!is_loaded(b) || a == b)
		return false;
	if (!is_named_by_number(object, a) && !is_named_by_number(object, b))
		mutation->same = "the order of sections that no symbol names by number";
	tell(mutation, "sections %s and %s swapped", a->name, b->name);
	struct section copy = *a;
	*a = *b;
	*b = copy;
	a->symbol = b->symbol;
	b->symbol = copy.symbol;
	return true;
}

/* The kernel finds special sections by name. */
static bool rename_section(struct mutation *mutation)
{
	struct section *section = mutation->section;

	if (!find_table(mutation->object, section) || has_fields(section))
		return false;
	tell(mutation, "section %s renamed", section->name);
	section->name = ".rodata.other";
	return true;
}

/* The flags say whether a section is loaded, written and executed. */
static bool change_flags(struct mutation *mutation)
{
	static const uint64_t flags[] = {SHF_WRITE, SHF_EXECINSTR, SHF_ALLOC};
	struct section *section = mutation->section;
	uint64_t flag = flags[random_below(ARRAY_SIZE(flags))];

	section->flags ^= flag;
	mutation->same = plt_argument(section);
	tell(mutation, "flag %#" PRIx64 " of section %s flipped", flag, section->name);
	return true;
}

static bool is_text_only(const struct section *section)
{
	if (has_prefix(section->name, ".pokepatch.") || section->flags & SHF_WRITE ||
	    section_is_text(section) || section->relocs.count || !section->data)
		return false;
	for (uint64_t i = 0; i < section->size; i++) {
		unsigned char c = section->data[i];

		if (c && c != 1 && c != '\n' && c != '\t' && (c < ' ' || c > '~')) /* 1: KERN_SOH */
			return false;
	}
	return true;
}

static bool lower_alignment(struct mutation *mutation)
{
	struct section *section = mutation->section;

	if (section->align < 2)
		return false;
	tell(mutation, "alignment of section %s: %" PRIu64 " becomes 1", section->name,
	     section->align);
	if (find_table(mutation->object, section) && !has_fields(section))
		mutation->same = "entries, whose fields this machine reads at any address";
	else if (is_text_only(section))
		mutation->same = "strings alone, which may lie anywhere";
	section->align = 1;
	return true;
}

/* Add bytes that belong to nothing: an instruction, or more zeroes than padding has. */
static bool grow_section(struct mutation *mutation)
{
	static const unsigned char push = 0x55;
	struct section *section = mutation->section;

	if (section->type == SHT_NOBITS) {
		section->size += 4096;
	} else {
		own_data(section, section->size);
		section_append(section, &push, 1, 1);
	}
	tell(mutation, "section %s is longer", section->name);
	return true;
}

static bool empty_section(struct mutation *mutation)
{
	struct section *section = mutation->section;

	if (!strcmp(section->name, ".note.gnu.build-id"))
		mutation->same = "without the linker's hash of the file";
	else
		mutation->same = plt_argument(section) ?: seal_argument(section);
	tell(mutation, "section %s is empty", section->name);
	section->size = 0;
	section->relocs.count = 0;
	return true;
}

/* Add a section that means something to the module loader, or one that only takes room. */
static bool add_section(struct mutation *mutation)
{
	static const char *const names[] = {
		".init_array",	 "__param", "__ksymtab", "_ftrace_events", "__tracepoints_ptrs",
		"__bpf_raw_tp_map", ".ctors",  ".data.new", ".text.new",	   ".rodata.new",
	};
	const char *name = names[random_below(ARRAY_SIZE(names))];
	bool code = !strcmp(name, ".text.new");

	if (strcmp(mutation->section->name, ".text")) /* counts for .text, once */
		return false;
	struct section *section =
		object_add_section(mutation->object, name, SHT_PROGBITS,
				   SHF_ALLOC | (code ? SHF_EXECINSTR : SHF_WRITE), 8, 0);
	section_append(section, "what is this", 8, 1);
	tell(mutation, "a section %s is new", name);
	return true;
}

const struct way content_ways[] = {
	{.name = "bit flipped", .apply = flip_bit},
	{.name = "entry deleted", .apply = delete_entry},
	{.name = "entry doubled", .apply = double_entry},
	{.name = "entries swapped", .apply = swap_entries},
	{.name = "entries reordered", .apply = reorder_entries},
	{.name = "modinfo line", .apply = change_line},
	{.name = "symbol moved", .apply = move_symbol},
	{.name = "undefined symbol", .apply = rename_undefined},
	{.name = "section order", .apply = swap_sections},
	{.name = "section name", .apply = rename_section},
	{.name = "section flags", .apply = change_flags},
	{.name = "section alignment", .apply = lower_alignment},
	{.name = "section longer", .apply = grow_section},
	{.name = "section empty", .apply = empty_section},
	{.name = "section new", .apply = add_section},
	{0},
};
