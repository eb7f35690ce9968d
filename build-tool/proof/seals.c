// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sealed functions.  With indirect branch tracking a function that is called indirectly begins with
 * a landing pad.  objtool lists the pads of functions whose address it has not seen anything take,
 * and the kernel overwrites these pads, so that an indirect call of such a function faults.  The
 * module must seal no function that anything but a direct call leads to, and it must take no
 * address of a parent's function that has no pad any more.
 */
#include "proof/proof_seals.h"

#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "proof/proof_check.h"
#include "proof/proof_match.h"
#include "proof/proof_tables.h"

#define ENTRY_SIZE 4 /* tools/objtool/check.c, create_ibt_endbr_seal_sections() */
#define PAD_SIZE   4

/* ---- the module's ------------------------------------------------------------------- */

static int place_order(const void *left, const void *right)
{
	const struct code_place *a = left, *b = right;

	if (a->section != b->section)
		return a->section->index < b->section->index ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

struct places {
	VEC(struct code_place) list;
};

static struct error *read_seals(struct check *check, const struct section *table,
				struct places *ret)
{
	const struct proof_rules *rules = check->proof->rules;

	if (table->size % ENTRY_SIZE || table->relocs.count != table->size / ENTRY_SIZE)
		return wrong(check, "the entries of section %s have no known size", table->name);
	for (size_t i = 0; i < table->relocs.count; i++) {
		const struct reloc *reloc = &table->relocs.list[i];
		const struct section *section = reloc->symbol->section;
		uint64_t place = reloc->symbol->value + reloc->addend;

		if (reloc->offset != i * ENTRY_SIZE || reloc->type != rules->pc32 || !section ||
		    !section_is_text(section) || place > section->size ||
		    section->size - place < PAD_SIZE ||
		    memcmp(section->data + place, rules->landing_pad, PAD_SIZE))
			return wrong(check, "the entry at %#zx of section %s is no landing pad",
				     i * ENTRY_SIZE, table->name);
		*vec_push(&ret->list) = (struct code_place){section, place};
	}
	if (ret->list.count)
		qsort(ret->list.list, ret->list.count, sizeof(*ret->list.list), place_order);
	return NULL;
}

/* Tables about code say where it is; the kernel makes no call of what they name. */
static bool is_about_code(const struct check *check, const struct section *section)
{
	const struct proof_rules *rules = check->proof->rules;

	if (!strcmp(section->name, rules->seals) ||
	    (rules->unwind_ip && !strcmp(section->name, rules->unwind_ip)))
		return true;
	for (const struct proof_table *table = rules->tables; table->section; table++)
		if (!strcmp(table->section, section->name))
			return true;
	return false;
}

static struct error *check_references(const struct check *check, const struct places *seals,
				      const struct section *section)
{
	for (size_t i = 0; i < section->relocs.count; i++) {
		const struct reloc *reloc = &section->relocs.list[i];
		const struct reloc_kind *kind = arch_reloc(check->object.arch, reloc->type);
		const struct code_place to = {
			reloc->symbol->section,
			reloc->symbol->value + reloc->addend +
				(kind && kind->pc_relative && section_is_text(section)
					 ? kind->origin
					 : 0)};

		if (to.section && !(kind && kind->branch && section_is_text(section)) &&
		    sorted_find(seals->list.list, seals->list.count, &to, place_order))
			return wrong(check, "%s+%#" PRIx64 " refers to %s+%#" PRIx64
					    ", which the kernel closes to indirect calls",
				     section->name, reloc->offset, to.section->name, to.place);
	}
	return NULL;
}

struct error *seals_check(struct check *check)
{
	const char *name = check->proof->rules->seals;
	const struct section *table = name ? object_find_section(&check->object, name) : NULL;
	struct places seals = {0};

	if (!table || !table->size)
		return NULL;
	struct error *error = tables_check_header(check, table);
	if (!error)
		error = extent_add(check, table, 0, table->size, 1, PLACED, table->name);
	if (!error)
		error = read_seals(check, table, &seals);
	for (size_t i = 1; !error && i < check->object.sections.count; i++) {
		const struct section *section = check->object.sections.list[i];

		if (section_is_loaded(section) && !is_about_code(check, section))
			error = check_references(check, &seals, section);
	}
	vec_deinit(&seals.list);
	return error;
}

/* ---- a parent's --------------------------------------------------------------------- */

static int seal_order(const void *left, const void *right)
{
	const struct seal *a = left, *b = right;

	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	return a->value < b->value ? -1 : a->value > b->value;
}

/* vmlinux is linked: each entry has the distance to its pad. */
static void read_distances(struct symtab *symtab, const GElf_Shdr *header, const Elf_Data *data)
{
	for (size_t at = 0; at + ENTRY_SIZE <= data->d_size; at += ENTRY_SIZE) {
		int32_t distance;

		memcpy(&distance, (const char *)data->d_buf + at, sizeof(distance));
		*vec_push(&symtab->seals) =
			(struct seal){0, header->sh_addr + at + (int64_t)distance};
	}
}

static void read_relocs(struct symtab *symtab, const GElf_Shdr *header, Elf_Data *data)
{
	for (size_t i = 0; header->sh_entsize && i < data->d_size / header->sh_entsize; i++) {
		GElf_Rela reloc;
		GElf_Sym symbol;

		if (gelf_getrela(data, i, &reloc) &&
		    gelf_getsym(symtab->data, GELF_R_SYM(reloc.r_info), &symbol))
			*vec_push(&symtab->seals) = (struct seal){
				symbol.st_shndx, symbol.st_value + (uint64_t)reloc.r_addend};
	}
}

static void load_seals(struct symtab *symtab, const char *name)
{
	size_t number = 0;

	symtab->seals_loaded = true;
	for (size_t i = 1; i < symtab->section_count; i++) {
		Elf_Scn *scn = elf_getscn(symtab->elf, i);
		GElf_Shdr header;
		Elf_Data *data = NULL;

		if (!strcmp(symtab->sections[i], name))
			number = i;
		if (!scn || !gelf_getshdr(scn, &header) || header.sh_type == SHT_NOBITS)
			continue;
		if (symtab->vmlinux && number == i && (data = elf_rawdata(scn, NULL)))
			read_distances(symtab, &header, data);
		if (!symtab->vmlinux && number && header.sh_type == SHT_RELA &&
		    header.sh_info == number && (data = elf_getdata(scn, NULL)))
			read_relocs(symtab, &header, data);
	}
	if (symtab->seals.count)
		qsort(symtab->seals.list, symtab->seals.count, sizeof(*symtab->seals.list),
		      seal_order);
}

bool seals_has(struct symtab *symtab, const struct proof_rules *rules,
	       const struct known_symbol *symbol, uint64_t offset)
{
	const struct seal key = {symtab->vmlinux ? 0 : symbol->section_number,
				 symbol->value + offset};

	if (!rules->seals)
		return false;
	if (!symtab->seals_loaded)
		load_seals(symtab, rules->seals);
	return sorted_find(symtab->seals.list, symtab->seals.count, &key, seal_order);
}
