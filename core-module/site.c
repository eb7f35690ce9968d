// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sites: for each function that a loaded patch changes, where its calls go, and in which mode.
 *
 * Sites are in a hash by the address that ftrace reports.  The hash changes under pp_mutex.
 * ftrace's handler reads it with preemption off, in any context.  So a site that was taken out of
 * the hash is freed only after pp_synchronize_rude(), which makes every CPU schedule, idle
 * CPUs included, where RCU is not watching.
 */
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include <pokepatch_format.h>

#include "arch/pp_arch.h"
#include "claim.h"
#include "core_print.h"
#include "detour.h"
#include "direct.h"
#include "entry.h"
#include "ftrace.h"
#include "guard.h"
#include "module.h"
#include "others.h"
#include "policy.h"
#include "pp_patch.h"
#include "rude.h"
#include "site.h"
#include "text.h"
#include "veneer.h"
#include "watch.h"

#define SITE_BITS 10

static struct hlist_head sites[1 << SITE_BITS];

static struct hlist_head *site_bucket(unsigned long ip)
{
	return &sites[hash_long(ip, SITE_BITS)];
}

notrace struct pp_site *pp_site_find(unsigned long ip)
{
	struct pp_site *site;

	hlist_for_each_entry_rcu_notrace(site, site_bucket(ip), node)
		if (site->ip == ip)
			return site;
	return NULL;
}

void pp_site_publish(struct pp_site *site)
{
	hlist_add_head_rcu(&site->node, site_bucket(site->ip));
}

void pp_site_unpublish(struct pp_site *site)
{
	hlist_del_rcu(&site->node);
}

unsigned int pp_sites_in_mode(const struct pp_mode *mode, unsigned long *ips)
{
	const struct pp_site *site;
	unsigned int i, nr = 0;

	lockdep_assert_held(&pp_mutex);
	for (i = 0; i < ARRAY_SIZE(sites); i++)
		hlist_for_each_entry(site, &sites[i], node) {
			if (site->mode != mode)
				continue;
			if (ips)
				ips[nr] = site->ip;
			nr++;
		}
	return nr;
}

static bool site_func_in_object(const struct pp_func *func, unsigned int obj)
{
	return obj == PP_ALL_OBJECTS || func->obj == obj;
}

/* The address at which the calls of @func are rerouted, or 0 (logged). */
static unsigned long site_address(const struct pp_func *func)
{
	unsigned long ip;

	if (pp_func_overwritten(func))
		return pp_detour_address(func);
	ip = pp_arch.entry.site(func->old_addr);
	if (!ip)
		pr_err("%s is refused: %s has no %s (notrace or inline assembly), it cannot be switched\n",
		       func->patch->name, func->name,
		       PP_HAS_FTRACE ? "ftrace site" : "NOPs at its entry");
	return ip;
}

/* The bytes of the first instructions of @func if it is overwritten, or 0. */
static unsigned int site_first(const struct pp_func *func)
{
	return pp_func_overwritten(func) ? POKEPATCH_FUNC_FIRST(func->desc->flags) : 0;
}

static unsigned int site_field(const struct pp_func *func)
{
	return pp_func_overwritten(func) ? POKEPATCH_FUNC_FIELD(func->desc->flags) : 0;
}

/*
 * Give @func, whose old_addr is set, the site of that address, and make the site if there is none.
 * Return: 0, -EINVAL if the function cannot be switched or the patch replaces it twice (logged),
 * or -ENOMEM.
 */
int pp_site_get(struct pp_func *func)
{
	const unsigned long ip = site_address(func);
	struct pp_site *site;

	lockdep_assert_held(&pp_mutex);
	if (!ip)
		return -EINVAL;
	if (pp_arch.text.store_uses && pp_arch.text.store_uses(func->old_addr)) {
		pr_err("%s is refused: the kernel uses %s to write code, so it cannot be switched\n",
		       func->patch->name, func->name);
		return -EINVAL;
	}
	site = pp_site_find(ip);
	if (!site) {
		site = kzalloc(sizeof(*site), GFP_KERNEL);
		if (!site)
			return -ENOMEM;
		site->ip = ip;
		site->first = site_first(func);
		site->field = site_field(func);
		INIT_LIST_HEAD(&site->active);
		INIT_LIST_HEAD(&site->hooked);
		pp_site_publish(site);
	}
	if (site->first != site_first(func) || site->field != site_field(func)) {
		pr_err("%s is refused: another patch overwrites other first instructions of %s\n",
		       func->patch->name, func->name);
		return -EINVAL;
	}
	/*
	 * A patch takes all sites of one parent before another patch takes any.  So if this patch
	 * took the site last, it names the function twice.
	 */
	if (site->newest == func->patch) {
		pr_err("%s is refused: it replaces %s, at %ps, twice\n", func->patch->name,
		       func->name, (void *)ip);
		return -EINVAL;
	}
	site->newest = func->patch;
	pp_others_patched(func->old_addr, func->sym->size);
	pp_guard_patched(func->old_addr, func->sym->size);
	site->users++;
	func->site = site;
	return 0;
}

