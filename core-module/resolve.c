// SPDX-License-Identifier: GPL-2.0-only
/*
 * Symbols: those that the core itself needs, and those that patches name.
 *
 * A symbol of a patch is found by its offset from its parent's base; the build
 * id says that the parent is the one that the offset was measured in.  Wherever
 * kallsyms lists the symbol, its name and position must lead to the same address.
 */
#include <linux/elf.h>
#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/stringhash.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>

#include <pokepatch_format.h>

#include "arch/pp_arch.h"
#include "core_print.h"
#include "ftrace.h"
#include "pp_patch.h"
#include "resolve.h"

#ifndef CONFIG_KALLSYMS
#error "the core needs a kernel with CONFIG_KALLSYMS"
#endif

struct pp_kernel pp_kernel __ro_after_init;

/* --- the core's own ---------------------------------------------------------- */

static const struct pp_needed needed[] = {
	{ "kallsyms_on_each_symbol", &pp_kernel.kallsyms_on_each_symbol },
	{ "find_module", &pp_kernel.find_module },
	{ "ftrace_location", &pp_kernel.ftrace_location, .optional = !PP_HAS_FTRACE },
	{ "idle_task", &pp_kernel.idle_task },
#ifdef CONFIG_THREAD_INFO_IN_TASK
	{ "put_task_stack", &pp_kernel.put_task_stack },
#endif
	{ "task_call_func", &pp_kernel.task_call_func },
#if defined(CONFIG_SMP) || defined(CONFIG_HOTPLUG_CPU)
	{ "stop_machine_cpuslocked", &pp_kernel.stop_machine_cpuslocked },
#endif
	{ "text_mutex", &pp_kernel.text_mutex },
	{ "task_work_cancel_match", &pp_kernel.task_work_cancel_match },
	{ "lookup_rec", &pp_kernel.lookup_rec, .optional = true },
	{ "ftrace_pages_start", &pp_kernel.ftrace_pages, .optional = true },
	{ "ftrace_rec_iter_start", &pp_kernel.ftrace_rec_iter_start, .optional = true },
	{ "ftrace_rec_iter_record", &pp_kernel.ftrace_rec_iter_record, .optional = true },
	{ "ftrace_ops_test", &pp_kernel.ftrace_ops_test, .optional = true },
	{ "ftrace_is_dead", &pp_kernel.ftrace_is_dead, .optional = !PP_HAS_FTRACE },
	{ "ftrace_lock", &pp_kernel.ftrace_lock, .optional = true },
	{ "ftrace_ops_list", &pp_kernel.ftrace_ops_list, .optional = true },
	{ "ftrace_list_end", &pp_kernel.ftrace_list_end, .optional = true },
	{ "get_kprobe", &pp_kernel.get_kprobe },
	{ "kprobe_mutex", &pp_kernel.kprobe_mutex, .optional = PP_HAS_FTRACE },
	/* Where they are not, nobody can ask for these events. */
	{ "perf_event_text_poke", &pp_kernel.perf_event_text_poke, .optional = true },
	{ "perf_event_ksymbol", &pp_kernel.perf_event_ksymbol, .optional = true },
	{ "__vmalloc_node_range", &pp_kernel.vmalloc_node_range, .optional = true },
	/* The entry mode's, see claim.c. */
	{ "kprobe_ftrace_ops", &pp_kernel.kprobe_ops, .optional = true },
	{ "kprobe_ipmodify_ops", &pp_kernel.kprobe_ipmodify_ops, .optional = true },
	{ "_stext", &pp_kernel.stext },
	{ "_etext", &pp_kernel.etext },
	{ "_end", &pp_kernel.end },
	{ "__start_notes", &pp_kernel.notes },
	{ "__stop_notes", &pp_kernel.notes_end },
	{ "__per_cpu_end", &pp_kernel.per_cpu_end, .optional = !IS_ENABLED(CONFIG_SMP) },
	{}
};

/*
 * Without KALLSYMS_ALL the kernel lists its code only. For such a kernel the core is made with
 * a table of where its other symbols are (Kbuild makes symbols.h, from the vmlinux), counted
 * from _stext, and with that kernel's build id.
 */
static const struct {
	const char *name;
	long offset;
} unlisted[] __initconst = {
#ifndef CONFIG_KALLSYMS_ALL
#include "symbols.h"
#endif
	{}
};

