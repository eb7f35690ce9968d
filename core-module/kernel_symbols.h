/* SPDX-License-Identifier: GPL-2.0-only */
/* Symbols that the core needs and that the kernel does not export: kernel_symbols.c. */
#ifndef POKEPATCH_KERNEL_SYMBOLS_H
#define POKEPATCH_KERNEL_SYMBOLS_H

#include <linux/elf.h>
#include <linux/mm_types.h>
#include <linux/sched/task_stack.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include <linux/types.h>

#include <pokepatch_format.h>

struct callback_head;
struct cpumask;
struct dyn_ftrace;
struct ftrace_ops;
struct ftrace_rec_iter;
struct kprobe;
struct module;
struct mutex;
struct pp_ftrace_page;
struct task_struct;

struct pp_kernel {
	/* functions */
	unsigned long (*kallsyms_lookup_name)(const char *name);
	int (*kallsyms_on_each_symbol)(int (*fn)(void *ctx, const char *name, struct module *mod,
						 unsigned long addr),
				       void *ctx);
	struct module *(*find_module)(const char *name);
	unsigned long (*ftrace_location)(unsigned long ip);
	struct task_struct *(*idle_task)(int cpu);
#ifdef CONFIG_THREAD_INFO_IN_TASK
	void (*put_task_stack)(struct task_struct *task);
#endif
	int (*task_call_func)(struct task_struct *task, int (*func)(struct task_struct *, void *),
			      void *arg);
#if defined(CONFIG_SMP) || defined(CONFIG_HOTPLUG_CPU)
	int (*stop_machine_cpuslocked)(int (*fn)(void *data), void *data,
				       const struct cpumask *cpus);
#endif
	struct dyn_ftrace *(*lookup_rec)(unsigned long start, unsigned long end);
	/* where the compiler has left no lookup_rec() */
	struct ftrace_rec_iter *(*ftrace_rec_iter_start)(void);
	struct dyn_ftrace *(*ftrace_rec_iter_record)(struct ftrace_rec_iter *iter);
	struct kprobe *(*get_kprobe)(void *addr);
	int (*ftrace_is_dead)(void);
	int (*ftrace_ops_test)(struct ftrace_ops *ops, unsigned long ip, void *regs);
	struct callback_head *(*task_work_cancel_match)(struct task_struct *task,
							bool (*match)(struct callback_head *work,
								      void *data),
							void *data);
	/* or NULL */
	void *(*vmalloc_node_range)(unsigned long size, unsigned long align, unsigned long start,
				    unsigned long end, gfp_t gfp, pgprot_t prot,
				    unsigned long flags, int node, const void *caller);
	void (*perf_event_text_poke)(const void *addr, const void *old_bytes, size_t old_len,
				     const void *new_bytes, size_t new_len);
	void (*perf_event_ksymbol)(u16 type, u64 addr, u32 len, bool unregister, const char *name);
	/* locks */
	struct mutex *ftrace_lock;
	struct mutex *text_mutex;
	struct mutex *kprobe_mutex;	/* or NULL, with ftrace; before ftrace_lock and text_mutex */
	/* ftrace's list of registered ops, under ftrace_lock, and what ends it */
	struct ftrace_ops **ftrace_ops_list;
	struct ftrace_ops *ftrace_list_end;
	struct pp_ftrace_page **ftrace_pages; /* its records, see claim.c; under ftrace_lock */
	/* those of kprobes, or NULL */
	struct ftrace_ops *kprobe_ops, *kprobe_ipmodify_ops;
	/* places */
	unsigned long stext, etext;	/* code that stays after boot; offsets count from stext */
	unsigned long end;
	unsigned long notes, notes_end;
	unsigned long per_cpu_end;	/* per-CPU symbols are offsets below this */
	/* facts */
	const u8 *build_id;
	unsigned int build_id_len;
};

extern struct pp_kernel pp_kernel;

/*
 * Fill in pp_kernel and the slots of pp_arch.needed.  May sleep.
 * Return: 0, or an error (logged): -ENOENT if the kernel lacks a symbol or a build id, -ENOEXEC if
 * the core was built for another kernel, or the error of a probe on kallsyms_lookup_name().
 */
int pp_kernel_symbols_init(void);

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

#ifndef CONFIG_THREAD_INFO_IN_TASK
#define pp_put_task_stack put_task_stack
#else
#define pp_put_task_stack pp_kernel.put_task_stack
#endif

/* Without SMP and CPU hotplug the header's inline function runs the callback on this CPU. */
#if defined(CONFIG_SMP) || defined(CONFIG_HOTPLUG_CPU)
#define pp_stop_machine_cpuslocked pp_kernel.stop_machine_cpuslocked
#else
#define pp_stop_machine_cpuslocked stop_machine_cpuslocked
#endif

#endif /* POKEPATCH_KERNEL_SYMBOLS_H */