/* Free the sites of @dead, which are out of the hash, once no handler can still use one. */
static void site_free_list(struct list_head *dead)
{
	struct pp_site *site, *next;

	if (list_empty(dead))
		return;
	pp_synchronize_rude();
	list_for_each_entry_safe(site, next, dead, active) {
		pp_detour_put(site);
		kfree(site);
	}
}

/*
 * Take the sites from the functions of parent @obj, none of which is hooked, and free those that
 * no other function has and that do not linger.  Waits for handlers that may still use one.
 */
void pp_sites_put(struct pp_func *funcs, unsigned int nr, unsigned int obj)
{
	struct pp_site *site;
	LIST_HEAD(dead);
	unsigned int i;

	lockdep_assert_held(&pp_mutex);
	for (i = 0; i < nr; i++) {
		struct pp_func *func = &funcs[i];

		if (!site_func_in_object(func, obj) || !func->site)
			continue;
		site = func->site;
		func->site = NULL;
		if (site->newest == func->patch)
			site->newest = NULL;
		if (--site->users || site->lingers)
			continue;
		/* No patch is active on the site, so its list head serves for the dead list. */
		pp_site_unpublish(site);
		list_add(&site->active, &dead);
	}
	site_free_list(&dead);
}

static const struct pp_mode *const modes[] = {
	[POKEPATCH_MODE_ENTRY] = &pp_entry_mode,
	[POKEPATCH_MODE_DIRECT] = &pp_direct_mode,
	[POKEPATCH_MODE_FTRACE] = &pp_ftrace_mode,
};

/* The modes in the order in which `auto` tries those that the policy allows: the cheapest first. */
static const u32 order[] = {
	POKEPATCH_MODE_ENTRY,
	POKEPATCH_MODE_DIRECT,
	POKEPATCH_MODE_FTRACE,
};

bool pp_mode_known(u32 mode)
{
	return mode == POKEPATCH_MODE_AUTO || (mode < ARRAY_SIZE(modes) && modes[mode]);
}

const char *pp_mode_name(u32 mode)
{
	return mode == POKEPATCH_MODE_AUTO ? "auto" : modes[mode]->name;
}

u32 pp_mode_number(const struct pp_mode *mode)
{
	u32 i;

	for (i = 0; mode && i < ARRAY_SIZE(modes); i++)
		if (modes[i] == mode)
			return i;
	return POKEPATCH_MODE_AUTO;
}

int pp_mode_parse(const char *name, u32 *mode)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		if (pp_mode_known(i) && sysfs_streq(name, pp_mode_name(i))) {
			*mode = i;
			return 0;
		}
	}
	return -EINVAL;
}

/* Does @func, of parent @obj, have a site on which it is not hooked yet? */
static bool site_wants_hook(const struct pp_func *func, unsigned int obj)
{
	return site_func_in_object(func, obj) && func->site && !func->hooked;
}

/*
 * Can @func be switched at its site, which is hooked already for another patch?
 * Return: 0 or -EBUSY (logged).
 */
static int site_check_shared(const struct pp_func *func)
{
	const struct pp_mode *mode = func->site->mode;
	const u32 want = pp_func_want(func);

	if (want != POKEPATCH_MODE_AUTO && modes[want] != mode) {
		pr_err("%s: %s cannot be switched in %s mode: it is in %s mode already, for another patch or a tracer\n",
		       func->patch->name, func->name, pp_mode_name(want), mode->name);
		return -EBUSY;
	}
	if (mode == &pp_entry_mode && !pp_veneer_make(func->site->ip, func->desc->new_addr)) {
		pr_err("%s: %s cannot be switched: its entry is in entry mode for another patch, and the new function is too far away for that\n",
		       func->patch->name, func->name);
		return -EBUSY;
	}
	return 0;
}

