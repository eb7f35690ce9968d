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
	struct mutex *kprobe_mutex;	/* or NULL; before ftrace_lock and text_mutex */
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

/* --- the modes: ways to reroute calls ----------------------------------------- */

/* What is attached to a function's code and has no effect while it is patched. */
enum pp_shadows {
	PP_SHADOWS_TRACER = 1 << 0,
	PP_SHADOWS_KPROBE = 1 << 1,
	PP_SHADOWS_BPF = 1 << 2,
	PP_SHADOWS_LIVEPATCH = 1 << 3,
};

/*
 * All under pp_mutex; all but pokes() may sleep.  A site is in a mode from hook() to
 * unhook(), and lets all calls through until its target is set.
 */
struct pp_mode {
	const char *name;
	/*
	 * Hook the functions' sites, which are in no mode, as far as they fit, and
	 * set their mode.  Return: 0, also if some do not fit and another mode will
	 * do; or an error (logged): then those in this mode are to be unhooked.
	 */
	int (*hook)(struct pp_func **funcs, unsigned int nr);
	/*
	 * Undo that for sites in this mode and reset it, or have them linger.
	 * @going: they are in a module that goes.
	 */
	void (*unhook)(struct pp_site **sites, unsigned int nr, bool going);
	/*
	 * If it is there: one of several hooked functions leaves the site, which stays.
	 * Return: true if its module must not go before an RCU-tasks grace period.
	 */
	bool (*leave)(struct pp_func *func);
	/*
	 * If it is there: @site lets calls through, and is going to lead to @target, for
	 * @func's sake; write, as long as that changes nothing, what pokes() need not write
	 * then.  May sleep.  Return: 0, -ENOMEM, or -EIO (logged).
	 */
	int (*prepare)(struct pp_site *site, const struct pp_func *func, unsigned long target);
	/*
	 * What to write so that calls go to @target instead of site->target, 0
	 * being the old function: up to PP_POKES_MAX pokes, in their order.
	 * Return: how many, or an error if @target cannot be reached.
	 */
	int (*pokes)(const struct pp_site *site, unsigned long target, struct pp_poke *poke);
};

/* Away from one target, the words for another, and there (entry.c). */
#define PP_POKES_MAX (PP_PREPARED_MAX + 2)

extern const struct pp_mode pp_ftrace_mode, pp_direct_mode, pp_entry_mode;

bool pp_mode_known(u32 mode);
const char *pp_mode_name(u32 mode);
int pp_mode_parse(const char *name, u32 *mode);
/* enum pokepatch_mode; of NULL, that is 0. */
u32 pp_mode_number(const struct pp_mode *mode);

/* --- site.c: the places where calls are rerouted ---------------------------- */

/*
 * One patched function's entry.  It exists while a patch that changes the
 * function is loaded (and the function too), is hooked while a patch that is, or
 * is about to be, enabled changes it, and lets every call through while target
 * is 0.
 */
struct pp_site {
	struct hlist_node node;	 /* in the hash; readers hold preemption off */
	unsigned long ip;	 /* what ftrace calls it, if there is one */
	unsigned long target;	 /* where calls go; written in a stopped section */
	unsigned long prepared;	 /* entry mode: what its prepared words load, 0: they are NOPs */
	struct list_head active; /* pp_func.on: enabled patches, the newest first */
	unsigned int users;	 /* funcs that point here */
	const struct pp_mode *mode; /* while it is hooked, or lingers */
	bool lingers;		 /* claimed still, though not hooked; or unsettled */
	bool unsettled;		 /* it was given back, but ftrace has not written it yet */
	struct list_head linger_node;
	struct list_head hooked; /* pp_func.hook: those who want it hooked, the newest first */
	struct ftrace_ops *ops;	 /* direct mode: its own */
	unsigned long stub;	 /* direct mode: what it calls, in some patch's text */
	struct pp_patch *stub_owner; /* whose text it is in */
	/* direct mode: has left, but its module is held until the site calls no stub of its */
	const struct pp_patch *stub_held;
	struct pp_time stub_born; /* since when it may be called */
	const struct pp_patch *newest; /* whose func came last, or NULL if it went */
	u64 laid_out;		 /* the attempt that has a flip for it; pp_mutex */
};