/* The table first: kallsyms would take a module's symbol for one of the kernel's that it lacks. */
static unsigned long __init find_symbol(const char *name)
{
	unsigned int i;

	for (i = 0; unlisted[i].name; i++)
		if (!strcmp(unlisted[i].name, name))
			return pp_kernel.kallsyms_lookup_name("_stext") + unlisted[i].offset;
	return pp_kernel.kallsyms_lookup_name(name);
}

/*
 * What the table says holds for one kernel.  Nothing is read at an address of it before this
 * has found that kernel's build id where the table has the notes.
 */
static int __init check_table(void)
{
#ifndef CONFIG_KALLSYMS_ALL
	static const u8 want[] __initconst = { POKEPATCH_KERNEL_BUILD_ID };
	const u8 *notes = (void *)find_symbol("__start_notes");
	const unsigned long size = find_symbol("__stop_notes") - (unsigned long)notes;
	u8 byte[sizeof(want)];
	unsigned long at;

	for (at = 0; at + sizeof(want) <= size && size < PAGE_SIZE; at += 4)
		if (!copy_from_kernel_nofault(byte, notes + at, sizeof(want)) &&
		    !memcmp(byte, want, sizeof(want)))
			return 0;
	pr_err("this core was built for a kernel with another build id, %*phN\n",
	       (int)sizeof(want), want);
	return -ENOEXEC;
#else
	return 0;
#endif
}

/* kallsyms_lookup_name() is not exported; the address of a probe on it is. */
static int __init find_kallsyms(void)
{
	struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };
	int ret = register_kprobe(&probe);

	if (ret) {
		pr_err("cannot find kallsyms_lookup_name: a probe on it fails (%d); "
		       "is kprobes disabled?\n",
		       ret);
		return ret;
	}
	pp_kernel.kallsyms_lookup_name = (void *)probe.addr;
	unregister_kprobe(&probe);
	return 0;
}

/*
 * The build id note among the ELF notes at [at, end): gABI, "Note Section"; the
 * type is NT_GNU_BUILD_ID (3), the owner "GNU".
 */
#define BUILD_ID_TYPE 3

static bool is_build_id(const Elf64_Nhdr *note)
{
	return note->n_type == BUILD_ID_TYPE && note->n_namesz == sizeof("GNU") &&
	       note->n_descsz && note->n_descsz <= POKEPATCH_BUILD_ID_MAX &&
	       !memcmp(note + 1, "GNU", sizeof("GNU"));
}

static const u8 *build_id_of(const Elf64_Nhdr *note)
{
	return (const u8 *)(note + 1) + sizeof("GNU");
}

static int __init find_build_id(void)
{
	unsigned long at = pp_kernel.notes;

	while (at + sizeof(Elf64_Nhdr) + sizeof("GNU") <= pp_kernel.notes_end) {
		const Elf64_Nhdr *note = (const void *)at;
		unsigned long next = at + sizeof(*note) + ALIGN(note->n_namesz, 4) +
				     ALIGN(note->n_descsz, 4);

		if (next <= at || next > pp_kernel.notes_end)
			break;
		if (is_build_id(note)) {
			pp_kernel.build_id = build_id_of(note);
			pp_kernel.build_id_len = note->n_descsz;
			return 0;
		}
		at = next;
	}
	pr_err("this kernel has no build id; patches cannot be checked against it\n");
	return -ENOENT;
}

static int __init find_needed(const struct pp_needed *needed)
{
	for (; needed->name; needed++) {
		unsigned long addr = find_symbol(needed->name);

		if (!addr && !needed->optional) {
			pr_err("this kernel has no symbol %s, which the core needs\n",
			       needed->name);
			return -ENOENT;
		}
		memcpy(needed->slot, &addr, sizeof(addr));
	}
	return 0;
}

int __init pp_resolve_init(void)
{
	return find_kallsyms() ?: check_table() ?: find_needed(needed) ?: find_needed(pp_arch.needed) ?:
	       find_build_id();
}

/* --- parents ----------------------------------------------------------------- */

void pp_module_text(const struct module *mod, unsigned long *start, unsigned long *end)
{
	*start = (unsigned long)mod->core_layout.base;
	*end = *start + mod->core_layout.text_size;
}

