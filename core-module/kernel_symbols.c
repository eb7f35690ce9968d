// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's own symbols that the core needs and that the kernel does not export, and the
 * running kernel's build id.
 *
 * A kprobe on kallsyms_lookup_name(), which is not exported either, tells where that is.  It finds
 * kallsyms_on_each_symbol(), which walks all symbols of vmlinux.  kallsyms_lookup_name() itself
 * would take a module's symbol for one that the kernel lacks, and the first of several that have
 * the same name.
 */
#include <linux/elf.h>
#include <linux/kprobes.h>
#include <linux/mm_types.h>
#include <linux/module.h>
#include <linux/string.h>
#include <linux/stringhash.h>
#include <linux/uaccess.h>

#include "arch/pp_arch.h"
#include "core_print.h"
#include "ftrace.h"
#include "kernel_symbols.h"
#include "pp_needed.h"

#ifndef CONFIG_KALLSYMS
#error "the core needs a kernel with CONFIG_KALLSYMS"
#endif

struct pp_kernel pp_kernel __ro_after_init;

static const struct pp_needed kernel_needed[] __pp_needed = {
	PP_NEED_FUNCTION(find_module, pp_kernel.find_module),
	PP_NEED_FUNCTION(kallsyms_show_value, pp_kernel.kallsyms_show_value, .optional = true),
	PP_NEED_FUNCTION(ftrace_location, pp_kernel.ftrace_location, .optional = !PP_HAS_FTRACE),
	PP_NEED_FUNCTION(idle_task, pp_kernel.idle_task),
#ifdef CONFIG_THREAD_INFO_IN_TASK
	PP_NEED_FUNCTION(put_task_stack, pp_kernel.put_task_stack),
#endif
	PP_NEED_FUNCTION(task_call_func, pp_kernel.task_call_func),
#if defined(CONFIG_SMP) || defined(CONFIG_HOTPLUG_CPU)
	PP_NEED_FUNCTION(stop_machine_cpuslocked, pp_kernel.stop_machine_cpuslocked),
#endif
	PP_NEED(text_mutex, pp_kernel.text_mutex),
	PP_NEED_FUNCTION(task_work_cancel_match, pp_kernel.task_work_cancel_match),
	PP_NEED_FUNCTION(get_kprobe, pp_kernel.get_kprobe),
	PP_NEED(kprobe_mutex, pp_kernel.kprobe_mutex, .optional = PP_HAS_FTRACE),
	PP_NEED_FUNCTION(within_kprobe_blacklist, pp_kernel.within_kprobe_blacklist,
			 .optional = true), /* detour.c */
	/* guard.c */
	PP_NEED_FUNCTION(kallsyms_lookup_size_offset, pp_kernel.kallsyms_lookup_size_offset,
			 .optional = true),
	PP_NEED_ADDRESS(ftrace_set_filter_ip, pp_kernel.ftrace_set_filter_ip, .optional = true),
	PP_NEED_ADDRESS(ftrace_set_filter_ips, pp_kernel.ftrace_set_filter_ips, .optional = true),
	PP_NEED_ADDRESS(bpf_trampoline_link_prog, pp_kernel.bpf_trampoline_link_prog,
			.optional = true),
	PP_NEED_ADDRESS(arch_prepare_kprobe, pp_kernel.arch_prepare_kprobe, .optional = true),
	PP_NEED_ADDRESS(arch_prepare_kprobe_ftrace, pp_kernel.arch_prepare_kprobe_ftrace,
			.optional = true),
#ifdef __vmalloc_node_range /* see compat.h */
	PP_NEED_FUNCTION(__vmalloc_node_range_noprof, pp_kernel.vmalloc_node_range, .optional = true),
#else
	PP_NEED_FUNCTION(__vmalloc_node_range, pp_kernel.vmalloc_node_range, .optional = true),
#endif
	/* A kernel that lacks these two has no such perf events. */
	PP_NEED_FUNCTION(perf_event_text_poke, pp_kernel.perf_event_text_poke, .optional = true),
	PP_NEED_FUNCTION(perf_event_ksymbol, pp_kernel.perf_event_ksymbol, .optional = true),
	PP_NEED_FUNCTION(ftrace_is_dead, pp_kernel.ftrace_is_dead, .optional = !PP_HAS_FTRACE),
	/* Entry mode needs these: see claim.c. */
	PP_NEED_FUNCTION(lookup_rec, pp_kernel.lookup_rec, .optional = true),
	PP_NEED(ftrace_pages_start, pp_kernel.ftrace_pages, .optional = true),
	PP_NEED_FUNCTION(ftrace_rec_iter_start, pp_kernel.ftrace_rec_iter_start, .optional = true),
	PP_NEED_FUNCTION(ftrace_rec_iter_record, pp_kernel.ftrace_rec_iter_record, .optional = true),
	PP_NEED_FUNCTION(ftrace_ops_test, pp_kernel.ftrace_ops_test, .optional = true),
	PP_NEED(ftrace_lock, pp_kernel.ftrace_lock, .optional = true),
	PP_NEED(ftrace_ops_list, pp_kernel.ftrace_ops_list, .optional = true),
	PP_NEED(ftrace_list_end, pp_kernel.ftrace_list_end, .optional = true),
	PP_NEED(kprobe_ftrace_ops, pp_kernel.kprobe_ops, .optional = true),
	PP_NEED(kprobe_ipmodify_ops, pp_kernel.kprobe_ipmodify_ops, .optional = true),
	/* alias.c says what it is needed for. */
	PP_NEED(init_mm, pp_kernel.init_mm, .optional = !IS_ENABLED(CONFIG_ARCH_HAS_EXECMEM_ROX)),
	PP_NEED_ADDRESS(_stext, pp_kernel.stext),
	PP_NEED_ADDRESS(_etext, pp_kernel.etext),
	PP_NEED_ADDRESS(_end, pp_kernel.end),
	PP_NEED_ADDRESS(__start_notes, pp_kernel.notes),
	PP_NEED_ADDRESS(__stop_notes, pp_kernel.notes_end),
	PP_NEED_ADDRESS(__per_cpu_end, pp_kernel.per_cpu_end, .optional = !IS_ENABLED(CONFIG_SMP)),
	{}
};