/* May the mode with number @mode be tried for @func? */
static bool site_may_try(const struct pp_func *func, u32 mode)
{
	const u32 want = pp_func_want(func);

	if (want != POKEPATCH_MODE_AUTO)
		return want == mode;
	/*
	 * ftrace's users cannot come to a function without an entry, and there is no other mode for
	 * it.  So the policy does not count.
	 */
	if (func->site->first)
		return mode == POKEPATCH_MODE_ENTRY;
	return pp_policy_allows(mode);
}

/* Can @func be switched in the mode that is asked for?  Return: 0 or -EBUSY (logged). */
static int site_check_mode(const struct pp_func *func)
{
	const u32 want = pp_func_want(func);

	if (!func->site->first || want == POKEPATCH_MODE_AUTO || want == POKEPATCH_MODE_ENTRY)
		return 0;
	pr_err("%s: %s cannot be switched in %s mode: it has no entry, and is switched in entry mode only\n",
	       func->patch->name, func->name, pp_mode_name(want));
	return -EBUSY;
}

/*
 * Hook the sites of @funcs that are in no mode or linger, each in the first mode that takes it.
 * If one fails, the caller unhooks the others.
 */
static int site_hook_new(struct pp_func **funcs, unsigned int nr)
{
	struct pp_func **group = kvmalloc_array(nr, sizeof(*group), GFP_KERNEL);
	unsigned int i, k;
	int ret = group ? 0 : -ENOMEM;

	for (k = 0; k < ARRAY_SIZE(order) && !ret; k++) {
		unsigned int members = 0;

		for (i = 0; i < nr; i++)
			if ((!funcs[i]->site->mode || funcs[i]->site->lingers) &&
			    site_may_try(funcs[i], order[k]))
				group[members++] = funcs[i];
		if (members)
			ret = modes[order[k]]->hook(group, members);
	}
	kvfree(group);
	return ret;
}

static void site_unhook_in_mode(const struct pp_mode *mode, struct pp_site **sites, unsigned int nr,
				bool going)
{
	struct pp_site **group = kvmalloc_array(nr, sizeof(*group), GFP_KERNEL);
	unsigned int i, members = 0;

	for (i = 0; i < nr; i++) {
		if (sites[i]->mode != mode || sites[i]->lingers)
			continue;
		/* Unhooking must not fail: without memory for the array, unhook one by one. */
		if (group)
			group[members++] = sites[i];
		else
			mode->unhook(&sites[i], 1, going);
	}
	if (members)
		mode->unhook(group, members, going);
	kvfree(group);
}

/* Take each of @sites out of its mode, or make it linger there. */
static void site_unhook_all(struct pp_site **sites, unsigned int nr, bool going)
{
	unsigned int k;

	for (k = 0; k < ARRAY_SIZE(order); k++)
		site_unhook_in_mode(modes[order[k]], sites, nr, going);
}

/*
 * Hook the functions of parent @obj that have a site and are not hooked yet: all of them or none.
 * Return: 0, -EBUSY if another user redirects the calls of one, or if a site cannot be in the mode
 * that the patch or the user asked for (logged), -ENOMEM, or another error from ftrace (logged).
 */
int pp_sites_hook(struct pp_func *funcs, unsigned int nr, unsigned int obj)
{
	struct pp_func **new = kvmalloc_array(nr, sizeof(*new), GFP_KERNEL);
	struct pp_site **back = kvmalloc_array(nr, sizeof(*back), GFP_KERNEL);
	unsigned int i, nr_new = 0;
	int ret = new && back ? 0 : -ENOMEM;

	lockdep_assert_held(&pp_mutex);
	for (i = 0; i < nr && !ret; i++) {
		if (!site_wants_hook(&funcs[i], obj))
			continue;
		if (!list_empty(&funcs[i].site->hooked)) {
			ret = site_check_shared(&funcs[i]);
			continue;
		}
		ret = site_check_mode(&funcs[i]);
		back[nr_new] = funcs[i].site;
		new[nr_new++] = &funcs[i];
	}
	if (!ret && nr_new) {
		ret = site_hook_new(new, nr_new);
		if (ret)
			site_unhook_all(back, nr_new, false);
	}
	kvfree(back);
	kvfree(new);
	if (ret)
		return ret;
	/*
	 * Until now other writers could write at these entries (a callback may have made them do
	 * so).  Drain, so that records of their writes precede the records of ours.
	 */
	pp_others_record_pending();
	for (i = 0; i < nr; i++) {
		if (!site_wants_hook(&funcs[i], obj))
			continue;
		funcs[i].hooked = true;
		list_add(&funcs[i].hook, &funcs[i].site->hooked);
		WRITE_ONCE(funcs[i].mode, funcs[i].site->mode);
	}
	return 0;
}