int pp_verify_vmlinux(const struct pp_patch *patch)
{
	const struct pokepatch_object *want = patch->objects[0].desc;

	if (want->build_id_len == pp_kernel.build_id_len &&
	    !memcmp(want->build_id, pp_kernel.build_id, want->build_id_len))
		return 0;
	pr_err("%s is refused: made for the kernel with build id %*phN, this one has %*phN; build it for this kernel\n",
	       patch->name, (int)want->build_id_len, want->build_id,
	       (int)pp_kernel.build_id_len, pp_kernel.build_id);
	return -ENOEXEC;
}

/*
 * The loader keeps no pointer to a module's notes before the module is live (and
 * with CONFIG_STACKTRACE_BUILD_ID only a copy), so look through the read-only
 * data, where layout_sections() puts them: the 16 bytes of header and owner are
 * unmistakable, and the id is compared in full.
 */
int pp_verify_module(const struct pp_patch *patch, const struct pokepatch_object *want,
		     const struct module *mod)
{
	unsigned long at = (unsigned long)mod->core_layout.base + mod->core_layout.text_size;
	unsigned long end = (unsigned long)mod->core_layout.base + mod->core_layout.ro_size;
	const Elf64_Nhdr *found = NULL;

	for (; at + sizeof(Elf64_Nhdr) + sizeof("GNU") + want->build_id_len <= end; at += 4) {
		const Elf64_Nhdr *note = (const void *)at;

		if (!is_build_id(note))
			continue;
		found = note;
		if (note->n_descsz == want->build_id_len &&
		    !memcmp(build_id_of(note), want->build_id, want->build_id_len))
			return 0;
	}
	if (found && (unsigned long)build_id_of(found) + found->n_descsz <= end)
		pr_err("%s does not fit module %s: made for build id %*phN, the module has %*phN\n",
		       patch->name, mod->name, (int)want->build_id_len, want->build_id,
		       (int)found->n_descsz, build_id_of(found));
	else
		pr_err("%s does not fit module %s: made for build id %*phN, the module has none\n",
		       patch->name, mod->name, (int)want->build_id_len, want->build_id);
	return -ENOEXEC;
}

/* --- the symbols that a patch names ------------------------------------------ */

/* A wanted symbol and what kallsyms said about it. */
struct wanted {
	struct hlist_node node;
	const struct pokepatch_symbol *sym;
	const char *name;
	unsigned int seen;	/* symbols of that name so far */
	unsigned long at_pos;	/* the pos-th of them */
	unsigned long last;	/* the last of them so far */
	unsigned long addr;	/* what the offset says; 0: not known yet */
	bool confirmed;		/* one of them lies at addr */
};

struct lookup {
	struct pp_patch *patch;
	struct wanted *wanted;
	unsigned int nr;
	struct hlist_head *buckets;
	unsigned int bits;
};

static unsigned int name_hash(const struct lookup *lookup, const char *name)
{
	return hash_32(full_name_hash(NULL, name, strlen(name)), lookup->bits);
}

static void lookup_deinit(struct lookup *lookup)
{
	kvfree(lookup->buckets);
	kvfree(lookup->wanted);
}

/* A hash, by name, of the patch's symbols in object @obj. */
static int lookup_init(struct lookup *lookup, struct pp_patch *patch, unsigned int obj)
{
	unsigned int i, nr = 0;

	for (i = 0; i < patch->nr_symbols; i++)
		nr += patch->symbols[i].object == obj;
	*lookup = (struct lookup){ .patch = patch, .bits = max(ilog2(nr | 1) + 1, 4) };
	if (!nr)
		return 0;
	lookup->wanted = kvcalloc(nr, sizeof(*lookup->wanted), GFP_KERNEL);
	lookup->buckets = kvcalloc(1UL << lookup->bits, sizeof(*lookup->buckets), GFP_KERNEL);
	if (!lookup->wanted || !lookup->buckets) {
		lookup_deinit(lookup);
		return -ENOMEM;
	}
	for (i = 0; i < patch->nr_symbols; i++) {
		const struct pokepatch_symbol *sym = &patch->symbols[i];
		struct wanted *wanted;

		if (sym->object != obj)
			continue;
		wanted = &lookup->wanted[lookup->nr++];
		wanted->sym = sym;
		wanted->name = pp_string(patch, sym->name);
		hlist_add_head(&wanted->node,
			       &lookup->buckets[name_hash(lookup, wanted->name)]);
	}
	return 0;
}