/* All under pp_mutex; may sleep. */
int pp_site_get(struct pp_func *func);
void pp_sites_put(struct pp_func *funcs, unsigned int nr, unsigned int obj);
int pp_sites_hook(struct pp_func *funcs, unsigned int nr, unsigned int obj);
void pp_sites_unhook(struct pp_func *funcs, unsigned int nr, unsigned int obj, bool going);
void pp_site_linger(struct pp_site *site);
/* The same for @sites that were given back, which ftrace could not write. */
void pp_sites_unsettled(struct pp_site **sites, unsigned int nr);
/* Is there none of them? */
bool pp_sites_settled(void);
void pp_site_unlinger(struct pp_site *site);
bool pp_sites_linger_retry(void);
void pp_sites_module_going(const struct module *mod);
unsigned long pp_site_top(const struct pp_site *site);
/*
 * Where func->on goes while the patch is enabled: with the others of its site, or, of a
 * carried function, with others that have the same hash; the newest first.  NULL while
 * its parent is not loaded.
 */
struct list_head *pp_func_active(const struct pp_func *func);
/*
 * Carried functions have no site to tell: note that this attempt, which has a number of its
 * own, switches @func; does it switch the function that @func replaces?
 */
void pp_carried_switch(struct pp_func *func, u64 attempt);
bool pp_carried_is_switched(const struct pp_func *func, u64 attempt);
void pp_sites_init(void);
/* How many sites are hooked in @mode; unless @ips is NULL, they go there. */
unsigned int pp_sites_in(const struct pp_mode *mode, unsigned long *ips);
/*
 * Add to @text what has the calls of @site, for @func's sake, go to @target, and write what
 * has to be prepared for that.  May sleep.  0, -ERANGE; -EBUSY, -EIO (logged); -ENOMEM.
 */
int pp_site_pokes(struct pp_text *text, struct pp_site *site, const struct pp_func *func,
		  unsigned long target);
/* The handler's lookup: any context, with preemption off. */
struct pp_site *pp_site_find(unsigned long ip);
void pp_site_publish(struct pp_site *site);
void pp_site_unpublish(struct pp_site *site);

#define PP_ALL_OBJECTS UINT_MAX

/* --- ftrace.c: the ftrace mode ---------------------------------------------- */

/*
 * What every ops of ours asks for.  PERMANENT: kernel.ftrace_enabled=0 would switch
 * patches off behind our back.  Register access is implied where ftrace passes arguments.
 */
#ifdef CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS
#define PP_FTRACE_FLAGS (FTRACE_OPS_FL_PERMANENT | FTRACE_OPS_FL_IPMODIFY)
#else
#define PP_FTRACE_FLAGS (FTRACE_OPS_FL_PERMANENT | FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_SAVE_REGS)
#endif

/* ftrace calls it for a hooked function: in any context. */
void pp_ftrace_handler(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *fregs);

#if PP_HAS_FTRACE
/* All under pp_mutex; may sleep. */
/*
 * Have ftrace write all sites as its records say, of which those at @ips (or NULL, if there
 * was no memory) may differ from that.  0, or an error.
 */
int pp_ftrace_update(const unsigned long *ips, unsigned int nr);
/* unregister_ftrace_function(), which does not tell if ftrace dies in it: here it is -ENODEV. */
int pp_ftrace_unregister(struct ftrace_ops *which);
/* Register the one ops, if it is not; whether it is. */
int pp_ftrace_start(void);
bool pp_ftrace_registered(void);
void pp_ftrace_stop(void);
/* Take out what could not be taken out.  Return: true if some still could not. */
bool pp_ftrace_tidy(void);
#else
static inline int pp_ftrace_update(const unsigned long *ips, unsigned int nr)
{
	return 0;
}

static inline void pp_ftrace_stop(void)
{
}

static inline bool pp_ftrace_tidy(void)
{
	return false;
}
#endif

/* --- direct.c: the direct mode ------------------------------------------------ */

#if PP_HAS_FTRACE
/* After the grace period that follows leave().  Under pp_mutex. */
void pp_direct_settle(void);
/* Hand over stubs that could not be.  Return: true if some still could not.  pp_mutex. */
bool pp_direct_tidy(void);
/*
 * Does some site still call a stub of @patch, which is disabled?  Tries to end that.
 * Takes pp_mutex; may sleep.
 */
bool pp_direct_holds(const struct pp_patch *patch);
#else
static inline void pp_direct_settle(void)
{
}

static inline bool pp_direct_tidy(void)
{
	return false;
}

static inline bool pp_direct_holds(const struct pp_patch *patch)
{
	return false;
}
#endif

/* --- claim.c: sites that are borrowed from ftrace; alone.c: where there is none --------- */

