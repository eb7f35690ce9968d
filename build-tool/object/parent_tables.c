// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading tables of places in code; see parent_tables.h.  A module's tables have relocations.  A
 * linked vmlinux has distances or addresses; one that is position-independent (arm64) keeps its
 * addresses in relocations of .rela.dyn, and zeroes in the table.
 */
#include "object/parent_tables.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

/* Between which symbols vmlinux has a table (asm-generic/vmlinux.lds.h). */
static const struct table_bounds {
	const char *table, *start, *stop;
} bounds[] = {
	{"__mcount_loc", "__start_mcount_loc", "__stop_mcount_loc"},
	{"__patchable_function_entries", "__start_mcount_loc", "__stop_mcount_loc"},
	{"__jump_table", "__start___jump_table", "__stop___jump_table"},
	{".static_call_sites", "__start_static_call_sites", "__stop_static_call_sites"},
	{".kcfi_traps", "__start___kcfi_traps", "__stop___kcfi_traps"},
};

struct table {
	const struct parent *parent;
	const struct arch *arch;
	const unsigned char *bytes; /* NULL: there is no such table */
	uint64_t size;
	uint64_t address;	/* in a vmlinux */
	uint32_t section;	/* number, in a module */
	VEC(uint64_t) moved;	/* of each 8 bytes, the address from .rela.dyn, or 0 */
	VEC(GElf_Shdr) code;	/* sections with code, of which a vmlinux has a few */
};

/* The number of a section with contents, and its header; 0: there is none of that name. */
static uint32_t find_section(const struct parent *parent, const char *name, GElf_Shdr *ret)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(parent->elf, &names))
		return 0;
	while ((scn = elf_nextscn(parent->elf, scn))) {
		const char *found;

		if (gelf_getshdr(scn, ret) && ret->sh_type == SHT_PROGBITS &&
		    (found = elf_strptr(parent->elf, names, ret->sh_name)) && !strcmp(found, name))
			return elf_ndxscn(scn);
	}
	return 0;
}

static void find_between(struct table *table, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(bounds); i++) {
		const struct parent_symbol *start, *stop;
		uint64_t room;

		if (strcmp(bounds[i].table, name))
			continue;
		start = parent_global(table->parent, bounds[i].start);
		stop = parent_global(table->parent, bounds[i].stop);
		if (!start || !stop || stop->value <= start->value)
			return;
		table->address = start->value;
		table->size = stop->value - start->value;
		table->bytes = parent_contents(table->parent, 0, start->value, &room);
		if (table->bytes && room < table->size)
			table->bytes = NULL;
		return;
	}
}

/* The addresses that the dynamic relocations of a position-independent vmlinux hold. */
static void read_moved(struct table *table)
{
	GElf_Shdr header;
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(table->parent->elf, scn))) {
		Elf_Data *data;

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_RELA ||
		    !(header.sh_flags & SHF_ALLOC) || !(data = elf_getdata(scn, NULL)))
			continue;
		for (size_t i = 0; i < data->d_size / header.sh_entsize; i++) {
			GElf_Rela reloc;
			uint64_t at;

			if (!gelf_getrela(data, (int)i, &reloc))
				continue;
			at = reloc.r_offset - table->address;
			if (at >= table->size || at % 8)
				continue;
			while (table->moved.count <= at / 8)
				*vec_push(&table->moved) = 0;
			table->moved.list[at / 8] = (uint64_t)reloc.r_addend;
		}
	}
}

static void read_code(struct table *table)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while ((scn = elf_nextscn(table->parent->elf, scn)))
		if (gelf_getshdr(scn, &header) && header.sh_flags & SHF_EXECINSTR)
			*vec_push(&table->code) = header;
}

static bool is_code(const struct table *table, uint64_t address)
{
	for (size_t i = 0; i < table->code.count; i++)
		if (address - table->code.list[i].sh_addr < table->code.list[i].sh_size)
			return true;
	return false;
}

static void table_open(const struct parent *parent, const struct arch *arch, const char *name,
		       struct table *ret)
{
	GElf_Shdr header;

	*ret = (struct table){.parent = parent, .arch = arch};
	ret->section = find_section(parent, name, &header);
	if (ret->section) {
		/* A module's value is an offset in the section, whatever address that has. */
		ret->address = parent_is_vmlinux(parent) ? header.sh_addr : 0;
		ret->size = header.sh_size;
		ret->bytes = parent_contents(parent, ret->section, ret->address, &header.sh_size);
	} else if (parent_is_vmlinux(parent)) {
		find_between(ret, name);
	}
	if (!ret->bytes || !parent_is_vmlinux(parent))
		return;
	read_moved(ret);
	read_code(ret);
}

