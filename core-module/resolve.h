/* SPDX-License-Identifier: GPL-2.0-only */
/* Symbols that the kernel does not export, the symbols of patches, and build ids: resolve.c. */
#ifndef POKEPATCH_RESOLVE_H
#define POKEPATCH_RESOLVE_H

#include <linux/mm_types.h>
#include <linux/sched/task_stack.h>
#include <linux/stop_machine.h>
#include <linux/types.h>

struct callback_head;
struct cpumask;
struct dyn_ftrace;
struct ftrace_ops;
struct ftrace_rec_iter;
struct kprobe;
struct module;
struct mutex;
struct pokepatch_object;
struct pp_ftrace_page;
struct pp_patch;
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

int pp_resolve_init(void);

/*
 * Fill in patch->addr[] for the symbols of vmlinux, or of @obj, which is module
 * @mod.  Under pp_mutex; may sleep.
 * Return: 0, -ENOENT for a symbol that is not where the patch says (logged), or
 * -ENOMEM.  On an error no address has changed.
 */
int pp_resolve_vmlinux(struct pp_patch *patch);
int pp_resolve_module(struct pp_patch *patch, unsigned int obj, struct module *mod);

/* The build id that vmlinux or @mod carries is the one in @want; else -ENOEXEC (logged). */
int pp_verify_vmlinux(const struct pp_patch *patch);
int pp_verify_module(const struct pp_patch *patch, const struct pokepatch_object *want,
		     const struct module *mod);

/* The text of @mod that stays after its init: [*start, *end). */
void pp_module_text(const struct module *mod, unsigned long *start, unsigned long *end);

#ifndef CONFIG_THREAD_INFO_IN_TASK
#define pp_put_task_stack put_task_stack
#else
#define pp_put_task_stack pp_kernel.put_task_stack
#endif

/* With one CPU it is the caller, with interrupts off. */
#if defined(CONFIG_SMP) || defined(CONFIG_HOTPLUG_CPU)
#define pp_stop_machine_cpuslocked pp_kernel.stop_machine_cpuslocked
#else
#define pp_stop_machine_cpuslocked stop_machine_cpuslocked
#endif

#endif /* POKEPATCH_RESOLVE_H */
