/* SPDX-License-Identifier: GPL-2.0-only */
/* The places where calls are rerouted, and the modes, which are the ways to do it: site.c. */
#ifndef POKEPATCH_SITE_H
#define POKEPATCH_SITE_H

#include <linux/list.h>
#include <linux/types.h>

#include "arch/pp_arch.h"
#include "pp_time.h"

struct ftrace_ops;
struct module;
struct pp_func;
struct pp_patch;
struct pp_poke;
struct pp_site;
struct pp_text;

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
	 * then.  May sleep.  Return: 0, -ENOMEM, or -EBUSY or -EIO (logged).
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
void pp_sites_linger_unsettled(struct pp_site **sites, unsigned int nr);
/* Is there none of them? */
bool pp_sites_all_settled(void);
void pp_site_linger_end(struct pp_site *site);
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
void pp_carried_note_switch(struct pp_func *func, u64 attempt);
bool pp_carried_is_switched(const struct pp_func *func, u64 attempt);
void pp_sites_init(void);
/* How many sites are hooked in @mode; unless @ips is NULL, they go there. */
unsigned int pp_sites_in_mode(const struct pp_mode *mode, unsigned long *ips);
/*
 * Add to @text what has the calls of @site, for @func's sake, go to @target, and write what
 * has to be prepared for that.  May sleep.  0, -ERANGE; -EBUSY, -EIO (logged); -ENOMEM.
 */
int pp_site_add_pokes(struct pp_text *text, struct pp_site *site, const struct pp_func *func,
		      unsigned long target);
/* The handler's lookup: any context, with preemption off. */
struct pp_site *pp_site_find(unsigned long ip);
void pp_site_publish(struct pp_site *site);
void pp_site_unpublish(struct pp_site *site);

#define PP_ALL_OBJECTS UINT_MAX

#endif /* POKEPATCH_SITE_H */