/* kallsyms lists a symbol: the next one of this name.  Any context. */
static int lookup_note(void *ctx, const char *name, struct module *mod, unsigned long addr)
{
	struct lookup *lookup = ctx;
	struct wanted *wanted;

	hlist_for_each_entry(wanted, &lookup->buckets[name_hash(lookup, name)], node) {
		if (strcmp(wanted->name, name))
			continue;
		if (++wanted->seen == wanted->sym->pos)
			wanted->at_pos = addr;
		wanted->last = addr;
		if (addr == wanted->addr)
			wanted->confirmed = true;
	}
	return 0;
}

static int missing(const struct lookup *lookup, const struct wanted *wanted, const char *why)
{
	pr_err("%s is refused: symbol %s,%u of %s: %s; build it for this kernel\n",
	       lookup->patch->name, wanted->name, wanted->sym->pos,
	       lookup->patch->objects[wanted->sym->object].name, why);
	return -ENOENT;
}

/*
 * Kernels without KALLSYMS_ALL list code only; the tool, which reads the ELF
 * file, cannot know that and counts positions for data as well.
 */
static bool may_be_unlisted(const struct wanted *wanted)
{
	return !wanted->sym->pos ||
	       (!IS_ENABLED(CONFIG_KALLSYMS_ALL) && !(wanted->sym->flags & POKEPATCH_SYM_FUNC));
}

static void lookup_store(const struct lookup *lookup)
{
	unsigned int i;

	for (i = 0; i < lookup->nr; i++)
		lookup->patch->addr[lookup->wanted[i].sym - lookup->patch->symbols] =
			lookup->wanted[i].addr;
}

static int check_vmlinux(const struct lookup *lookup, const struct wanted *wanted)
{
	const struct pokepatch_symbol *sym = wanted->sym;
	unsigned long addr = wanted->addr, last = addr + (sym->size ? sym->size - 1 : 0);

	if (sym->flags & POKEPATCH_SYM_ABS) {
		/* Only where per-CPU memory is linked at 0 (x86) is that an offset into it. */
		if (pp_kernel.per_cpu_end >= pp_kernel.stext)
			return missing(lookup, wanted, "this kernel has no absolute symbols");
		if (last < addr || last >= pp_kernel.per_cpu_end)
			return missing(lookup, wanted, "its offset is outside per-CPU memory");
	} else if (addr < pp_kernel.stext || last < addr || last >= pp_kernel.end) {
		return missing(lookup, wanted, "its offset is outside the kernel");
	}
	if ((sym->flags & POKEPATCH_SYM_FUNC) &&
	    (addr < pp_kernel.stext || last >= pp_kernel.etext))
		return missing(lookup, wanted, "it is not in the kernel's permanent text");
	if (!wanted->seen && may_be_unlisted(wanted))
		return 0;
	if (!wanted->seen)
		return missing(lookup, wanted, "kallsyms does not list it");
	if (sym->pos && wanted->at_pos != addr)
		return missing(lookup, wanted, "offset and kallsyms disagree");
	return 0;
}

int pp_resolve_vmlinux(struct pp_patch *patch)
{
	struct lookup lookup;
	unsigned int i;
	int ret = lookup_init(&lookup, patch, 0);

	if (ret || !lookup.nr)
		return ret;
	for (i = 0; i < lookup.nr; i++) {
		struct wanted *wanted = &lookup.wanted[i];

		wanted->addr = wanted->sym->offset;
		if (!(wanted->sym->flags & POKEPATCH_SYM_ABS))
			wanted->addr += pp_kernel.stext;
	}
	pp_kernel.kallsyms_on_each_symbol(lookup_note, &lookup);
	for (i = 0; i < lookup.nr && !ret; i++)
		ret = check_vmlinux(&lookup, &lookup.wanted[i]);
	if (!ret)
		lookup_store(&lookup);
	lookup_deinit(&lookup);
	return ret;
}

/*
 * The symbols of a module, in symbol table order.  Until its init is over that
 * is the .ko's whole table, later what kallsyms keeps; the loader switches
 * between the two and frees the first after an RCU grace period.
 */
