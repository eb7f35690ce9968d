/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the core share.  DESIGN.md has the lock order, the contexts
 * and the lifetimes in one place.
 */
#ifndef POKEPATCH_CORE_H
#define POKEPATCH_CORE_H

#ifdef pr_fmt
#undef pr_fmt
#endif
#define pr_fmt(fmt) "pokepatch: " fmt

#include <linux/completion.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/semaphore.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <pokepatch_format.h>
#include <pokepatch_mark.h>
#include <pokepatch_patch.h>

#include "arch/arch.h"
#include "debug.h"
#include "history.h"

/* Between tries to let go of what is in use, when a module is removed by force. */
#define PP_FORCED_PAUSE_MS 100

#define PP_VERSION "0.1"

/* The longest instruction that is written, and the widest word, in bytes. */
#define PP_TEXT_WORD_MAX 8

/*
 * Is there an ftrace that can redirect calls?  Without it there is the entry mode alone, and
 * entries are nobody's (alone.c).
 */
#if defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS) || defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS)
#define PP_HAS_FTRACE 1
#else
#define PP_HAS_FTRACE 0
#endif

struct dyn_ftrace;
struct ftrace_ops;
struct ftrace_rec_iter;
struct ftrace_regs;
struct kprobe;
struct pp_busy;
struct pp_marker;
struct pp_ftrace_page;
struct pp_func;
struct pp_patch;
struct pp_poke;
struct pp_site;
struct pp_text;

/* --- resolve.c: what the kernel does not export, found once at init --------- */

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

#include "modes.h"

/* --- image.c: a patch module's tables --------------------------------------- */

/* Which of an object's callbacks was the last; an object that has none goes the same way. */
enum pp_called {
	PP_CALLED_NONE,		/* or post-unpatch, or a pre-patch that failed */
	PP_CALLED_PRE_PATCH,
	PP_CALLED_POST_PATCH,
	PP_CALLED_PRE_UNPATCH,
};

/* A parent object.  index 0 is vmlinux. */
struct pp_object {
	const struct pokepatch_object *desc;
	const char *name;
	unsigned int name_len;
	struct module *mod;	/* NULL for vmlinux, and while it is not loaded */
	bool attached;		/* its symbols are resolved, its sites exist */
	bool has_funcs;
	unsigned long callbacks[POKEPATCH_CALLBACK_KINDS]; /* addresses, or 0 */
	struct pokepatch_parent parent; /* what callbacks are told; pp_mutex */
	enum pp_called called;	/* pp_mutex */
	struct kobject kobj;	/* its folder, if has_funcs */
	struct pp_patch *patch;
};

/* A function that is replaced. */
struct pp_func {
	struct pp_patch *patch;
	const struct pokepatch_func *desc;
	const struct pokepatch_symbol *sym;
	const char *name;
	unsigned int name_len;
	unsigned int obj;
	unsigned long old_addr;	/* 0 while the parent is not loaded */
	unsigned long old_cold;	/* the .cold part, or 0 */
	struct pp_site *site;	/* NULL while the parent is not loaded, or if carried */
	u32 want;		/* enum pokepatch_mode: what to hook it in; patch->op */
	bool hooked;
	struct list_head hook;	/* in site->hooked while hooked, else empty */
	/* What sysfs shows; written under pp_mutex, read without. */
	const struct pp_mode *mode; /* while hooked */
	unsigned int shadows;	/* enum pp_shadows */
	struct list_head on;	/* in pp_func_active() while enabled, else empty */
	struct pp_func *next_switched; /* if carried: see site.c; pp_mutex */
	struct kobject kobj;
};

enum pp_state {
	PP_DISABLED,
	PP_ENABLING,
	PP_ENABLED,
	PP_DISABLING,
	PP_BLOCKED,
};

/*
 * A patch module that is loaded.  Made when the module is COMING and freed when
 * it is GOING, both by the module notifier.  Fields without a remark are written
 * once, before anybody else can see the patch.
 */
struct pp_patch {
	struct list_head list;	/* pp_patches; pp_mutex */
	struct module *mod;
	const struct pokepatch_image *image;
	const char *name;
	unsigned int name_len;
	const char *strings;
	const struct pokepatch_symbol *symbols;
	const struct pokepatch_reloc *relocs;
	unsigned int nr_objects, nr_symbols, nr_funcs, nr_relocs;
	struct pp_object *objects;
	struct pp_func *funcs;
	unsigned long *addr;	/* of each symbol; pp_mutex */
	struct pokepatch_marker *markers;	/* image->nr_markers of them */
	struct pp_marker *marks;	/* marker.c: a note of each */
	struct list_head marked;	/* marker.c */
	unsigned long text_start, text_end;
	bool live;		/* its transitions are, if nothing is against it */
	struct pp_time born;	/* its text was */

