/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The structures of a loaded patch: the patch, its parent objects and its functions.  image.c
 * builds them.  A field's comment names the lock that guards it.
 */
#ifndef POKEPATCH_PP_PATCH_H
#define POKEPATCH_PP_PATCH_H

#include <linux/completion.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/semaphore.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <pokepatch_format.h>
#include <pokepatch_patch.h>

#include "pp_time.h"

struct module;
struct pokepatch_marker;
struct pp_marker;
struct pp_mode;
struct pp_patch;
struct pp_site;

/* An object's last callback.  An object without callbacks goes through the same states. */
enum pp_called {
	PP_CALLED_NONE,		/* none yet, post-unpatch, or a pre-patch that failed */
	PP_CALLED_PRE_PATCH,
	PP_CALLED_POST_PATCH,
	PP_CALLED_PRE_UNPATCH,
};

/* A parent object.  Index 0 is vmlinux. */
struct pp_object {
	const struct pokepatch_object *desc;
	const char *name;
	unsigned int name_len;
	struct module *mod;	/* NULL for vmlinux, and while the module is not loaded */
	bool attached;		/* its symbols are resolved, its sites exist */
	bool has_funcs;
	unsigned long callbacks[POKEPATCH_CALLBACK_KINDS]; /* addresses, or 0 */
	struct pokepatch_parent parent; /* the argument of callbacks; pp_mutex */
	enum pp_called called;	/* pp_mutex */
	struct kobject kobj;	/* its folder in sysfs, if has_funcs */
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
	u32 want;		/* the mode to hook it in, enum pokepatch_mode; patch->op */
	bool hooked;
	struct list_head hook;	/* in site->hooked while hooked, else empty */
	/* sysfs shows these two; written under pp_mutex, read without a lock. */
	const struct pp_mode *mode; /* while hooked */
	unsigned int shadows;	/* enum pp_shadows */
	struct list_head on;	/* in pp_func_active() while enabled, else empty */
	struct pp_func *next_switched; /* of a carried function: see site.c; pp_mutex */
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
 * A patch module that is loaded.  The module notifier makes it when the module is COMING, and frees
 * it when the module is GOING.  Fields without a comment are written once, before the patch is
 * visible to other tasks.
 */
struct pp_patch {
	struct list_head list;	/* pp_patches; pp_mutex; an oops reads it under RCU */
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
	struct pp_marker *marks;	/* marker.c: one for each marker */
	struct list_head marked;	/* marker.c */
	unsigned long text_start, text_end;
	bool live;		/* its transitions are live, unless another patch in them is not */
	struct pp_time born;	/* when its text came into the text history, or 0 */

	bool enabled;		/* pp_mutex; sysfs reads it unlocked */
	bool leaving;		/* an attempt is about to disable it; pp_mutex */
	bool pinned;		/* its module stays loaded, though disabled; pp_mutex */
	bool led_to;		/* likewise, for good: entries that cannot be put back lead to it */
	bool withdrawn;		/* a callback said that it need not be pinned; pp_mutex */
	bool stuck;		/* a dead ftrace may call its stubs for ever; pp_mutex */
	/*
	 * Tasks may be in its text though it is not enabled, as after a live transition, so it
	 * holds its module.  pp_mutex.
	 */
	bool draining;
	unsigned int drain_nr;	/* how often draining has begun; pp_mutex */
	unsigned int drain_waited; /* the drain_nr whose grace periods have passed */
	unsigned long drain_since, drain_pause; /* jiffies */
	struct delayed_work drain;
	struct semaphore op;	/* held for one transition; its worker may release it */
	struct work_struct work;
	bool work_enable;	/* whether the worker enables or disables the patch; op */
	bool ready;		/* may be switched, as its module is live; set once; op */
	enum pp_state state;	/* op; sysfs reads it unlocked */
	unsigned int timeout_ms; /* sysfs, unlocked */
	unsigned int evict;	/* enum pp_evict; sysfs, unlocked */
	unsigned int retry_ms;	/* when to try a blocked switch again; sysfs, unlocked */
	struct delayed_work retry;
	bool retry_due;		/* the retry is still wanted; op */
	bool retry_enable;	/* what it does; op */
	u64 stop_ns;		/* op; sysfs reads it unlocked */
	u64 blocked_since;	/* seconds of CLOCK_BOOTTIME, or 0; op; sysfs reads it unlocked */
	int error;		/* of the last switch; likewise; written before state */
	unsigned int stack_order; /* from 1, among enabled patches; pp_mutex, sysfs unlocked */

	struct mutex report_lock;
	char *report;		/* the text of blocked_by, or NULL; report_lock */
	size_t report_len;
	char *replaces;		/* the text of replace, or NULL; op and report_lock */

	bool registered;	/* pp_mutex */
	struct kobject kobj;
	refcount_t kobjs;	/* kobjects that live in this structure */
	struct completion kobjs_gone;
};

/*
 * The mode to switch @func in.  If its patch is enabled, its parent is a module that is being
 * loaded, and a mode that the patch prefers must not keep the machine from having that module.
 */
static inline u32 pp_func_want(const struct pp_func *func)
{
	return func->patch->enabled ? POKEPATCH_MODE_AUTO : func->want;
}

/*
 * The function is carried: it is replaced, but not rerouted, as all its callers are replaced.  It
 * has no site, and no folder in sysfs.  A transition looks for it on stacks all the same.
 */
static inline bool pp_func_carried(const struct pp_func *func)
{
	return func->desc->flags & POKEPATCH_FUNC_CARRIED;
}

/* The jump is written over the function's first instructions: detour.c. */
static inline bool pp_func_overwritten(const struct pp_func *func)
{
	return func->desc->flags & POKEPATCH_FUNC_OVERWRITTEN;
}

/* Images have 64-bit addresses on all machines.  An address in the module fits a pointer. */
static inline void *pp_pointer(u64 addr)
{
	return (void *)(unsigned long)addr;
}

static inline const char *pp_string(const struct pp_patch *patch, u32 offset)
{
	return patch->strings + offset;
}

#endif /* POKEPATCH_PP_PATCH_H */
