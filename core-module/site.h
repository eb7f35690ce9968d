/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sites, which are the entries where the core reroutes calls, and modes, which are the ways to
 * reroute them: site.c.
 */
#ifndef POKEPATCH_SITE_H
#define POKEPATCH_SITE_H

#include <linux/list.h>
#include <linux/types.h>

#include "arch/pp_arch.h"
#include "pp_time.h"
#include "text.h"

struct ftrace_ops;
struct module;
struct pp_func;
struct pp_patch;
struct pp_poke;
struct pp_site;
struct pp_text;

/*
 * A way to reroute calls.  A site is in a mode from hook() to unhook(), and lets all calls through
 * until its target is set.  Callers hold pp_mutex.  All operations but pokes() may sleep.
 */
struct pp_mode {
	const char *name;
	/*
	 * Hook those sites of @funcs that this mode suits, and set their mode.  The sites are in
	 * no mode, or linger.  Return: 0, also if a site that another mode may take is left out;
	 * or an error (logged), after which the caller unhooks the sites that are in this mode.
	 */
	int (*hook)(struct pp_func **funcs, unsigned int nr);
	/*
	 * Take @sites, which are in this mode, out of it, or make them linger.
	 * @going: the module that they are in is being unloaded.
	 */
	void (*unhook)(struct pp_site **sites, unsigned int nr, bool going);
	/*
	 * Optional.  Unhook @func from its site, which stays hooked for other patches.
	 * Return: true if the module of @func must stay until an RCU-tasks grace period has passed.
	 */
	bool (*leave)(struct pp_func *func);
	/*
	 * Optional.  @site lets calls through and will be switched to @target, for @func.  Write
	 * ahead what has no effect until the switch, so that pokes() need not list it.
	 * Return: 0, -ENOMEM, or -EBUSY or -EIO (logged).
	 */
	int (*prepare)(struct pp_site *site, const struct pp_func *func, unsigned long target);
	/*
	 * List the writes that lead calls to @target (0: the old function) instead of to
	 * site->target: up to PP_POKES_MAX pokes, in the order in which to write them.
	 * Return: their number, -ERANGE if a jump does not reach @target, -EBUSY (logged).
	 */
	int (*pokes)(const struct pp_site *site, unsigned long target, struct pp_poke *poke);
};

/* A NOP over the deciding word, the words that load the new address, the deciding word: entry.c. */
#define PP_POKES_MAX (PP_PREPARED_MAX + 2)

extern const struct pp_mode pp_ftrace_mode, pp_direct_mode, pp_entry_mode;

bool pp_mode_known(u32 mode);
const char *pp_mode_name(u32 mode);
int pp_mode_parse(const char *name, u32 *mode);
/* The enum pokepatch_mode of @mode; POKEPATCH_MODE_AUTO, which is 0, for NULL. */
u32 pp_mode_number(const struct pp_mode *mode);

/*
 * The entry of a function that a patch changes.  It exists while both the function and a patch that
 * changes it are loaded, or while it lingers.  It is hooked while such a patch is enabled or is
 * being switched.  It lets every call through while target is 0.
 */
struct pp_site {
	struct hlist_node node;	 /* in the hash; readers hold preemption off */
	unsigned long ip;	 /* its address; ftrace's name for it, where there is an ftrace */
	unsigned long target;	 /* where calls go; written by a switch: stop.c, transition.c */
	/*
	 * Of a function without an entry (detour.c): the bytes of the instructions that the jump
	 * overwrites, the first of these as they were, and the detour that executes them; else 0.
	 */
	unsigned int first;
	unsigned int field;	 /* POKEPATCH_FUNC_FIELD() */
	u8 was[PP_TEXT_WORD_MAX];
	unsigned long detour;
	unsigned long prepared;	 /* entry mode: the address that its first words load; 0: NOPs */
	struct list_head active; /* pp_func.on: enabled patches, the newest first */
	unsigned int users;	 /* struct pp_funcs that point here */
	const struct pp_mode *mode; /* while it is hooked, or lingers: pp_site_set_mode() */
	bool lingers;		 /* not hooked, but still claimed, or unsettled */
	bool unsettled;		 /* it was released, but ftrace has not written it yet */
	struct list_head linger_node; /* in the list of lingering sites */
	struct list_head hooked; /* pp_func.hook: functions that need it hooked, the newest first */
	struct ftrace_ops *ops;	 /* direct mode: its own */
	unsigned long stub;	 /* direct mode: the stub that it calls, in a patch's text */
	struct pp_patch *stub_owner; /* direct mode: the patch that has this stub */
	/* direct mode: a patch that is unhooked, but held until the site calls none of its stubs */
	const struct pp_patch *stub_held;
	struct pp_time stub_born; /* direct mode: calls may have reached the stub since then */
	const struct pp_patch *newest; /* the patch that took it last; NULL when that has put it */
	u64 laid_out;		 /* the last attempt that has a flip for it */
};