	bool enabled;		/* pp_mutex; sysfs reads it unlocked */
	bool leaving;		/* an attempt is about to disable it; pp_mutex */
	bool pinned;		/* its module stays, though disabled; pp_mutex */
	bool led_to;		/* likewise, for good: code leads there that cannot be put back */
	bool withdrawn;		/* a callback said that it need not; pp_mutex */
	bool stuck;		/* a dead ftrace may call its stubs for ever; pp_mutex */
	/*
	 * Tasks may be in its text though it is not enabled, as after a live
	 * transition; it holds its module.  pp_mutex.
	 */
	bool draining;
	unsigned int drain_nr;	/* how often that was; pp_mutex */
	unsigned int drain_waited; /* those on their way then have arrived */
	unsigned long drain_since, drain_pause; /* jiffies */
	struct delayed_work drain;
	struct semaphore op;	/* one transition at a time; its worker may release it */
	struct work_struct work;
	bool work_enable;	/* what the worker shall do; op */
	bool ready;		/* may be switched: its module is live; set once; op */
	enum pp_state state;	/* op; sysfs reads it unlocked */
	unsigned int timeout_ms; /* sysfs, unlocked */
	u64 stop_ns;		/* op; sysfs reads it unlocked */
	int error;		/* of the last switch; likewise, and before state */
	unsigned int stack_order; /* from 1, among those enabled; pp_mutex, sysfs unlocked */

	struct mutex report_lock;
	char *report;		/* text of blocked_by, or NULL; report_lock */
	size_t report_len;
	char *replaces;		/* text of replace, or NULL; op and report_lock */

	bool registered;	/* pp_mutex */
	struct kobject kobj;
	refcount_t kobjs;	/* kobjects that live in this structure */
	struct completion kobjs_gone;
};

/*
 * Replaced, but not rerouted: those who call it are.  It has no site, and no folder
 * in sysfs; it counts when stacks are looked at.
 */
static inline bool pp_func_carried(const struct pp_func *func)
{
	return func->desc->flags & POKEPATCH_FUNC_CARRIED;
}

/* "1 function", "2 functions" */
/* Images have addresses of 64 bits on all machines; what is within the module fits a pointer. */
static inline void *pp_pointer(u64 addr)
{
	return (void *)(unsigned long)addr;
}

static inline const char *pp_plural(unsigned int nr)
{
	return nr == 1 ? "" : "s";
}

static inline const char *pp_string(const struct pp_patch *patch, u32 offset)
{
	return patch->strings + offset;
}

/*
 * Check the image at @image in @mod, every field of it, and build the patch.
 * Return: the patch, or an ERR_PTR: -EINVAL (logged) or -ENOMEM.
 */
struct pp_patch *pp_patch_create(struct module *mod, const struct pokepatch_image *image);
void pp_patch_free(struct pp_patch *patch);

/* --- verify.c ------------------------------------------------------------------ */

/*
 * The live code of the functions of object @obj that @patch replaces, their .cold parts
 * too, is what the patch was made for.  The object's symbols are resolved.  Under
 * pp_mutex; may sleep.  Return: 0, -EIO (logged: where).
 */
int pp_verify_code(const struct pp_patch *patch, unsigned int obj);
/* The same of all objects that are there; others may have changed code since.  Takes pp_mutex. */
int pp_verify_again(const struct pp_patch *patch);

/* --- reloc.c ---------------------------------------------------------------- */

/*
 * Write the relocations against the symbols of object @obj, which are resolved.
 * All are checked before the first is written.  May sleep.
 * Return: 0, -ENOEXEC or -ERANGE (logged), or -ENOMEM.
 */
int pp_relocs_apply(struct pp_patch *patch, unsigned int obj);

/* --- module.c: modules that come and go -------------------------------------- */

extern struct mutex pp_mutex;		/* everything but what says otherwise */
extern struct list_head pp_patches;	/* all; those enabled in the order of enabling */

/* Who is on top of whom has changed: number the enabled patches anew.  Under pp_mutex. */
void pp_patches_number(void);

int pp_modules_init(void);
void pp_modules_exit(void);

#include "stack.h"

/* --- transition.c ------------------------------------------------------------ */

/*
 * Switch @patch on or off, within its timeout; on, and those off that it shall
 * replace.  Takes pp_mutex for each attempt; the caller holds patch->op.  May sleep.
 * Return: 0 if it is done (or was), -EBUSY if somebody is in the way
 * (patch->report says who), or a function or a patch to be replaced is not free,
 * -EINTR, -ENODEV if the module is going, or -ENOMEM; after an error nothing has
 * changed.
 */
int pp_transition(struct pp_patch *patch, bool enable);
/*
 * Switch @patch off, which is enabled, and whose module is being removed by force: neither
 * its timeout nor a signal ends this.  The caller holds patch->op.  May sleep.
 * Return: 0, or any error of pp_transition() but -EBUSY and -EINTR.
 */