/*
 * Without KALLSYMS_ALL kallsyms lists code only.  The core for such a kernel contains
 * a table of the other symbols it needs, with their distances from _stext, and that kernel's
 * build id.  Kbuild makes the table (symbols.h) from the kernel's vmlinux.
 */
static const struct {
	const char *name;
	long offset;
} kernel_unlisted[] __initconst = {
#ifndef CONFIG_KALLSYMS_ALL
#include "symbols.h"
#endif
	{}
};

/* --- looking up ----------------------------------------------------------------------- */

/* A symbol that the core looks for in kallsyms, and what it has found there. */
struct found {
	const struct pp_needed *needed;
	unsigned long addr;
	unsigned int nr;	/* symbols of vmlinux with this name */
};

/* By a hash of the name, with linear probing.  At least half of it stays empty. */
#define FOUND_MAX 256
static struct found kernel_found[FOUND_MAX] __initdata;

/* The entry for @name: it may be empty. */
static struct found *__init kernel_symbol_found_at(const char *name)
{
	unsigned int i = full_name_hash(NULL, name, strlen(name)) % FOUND_MAX;

	while (kernel_found[i].needed && strcmp(kernel_found[i].needed->name, name))
		i = (i + 1) % FOUND_MAX;
	return &kernel_found[i];
}

static void __init kernel_symbol_found_note(void *ctx, const char *name, unsigned long addr)
{
	struct found *found = kernel_symbol_found_at(name);

	if (!found->needed)
		return;
	found->addr = addr;
	found->nr++;
}

static int __init kernel_symbol_found_add(const struct pp_needed *needed)
{
	static unsigned int nr __initdata;

	for (; needed->name[0]; needed++) {
		if (WARN_ON(++nr > FOUND_MAX / 2))
			return -E2BIG;
		kernel_symbol_found_at(needed->name)->needed = needed;
	}
	return 0;
}

struct visit {
	void (*visit)(void *ctx, const char *name, unsigned long addr);
	void *ctx;
};

static int kernel_symbol_visit(PP_SYMBOL_PARAMETERS)
{
	const struct visit *visit = ctx;

	visit->visit(visit->ctx, name, addr);
	return 0;
}

__nocfi void pp_kernel_each_symbol(void (*visit)(void *ctx, const char *name, unsigned long addr),
				   void *ctx)
{
	struct visit both = { .visit = visit, .ctx = ctx };

	pp_kernel.kallsyms_on_each_symbol(kernel_symbol_visit, &both);
}

/*
 * The distance of symbol @name from _stext, if kallsyms does not list it.
 * Return: does the table have the symbol?
 */
static bool __init kernel_symbol_unlisted(const char *name, long *offset)
{
	unsigned int i;

	for (i = 0; kernel_unlisted[i].name; i++) {
		if (strcmp(kernel_unlisted[i].name, name))
			continue;
		*offset = kernel_unlisted[i].offset;
		return true;
	}
	return false;
}

/*
 * The address of @name, for the few symbols that are needed before vmlinux's symbols can be walked;
 * 0: none.  The table goes first: for a name that the kernel itself lacks, kallsyms_lookup_name()
 * would return a module's symbol.
 */