/*
 * Put @site into @mode, or into none (NULL).  The caller holds pp_mutex.  The guard's probes
 * (guard.c) read the mode without it, and act on the one from before or from after.
 */
static inline void pp_site_set_mode(struct pp_site *site, const struct pp_mode *mode)
{
	WRITE_ONCE(site->mode, mode);
}

/*
 * Callers of all functions but pp_site_find() and pp_sites_init() hold pp_mutex; those that get,
 * put, hook, unhook, linger or add pokes may sleep.  @obj is the number of a parent in the patch's
 * image, or PP_ALL_OBJECTS.  site.c says what each function does and returns.
 */
int pp_site_get(struct pp_func *func);
void pp_sites_put(struct pp_func *funcs, unsigned int nr, unsigned int obj);
int pp_sites_hook(struct pp_func *funcs, unsigned int nr, unsigned int obj);
void pp_sites_unhook(struct pp_func *funcs, unsigned int nr, unsigned int obj, bool going);
void pp_site_linger(struct pp_site *site);
/* Make those of @sites that are in no mode linger as unsettled: they were released. */
void pp_sites_linger_unsettled(struct pp_site **sites, unsigned int nr);
/* Is no site unsettled? */
bool pp_sites_all_settled(void);
void pp_site_linger_end(struct pp_site *site);
/* Try again to release, and to settle, all sites that linger.  Return: does one still linger? */
bool pp_sites_linger_retry(void);
void pp_sites_module_going(const struct module *mod);
/* Where the calls of @site will go without the patches that leave; 0: to the old function. */
unsigned long pp_site_top(const struct pp_site *site);
/*
 * The list, the newest first, that func->on is in while the patch of @func is enabled: that of its
 * site, or for a carried function that of all carried functions with the same hash.  NULL while the
 * parent is not loaded.
 */
struct list_head *pp_func_active(const struct pp_func *func);
/*
 * For carried functions, which have no site.  The first notes that the attempt, which has a unique
 * number, switches @func.  The second asks whether this attempt switches a carried function that
 * replaces the same old function as @func.
 */
void pp_carried_note_switch(struct pp_func *func, u64 attempt);
bool pp_carried_is_switched(const struct pp_func *func, u64 attempt);
void pp_sites_init(void);
/* How many sites are in @mode.  Unless @ips is NULL, their addresses are stored there. */
unsigned int pp_sites_in_mode(const struct pp_mode *mode, unsigned long *ips);
/*
 * Add the pokes to @text that lead the calls of @site to @target, for @func, and prepare the site
 * for them.  Return: 0, -ERANGE, -ENOMEM, or -EBUSY or -EIO (logged).
 */
int pp_site_add_pokes(struct pp_text *text, struct pp_site *site, const struct pp_func *func,
		      unsigned long target);
/* The site at @ip, or NULL.  Any context; the caller holds pp_mutex or keeps preemption off. */
struct pp_site *pp_site_find(unsigned long ip);
/* Add @site to the hash, or remove it; a removed site is freed after pp_synchronize_rude(). */
void pp_site_publish(struct pp_site *site);
void pp_site_unpublish(struct pp_site *site);

#define PP_ALL_OBJECTS UINT_MAX

#endif /* POKEPATCH_SITE_H */
