// SPDX-License-Identifier: GPL-2.0-only
/*
 * The symbols of a parent that is a module, and its build id.  parent_symbols.c has the lookup.
 *
 * The module may be loaded already when the patch comes, or come later than the patch.  In the
 * module's object file a symbol has an offset within a section.  So the core first finds the base
 * of each section, from the symbols in it that kallsyms lists or from sysfs.
 */
#include <linux/elf.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include <pokepatch_format.h>

#include "compat.h"
#include "core_print.h"
#include "kernel_symbols.h"
#include "module_memory.h"
#include "module_symbols.h"
#include "parent_symbols.h"
#include "pp_patch.h"

/*
 * The loader keeps no pointer to a module's notes before the module is live (and
 * with CONFIG_STACKTRACE_BUILD_ID only a copy).  So search the read-only data, where
 * layout_sections() puts the notes.  The 16 bytes of header and owner cannot be anything else, and
 * the id is compared in full.
 */
int pp_module_check_build_id(const struct pp_patch *patch, const struct pokepatch_object *want,
			     const struct module *mod)
{
	const unsigned long end = pp_module_rodata(mod).end;
	unsigned long at = pp_module_rodata(mod).start;
	const Elf64_Nhdr *found = NULL;

	for (; at + sizeof(Elf64_Nhdr) + sizeof("GNU") + want->build_id_len <= end; at += 4) {
		const Elf64_Nhdr *note = (const void *)at;

		if (!pp_note_is_build_id(note))
			continue;
		found = note;
		if (note->n_descsz == want->build_id_len &&
		    !memcmp(pp_note_build_id(note), want->build_id, want->build_id_len))
			return 0;
	}
	if (found && (unsigned long)pp_note_build_id(found) + found->n_descsz <= end)
		pr_err_ratelimited("%s does not fit module %s: made for build id %*phN, the module has %*phN\n",
				   patch->name, mod->name, (int)want->build_id_len, want->build_id,
				   (int)found->n_descsz, pp_note_build_id(found));
	else
		pr_err_ratelimited("%s does not fit module %s: made for build id %*phN, the module has none\n",
				   patch->name, mod->name, (int)want->build_id_len, want->build_id);
	return -ENOEXEC;
}

/*
 * Note the symbols of @mod in the order of its symbol table.  Until the module's init has returned,
 * mod->kallsyms is the whole table of the .ko file, afterwards the part that kallsyms keeps.  The
 * loader switches from one to the other and frees the first after an RCU grace period.
 */
static void module_symbols_note(struct pp_lookup *lookup, struct module *mod)
{
	const struct mod_kallsyms *kallsyms;
	unsigned int i;

	preempt_disable();
	kallsyms = rcu_dereference_sched(mod->kallsyms);
	for (i = 1; i < kallsyms->num_symtab; i++) {
		const Elf_Sym *sym = &kallsyms->symtab[i];

		if (sym->st_shndx != SHN_UNDEF)
			pp_lookup_note(lookup, kallsyms->strtab + sym->st_name, sym->st_value);
	}
	preempt_enable();
}

/* --- the sections of the module ---------------------------------------------------- */

/* A section of a module, as its symbols place it. */
struct module_section {
	u32 name;	/* in the patch's strings */
	unsigned long base;
	const struct pp_wanted *witness; /* the symbol that gave the base, or NULL */
	bool unique;	/* the module has one symbol of the witness's name */
};

static struct module_section *module_symbols_section(struct module_section *sections,
						  unsigned int *nr,
						  const struct pp_lookup *lookup, u32 name)
{
	const char *s = pp_string(lookup->patch, name);
	unsigned int i;

	/* A patch refers to a handful of sections. */
	for (i = 0; i < *nr; i++)
		if (sections[i].name == name ||
		    !strcmp(pp_string(lookup->patch, sections[i].name), s))
			return &sections[i];
	sections[*nr] = (struct module_section){ .name = name };
	return &sections[(*nr)++];
}

/*
 * Find the bases of the sections in which kallsyms lists symbols.  Each such symbol gives a base.
 * Prefer a symbol whose name is unique: of several symbols with one name some may have gone with
 * the init memory, which shifts the positions of the others.
 */