static void lookup_walk_module(struct lookup *lookup, struct module *mod)
{
	const struct mod_kallsyms *kallsyms;
	unsigned int i;

	preempt_disable();
	kallsyms = rcu_dereference_sched(mod->kallsyms);
	for (i = 1; i < kallsyms->num_symtab; i++) {
		const Elf_Sym *sym = &kallsyms->symtab[i];

		if (sym->st_shndx != SHN_UNDEF)
			lookup_note(lookup, kallsyms->strtab + sym->st_name, mod, sym->st_value);
	}
	preempt_enable();
}

/* A section of a module, as its symbols place it. */
struct section {
	u32 name;
	unsigned long base;
	const struct wanted *witness;
	bool unique;	/* the witness has a name of its own */
};

static struct section *section_find(struct section *sections, unsigned int *nr,
				    const struct lookup *lookup, u32 name)
{
	const char *s = pp_string(lookup->patch, name);
	unsigned int i;

	/* A patch refers to a handful of sections. */
	for (i = 0; i < *nr; i++)
		if (sections[i].name == name ||
		    !strcmp(pp_string(lookup->patch, sections[i].name), s))
			return &sections[i];
	sections[*nr] = (struct section){ .name = name };
	return &sections[(*nr)++];
}

/*
 * Where the sections lie: each symbol that kallsyms lists gives one address of
 * its section.  Those with a name of their own are asked first: of several with
 * one name, some may have gone with the init memory, and positions shifted.
 */
static void find_sections(struct lookup *lookup, struct section *sections, unsigned int *nr)
{
	unsigned int i;

	for (i = 0; i < lookup->nr; i++) {
		struct wanted *wanted = &lookup->wanted[i];
		struct section *section = section_find(sections, nr, lookup, wanted->sym->section);
		bool unique = wanted->seen == 1 && wanted->sym->pos == 1;

		if (!wanted->at_pos || (section->witness && (section->unique || !unique)))
			continue;
		section->witness = wanted;
		section->unique = unique;
		section->base = wanted->at_pos - wanted->sym->offset;
	}
}

/*
 * The loader adds a module's per-CPU offset (mod->percpu) to its per-CPU symbols, and
 * kallsyms shows them so: small numbers, not addresses within the module.
 */
#define PERCPU_SECTION ".data..percpu"

static bool is_percpu(const struct lookup *lookup, const struct wanted *wanted)
{
	return !strcmp(pp_string(lookup->patch, wanted->sym->section), PERCPU_SECTION);
}

/* What /sys/module/NAME/sections shows, up to a NULL; NULL: there is no such folder, or not yet. */
static struct bin_attribute *const *shown_sections(const struct module *mod)
{
#ifdef CONFIG_SYSFS
	/* kernel/module/sysfs.c: struct module_sect_attrs begins with the group. */
	const struct attribute_group *group = (const void *)mod->sect_attrs;

	if (group && group->name && !strcmp(group->name, "sections"))
		return group->bin_attrs;
#endif
	return NULL;
}

/* What is shown of a section of @mod, or 0. */
static unsigned long shown_address(const struct module *mod, const char *name)
{
	struct bin_attribute *const *attr = shown_sections(mod);

	/* Behind each of the attributes there is the address of its section. */
	for (; attr && *attr; attr++)
		if (!strcmp((*attr)->attr.name, name))
			return *(const unsigned long *)(*attr + 1);
	return 0;
}

/*
 * Has a variable of no size, such as a lock's class without lockdep, no place?  The loader shows all
 * sections that have anything in them.
 */
static bool is_nowhere(const struct lookup *lookup, const struct module *mod,
		       const struct wanted *wanted)
{
	return !wanted->sym->size && !wanted->sym->offset && shown_sections(mod) &&
	       !shown_address(mod, pp_string(lookup->patch, wanted->sym->section));
}

/* Where the section of a symbol is, or 0. */
static unsigned long section_address(const struct lookup *lookup, const struct module *mod,
				     const struct wanted *wanted)
{
#ifdef CONFIG_SMP
	if (is_percpu(lookup, wanted))
		return (unsigned long)(void __force *)mod->percpu;
#endif
	return shown_address(mod, pp_string(lookup->patch, wanted->sym->section));
}

/*
 * The same for sections of which kallsyms lists nothing, as those of data without KALLSYMS_ALL.
 * While a module comes its whole symbol table is there, so a symbol that has its name for
 * itself tells; afterwards the loader has made the files of sysfs.
 */