/* All may sleep. */
bool pp_claim_possible(void);
bool pp_claim(unsigned long ip, const u8 *nop, unsigned int size);
int pp_claim_return(unsigned long ip, bool *update);
void pp_claim_settle(unsigned long ip);
/* Who is registered for the site at @ip, claimed or not: enum pp_shadows, 0 if not known. */
unsigned int pp_claim_shadows(unsigned long ip);
/*
 * May there be more than one registered for the site at @ip, which is not claimed?  Then it
 * calls ftrace's own code, and that the handlers.
 */
bool pp_claim_shared(unsigned long ip);

/* --- entry.c: the entry mode ---------------------------------------------------- */

/* The bytes of a site, and where in it the instruction is that decides.  Any context. */
static inline unsigned int pp_entry_span(void)
{
	return pp_arch.entry_span ?: pp_arch.entry_size;
}

static inline unsigned long pp_entry_decides(const struct pp_site *site)
{
	return site->ip + pp_arch.entry_prepared * pp_arch.entry_size;
}

/*
 * Calls of @site go to @target from now on, and its text says so, if it is text that does.  Any
 * context, under pp_mutex, or in a stop for which it is held.
 */
static __always_inline void pp_site_leads_to(struct pp_site *site, unsigned long target)
{
	if (target)
		site->prepared = target;
	WRITE_ONCE(site->target, target);
}

/* Give @site back, as pp_claim_return(), and take from it first what was prepared. */
int pp_entry_return(struct pp_site *site, bool *update);

/* --- trace_entry.c: tracing over patchable entries, in kernels without ftrace ------------- */

#if !PP_HAS_FTRACE
/* The file trace_entry in sysfs; what is traced is not any more. */
int pp_trace_entry_init(void);
void pp_trace_entry_exit(void);
/* Is the function at @ip traced, or about to be?  Under pp_mutex. */
bool pp_trace_entry_has(unsigned long ip);
/* Nobody runs the functions of @mod any more.  Under pp_mutex. */
void pp_trace_entry_module_going(const struct module *mod);
/*
 * The traced function at @ip was called, by who is to go on at @parent_ip: @args are its
 * pp_arch.trace->nr_args registers, or NULL, and @sp the stack pointer.  Any context.
 */
void pp_trace_entry_hit(unsigned long ip, unsigned long parent_ip, const unsigned long *args,
			unsigned long sp);
#else
static inline int pp_trace_entry_init(void)
{
	return 0;
}

static inline void pp_trace_entry_exit(void)
{
}

static inline bool pp_trace_entry_has(unsigned long ip)
{
	return false;
}

static inline void pp_trace_entry_module_going(const struct module *mod)
{
}
#endif

/* --- text.c: writing instructions --------------------------------------------- */

/* One instruction, within one word (pp_text_fits()). */
struct pp_poke {
	unsigned long at;
	u8 size;
	u8 old[PP_TEXT_WORD_MAX], new[PP_TEXT_WORD_MAX];
	const struct pp_func *func; /* for whose sake; for the history */
	/*
	 * Two of a text are of the same instruction: the first of them makes it a NOP, and the
	 * second what it was, when others have been written in between.
	 */
	bool passes, returns;
	struct pp_when when;	/* live: it was written */
	struct pp_when *route;	/* live: a copy of that, for who waits for it, or NULL */
	u64 change;		/* record.c's */
	/* pp_text_map() sets these */
	void *alias;		/* of its word, writable; or where it runs (arch.h: text_store) */
	u64 mask, old_word, new_word;
};

struct pp_text {
	struct pp_poke *poke;
	unsigned int nr;
	void *alias;		/* the mapping */
	const struct pp_poke *bad; /* which one failed */
	const u8 *wanted;	/* there */
	u64 found;		/* the word that was there, when not written live */
	const struct pp_poke *stuck; /* and one that could not be put back, or NULL */
	bool written;		/* live: some of it was, if only to be put back */
	unsigned int put_back;	/* not live: so many of the first ones were, after they were written */
	struct pp_time turned;	/* likewise: when, between the one and the other */
	struct pp_when when;	/* not live: all of it was written */
};

