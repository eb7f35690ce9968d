// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adds veneers for calls that need them.
 *
 * x86: mm/slub.c has, in ___slab_alloc() and others,
 *	ALTERNATIVE("call this_cpu_cmpxchg16b_emu", "cmpxchg16b %gs:...", X86_FEATURE_CX16)
 * and the kernel does not export that function.  When the core makes the relocation, the module
 * loader may already have written the other instruction over the call.  So the call leads to a
 * veneer in the module, which no other code rewrites, and the veneer jumps to the function.
 *
 * arm64: "bl" reaches 128 MB, and modules are anywhere in 2 GB around the kernel.  The module
 * loader makes veneers for calls to exported symbols, as many as it counted among the module's
 * relocations.  The core's relocations are not among those.  So each call that the core relocates
 * leads to a veneer of the patch.
 *
 * MIPS: "jal" reaches only targets with the same upper 36 bits of the address, and modules never
 * have those of the kernel.  The module loader makes no veneers, because modules are compiled with
 * -mlong-calls.  The kernel's own code is not.  So each call from it to the kernel, exported or
 * not, needs a veneer.
 */
#include "diff/veneers.h"

#include <stdlib.h>
#include <string.h>

void veneers_deinit(struct veneers *veneers)
{
	map_deinit(&veneers->by_name);
}

static const struct site_table *find_site_table(const struct arch *arch, const struct entry *entry)
{
	for (const struct site_table *table = arch->loader.site_tables; table && table->section;
	     table++)
		if (table->entry == entry->layout->size &&
		    !strcmp(table->section, entry->section->name))
			return table;
	return NULL;
}

/* Whether an offset is in code that an entry of one of the atom's tables describes. */
static bool in_site(const struct selection *selection, const struct atom *atom, uint64_t offset)
{
	const struct object *object = selection->patched;

	for (size_t i = 0; i < atom->entries.count; i++) {
		const struct entry *entry = &atom->entries.list[i];
		const struct site_table *table = find_site_table(object->arch, entry);
		size_t count;
		struct reloc *relocs =
			section_relocs(entry->section, entry->start, entry->start + 1, &count);

		if (!table || !count)
			continue;
		uint64_t start = reloc_reference(object, entry->section, relocs).target;
		uint64_t length = table->length_at
					  ? entry->section->data[entry->start + table->length_at]
					  : table->length;
		if (offset >= start && offset - start < length)
			return true;
	}
	return false;
}

static bool is_rewritten(const struct selection *selection, const struct atom *from,
			 uint64_t offset)
{
	const char *replacement = selection->patched->arch->loader.replacement_section;

	if (from->class == ATOM_PARTNER)
		return replacement && !strcmp(from->section->name, replacement);
	return from->class == ATOM_CODE && in_site(selection, from, offset);
}

/* link_name is no external's, so it is also the name that vmlinux may export. */
static bool is_exported(const struct selection *selection, const char *link_name)
{
	const struct symvers *symvers = selection->options->symvers;
	const struct export *export = symvers ? symvers_find(symvers, link_name) : NULL;

	return export && !strcmp(export->module, "vmlinux");
}

bool veneer_needed(const struct selection *selection, const struct atom *from,
		   const struct section *section, const struct reloc *reloc,
		   const char *link_name)
{
	const struct arch *arch = selection->patched->arch;
	const struct reloc_kind *kind = arch_reloc(arch, reloc->type);

	if (!arch->veneers.call || section != from->section || !section_is_text(section) || !kind ||
	    !kind->branch)
		return false;
	if (!map_has(&selection->options->externals->by_link_name, link_name))
		return arch->veneers.call->exported && is_exported(selection, link_name);
	return arch->veneers.call->every_call || is_rewritten(selection, from, reloc->offset);
}

struct symbol *veneer_to(struct veneers *veneers, struct object *out,
			 const struct veneer *veneer, struct symbol *target)
{
	char *section_name _free_ =
		xasprintf(".text.pokepatch_veneer%s.%s", veneer->kind ?: "", target->name);
	struct symbol *symbol = map_get(&veneers->by_name, section_name + strlen(".text."));

	if (symbol)
		return symbol;
	struct section *section =
		object_add_section(out, section_name, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR,
				   veneer->align, 0);
	section_append(section, veneer->code, veneer->size, 1);
	section_add_reloc(section, veneer->reloc_at, veneer->reloc_type, target, veneer->addend);
	if (veneer->second_type)
		section_add_reloc(section, veneer->second_at, veneer->second_type, target,
				  veneer->addend);
	symbol = object_add_symbol(out, section_name + strlen(".text."), section, 0, veneer->size,
				   STT_FUNC, STB_LOCAL);
	*map_slot(&veneers->by_name, symbol->name) = symbol;
	return symbol;
}
