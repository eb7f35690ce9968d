/* SPDX-License-Identifier: GPL-2.0-only */
/* Symbols that the core needs and that the kernel does not export: kernel_symbols.c. */
#ifndef POKEPATCH_KERNEL_SYMBOLS_H
#define POKEPATCH_KERNEL_SYMBOLS_H

#include <linux/elf.h>
#include <linux/ftrace.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include <linux/task_work.h>
#include <linux/types.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>

#include <pokepatch_format.h>

#include "compat.h"

struct pp_ftrace_page;

/*
 * Only typeof() uses these declarations, of symbols that a module cannot link against.  No public
 * header of the kernel declares them.  The comments name the files that do.
 */
extern struct mutex kprobe_mutex;		/* kernel/kprobes.c, static */
extern struct ftrace_ops kprobe_ftrace_ops;	/* kernel/kprobes.c, static */
extern struct ftrace_ops kprobe_ipmodify_ops;	/* kernel/kprobes.c, static */
/* kernel/trace/ftrace_internal.h */
extern struct mutex ftrace_lock;
int ftrace_ops_test(struct ftrace_ops *ops, unsigned long ip, void *regs);
int ftrace_is_dead(void);			/* kernel/trace/trace.h */
/* kernel/trace/ftrace.c, static */
struct dyn_ftrace *lookup_rec(unsigned long start, unsigned long end);
/* kernel/trace/ftrace.c, static; the kernel calls the type struct ftrace_page, see claim.c */
extern struct pp_ftrace_page *ftrace_pages_start;
/* <linux/ftrace.h> declares these four, but in kernels with ftrace only. */
struct ftrace_rec_iter *ftrace_rec_iter_start(void);
struct dyn_ftrace *ftrace_rec_iter_record(struct ftrace_rec_iter *iter);
extern struct ftrace_ops __rcu *ftrace_ops_list;
extern struct ftrace_ops ftrace_list_end;

/*
 * Each slot has the type that the kernel declares, so that the compiler checks the core's calls
 * against the kernel that it is built for.  Read-only after the core's init.
 *
 * With CONFIG_CFI_CLANG, a C function compares the hash of a type in front of the function that it
 * calls indirectly.  A gate has none, nor has a static function of the kernel whose address
 * nothing takes.  So a function that calls through a slot is __nocfi, and it makes no other
 * indirect call: with FineIBT, that would have to arrive in front of its target.
 */
struct pp_kernel {
	/* functions */
	typeof(&kallsyms_lookup_name) kallsyms_lookup_name;
	typeof(&kallsyms_on_each_symbol) kallsyms_on_each_symbol;
	typeof(&find_module) find_module;
	typeof(&kallsyms_show_value) kallsyms_show_value; /* may be NULL */
	typeof(&ftrace_location) ftrace_location;
	typeof(&idle_task) idle_task;
#ifdef CONFIG_THREAD_INFO_IN_TASK
	typeof(&put_task_stack) put_task_stack;
#endif
	typeof(&task_call_func) task_call_func;
#if defined(CONFIG_SMP) || defined(CONFIG_HOTPLUG_CPU)
	typeof(&stop_machine_cpuslocked) stop_machine_cpuslocked;
#endif
	/* NULL if the compiler has inlined lookup_rec(): then claim.c uses the next two. */
	typeof(&lookup_rec) lookup_rec;
	typeof(&ftrace_rec_iter_start) ftrace_rec_iter_start;
	typeof(&ftrace_rec_iter_record) ftrace_rec_iter_record;
	typeof(&get_kprobe) get_kprobe;
	typeof(&ftrace_is_dead) ftrace_is_dead;
	typeof(&ftrace_ops_test) ftrace_ops_test;
	typeof(&task_work_cancel_match) task_work_cancel_match;
	/* Each of these five may be NULL. */
	typeof(&within_kprobe_blacklist) within_kprobe_blacklist;
	typeof(&kallsyms_lookup_size_offset) kallsyms_lookup_size_offset;
	typeof(&pp_vmalloc_node_range) vmalloc_node_range;
	typeof(&perf_event_text_poke) perf_event_text_poke;
	typeof(&perf_event_ksymbol) perf_event_ksymbol;