/*
 * Undo pp_sites_hook().  The functions' patch is not active on these sites.
 * @going: their module is being unloaded, and no task runs its code any more.
 */
void pp_sites_unhook(struct pp_func *funcs, unsigned int nr, unsigned int obj, bool going)
{
	struct pp_site **gone = kvmalloc_array(nr, sizeof(*gone), GFP_KERNEL);
	unsigned int i, nr_gone = 0;
	bool wait = false;

	lockdep_assert_held(&pp_mutex);
	for (i = 0; i < nr; i++) {
		struct pp_site *site = funcs[i].site;

		if (!site_func_in_object(&funcs[i], obj) || !funcs[i].hooked)
			continue;
		funcs[i].hooked = false;
		list_del_init(&funcs[i].hook);
		WRITE_ONCE(funcs[i].mode, NULL);
		WRITE_ONCE(funcs[i].shadows, 0);
		if (!list_empty(&site->hooked)) {
			if (!going && site->mode->leave && site->mode->leave(&funcs[i]))
				wait = true;
			continue;
		}
		if (gone)
			gone[nr_gone++] = site;
		else
			site_unhook_all(&site, 1, going);
	}
	if (nr_gone)
		site_unhook_all(gone, nr_gone, going);
	kvfree(gone);
	/* One wait for all functions.  The second one is for idle tasks. */
	if (wait) {
		synchronize_rcu_tasks();
		pp_synchronize_rude();
		pp_direct_free_second_ops();
	}
}

int pp_site_add_pokes(struct pp_text *text, struct pp_site *site, const struct pp_func *func,
		      unsigned long target)
{
	struct pp_poke *poke = &text->poke[text->nr];
	int i, nr = 0;

	if (site->mode->prepare && target && !site->target)
		nr = site->mode->prepare(site, func, target);
	if (nr < 0)
		return nr;
	if (site->mode->pokes) {
		memset(poke, 0, PP_POKES_MAX * sizeof(*poke));
		nr = site->mode->pokes(site, target, poke);
	}
	if (nr < 0)
		return nr;
	for (i = 0; i < nr; i++)
		poke[i].func = func;
	text->nr += nr;
	return 0;
}

/* --- sites that linger ------------------------------------------------------------ */

static LIST_HEAD(lingering);

/* Such a site may outlive its patches, so it holds a reference to the core. */
static void site_linger_begin(struct pp_site *site)
{
	site->lingers = true;
	list_add(&site->linger_node, &lingering);
	__module_get(THIS_MODULE);
}

/*
 * Keep @site claimed, although no patch has it hooked, because it cannot be released now.  ftrace
 * leaves a claimed site alone, so no other user can take it without the core noticing.
 */
void pp_site_linger(struct pp_site *site)
{
	lockdep_assert_held(&pp_mutex);
	if (site->lingers)
		return;
	site_linger_begin(site);
	pr_notice("the entry of %ps is not released yet: another live patch, BPF program or probe wants it, which has no effect until then, or its code is not what it was; the core tries again every second\n",
		  (void *)site->ip);
}

/*
 * Those of @sites that are in no mode any more were released.  ftrace counts their users, but had
 * no memory to write the sites.  If these users leave now, the record keeps a flag that ftrace
 * never clears (see pp_claim_settle()).  Then the site could not be claimed again, and ftrace would
 * shut itself down when its last ops is unregistered, because the record has the flag but no user.
 * So the core keeps such a site in its mode, and keeps an ops of its own registered (see
 * pp_ftrace_stop()), until ftrace has written the site and the site is settled.
 */
void pp_sites_linger_unsettled(struct pp_site **sites, unsigned int nr)
{
	unsigned int i;

	lockdep_assert_held(&pp_mutex);
	for (i = 0; i < nr; i++) {
		if (sites[i]->mode || sites[i]->first)
			continue;
		pp_site_set_mode(sites[i], &pp_entry_mode);
		sites[i]->unsettled = true;
		site_linger_begin(sites[i]);
	}
	pp_watch_later();
}

bool pp_sites_all_settled(void)
{
	const struct pp_site *site;

	list_for_each_entry(site, &lingering, linger_node)
		if (site->unsettled)
			return false;
	return true;
}

void pp_site_linger_end(struct pp_site *site)
{
	lockdep_assert_held(&pp_mutex);
	if (!site->lingers)
		return;
	site->lingers = false;
	site->unsettled = false;
	list_del(&site->linger_node);
	module_put(THIS_MODULE);
}

