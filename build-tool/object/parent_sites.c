// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tables of places in code that objtool made for a parent: .call_sites, .ibt_endbr_seal and so
 * on.  Each entry is 4 bytes, the distance from the entry to the place.
 */
#include "object/parent_sites.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "object/parent.h"

#define ENTRY_SIZE 4

static int site_order(const void *left, const void *right)
{
	const struct parent_site *a = left, *b = right;

	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	return a->value < b->value ? -1 : a->value > b->value;
}

/* A linked table holds the distances. */
static void read_linked(const GElf_Shdr *header, const Elf_Data *data, struct parent_sites *ret)
{
	for (size_t at = 0; at + ENTRY_SIZE <= data->d_size; at += ENTRY_SIZE) {
		int32_t distance;

		memcpy(&distance, (const char *)data->d_buf + at, sizeof(distance));
		*vec_push(&ret->list) =
			(struct parent_site){0, header->sh_addr + at + (int64_t)distance};
	}
}

/* A module's table has a relocation for each entry. */
static void read_relocations(const GElf_Shdr *header, Elf_Data *relocs, Elf_Data *symbols,
			     struct parent_sites *ret)
{
	size_t count = header->sh_entsize ? relocs->d_size / header->sh_entsize : 0;

	for (size_t i = 0; i < count; i++) {
		GElf_Rela reloc;
		GElf_Sym symbol;

		if (gelf_getrela(relocs, i, &reloc) &&
		    gelf_getsym(symbols, GELF_R_SYM(reloc.r_info), &symbol))
			*vec_push(&ret->list) = (struct parent_site){
				symbol.st_shndx, symbol.st_value + (uint64_t)reloc.r_addend};
	}
}

static void read_table(const struct parent *parent, const char *table, struct parent_sites *ret)
{
	bool linked = !strcmp(parent->name, "vmlinux");
	Elf *elf = parent->elf;
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &header) ||
		    !(name = elf_strptr(elf, names, header.sh_name)))
			continue;
		if (!strcmp(name, table)) {
			Elf_Data *data = elf_rawdata(scn, NULL);

			ret->present = true;
			if (linked && data && header.sh_type != SHT_NOBITS)
				read_linked(&header, data, ret);
		} else if (!linked && header.sh_type == SHT_RELA &&
			   has_prefix(name, ".rela") && !strcmp(name + strlen(".rela"), table)) {
			Elf_Scn *symtab = elf_getscn(elf, header.sh_link);
			Elf_Data *data = elf_getdata(scn, NULL);
			Elf_Data *symbols = symtab ? elf_getdata(symtab, NULL) : NULL;

			if (data && symbols)
				read_relocations(&header, data, symbols, ret);
		}
	}
	if (ret->list.count)
		qsort(ret->list.list, ret->list.count, sizeof(*ret->list.list), site_order);
}

const struct parent_sites *parent_sites(const struct parent *parent, const char *table)
{
	struct parent *cache = (struct parent *)parent; /* its lists of sites alone change */
	void **slot = map_slot(&cache->sites, table);

	if (!*slot) {
		struct parent_sites *sites = *slot = xcalloc(1, sizeof(*sites));

		*vec_push(&cache->sites_owned) = sites;
		read_table(parent, table, sites);
	}
	return *slot;
}

void parent_sites_free(struct parent *parent)
{
	for (size_t i = 0; i < parent->sites_owned.count; i++) {
		vec_deinit(&parent->sites_owned.list[i]->list);
		free(parent->sites_owned.list[i]);
	}
	vec_deinit(&parent->sites_owned);
	map_deinit(&parent->sites);
}

const struct parent_site *parent_sites_in(const struct parent *parent,
					  const struct parent_sites *sites,
					  const struct parent_symbol *symbol, size_t *ret_count)
{
	const uint32_t section = strcmp(parent->name, "vmlinux") ? symbol->section_number : 0;
	const struct parent_site *list = sites->list.list;
	const struct parent_site from = {section, symbol->value};
	const struct parent_site to = {section, symbol->value + symbol->size};
	size_t first = first_index(i, sites->list.count, site_order(&list[i], &from) >= 0);
	size_t end = first_index(i, sites->list.count, site_order(&list[i], &to) >= 0);

	*ret_count = end - first;
	return list + first;
}
