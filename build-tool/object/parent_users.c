// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding what refers to a symbol of a parent; see parent_users.h. */
#include "object/parent_users.h"

#include <gelf.h>
#include <stdlib.h>

#include "common/search.h"

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

bool parent_users(const struct parent *parent, const struct arch *arch, const struct map *names,
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
	vec_deinit(&search.places.list);
	free(search.wanted);
	return search.any;
}