static uint64_t integer(const struct arch *arch, const unsigned char *bytes, unsigned int size)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < size; i++)
		value |= (uint64_t)bytes[arch_is_big(arch) ? size - 1 - i : i] << 8 * i;
	return value;
}

/* The last entry may lack its padding (.parainstructions). */
static uint8_t entry_size(const struct table *table, uint64_t at, uint8_t size)
{
	return table->size - at < size ? table->size - at : size;
}

/* The place in code with which a vmlinux's entry begins; false: it begins with none. */
static bool linked_entry(const struct table *table, uint64_t at, uint8_t size,
			 struct parent_entry *ret)
{
	const unsigned char *bytes = table->bytes + at;
	const uint64_t moved = at / 8 < table->moved.count ? table->moved.list[at / 8] : 0;

	*ret = (struct parent_entry){.bytes = bytes, .size = entry_size(table, at, size)};
	ret->distance = true;
	if (!moved && at + 4 <= table->size) {
		const uint64_t distance = integer(table->arch, bytes, 4);

		ret->place = table->address + at + (uint64_t)(int64_t)(int32_t)distance;
		if (is_code(table, ret->place))
			return true;
	}
	if (size < 8 || at + 8 > table->size)
		return false;
	ret->distance = false;
	ret->place = moved ? moved : integer(table->arch, bytes, 8);
	return is_code(table, ret->place);
}

/* A module's relocation at the beginning of an entry, which the list has from *next on. */
static const struct parent_reloc *entry_reloc(const struct parent_relocs *relocs, uint64_t at,
					      size_t *next)
{
	while (*next < relocs->list.count && relocs->list.list[*next].offset < at)
		++*next;
	return *next < relocs->list.count && relocs->list.list[*next].offset == at
		       ? &relocs->list.list[*next]
		       : NULL;
}

static bool is_near(const struct parent_symbol *function, uint64_t lead, uint64_t place)
{
	return place + lead - function->value < function->size + lead;
}

/* Read the table with one size of entries; false: it has another. */
static bool read_module(const struct table *table, const struct parent_symbol *function,
			uint64_t lead, struct parent_entries *ret)
{
	const struct parent_relocs *relocs =
		parent_relocs(table->parent, table->arch, table->section);
	size_t next = 0;

	for (uint64_t at = 0; at < table->size; at += ret->size) {
		const struct parent_reloc *reloc = entry_reloc(relocs, at, &next);
		const struct reloc_kind *kind = reloc ? arch_reloc(table->arch, reloc->type) : NULL;

		if (!kind)
			return false;
		const uint64_t place = reloc->value + (uint64_t)reloc->addend;
		if (reloc->section == function->section_number && is_near(function, lead, place))
			*vec_push(&ret->list) = (struct parent_entry){
				table->bytes + at, entry_size(table, at, ret->size), place,
				kind->pc_relative};
	}
	return true;
}

static bool read_linked(const struct table *table, const struct parent_symbol *function,
			uint64_t lead, struct parent_entries *ret)
{
	for (uint64_t at = 0; at < table->size; at += ret->size) {
		struct parent_entry entry;

		/* ftrace_init() passes over zeroes, as weak functions leave them. */
		if (!linked_entry(table, at, ret->size, &entry)) {
			if (integer(table->arch, table->bytes + at, 4))
				return false;
			continue;
		}
		if (is_near(function, lead, entry.place))
			*vec_push(&ret->list) = entry;
	}
	return true;
}

void parent_entries_read(const struct parent *parent, const struct arch *arch, const char *name,
			 const uint8_t *sizes, const struct parent_symbol *function, uint64_t lead,
			 struct parent_entries *ret)
{
	struct table table;

	*ret = (struct parent_entries){0};
	table_open(parent, arch, name, &table);
	for (; table.bytes && *sizes; sizes++) {
		bool fits;

		ret->size = *sizes;
		ret->list.count = 0;
		if (table.size % *sizes && table.size % *sizes < 4)
			continue;
		fits = parent_is_vmlinux(parent) ? read_linked(&table, function, lead, ret)
						 : read_module(&table, function, lead, ret);
		if (fits)
			break;
		ret->list.count = 0;
	}
	vec_deinit(&table.moved);
	vec_deinit(&table.code);
}