/*
 * End the lingering of @sites, linked by linger_node, which were released or are in a module that
 * is being unloaded.  Free those that no function has.
 */
static void site_linger_end_all(struct list_head *sites)
{
	struct pp_site *site, *next;
	LIST_HEAD(dead);

	list_for_each_entry_safe(site, next, sites, linger_node) {
		pp_site_linger_end(site);
		pp_site_set_mode(site, NULL);
		if (site->users)
			continue;
		pp_site_unpublish(site);
		list_add(&site->active, &dead);
	}
	site_free_list(&dead);
}

/* Have ftrace write @sites, linked by linger_node.  Return: 0 or an error. */
static int site_have_ftrace_write(const struct list_head *sites)
{
	const struct pp_site *site;
	unsigned int nr = 0, i = 0;
	unsigned long *ips;
	int ret;

	list_for_each_entry(site, sites, linger_node)
		nr++;
	/* The addresses are for the history.  Without memory for them it loses these records. */
	ips = kvmalloc_array(nr, sizeof(*ips), GFP_KERNEL);
	list_for_each_entry(site, sites, linger_node)
		if (ips && !site->first)
			ips[i++] = site->ip;
	ret = pp_ftrace_update(ips, i);
	kvfree(ips);
	return ret;
}

bool pp_sites_linger_retry(void)
{
	struct pp_site *site, *next;
	bool update = false;
	LIST_HEAD(back);

	lockdep_assert_held(&pp_mutex);
	list_for_each_entry_safe(site, next, &lingering, linger_node) {
		if (site->unsettled || !pp_entry_release(site, &update)) {
			update |= site->unsettled;
			list_move(&site->linger_node, &back);
		}
	}
	if (update) {
		const bool failed = site_have_ftrace_write(&back);

		list_for_each_entry(site, &back, linger_node) {
			site->unsettled = failed && !site->first;
			if (!failed && !site->first)
				pp_claim_settle(site->ip);
		}
		if (failed)
			list_splice_init(&back, &lingering);
	}
	/*
	 * pp_claim_release() or pp_ftrace_update() may have registered the core's ops.  Without
	 * patches no later event would unregister it.  The sites still hold the core.
	 */
	if (list_empty(&pp_patches))
		pp_ftrace_stop();
	site_linger_end_all(&back);
	return !list_empty(&lingering);
}

/* @mod is being unloaded, and ftrace's records of its sites with it: forget sites that linger. */
void pp_sites_module_going(const struct module *mod)
{
	struct pp_site *site, *next;
	LIST_HEAD(gone);

	lockdep_assert_held(&pp_mutex);
	list_for_each_entry_safe(site, next, &lingering, linger_node)
		if (within_module_core(site->ip, mod))
			list_move(&site->linger_node, &gone);
	site_linger_end_all(&gone);
}

/* Carried functions, hashed by the address of the old function. */
static struct {
	struct list_head active;	/* pp_func.on: those of enabled patches */
	struct pp_func *switched;	/* by ->next_switched: those that the attempt switches */
	u64 attempt;			/* the number of the attempt for which switched is valid */
} carried[1 << SITE_BITS];

void pp_sites_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(carried); i++)
		INIT_LIST_HEAD(&carried[i].active);
}

struct list_head *pp_func_active(const struct pp_func *func)
{
	if (func->site)
		return &func->site->active;
	if (pp_func_carried(func) && func->old_addr)
		return &carried[hash_long(func->old_addr, SITE_BITS)].active;
	return NULL;
}

void pp_carried_note_switch(struct pp_func *func, u64 attempt)
{
	const u32 hash = hash_long(func->old_addr, SITE_BITS);

	lockdep_assert_held(&pp_mutex);
	func->next_switched = carried[hash].attempt == attempt ? carried[hash].switched : NULL;
	carried[hash].switched = func;
	carried[hash].attempt = attempt;
}

bool pp_carried_is_switched(const struct pp_func *func, u64 attempt)
{
	const u32 hash = hash_long(func->old_addr, SITE_BITS);
	const struct pp_func *other;

	lockdep_assert_held(&pp_mutex);
	if (carried[hash].attempt != attempt)
		return false;
	for (other = carried[hash].switched; other; other = other->next_switched)
		if (other->old_addr == func->old_addr)
			return true;
	return false;
}

unsigned long pp_site_top(const struct pp_site *site)
{
	const struct pp_func *func;

	lockdep_assert_held(&pp_mutex);
	list_for_each_entry(func, &site->active, on)
		if (!func->patch->leaving)
			return func->desc->new_addr;
	return 0;
}