static void module_symbols_place_listed(struct pp_lookup *lookup, struct module_section *sections,
					unsigned int *nr)
{
	unsigned int i;

	for (i = 0; i < lookup->nr; i++) {
		struct pp_wanted *wanted = &lookup->wanted[i];
		struct module_section *section =
			module_symbols_section(sections, nr, lookup, wanted->sym->section);
		bool unique = wanted->seen == 1 && wanted->sym->pos == 1;

		if (!wanted->at_pos || (section->witness && (section->unique || !unique)))
			continue;
		section->witness = wanted;
		section->unique = unique;
		section->base = wanted->at_pos - wanted->sym->offset;
	}
}

/*
 * The loader adds a module's per-CPU offset (mod->percpu) to its per-CPU symbols, and kallsyms
 * shows the sums: small numbers, not addresses within the module.
 */
#define PERCPU_SECTION ".data..percpu"

static bool module_symbol_is_percpu(const struct pp_lookup *lookup, const struct pp_wanted *wanted)
{
	return !strcmp(pp_string(lookup->patch, wanted->sym->section), PERCPU_SECTION);
}

/*
 * The files of /sys/module/NAME/sections, up to a NULL.  Return: NULL if the module has no such
 * folder, or not yet.
 */
static pp_bin_attribute *const *module_symbols_sysfs_sections(const struct module *mod)
{
#ifdef CONFIG_SYSFS
	/* kernel/module/sysfs.c: struct module_sect_attrs begins with the group. */
	const struct attribute_group *group = (const void *)mod->sect_attrs;

	if (group && group->name && !strcmp(group->name, "sections"))
		return group->bin_attrs;
#endif
	return NULL;
}

/*
 * The section's address of one of these files.  Newer kernels keep it in attr->private (since
 * Linux 6.14).  Older kernels leave that NULL, and the address follows the attribute in struct
 * module_sect_attr.  Nothing that a header declares tells them apart.  But every section with a
 * file is in memory, so its address is not 0.
 */
static unsigned long module_symbols_file_address(const struct bin_attribute *attr)
{
	return attr->private ? (unsigned long)attr->private : *(const unsigned long *)(attr + 1);
}

/* The address that sysfs shows for a section of @mod, or 0. */
static unsigned long module_symbols_sysfs_address(const struct module *mod, const char *name)
{
	pp_bin_attribute *const *attr = module_symbols_sysfs_sections(mod);

	for (; attr && *attr; attr++)
		if (!strcmp((*attr)->attr.name, name))
			return module_symbols_file_address(*attr);
	return 0;
}

/*
 * A variable of size 0, such as a lock's class without lockdep, may be alone in its section.  The
 * loader shows only sections that are not empty, so such a variable has no address.
 */
static bool module_symbol_is_nowhere(const struct pp_lookup *lookup, const struct module *mod,
				     const struct pp_wanted *wanted)
{
	return !wanted->sym->size && !wanted->sym->offset && module_symbols_sysfs_sections(mod) &&
	       !module_symbols_sysfs_address(mod, pp_string(lookup->patch, wanted->sym->section));
}

/* The base of the section of @wanted as the loader tells it, or 0. */
static unsigned long module_symbols_base(const struct pp_lookup *lookup,
					    const struct module *mod,
					    const struct pp_wanted *wanted)
{
#ifdef CONFIG_SMP
	if (module_symbol_is_percpu(lookup, wanted))
		return (__force unsigned long)mod->percpu;
#endif
	return module_symbols_sysfs_address(mod, pp_string(lookup->patch, wanted->sym->section));
}

/*
 * Find the bases of sections in which kallsyms lists nothing, such as data without KALLSYMS_ALL.
 * While a module is COMING its whole symbol table is in memory, so a symbol whose name is unique
 * tells the base.  Later the loader has made the files in sysfs.
 */
static void module_symbols_place_unlisted(struct pp_lookup *lookup,
					  struct module_section *sections, unsigned int *nr,
					  const struct module *mod)
{
	unsigned int i;

	for (i = 0; i < lookup->nr; i++) {
		struct pp_wanted *wanted = &lookup->wanted[i];
		struct module_section *section =
			module_symbols_section(sections, nr, lookup, wanted->sym->section);
		unsigned long base;

		if (section->witness)
			continue;
		base = module_symbols_base(lookup, mod, wanted);
		if (!base && mod->state == MODULE_STATE_COMING && wanted->seen == 1)
			base = wanted->last - wanted->sym->offset;
		if (!base)
			continue;
		section->witness = wanted;
		section->base = base;
	}
}

