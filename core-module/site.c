// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sites: for each function that a loaded patch changes, where its calls go.
 *
 * A hash by the address that ftrace reports.  It changes under pp_mutex; the
 * handler reads it with preemption off, in any context, so what leaves it is
 * freed after synchronize_rcu_tasks_rude(), which makes every CPU schedule, idle
 * ones (where RCU does not look) included.
 */
#include <linux/hash.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "core.h"

#define SITE_BITS 10

static struct hlist_head sites[1 << SITE_BITS];

static struct hlist_head *bucket(unsigned long ip)
{
	return &sites[hash_long(ip, SITE_BITS)];
}

notrace struct pp_site *pp_site_find(unsigned long ip)
{
	struct pp_site *site;

	hlist_for_each_entry_rcu_notrace(site, bucket(ip), node)
		if (site->ip == ip)
			return site;
	return NULL;
}

void pp_site_publish(struct pp_site *site)
{
	hlist_add_head_rcu(&site->node, bucket(site->ip));
}

void pp_site_unpublish(struct pp_site *site)
{
	hlist_del_rcu(&site->node);
}

static bool in_object(const struct pp_func *func, unsigned int obj)
{
	return obj == PP_ALL_OBJECTS || func->obj == obj;
}

/*
 * Give @func, whose old_addr is known, its site.
 * Return: 0, -EINVAL if the function cannot be switched or is in the patch
 * already (logged), or -ENOMEM.
 */
int pp_site_get(struct pp_func *func)
{
	unsigned long ip = pp_arch.ftrace_site(func->old_addr);
	struct pp_site *site;

	lockdep_assert_held(&pp_mutex);
	if (!ip) {
		pr_err("%s is refused: %s has no ftrace site (notrace or inline assembly), it cannot be switched\n",
		       func->patch->name, func->name);
		return -EINVAL;
	}
	site = pp_site_find(ip);
	if (!site) {
		site = kzalloc(sizeof(*site), GFP_KERNEL);
		if (!site)
			return -ENOMEM;
		site->ip = ip;
		INIT_LIST_HEAD(&site->active);
		pp_site_publish(site);
	}
	/* The sites of an object are taken in one go, so a second user shows. */
	if (site->newest == func->patch) {
		pr_err("%s is refused: it replaces %s, at %ps, twice\n", func->patch->name,
		       func->name, (void *)ip);
		return -EINVAL;
	}
	site->newest = func->patch;
	site->users++;
	func->site = site;
	return 0;
}

/*
 * Take the sites from the functions of object @obj; none of them is hooked.
 * Waits for handlers that may still look at a site that goes.
 */
void pp_sites_put(struct pp_func *funcs, unsigned int nr, unsigned int obj)
{
	struct pp_site *site, *next;
	LIST_HEAD(dead);
	unsigned int i;

	lockdep_assert_held(&pp_mutex);
	for (i = 0; i < nr; i++) {
		struct pp_func *func = &funcs[i];

		if (!in_object(func, obj) || !func->site)
			continue;
		site = func->site;
		func->site = NULL;
		if (site->newest == func->patch)
			site->newest = NULL;
		if (--site->users)
			continue;
		/* No patch is active on it, so that its list head is free. */
		pp_site_unpublish(site);
		list_add(&site->active, &dead);
	}
	if (list_empty(&dead))
		return;
	synchronize_rcu_tasks_rude();
	list_for_each_entry_safe(site, next, &dead, active)
		kfree(site);
}

/*
 * Hook the sites of the functions of object @obj, as far as they have one and are
 * not hooked yet.  All or nothing.
 * Return: 0, -EBUSY if somebody else redirects one of them (logged), -ENOMEM, or
 * another error of ftrace's (logged).
 */
int pp_sites_hook(struct pp_func *funcs, unsigned int nr, unsigned int obj)
{
	unsigned long *ips = kvmalloc_array(nr, sizeof(*ips), GFP_KERNEL);
	unsigned int i, new = 0;
	int ret = 0;

	lockdep_assert_held(&pp_mutex);
	if (!ips)
		return -ENOMEM;
	for (i = 0; i < nr; i++)
		if (in_object(&funcs[i], obj) && funcs[i].site && !funcs[i].hooked &&
		    !funcs[i].site->hooks)
			ips[new++] = funcs[i].site->ip;
	if (new)
		ret = pp_ftrace_hook(ips, new);
	kvfree(ips);
	if (ret)
		return ret;
	for (i = 0; i < nr; i++) {
		if (!in_object(&funcs[i], obj) || !funcs[i].site || funcs[i].hooked)
			continue;
		funcs[i].hooked = true;
		funcs[i].site->hooks++;
	}
	return 0;
}

/* Undo pp_sites_hook(); the functions' patch is not active on these sites. */
void pp_sites_unhook(struct pp_func *funcs, unsigned int nr, unsigned int obj)
{
	/* In one go if there is memory for that, else one by one: it cannot fail. */
	unsigned long *ips = kvmalloc_array(nr, sizeof(*ips), GFP_KERNEL);
	unsigned int i, gone = 0;

	lockdep_assert_held(&pp_mutex);
	for (i = 0; i < nr; i++) {
		if (!in_object(&funcs[i], obj) || !funcs[i].hooked)
			continue;
		funcs[i].hooked = false;
		if (--funcs[i].site->hooks)
			continue;
		if (ips)
			ips[gone++] = funcs[i].site->ip;
		else
			pp_ftrace_unhook(&funcs[i].site->ip, 1);
	}
	if (gone)
		pp_ftrace_unhook(ips, gone);
	kvfree(ips);
}

/* Where calls of @site go if @without, or NULL, is not counted; 0: not rerouted. */
unsigned long pp_site_top(const struct pp_site *site, const struct pp_func *without)
{
	const struct pp_func *func;

	lockdep_assert_held(&pp_mutex);
	list_for_each_entry(func, &site->active, on)
		if (func != without)
			return func->desc->new_addr;
	return 0;
}
