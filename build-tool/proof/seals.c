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
	for (size_t i = 1; i < ret->list.count; i++)
		if (!place_order(&ret->list.list[i - 1], &ret->list.list[i]))
			return wrong(check, "section %s has an entry twice", table->name);
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
		if (!strcmp(table->linked ?: table->section, section->name) ||
		    !strcmp(table->section, section->name))
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
	struct error *error = tables_check_header(check, table, table->name);
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

/* ---- addresses of a parent's functions ---------------------------------------------- */

/* Does the kernel have such a table?  Without indirect branch tracking it has none. */
static bool has_tracking(const struct proof *proof)
{
	const struct symtab *vmlinux = proof->parents.list[0];

	for (size_t i = 1; proof->rules->seals && i < vmlinux->section_count; i++)
		if (!strcmp(vmlinux->sections[i], proof->rules->seals))
			return true;
	return false;
}

/*
 * Does a unit's unchanged source take the function's address?  Then objtool has seen that, and the
 * kernel's authors have said what they do with it if there is no pad (ANNOTATE_NOENDBR).
 */
static bool was_taken(const struct check *check, const char *name)
{
	for (size_t i = 0; i < check->proof->sources.count; i++) {
		const struct source *source = check->proof->sources.list[i];
		const struct object *orig = &source->orig;
		const struct symbol *own =
			source->have_orig ? map_get(&source->orig_by_name, name) : NULL;

		for (size_t j = 1; source->have_orig && j < orig->sections.count; j++) {
			const struct section *section = orig->sections.list[j];

			if (!section_is_loaded(section) || is_about_code(check, section) ||
			    has_prefix(section->name, ".export_symbol") ||
			    has_prefix(section->name, "___ksymtab"))
				continue;
			for (size_t k = 0; k < section->relocs.count; k++) {
				const struct reloc *reloc = &section->relocs.list[k];
				const struct reloc_kind *kind =
					arch_reloc(check->object.arch, reloc->type);
				const struct symbol *to = reloc->symbol;
				uint64_t origin = kind && kind->pc_relative &&
								  section_is_text(section)
							  ? kind->origin
							  : 0;

				if (kind && kind->branch)
					continue;
				if (own ? to->section == own->section &&
						  to->value + reloc->addend + origin == own->value
					: !to->section && !strcmp(to->name, name))
					return true;
			}
		}
	}
	return false;
}

/* An address that code or data of the module gets, and does not only call or jump to. */
static struct error *check_taken(struct check *check, const struct section *section, uint32_t type,
				 int64_t addend, struct symtab *parent,
				 const struct known_symbol *known)
{
	const struct proof_rules *rules = check->proof->rules;
	const struct reloc_kind *kind = arch_reloc(check->object.arch, type);
	int64_t offset = addend;

	if (kind && kind->pc_relative && section_is_text(section))
		offset += kind->origin;
	if (!known->function || offset || (kind && kind->branch && section_is_text(section)) ||
	    is_about_code(check, section) || has_prefix(known->name, "__SCT__"))
		return NULL;
	const unsigned char *bytes = symtab_bytes(parent, known);
	if (bytes && known->size >= PAD_SIZE && !memcmp(bytes, rules->landing_pad, PAD_SIZE) &&
	    !seals_has(parent, rules, known, 0))
		return NULL;
	return was_taken(check, known->name)
		       ? NULL
		       : wrong(check, "section %s has the address of '%s', which the kernel closes to "
				      "indirect calls",
			       section->name, known->name);
}

struct error *seals_check_taken(struct check *check)
{
	struct symtab *vmlinux = check->proof->parents.list[0];

	if (!has_tracking(check->proof))
		return NULL;
	for (size_t i = 0; i < check->rows.count; i++) {
		const struct row *row = &check->rows.list[i];
		const struct row_symbol *symbol = &check->symbols.list[row->symbol];

		TRY(check_taken(check, row->section, row->type, row->addend, symbol->parent,
				symbol->known));
	}
	for (size_t i = 1; i < check->object.sections.count; i++) {
		const struct section *section = check->object.sections.list[i];

		for (size_t j = 0; section_is_loaded(section) && j < section->relocs.count; j++) {
			const struct reloc *reloc = &section->relocs.list[j];
			const char *name = reloc->symbol->name;

			if (reloc->symbol->section)
				continue;
			symtab_load(vmlinux, &name, 1);
			for (const struct known_symbol *known = symtab_get(vmlinux, name); known;
			     known = known->next)
				if (known->global)
					TRY(check_taken(check, section, reloc->type, reloc->addend,
							vmlinux, known));
		}
	}
	return NULL;
}