static void find_unlisted(struct lookup *lookup, struct section *sections, unsigned int *nr,
			  const struct module *mod)
{
	unsigned int i;

	for (i = 0; i < lookup->nr; i++) {
		struct wanted *wanted = &lookup->wanted[i];
		struct section *section = section_find(sections, nr, lookup, wanted->sym->section);
		unsigned long base;

		if (section->witness)
			continue;
		base = section_address(lookup, mod, wanted);
		if (!base && mod->state == MODULE_STATE_COMING && wanted->seen == 1)
			base = wanted->last - wanted->sym->offset;
		if (!base)
			continue;
		section->witness = wanted;
		section->base = base;
	}
}

static bool within_percpu(const struct module *mod, unsigned long addr, unsigned long size)
{
#ifdef CONFIG_SMP
	unsigned long start = (unsigned long)(void __force *)mod->percpu;

	return start && addr >= start && addr - start <= mod->percpu_size &&
	       size <= mod->percpu_size - (addr - start);
#else
	return false; /* there the section is ordinary data, see within_module_core() */
#endif
}

static bool within_core(const struct module *mod, unsigned long addr, unsigned long size)
{
	return within_module_core(addr, mod) &&
	       (!size || within_module_core(addr + size - 1, mod));
}

static int check_module(const struct lookup *lookup, const struct wanted *wanted,
			const struct module *mod)
{
	unsigned long text, text_end, size = wanted->sym->size;

	if (!wanted->seen && !may_be_unlisted(wanted))
		return missing(lookup, wanted, "kallsyms does not list it");
	if (!wanted->addr)
		return missing(lookup, wanted, "nothing tells where its section is");
	if (IS_ENABLED(CONFIG_SMP) && is_percpu(lookup, wanted)) {
		if (!within_percpu(mod, wanted->addr, size))
			return missing(lookup, wanted,
				       "it is not in the module's per-CPU memory");
	} else if (!within_core(mod, wanted->addr, size)) {
		return missing(lookup, wanted, "it is not in the module's permanent memory");
	}
	pp_module_text(mod, &text, &text_end);
	if ((wanted->sym->flags & POKEPATCH_SYM_FUNC) &&
	    (wanted->addr < text || wanted->addr + size > text_end))
		return missing(lookup, wanted, "it is not in the module's text");
	if (!wanted->seen)
		return 0;
	if (wanted->sym->pos && !wanted->confirmed)
		return missing(lookup, wanted, "offset and kallsyms disagree");
	/* The whole symbol table is there: the position must be exact. */
	if (wanted->sym->pos && mod->state == MODULE_STATE_COMING &&
	    wanted->at_pos != wanted->addr)
		return missing(lookup, wanted, "position and kallsyms disagree");
	return 0;
}

int pp_resolve_module(struct pp_patch *patch, unsigned int obj, struct module *mod)
{
	struct section *sections = NULL;
	struct lookup lookup;
	unsigned int i, nr = 0;
	int ret = lookup_init(&lookup, patch, obj);

	if (ret || !lookup.nr)
		return ret;
	sections = kvcalloc(lookup.nr, sizeof(*sections), GFP_KERNEL);
	if (!sections) {
		ret = -ENOMEM;
		goto out;
	}
	lookup_walk_module(&lookup, mod);
	find_sections(&lookup, sections, &nr);
	find_unlisted(&lookup, sections, &nr, mod);
	for (i = 0; i < lookup.nr; i++) {
		struct wanted *wanted = &lookup.wanted[i];
		const struct section *section =
			section_find(sections, &nr, &lookup, wanted->sym->section);

		if (section->witness)
			wanted->addr = section->base + wanted->sym->offset;
		else if (is_nowhere(&lookup, mod, wanted))
			wanted->addr = (unsigned long)mod->core_layout.base;
		wanted->seen = 0;
		wanted->at_pos = 0;
	}
	/* Again, now that addresses are there to be confirmed. */
	lookup_walk_module(&lookup, mod);
	for (i = 0; i < lookup.nr && !ret; i++)
		ret = check_module(&lookup, &lookup.wanted[i], mod);
	if (!ret)
		lookup_store(&lookup);
out:
	kvfree(sections);
	lookup_deinit(&lookup);
	return ret;
}
