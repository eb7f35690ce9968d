// SPDX-License-Identifier: GPL-2.0-or-later
/* Checking that every patchable entry of a linked kernel is inside its function; see entries.h. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "pokepatch-as/entries.h"
#include "object/parent.h"

#define TABLE "__patchable_function_entries"
#define SLOT_SIZE 4 /* bytes of a MIPS instruction; a NOP is four zeroes */

static int by_address(const void *a, const void *b)
{
	const struct parent_symbol *left = *(const struct parent_symbol *const *)a;
	const struct parent_symbol *right = *(const struct parent_symbol *const *)b;

	if (left->value != right->value)
		return left->value < right->value ? -1 : 1;
	/* Sort the longest of several aliases first: sort_functions() keeps that one. */
	return left->size > right->size ? -1 : left->size < right->size;
}

/* The functions sorted by address, each address once.  The caller frees the list. */
static const struct parent_symbol **sort_functions(const struct parent *parent, size_t *ret_count)
{
	const struct parent_symbol **list =
		xreallocarray(NULL, parent->symbol_count + 1, sizeof(*list));
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < parent->symbol_count; i++)
		if (parent->symbols[i].function && parent->symbols[i].size)
			list[count++] = &parent->symbols[i];
	qsort(list, count, sizeof(*list), by_address);
	for (size_t i = 0; i < count; i++)
		if (!kept || list[kept - 1]->value != list[i]->value)
			list[kept++] = list[i];
	*ret_count = kept;
	return list;
}

/* The last function that starts at or before the address, or NULL. */
static const struct parent_symbol *find_function(const struct parent_symbol *const *list,
						 size_t count, uint64_t address)
{
	size_t behind = first_index(i, count, list[i]->value > address);

	return behind ? list[behind - 1] : NULL;
}

/* NULL if the entry is all inside its function, or else what is wrong with it; constant. */
static const char *entry_fault(const struct parent *parent, const struct parent_symbol *function,
			       uint64_t address, unsigned int slots)
{
	const unsigned char *bytes;
	uint64_t room;

	if (!function || address >= function->value + function->size)
		return "is in no function";
	if (address != function->value)
		return "is not where its function starts";
	if (function->size < (uint64_t)slots * SLOT_SIZE)
		return "has slots that reach beyond its function";
	bytes = parent_bytes(parent, function, &room);
	if (!bytes || room < (uint64_t)slots * SLOT_SIZE)
		return "has no bytes in the file";
	for (unsigned int i = 0; i < slots * SLOT_SIZE; i++)
		if (bytes[i])
			return "has instructions in its slots that are no NOPs";
	return NULL;
}

static Elf_Data *find_table(Elf *elf)
{
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *name;

		if (!gelf_getshdr(section, &header))
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && !strcmp(name, TABLE))
			return elf_rawdata(section, NULL);
	}
	return NULL;
}