	/* locks */
	typeof(&ftrace_lock) ftrace_lock;
	typeof(&text_mutex) text_mutex;
	/* Taken before ftrace_lock and text_mutex.  May be NULL if the kernel has ftrace. */
	typeof(&kprobe_mutex) kprobe_mutex;

	/* ftrace's list of registered ops, which ftrace_lock guards, and the ops that ends it */
	typeof(&ftrace_ops_list) ftrace_ops_list;
	typeof(&ftrace_list_end) ftrace_list_end;
	typeof(&ftrace_pages_start) ftrace_pages; /* its records, see claim.c; under ftrace_lock */
	/* the ops of kprobes, or NULL */
	typeof(&kprobe_ftrace_ops) kprobe_ops;
	typeof(&kprobe_ipmodify_ops) kprobe_ipmodify_ops;

	struct mm_struct *init_mm;	/* the kernel's own; may be NULL, see alias.c */

	/* addresses */
	unsigned long stext, etext;	/* code that stays after boot; offsets count from stext */
	unsigned long end;
	unsigned long notes, notes_end;
	unsigned long per_cpu_end;	/* per-CPU symbols are offsets below this */
	/* functions that guard.c probes; each may be 0 */
	unsigned long ftrace_set_filter_ip, ftrace_set_filter_ips, bpf_trampoline_link_prog;
	unsigned long arch_prepare_kprobe, arch_prepare_kprobe_ftrace;

	const u8 *build_id;		/* in the notes */
	unsigned int build_id_len;	/* bytes */
};

extern struct pp_kernel pp_kernel;

/*
 * Fill in pp_kernel and the slots of pp_arch.needed.  May sleep.
 * Return: 0, or an error (logged): -ENOENT if the kernel lacks a symbol or a build id, -ENOEXEC if
 * the core was built for another kernel, or the error of a probe on kallsyms_lookup_name().
 */
int pp_kernel_symbols_init(void);

/*
 * Call @visit(@ctx, name, address) for each symbol of vmlinux that kallsyms lists, in its order.
 * May sleep.
 */
void pp_kernel_each_symbol(void (*visit)(void *ctx, const char *name, unsigned long addr),
			   void *ctx);

/* The type of a build id's ELF note (gABI, "Note Section"); its owner is "GNU". */
#define PP_NOTE_BUILD_ID 3

/* The header and owner of @note are in readable memory; its build id may not be. */
static inline bool pp_note_is_build_id(const Elf64_Nhdr *note)
{
	return note->n_type == PP_NOTE_BUILD_ID && note->n_namesz == sizeof("GNU") &&
	       note->n_descsz && note->n_descsz <= POKEPATCH_BUILD_ID_MAX &&
	       !memcmp(note + 1, "GNU", sizeof("GNU"));
}

static inline const u8 *pp_note_build_id(const Elf64_Nhdr *note)
{
	return (const u8 *)(note + 1) + sizeof("GNU");
}

/* The kernel's get_kprobe(), for functions that make other indirect calls too.  Preemption off. */
static inline __nocfi struct kprobe *pp_get_kprobe(unsigned long addr)
{
	return pp_kernel.get_kprobe((void *)addr);
}

#ifndef CONFIG_THREAD_INFO_IN_TASK
#define pp_put_task_stack put_task_stack
#else
static inline __nocfi void pp_put_task_stack(struct task_struct *task)
{
	pp_kernel.put_task_stack(task);
}
#endif

/* Without SMP and CPU hotplug the header's inline function runs the callback on this CPU. */
#if defined(CONFIG_SMP) || defined(CONFIG_HOTPLUG_CPU)
static inline __nocfi int pp_stop_machine_cpuslocked(cpu_stop_fn_t fn, void *data,
						     const struct cpumask *cpus)
{
	return pp_kernel.stop_machine_cpuslocked(fn, data, cpus);
}
#else
#define pp_stop_machine_cpuslocked stop_machine_cpuslocked
#endif

#endif /* POKEPATCH_KERNEL_SYMBOLS_H */
