// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding what refers to a symbol of a parent; see parent_users.h. */
#include "object/parent_users.h"

#include <gelf.h>
#include <stdlib.h>

#include "common/search.h"
#include "object/object.h"

/* The functions and variables of a parent by their places. */
struct places {
	VEC(const struct parent_symbol *) list;
};

struct user_search {
	const struct parent *parent;
	const struct arch *arch;
	const struct map *names;
	found_user found;
	void *context;
	struct places places;
	const char **wanted; /* by number of the ELF symbol: its name, or NULL */
	size_t nr_symbols;
	bool any; /* relocations of code */
};

static int place_order(const void *left, const void *right)
{
	const struct parent_symbol *a = *(const struct parent_symbol *const *)left;
	const struct parent_symbol *b = *(const struct parent_symbol *const *)right;

	if (a->section_number != b->section_number)
		return a->section_number < b->section_number ? -1 : 1;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void read_places(const struct parent *parent, struct places *ret)
{
	for (size_t i = 0; i < parent->symbol_count; i++)
		if (parent->symbols[i].size)
			*vec_push(&ret->list) = &parent->symbols[i];
	if (ret->list.count)
		qsort(ret->list.list, ret->list.count, sizeof(*ret->list.list), place_order);
}

static const struct parent_symbol *symbol_at(const struct places *places, uint32_t section,
					     uint64_t value)
{
	const struct parent_symbol *const *list = places->list.list;
	size_t behind =
		first_index(i, places->list.count,
			    list[i]->section_number > section ||
				    (list[i]->section_number == section && list[i]->value > value));
	const struct parent_symbol *symbol = behind ? list[behind - 1] : NULL;

	return symbol && symbol->section_number == section && value - symbol->value < symbol->size
		       ? symbol
		       : NULL;
}

/* Which symbols are meant, so that a million relocations need no name. */
static void read_wanted(struct user_search *search, Elf_Scn *symtab)
{
	GElf_Shdr header;
	Elf_Data *data = symtab ? elf_getdata(symtab, NULL) : NULL;

	if (search->wanted || !data || !gelf_getshdr(symtab, &header) || !header.sh_entsize)
		return;
	search->nr_symbols = data->d_size / header.sh_entsize;
	search->wanted = xcalloc(search->nr_symbols + 1, sizeof(*search->wanted));
	for (size_t i = 0; i < search->nr_symbols; i++) {
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol) ||
		    GELF_ST_BIND(symbol.st_info) == STB_LOCAL)
			continue;
		const char *name = elf_strptr(search->parent->elf, header.sh_link, symbol.st_name);
		if (name && map_has(search->names, name))
			search->wanted[i] = name;
	}
}

static bool is_code_or_data(const GElf_Shdr *header, const char *name)
{
	return header->sh_flags & SHF_ALLOC &&
	       (header->sh_flags & SHF_EXECINSTR || has_prefix(name, ".data") ||
		has_prefix(name, ".rodata") || has_prefix(name, ".init.data") ||
		has_prefix(name, ".init.rodata"));
}

static void read_relocs(struct user_search *search, Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(scn, NULL);

	read_wanted(search, elf_getscn(search->parent->elf, header->sh_link));
	if (!data || !header->sh_entsize || !search->wanted)
		return;
	for (size_t i = 0; i < data->d_size / header->sh_entsize; i++) {
		GElf_Rela reloc;
		uint32_t number, type;

		if (!gelf_getrela(data, (int)i, &reloc))
			continue;
		number = GELF_R_SYM(reloc.r_info);
		if (search->arch->relocs.info)
			search->arch->relocs.info(reloc.r_info, &number, &type);
		if (number >= search->nr_symbols || !search->wanted[number])
			continue;
		const struct parent_symbol *user =
			symbol_at(&search->places, header->sh_info, reloc.r_offset);
		if (user)
			search->found(search->context, search->wanted[number], user);
	}
}

static void read_all(struct user_search *search)
{
	Elf *elf = search->parent->elf;
	Elf_Scn *scn = NULL, *target;
	GElf_Shdr header, target_header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_RELA ||
		    !(target = elf_getscn(elf, header.sh_info)) ||
		    !gelf_getshdr(target, &target_header))
			continue;
		const char *name = elf_strptr(elf, names, target_header.sh_name);
		if (!name || !is_code_or_data(&target_header, name))
			continue;
		search->any |= !!(target_header.sh_flags & SHF_EXECINSTR);
		read_relocs(search, scn, &header);
	}
}

/* ---- a vmlinux without relocations ---------------------------------------------------- */

/* A function that is looked for, by its address. */
struct callee {
	uint64_t address;
	const char *name;
};

/* A section whose instructions are read. */
struct code {
	struct user_search *search;
	VEC(struct callee) callees; /* by address */
	uint32_t section;
	uint64_t address; /* of the section */
};

static int callee_order(const void *left, const void *right)
{
	const struct callee *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static int address_order(const struct callee *callee, uint64_t address)
{
	return callee->address < address ? -1 : callee->address > address;
}

static void judge_branch(void *context, const struct local_reference *reference)
{
	const struct code *code = context;
	const struct callee *callee = sorted_find(code->callees.list, code->callees.count,
						  code->address + reference->target, address_order);
	const struct parent_symbol *user;

	if (!callee)
		return;
	user = symbol_at(&code->search->places, code->section, code->address + reference->offset);
	if (user)
		code->search->found(code->search->context, callee->name, user);
}

static void read_instructions(struct code *code, Elf_Scn *scn, const GElf_Shdr *header)
{
	const struct arch *arch = code->search->arch;
	Elf_Data *data = elf_rawdata(scn, NULL);
	struct object object;
	GElf_Ehdr file;

	if (!data || !data->d_buf || !gelf_getehdr(code->search->parent->elf, &file))
		return;
	object_init(&object, arch, &file);
	struct section *section =
		object_add_section(&object, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 1, 0);
	section->data = data->d_buf; /* borrowed: own_data is not set */
	section->own_data = false;
	section->size = data->d_size;
	code->section = elf_ndxscn(scn);
	code->address = header->sh_addr;
	arch->code.local_references(&object, section, 0, section->size, judge_branch, code);
	if (arch->code.linked_jumps)
		arch->code.linked_jumps(&object, section, code->address, judge_branch, code);
	section->data = NULL;
	object_deinit(&object);
}

static void read_code(struct user_search *search)
{
	struct code code = {.search = search};
	Elf *elf = search->parent->elf;
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	for (size_t i = 0; i < search->parent->symbol_count; i++) {
		const struct parent_symbol *symbol = &search->parent->symbols[i];

		if ((symbol->global || symbol->weak) && map_has(search->names, symbol->name))
			*vec_push(&code.callees) = (struct callee){symbol->value, symbol->name};
	}
	if (code.callees.count)
		qsort(code.callees.list, code.callees.count, sizeof(*code.callees.list),
		      callee_order);
	while (code.callees.count && (scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &header) && header.sh_flags & SHF_EXECINSTR &&
		    header.sh_type == SHT_PROGBITS)
			read_instructions(&code, scn, &header);
	vec_deinit(&code.callees);
}

void parent_users(const struct parent *parent, const struct arch *arch, const struct map *names,
		  found_user found, void *context)
{
	struct user_search search = {
		.parent = parent,
		.arch = arch,
		.names = names,
		.found = found,
		.context = context,
	};

	read_places(parent, &search.places);
	read_all(&search);
	if (!search.any && parent_is_vmlinux(parent) && arch->code.local_references)
		read_code(&search);
	vec_deinit(&search.places.list);
	free(search.wanted);
}