/* Read an address in the file's own width and byte order. */
static uint64_t read_address(Elf *elf, const unsigned char *bytes, size_t width)
{
	bool big = elf_getident(elf, NULL)[EI_DATA] == ELFDATA2MSB;
	uint64_t value = 0;

	for (size_t i = 0; i < width; i++)
		value |= (uint64_t)bytes[i] << 8 * (big ? width - 1 - i : i);
	/* Do not sign-extend it: values of symbols in a 32-bit file are not either. */
	return value;
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* ---- functions without a symbol --------------------------------------------- */

/*
 * When another file overrides a weak function, the linker keeps the weak function's code, which no
 * caller can reach, and drops its symbol.  The debugging information still tells where it starts.
 */
struct search {
	Dwarf_Addr address;
	const char *file; /* the source line whose code starts there, or NULL */
	int line;
	bool found;
};

/*
 * Does this function start at the address?
 *
 * If GCC finds two functions to be the same (perf_callchain_kernel and _user, both empty and weak),
 * it makes one of them code without an address in the debugging information.  We recognise it by
 * the line of its declaration, where its code starts.
 */
static int match_function(Dwarf_Die *function, void *arg)
{
	struct search *search = arg;
	const char *file = dwarf_decl_file(function);
	Dwarf_Addr address;
	int line;

	if (!dwarf_entrypc(function, &address))
		search->found = address == search->address;
	else
		search->found = search->file && file && !strcmp(file, search->file) &&
				!dwarf_decl_line(function, &line) && line == search->line &&
				!dwarf_hasattr(function, DW_AT_declaration);
	return search->found ? DWARF_CB_ABORT : DWARF_CB_OK;
}

/* Does a function start at the address, according to the debugging information? */
static bool function_starts_at(Dwarf *dwarf, uint64_t address)
{
	struct search search = {.address = address};
	Dwarf_Addr begins;
	Dwarf_Line *line;
	Dwarf_Die unit;

	if (!dwarf || !dwarf_addrdie(dwarf, address, &unit))
		return false;
	line = dwarf_getsrc_die(&unit, address);
	if (line && !dwarf_lineaddr(line, &begins) && begins == address &&
	    !dwarf_lineno(line, &search.line))
		search.file = dwarf_linesrc(line, NULL, NULL);
	dwarf_getfuncs(&unit, match_function, &search, 0);
	return search.found;
}

/*
 * Is this the entry of an overridden weak function?  before is the last function that starts before
 * the address, and tells the section.
 */
static bool is_overridden(const struct parent *parent, Dwarf *dwarf,
			  const struct parent_symbol *before, uint64_t address, unsigned int slots)
{
	struct parent_symbol function;

	if (!before || !function_starts_at(dwarf, address))
		return false;
	function = *before;
	function.value = address;
	function.size = (uint64_t)slots * SLOT_SIZE;
	return !entry_fault(parent, &function, address, slots);
}

/* ---- all entries ------------------------------------------------------------ */

/* Add a line about a wrong entry. */
static void report_entry(const struct parent_symbol *function, uint64_t address, const char *wrong,
			 struct buffer *bad)
{
	if (function)
		buffer_printf(bad, "%#" PRIx64 " (%s+%#" PRIx64 "/%#" PRIx64 ") %s\n", address,
			      function->name, address - function->value, function->size, wrong);
	else
		buffer_printf(bad, "%#" PRIx64 " %s\n", address, wrong);
}

static void check_all(const struct parent *parent, const uint64_t *addresses, size_t count,
		      unsigned int slots, struct entries_check *ret, struct buffer *bad)
{
	const struct parent_symbol **functions _free_ = sort_functions(parent, &ret->functions);
	Dwarf *dwarf = dwarf_begin_elf(parent->elf, DWARF_C_READ, NULL);

	ret->entries = count;
	for (size_t i = 0; i < count; i++) {
		const struct parent_symbol *function;
		const char *wrong;
		bool nameless;

		if (!addresses[i]) {
			ret->discarded++;
			continue;
		}
		if (i && addresses[i] == addresses[i - 1]) {
			ret->duplicate++;
			continue;
		}
		function = find_function(functions, ret->functions, addresses[i]);
		nameless = !function || addresses[i] >= function->value + function->size;
		wrong = entry_fault(parent, function, addresses[i], slots);
		if (!wrong)
			ret->at_start++;
		else if (nameless && is_overridden(parent, dwarf, function, addresses[i], slots))
			ret->overridden++;
		else
			report_entry(function, addresses[i], wrong, bad);
	}
	dwarf_end(dwarf);
}

struct error *entries_check(const char *path, unsigned int slots, struct entries_check *ret,
			    struct buffer *bad)
{
	struct parent *parent;
	struct error *error = NULL;
	Elf_Data *table;

	*ret = (struct entries_check){0};
	TRY(parent_open("vmlinux", path, &parent));
	table = find_table(parent->elf);
	if (!table || !table->d_size) {
		error = error_new(STATUS_FAILED,
				  "%s has no section " TABLE ": it was not built with patchable "
				  "entries, or its linker script throws the table away", path);
	} else {
		size_t width = gelf_getclass(parent->elf) == ELFCLASS64 ? 8 : 4;
		size_t count = table->d_size / width;
		uint64_t *addresses _free_ = xreallocarray(NULL, count + 1, sizeof(*addresses));

		for (size_t i = 0; i < count; i++)
			addresses[i] = read_address(
				parent->elf, (unsigned char *)table->d_buf + i * width, width);
		qsort(addresses, count, sizeof(*addresses), compare_addresses);
		check_all(parent, addresses, count, slots, ret, bad);
	}
	parent_close(parent);
	return error;
}