/* Does the instruction lie within one word?  Any context. */
bool pp_text_fits(unsigned long at, unsigned int size);
/* Make and unmake the writable mapping.  May sleep; -ENOMEM, -EIO. */
int pp_text_map(struct pp_text *text);
void pp_text_unmap(struct pp_text *text);
bool pp_text_write(struct pp_text *text);
/* Say what went wrong in pp_text_write().  Return: -EIO. */
int pp_text_blame(const struct pp_text *text, const struct pp_patch *patch);
/* All of that for text that nobody runs; recorded.  May sleep; 0, -ENOMEM, -EIO (logged). */
int pp_text_write_unused(struct pp_text *text, const struct pp_patch *patch);

/* --- veneer.c: what entries lead to that cannot reach the new function --------------- */

/* No function has more of them. */
#define PP_VENEERS_OF_FUNC 2

/* All under pp_mutex; the first and the last may sleep. */
/* See to it that the entry at @ip can be led to @target.  Return: false if it cannot. */
bool pp_veneer_make(unsigned long ip, unsigned long target);
/* What the entry at @ip jumps to, to come to @target (or 0). */
unsigned long pp_veneer_route(unsigned long ip, unsigned long target);
/* Who is in a veneer of @func's is about to be in its new function. */
void pp_veneers_busy(struct pp_busy *busy, const struct pp_func *func);
/* Those to the function at @target go; nobody is there, and no entry that anybody runs leads there. */
void pp_veneers_drop(unsigned long target);

/* --- live.c: switching while everything runs ------------------------------------- */

void pp_live_init(void);
/* What the kernel lacks for it, or NULL. */
const char *pp_live_missing(void);
/*
 * Write text that anybody may be running, and compare; or put all of it back; all of that
 * recorded.  Reorders text->poke.  May sleep; 0, -EIO (logged), -EOPNOTSUPP.
 */
int pp_text_write_live(struct pp_text *text, const struct pp_patch *patch);
/* Tasks may be in its text from now on, without its being enabled.  pp_mutex. */
void pp_drain_begin(struct pp_patch *patch);
/* Is it so?  Takes pp_mutex. */
bool pp_draining(struct pp_patch *patch);
/*
 * Return: true if @patch was draining and nobody is in its text: then the caller is to drop
 * the reference to the module that this held; else it is dropped when that is so.  The
 * caller holds patch->op.  May sleep.
 */
bool pp_drained(struct pp_patch *patch);
/* The same without a look now, if it is draining. */
void pp_drain_later(struct pp_patch *patch);
void pp_drain_init(struct pp_patch *patch);
void pp_drain_exit(struct pp_patch *patch);

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

/* --- stack.c: who is where --------------------------------------------------- */

/* Addresses [start, end], the end too: a call may be a function's last instruction. */
struct pp_range {
	unsigned long start, end;
	const struct pp_func *func;	/* NULL: a patch module's text */
};

struct pp_busy {
	struct pp_range *range;		/* sorted, disjoint */
	unsigned int nr;
	struct pp_range *text;		/* of patch modules that leave; likewise */
	unsigned int nr_text;
};

/*
 * Where each word of a stack is taken for code, and entries load addresses (arch.h:
 * entry_prepared), the address of a function's first instruction is in many of them that nobody
 * will go on from: pointers that are about to be called, and, in the frame of each exception that
 * came after a call through such an entry, the register that it had loaded.  No call returns to
 * there; only who was interrupted in front of it is there.  So that address itself is not in a
 * function's range, and for a program counter saved by an exception an architecture calls visit()
 * with this as well, which is.
 */
static inline unsigned long pp_goes_on(unsigned long addr)
{
	return addr + 1;
}

/* Somebody in the way. */
struct pp_blocker {
	pid_t pid;
	char comm[TASK_COMM_LEN];
	unsigned long addr;		/* in that code; 0: the stack cannot be relied on */
	const struct pp_func *func;	/* the function, or NULL */
};

/* A task whose stack was clear at its switches-th context switch. */
struct pp_seen {
	const struct task_struct *task;
	u64 start_time;
	unsigned long switches;
};

struct pp_scan {
	const struct pp_busy *busy;
	struct pp_blocker *blocker;
	unsigned int nr_blockers, max_blockers;
	unsigned int unlisted;		/* blockers for which there was no room */
	struct pp_seen *seen;		/* hash table, open addressing */
	unsigned int seen_bits, nr_seen;
	/* in the stopped section */
	unsigned int walked, skipped;	/* stacks of tasks */
	unsigned int frames;		/* addresses on stacks, those of the stoppers too */
	bool lost;			/* there may be exiting tasks that nobody has noted */
};

struct pp_hit {
	int err;			/* from the walk */
	unsigned long addr;		/* the first busy address, or 0 */
	const struct pp_func *func;
	unsigned int frames;		/* that were looked at */
};