static __nocfi unsigned long __init kernel_symbol_find(const char *name)
{
	long offset;

	if (kernel_symbol_unlisted(name, &offset))
		return pp_kernel.kallsyms_lookup_name("_stext") + offset;
	return pp_kernel.kallsyms_lookup_name(name);
}

/*
 * The table holds for one kernel only.  So before the core reads any address from it, find that
 * kernel's build id where the table places the notes.
 */
static int __init kernel_symbols_check_table(void)
{
#ifndef CONFIG_KALLSYMS_ALL
	static const u8 want[] __initconst = { POKEPATCH_KERNEL_BUILD_ID };
	const u8 *notes = (void *)kernel_symbol_find("__start_notes");
	const unsigned long size = kernel_symbol_find("__stop_notes") - (unsigned long)notes;
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

static unsigned long __init kernel_symbol_callable(unsigned long func)
{
	return func && pp_arch.callable ? pp_arch.callable(func) : func;
}

static int __init kernel_symbol_missing(const char *name)
{
	pr_err("this kernel has no symbol %s, which the core needs\n", name);
	return -ENOENT;
}

static int __init kernel_symbols_find_kallsyms(void)
{
	struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };
	int ret = register_kprobe(&probe);
	unsigned long addr;

	if (ret) {
		pr_err("cannot find kallsyms_lookup_name: a probe on it fails (%d); "
		       "is kprobes disabled?\n",
		       ret);
		return ret;
	}
	/* The probe may lie behind an instruction that marks the target of indirect calls. */
	addr = kernel_symbol_callable((unsigned long)probe.addr);
	unregister_kprobe(&probe);
	pp_kernel.kallsyms_lookup_name = (void *)addr;
	if (!addr)
		return -ENOMEM;
	addr = kernel_symbol_callable(kernel_symbol_find("kallsyms_on_each_symbol"));
	pp_kernel.kallsyms_on_each_symbol = (void *)addr;
	return addr ? 0 : kernel_symbol_missing("kallsyms_on_each_symbol");
}

static int __init kernel_symbols_find_build_id(void)
{
	unsigned long at = pp_kernel.notes;

	while (at + sizeof(Elf64_Nhdr) + sizeof("GNU") <= pp_kernel.notes_end) {
		const Elf64_Nhdr *note = (const void *)at;
		unsigned long next = at + sizeof(*note) + ALIGN(note->n_namesz, 4) +
				     ALIGN(note->n_descsz, 4);

		if (next <= at || next > pp_kernel.notes_end)
			break;
		if (pp_note_is_build_id(note)) {
			pp_kernel.build_id = pp_note_build_id(note);
			pp_kernel.build_id_len = note->n_descsz;
			return 0;
		}
		at = next;
	}
	pr_err("this kernel has no build id; patches cannot be checked against it\n");
	return -ENOENT;
}

/*
 * Store the address of @needed in its slot, which stays 0 for an optional symbol that is missing.
 * Rows of one slot are alternatives: the first symbol that the kernel has fills it.
 */
static __nocfi int __init kernel_symbol_fill(const struct pp_needed *needed)
{
	const struct found *found = kernel_symbol_found_at(needed->name);
	unsigned long addr = found->addr, before;
	long offset;

	if (kernel_symbol_unlisted(needed->name, &offset)) {
		addr = pp_kernel.kallsyms_lookup_name("_stext") + offset;
	} else if (found->nr > 1) {
		addr = 0;
		if (!needed->optional) {
			pr_err("this kernel has %u symbols %s, and the core cannot tell which one it needs\n",
			       found->nr, needed->name);
			return -ENOENT;
		}
	}
	if (!addr)
		return needed->optional ? 0 : kernel_symbol_missing(needed->name);
	memcpy(&before, needed->slot, sizeof(before));
	if (before)
		return 0;
	if (needed->function)
		addr = kernel_symbol_callable(addr);
	if (!addr)
		return -ENOMEM;
	memcpy(needed->slot, &addr, sizeof(addr));
	return 0;
}

static int __init kernel_symbols_fill(void)
{
	const struct pp_needed *const tables[] = { kernel_needed, pp_arch.needed };
	const struct pp_needed *needed;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < ARRAY_SIZE(tables) && !ret; i++)
		ret = kernel_symbol_found_add(tables[i]);
	if (ret)
		return ret;
	pp_kernel_each_symbol(kernel_symbol_found_note, NULL);
	for (i = 0; i < ARRAY_SIZE(tables); i++)
		for (needed = tables[i]; needed->name[0] && !ret; needed++)
			ret = kernel_symbol_fill(needed);
	return ret;
}

int __init pp_kernel_symbols_init(void)
{
	return kernel_symbols_find_kallsyms() ?: kernel_symbols_check_table() ?:
	       kernel_symbols_fill() ?: kernel_symbols_find_build_id();
}