/* --- the symbols ------------------------------------------------------------------- */

static bool module_symbol_within_percpu(const struct module *mod, unsigned long addr,
					unsigned long size)
{
#ifdef CONFIG_SMP
	unsigned long start = (__force unsigned long)mod->percpu;

	return start && addr >= start && addr - start <= mod->percpu_size &&
	       size <= mod->percpu_size - (addr - start);
#else
	return false; /* ordinary data without SMP: see module_symbol_within_core() */
#endif
}

static bool module_symbol_within_core(const struct module *mod, unsigned long addr,
				      unsigned long size)
{
	return pp_module_holds(mod, addr, size ?: 1);
}

static int module_symbol_check(const struct pp_lookup *lookup, const struct pp_wanted *wanted,
			       const struct module *mod)
{
	const unsigned long size = wanted->sym->size;

	if (!wanted->seen && !pp_wanted_may_be_unlisted(wanted))
		return pp_lookup_refuse(lookup, wanted, "kallsyms does not list it");
	if (!wanted->addr)
		return pp_lookup_refuse(lookup, wanted, "nothing tells where its section is");
	if (IS_ENABLED(CONFIG_SMP) && module_symbol_is_percpu(lookup, wanted)) {
		if (!module_symbol_within_percpu(mod, wanted->addr, size))
			return pp_lookup_refuse(lookup, wanted,
						"it is not in the module's per-CPU memory");
	} else if (!module_symbol_within_core(mod, wanted->addr, size)) {
		return pp_lookup_refuse(lookup, wanted,
					"it is not in the module's permanent memory");
	}
	if ((wanted->sym->flags & POKEPATCH_SYM_FUNC) &&
	    !pp_region_holds(pp_module_text(mod), wanted->addr, size))
		return pp_lookup_refuse(lookup, wanted, "it is not in the module's text");
	if (!wanted->seen)
		return 0;
	if (wanted->sym->pos && !wanted->confirmed)
		return pp_lookup_refuse(lookup, wanted, "offset and kallsyms disagree");
	/* While the module is COMING kallsyms has the whole table: the position must be exact. */
	if (wanted->sym->pos && mod->state == MODULE_STATE_COMING &&
	    wanted->at_pos != wanted->addr)
		return pp_lookup_refuse(lookup, wanted, "position and kallsyms disagree");
	return 0;
}

int pp_module_resolve(struct pp_patch *patch, unsigned int obj, struct module *mod)
{
	struct module_section *sections = NULL;
	struct pp_lookup lookup;
	unsigned int i, nr = 0;
	int ret = pp_lookup_init(&lookup, patch, obj);

	if (ret || !lookup.nr)
		return ret;
	sections = kvcalloc(lookup.nr, sizeof(*sections), GFP_KERNEL);
	if (!sections) {
		ret = -ENOMEM;
		goto out;
	}
	module_symbols_note(&lookup, mod);
	module_symbols_place_listed(&lookup, sections, &nr);
	module_symbols_place_unlisted(&lookup, sections, &nr, mod);
	for (i = 0; i < lookup.nr; i++) {
		struct pp_wanted *wanted = &lookup.wanted[i];
		const struct module_section *section =
			module_symbols_section(sections, &nr, &lookup, wanted->sym->section);

		if (section->witness)
			wanted->addr = section->base + wanted->sym->offset;
		else if (module_symbol_is_nowhere(&lookup, mod, wanted))
			wanted->addr = pp_module_text(mod).start;
		wanted->seen = 0;
		wanted->at_pos = 0;
	}
	/* Note the symbols again, now that each can confirm its address. */
	module_symbols_note(&lookup, mod);
	for (i = 0; i < lookup.nr && !ret; i++)
		ret = module_symbol_check(&lookup, &lookup.wanted[i], mod);
	if (!ret)
		pp_lookup_store(&lookup);
out:
	kvfree(sections);
	pp_lookup_deinit(&lookup);
	return ret;
}