/* Room for the tasks of now, and more.  May sleep. */
int pp_scan_init(struct pp_scan *scan, const struct pp_busy *busy);
void pp_scan_deinit(struct pp_scan *scan);

/* Sort the ranges and merge those that overlap. */
void pp_busy_finish(struct pp_busy *busy);
/* The range that @addr is in, or NULL; a function's if there is one.  Any context. */
const struct pp_range *pp_busy_find(const struct pp_busy *busy, unsigned long addr);

/*
 * For architectures (arch.h): call @visit for each word of the stack of @task, which is current
 * or not running, and for each return address that kretprobes or the graph tracer keep for it.
 * Any context; take no lock.  Return: false if @visit ended it.
 */
bool pp_visit_words(struct task_struct *task, bool (*visit)(void *ctx, unsigned long addr),
		    void *ctx);
bool pp_visit_hidden(const struct task_struct *task, bool (*visit)(void *ctx, unsigned long addr),
		     void *ctx);

/*
 * The stack of @task, which is current or not running.  Any context.
 * Return: true if it is clear, else false and *hit says why.
 */
bool pp_stack_clear(const struct pp_busy *busy, struct task_struct *task, struct pp_hit *hit);

/*
 * Look for obvious blockers while everything runs, and remember the stacks that
 * were clear.  What it finds really was there; what it does not find proves
 * nothing, except for the tasks remembered, as long as they do not run.
 * Return: true if nobody is in the way.
 */
bool pp_scan_running(struct pp_scan *scan);

/*
 * Look at every task, in the stopped section, but at those in @stoppers, one for
 * each CPU: these checked themselves.  Proves that nobody is in the way.
 */
bool pp_scan_stopped(struct pp_scan *scan, struct task_struct *const *stoppers);

/*
 * @task runs on some CPU.  finish_task() clears on_cpu, with release semantics,
 * when the switch away from the task is complete.
 */
static inline bool pp_on_cpu(const struct task_struct *task)
{
#ifdef CONFIG_SMP
	return smp_load_acquire(&task->on_cpu);
#else
	return task == current;
#endif
}

/* Note that @task is in the way. */
void pp_scan_add(struct pp_scan *scan, const struct task_struct *task, const struct pp_hit *hit);

/* --- park.c: sleepers that can be got out of the way --------------------------- */

/* Those that are kept on their way to user mode, for one attempt. */
struct pp_park {
	struct list_head tasks;
};

/* All may sleep. */
void pp_park_init(struct pp_park *park);
/* Ask each user task that was found in the way to come out and wait. */
void pp_park_blockers(struct pp_park *park, const struct pp_scan *scan);
/* Let them go, and forget them. */
void pp_park_release(struct pp_park *park);
void pp_park_exit(void);

/* --- exiting.c: tasks on their way out, which the task list does not show ----- */

int pp_exiting_init(void);
void pp_exiting_exit(void);
/*
 * Make sure that every exiting task is known.  May sleep, for long; not under pp_mutex.
 * Return: 0, -ENOMEM, or, if @killable, -EINTR.
 */
int pp_exiting_ready(bool killable);
/* Drop what is known of tasks that are gone.  Any context but NMI. */
void pp_exiting_sweep(void);
/* In the stopped section: is that still so? */
bool pp_exiting_all_known(void);
/* In the stopped section: each task that runs on, though the task list has lost it. */
void pp_exiting_for_each(void (*fn)(struct pp_scan *scan, struct task_struct *task),
			 struct pp_scan *scan);

/* --- watch.c: who has no effect because of us -------------------------------- */

/* Look now, and again every second while there is something to see.  pp_mutex. */
void pp_watch(void);
/* Look in a second, whatever there is to see. */
void pp_watch_later(void);
void pp_watch_exit(void);
/* enum pp_shadows in words, "kprobe,tracer".  Return: the length.  Any context. */
int pp_shadows_show(unsigned int shadows, char *buf, size_t size);

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
 * Every CPU has scheduled since, so that what it did with preemption off is over.  A kernel
 * without ftrace may not have it: then there is no handler that looks at sites, and nothing to
 * wait for but what RCU sees.
 */
#ifdef CONFIG_TASKS_RUDE_RCU
#define pp_synchronize_rude synchronize_rcu_tasks_rude
#else
#define pp_synchronize_rude synchronize_rcu
#endif

#endif /* POKEPATCH_CORE_H */