int pp_transition_forced(struct pp_patch *patch);
/*
 * Is nobody in the text of @patch, which is disabled?  blocked_by tells who is.  @ask: they
 * shall leave.  @background: the caller does not hold patch->op.  Takes pp_mutex; may sleep.
 * Return: 0, -EAGAIN if somebody is, or another error.
 */
int pp_transition_look(struct pp_patch *patch, bool ask, bool background);
/* Are tasks to be asked to leave, that have been in the way for @elapsed jiffies? */
bool pp_transition_asks(unsigned long elapsed);

/* Its addresses may be anywhere from now on, if it is such a patch.  Under pp_mutex. */
void pp_patch_pin(struct pp_patch *patch);

/* --- replace.c ------------------------------------------------------------------ */

/*
 * Which patches @patch, which is disabled, shall replace the next time that it is
 * enabled: names, or "*" for all; "": none.  The caller holds patch->op.  May sleep.
 * Return: 0, -ENOENT if one is not loaded, -EINVAL if one is @patch, or -ENOMEM.
 */
int pp_replace_set(struct pp_patch *patch, const char *text);
/*
 * Those of them that are enabled, the newest first, in an array to kfree(); NULL:
 * none.  Their op is held from now on, so that they stay enabled, and loaded.  The
 * caller holds patch->op.  May sleep; -EBUSY (logged), -ENOMEM.
 */
struct pp_patch **pp_replace_begin(struct pp_patch *patch, unsigned int *nr);
/* They are replaced: what was set was for this time.  The caller holds patch->op. */
void pp_replace_done(struct pp_patch *patch);

/* --- callbacks.c --------------------------------------------------------------- */

/*
 * All under pp_mutex; may sleep.
 *
 * Before the switch: pre-patch or pre-unpatch, for all attached objects for which it
 * was not called yet.  Return: 0, or the error of a pre-patch callback (logged); then
 * pp_callbacks_cancel() is to be called, as whenever the switch is not made.
 */
int pp_callbacks_before(struct pp_patch *patch, bool enable);
/* After the switch: post-patch or post-unpatch. */
void pp_callbacks_after(struct pp_patch *patch, bool enable);
/* There was no switch: undo what pp_callbacks_before() called. */
void pp_callbacks_cancel(struct pp_patch *patch, bool enable);
/* The same for one object, whose module comes to an enabled patch. */
int pp_callbacks_coming(struct pp_object *obj);
void pp_callbacks_came(struct pp_object *obj);
/* Its module goes, from whatever patch: before its functions are let go, and after. */
void pp_callbacks_going(struct pp_object *obj);
void pp_callbacks_gone(struct pp_object *obj);

/* --- shadow.c ------------------------------------------------------------------ */

void pp_shadow_exit(void);

/* --- marker.c ------------------------------------------------------------------ */

/*
 * @marker, at @ip, was met, and its probes is not NULL; @list has its arguments.  Any context.
 * Markers call it by way of pokepatch_mark_hit(), or of the architecture's own.
 */
void pp_mark_met(struct pokepatch_marker *marker, va_list list, unsigned long ip);

/*
 * The markers of @patch, of whose code nothing has run, take part from now on; and not any
 * more, when nobody can be in its code.  May sleep; 0, -ENOMEM.
 */
int pp_markers_add(struct pp_patch *patch);
void pp_markers_del(struct pp_patch *patch);
/*
 * A line for each: "NAME FILE:LINE PROBES MISSED FORMAT".  Return: the length of all, of
 * which @buf has what fits.  May sleep.
 */
size_t pp_markers_show(const struct pp_patch *patch, char *buf, size_t size);

/* --- sysfs.c ------------------------------------------------------------------ */

int pp_sysfs_init(void);
void pp_sysfs_exit(void);
/* The patch's folder.  May sleep; without pp_mutex. */
int pp_sysfs_add(struct pp_patch *patch);
/* From now on it can be switched.  Takes op, and must not be called under pp_mutex. */
void pp_sysfs_ready(struct pp_patch *patch);
/* Also waits for everybody who is in one of its files. */
void pp_sysfs_remove(struct pp_patch *patch);
/* Set the state and wake those who poll for it. */
void pp_sysfs_state(struct pp_patch *patch, enum pp_state state);
/* A file beside the patches' folders; removing it waits for everybody who is in it. */
int pp_sysfs_add_file(const struct bin_attribute *file);
void pp_sysfs_remove_file(const struct bin_attribute *file);
/* True if the folder of a patch has a file of this name. */
bool pp_sysfs_reserved(const char *name);

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

/*
 * Every CPU has scheduled since, so that what it did with preemption off is over, in the idle loop
 * too, where RCU does not look.  Sleeps; no hotplug lock is held.  A kernel without ftrace may not
 * have it.
 */
#ifdef CONFIG_TASKS_RUDE_RCU
#define pp_synchronize_rude synchronize_rcu_tasks_rude
#else
void pp_synchronize_rude(void);
#endif

#endif /* POKEPATCH_CORE_H */
