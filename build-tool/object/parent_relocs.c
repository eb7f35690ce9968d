// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading the relocations of a module; see parent_relocs.h. */
#include "object/parent_relocs.h"

#include <gelf.h>
#include <stdlib.h>

#include "object/arch.h"
#include "object/parent.h"

static int offset_order(const void *left, const void *right)
{
	const struct parent_reloc *a = left, *b = right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->type < b->type ? -1 : a->type > b->type;
}

static void read_list(Elf *elf, Elf_Scn *scn, const GElf_Shdr *header, const struct arch *arch,
		      struct parent_relocs *ret)
{
	Elf_Scn *symtab = elf_getscn(elf, header->sh_link);
	Elf_Data *data = elf_getdata(scn, NULL), *symbols;
	GElf_Shdr names;

	if (!data || !header->sh_entsize || !symtab || !gelf_getshdr(symtab, &names) ||
	    !(symbols = elf_getdata(symtab, NULL)))
		return;
	for (size_t i = 0; i < data->d_size / header->sh_entsize; i++) {
		GElf_Rela reloc;
		GElf_Sym symbol;
		uint32_t number, type;

		if (!gelf_getrela(data, (int)i, &reloc))
			continue;
		number = GELF_R_SYM(reloc.r_info);
		type = GELF_R_TYPE(reloc.r_info);
		if (arch->relocs.info)
			arch->relocs.info(reloc.r_info, &number, &type);
		if (!gelf_getsym(symbols, (int)number, &symbol))
			continue;
		const char *name = elf_strptr(elf, names.sh_link, symbol.st_name);
		*vec_push(&ret->list) = (struct parent_reloc){
			.offset = reloc.r_offset,
			.type = type,
			.addend = reloc.r_addend,
			.name = name ?: "",
			.global = GELF_ST_BIND(symbol.st_info) != STB_LOCAL,
			.section = symbol.st_shndx,
			.value = symbol.st_value,
		};
	}
}

const struct parent_relocs *parent_relocs(const struct parent *parent, const struct arch *arch,
					  uint32_t section)
{
	struct parent *cache = (struct parent *)parent; /* its lists of relocations alone change */
	struct parent_relocs *relocs;
	GElf_Shdr header;

	while (cache->relocs_owned.count <= section)
		*vec_push(&cache->relocs_owned) = NULL;
	if (cache->relocs_owned.list[section])
		return cache->relocs_owned.list[section];
	relocs = cache->relocs_owned.list[section] = xcalloc(1, sizeof(*relocs));
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(parent->elf, scn));)
		if (gelf_getshdr(scn, &header) && header.sh_type == SHT_RELA &&
		    header.sh_info == section)
			read_list(parent->elf, scn, &header, arch, relocs);
	if (relocs->list.count)
		qsort(relocs->list.list, relocs->list.count, sizeof(*relocs->list.list),
		      offset_order);
	return relocs;
}

void parent_relocs_free(struct parent *parent)
{
	for (size_t i = 0; i < parent->relocs_owned.count; i++) {
		if (!parent->relocs_owned.list[i])
			continue;
		vec_deinit(&parent->relocs_owned.list[i]->list);
		free(parent->relocs_owned.list[i]);
	}
	vec_deinit(&parent->relocs_owned);
}
