// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ftrace mode: one ftrace_ops for all functions of all patches.
 *
 * All share one ops because ftrace allows one redirecting ops for each function, so patches that
 * stack on a function must share it.  Besides, each registration costs a page for a trampoline, and
 * each unregistration waits for all tasks, which a thousand functions cannot afford.
 *
 * The filter of the ops is never empty, since an empty filter means every function.  It always
 * holds the anchor, a function of the core.  When the ops is registered, the anchor also shows
 * whether redirection works on this kernel.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "arch/pp_arch.h"
#include "claim.h"
#include "compat.h"
#include "core_print.h"
#include "ftrace.h"
#include "kernel_symbols.h"
#include "module.h"
#include "pp_patch.h"
#include "record.h"
#include "rude.h"
#include "site.h"
#include "watch.h"

#ifndef CONFIG_DYNAMIC_FTRACE
#error "the core needs a kernel with CONFIG_DYNAMIC_FTRACE"
#endif
#if !defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS) && !defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS)
#error "the core needs an ftrace that can change the instruction pointer"
#endif

/*
 * Runs at every call of a hooked function: in any context, NMI and idle included, on any CPU, and
 * nested in itself.
 *
 * There is no recursion guard, since all that a guard could do for a nested call is run the old
 * function.  None is needed, because the handler calls no function that could be traced.
 * (preempt_enable_notrace() may schedule, and the scheduler's functions may be patched.  The nested
 * handler shares nothing with this one.)
 *
 * Preemption is off from the lookup to the decision.  So stop_machine() cannot stop a task in
 * between, and a site that was taken out of the hash may be freed as soon as every CPU has
 * scheduled.  A task may be preempted after the decision, before it jumps.  Then the return address
 * of the call to ftrace, in the old function, is still on its stack.  That is why the old function
 * must be empty in a transition of either direction.
 */
void notrace pp_ftrace_handler(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
			       struct ftrace_regs *fregs)
{
	const struct pp_site *site;
	unsigned long target;

	preempt_disable_notrace();
	site = pp_site_find(ip);
	target = site ? READ_ONCE(site->target) : 0;
	if (target)
		pp_ftrace_set_ip(fregs, target);
	preempt_enable_notrace();
}

static struct ftrace_ops ops = {
	.func = pp_ftrace_handler,
	.flags = PP_FTRACE_FLAGS,
};

static bool registered; /* pp_mutex */

/*
 * There was no memory to remove some sites from the filter.  The handler lets their calls through.
 * But no other user can redirect them, and the cheaper modes cannot take these sites.
 */
static bool leftovers; /* pp_mutex */

static noinline int pp_ftrace_anchor_new(int n)
{
	barrier();
	return n + 2;
}

static noinline int pp_ftrace_anchor(int n)
{
	barrier();
	return n + 1;
}

static struct pp_site anchor_site;

/* Redirect the anchor, and stop redirecting it: do calls follow both times? */
static bool pp_ftrace_redirects(void)
{
	int (*call)(int) = pp_ftrace_anchor;
	bool there, back;

	OPTIMIZER_HIDE_VAR(call); /* so that the compiler does not know what it returns */
	pp_site_publish(&anchor_site);
	WRITE_ONCE(anchor_site.target, (unsigned long)pp_ftrace_anchor_new);
	there = call(1) == 3;
	WRITE_ONCE(anchor_site.target, 0);
	back = call(1) == 2;
	pp_site_unpublish(&anchor_site);
	pp_synchronize_rude();
	return there && back;
}

/*
 * 6.1's ftrace_free_filter() leaves the freed hashes in the ops, where the next
 * ftrace_set_filter_ips() would find them.
 */
static void pp_ftrace_free_filter(void)
{
	ftrace_free_filter(&ops);
	RCU_INIT_POINTER(ops.local_hash.filter_hash, NULL);
	RCU_INIT_POINTER(ops.local_hash.notrace_hash, NULL);
}

/*
 * Call ftrace_set_filter_ips() for the ops, and record what ftrace writes at these sites if the ops
 * is registered.  Sites that @reset removes are not recorded.  They are leftovers, or there are
 * none.
 */
static int pp_ftrace_set_filter(unsigned long *ips, unsigned int nr, int remove, int reset)
{
	struct pp_record_sites sites;
	int ret;

	pp_record_sites_before(&sites, ips, nr);
	ret = ftrace_set_filter_ips(&ops, ips, nr, remove, reset);
	pp_record_sites_after(&sites);
	return ret;
}

__nocfi int pp_ftrace_unregister(struct ftrace_ops *which)
{
	int ret = unregister_ftrace_function(which);

	/* If ftrace has shut itself down, the site may still make the call that it made before. */
	return ret ?: pp_kernel.ftrace_is_dead() ? -ENODEV : 0;
}

static void pp_ftrace_unregister_ops(void)
{
	struct pp_record_sites sites;
	int ret;

	/* This also waits until no task is in the trampoline or the handler of the ops any more. */
	pp_record_sites_before(&sites, &anchor_site.ip, 1);
	ret = pp_ftrace_unregister(&ops);
	pp_record_sites_after(&sites);
	if (ret) {
		pr_err_once("the core stays loaded: ftrace failed to unregister its ops; has ftrace shut itself down?\n");
		__module_get(THIS_MODULE);
		return;
	}
	pp_ftrace_free_filter();
	registered = false;
	leftovers = false;
}

static int pp_ftrace_register_ops(void)
{
	struct pp_record_sites sites;
	int ret;

	anchor_site.ip = pp_arch.entry.site((unsigned long)pp_ftrace_anchor);
	if (!anchor_site.ip) {
		pr_err("ftrace does not know the core's own functions; has ftrace shut itself down, or is it off?\n");
		return -ENODEV;
	}
	ret = ftrace_set_filter_ips(&ops, &anchor_site.ip, 1, 0, 0);
	if (!ret) {
		pp_record_sites_before(&sites, &anchor_site.ip, 1);
		ret = register_ftrace_function(&ops);
		pp_record_sites_after(&sites);
	}
	if (ret) {
		/* The ops may have been in ftrace's list for a moment. */
		pp_synchronize_rude();
		pp_ftrace_free_filter();
		pr_err("ftrace cannot be used (%d)%s\n", ret,
		       ret == -EBUSY ? "; sysctl kernel.ftrace_enabled must be 1" : "");
		return ret;
	}
	registered = true;
	if (!pp_ftrace_redirects()) {
		pr_err("ftrace calls are not redirected on this kernel\n");
		pp_ftrace_unregister_ops();
		return -EOPNOTSUPP;
	}
	return 0;
}

/* Remove the sites @ips from the filter.  If there is no memory for that, the watch retries it. */
static void pp_ftrace_remove_sites(unsigned long *ips, unsigned int nr)
{
	if (!pp_ftrace_set_filter(ips, nr, 1, 0))
		return;
	leftovers = true;
	pp_watch_later();
}

/* Make the filter anew, from the anchor and the sites that are in this mode. */
static int pp_ftrace_refill_filter(void)
{
	const unsigned int nr = pp_sites_in_mode(&pp_ftrace_mode, NULL);
	unsigned long *ips = kvmalloc_array(nr + 1, sizeof(*ips), GFP_KERNEL);
	int ret;

	if (!ips)
		return -ENOMEM;
	ips[0] = anchor_site.ip;
	pp_sites_in_mode(&pp_ftrace_mode, ips + 1);
	ret = pp_ftrace_set_filter(ips, nr + 1, 0, 1);
	kvfree(ips);
	return ret;
}

bool pp_ftrace_retry(void)
{
	lockdep_assert_held(&pp_mutex);
	if (leftovers && registered)
		leftovers = pp_ftrace_refill_filter();
	return leftovers;
}

/*
 * ftrace refused to add the sites @ips together, because another user redirects one of them.  Add
 * them one by one, to report which one that is.  If ftrace takes all of them now, they are added.
 */
static int pp_ftrace_add_each(unsigned long *ips, unsigned int nr)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < nr && !ret; i++)
		ret = pp_ftrace_set_filter(&ips[i], 1, 0, 0);
	if (!ret)
		return 0;
	i--;
	pr_err("%ps cannot be switched (%d)%s\n", (void *)ips[i], ret,
	       ret == -EBUSY ? ": another live patch or tracer redirects it" : "");
	while (i--)
		pp_ftrace_remove_sites(&ips[i], 1);
	return ret;
}

/* Add the sites @ips to the filter: all of them or none.  Return: 0 or an error (logged). */
static int pp_ftrace_add_sites(unsigned long *ips, unsigned int nr)
{
	int ret = registered ? 0 : pp_ftrace_register_ops();

	if (ret)
		return ret;
	ret = pp_ftrace_set_filter(ips, nr, 0, 0);
	if (ret == -EBUSY)
		return pp_ftrace_add_each(ips, nr);
	if (ret)
		pr_err("ftrace refuses %u function%s (%d)\n", nr, pp_plural(nr), ret);
	return ret;
}

/*
 * Why the site cannot be in ftrace mode, as far as ftrace itself does not check it, or NULL.
 *
 * A BPF program at the site must be asked to share it.  Otherwise the program calls the old
 * function by its address, and so bypasses the patch.  ftrace asks when a redirecting ops is
 * registered, and when a BPF program comes to a site that has such an ops.  It does not ask when a
 * registered ops changes its filter, as the core's ops does.
 */
static const char *pp_ftrace_hindrance(const struct pp_site *site)
{
	if (site->lingers)
		return "the core could not release its entry to ftrace yet";
	if (pp_claim_user_kinds(site->ip) & PP_SHADOWS_BPF)
		return "a BPF program uses its entry";
	return NULL;
}

static int pp_ftrace_check_free(struct pp_func **funcs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const char *why = pp_ftrace_hindrance(funcs[i]->site);

		if (!why)
			continue;
		pr_err("%s: %s cannot be switched in ftrace mode: %s\n", funcs[i]->patch->name,
		       funcs[i]->name, why);
		return -EBUSY;
	}
	return 0;
}

/* Make the sites call the handler, which lets all calls through until their target is set. */
static int pp_ftrace_hook(struct pp_func **funcs, unsigned int nr)
{
	unsigned long *ips = kvmalloc_array(nr, sizeof(*ips), GFP_KERNEL);
	unsigned int i;
	int ret = ips ? 0 : -ENOMEM;

	for (i = 0; i < nr && !ret; i++)
		ips[i] = funcs[i]->site->ip;
	ret = ret ?: pp_ftrace_check_free(funcs, nr) ?: pp_ftrace_add_sites(ips, nr);
	/* A BPF program may have come before the filter changed, and ftrace has not asked it. */
	if (!ret) {
		ret = pp_ftrace_check_free(funcs, nr);
		if (ret)
			pp_ftrace_remove_sites(ips, nr);
	}
	for (i = 0; i < nr && !ret; i++)
		pp_site_set_mode(funcs[i]->site, &pp_ftrace_mode);
	kvfree(ips);
	return ret;
}

/* A call may still be on its way to the handler, which lets it through. */
static void pp_ftrace_unhook(struct pp_site **sites, unsigned int nr, bool going)
{
	/* Unhooking must not fail: without memory for the array, remove the sites one by one. */
	unsigned long *ips = kvmalloc_array(nr, sizeof(*ips), GFP_KERNEL);
	unsigned int i;

	for (i = 0; i < nr; i++) {
		pp_site_set_mode(sites[i], NULL);
		if (ips)
			ips[i] = sites[i]->ip;
		else
			pp_ftrace_remove_sites(&sites[i]->ip, 1);
	}
	if (ips)
		pp_ftrace_remove_sites(ips, nr);
	kvfree(ips);
}

const struct pp_mode pp_ftrace_mode = {
	.name = "ftrace",
	.hook = pp_ftrace_hook,
	.unhook = pp_ftrace_unhook,
};

bool pp_ftrace_registered(void)
{
	return registered;
}

int pp_ftrace_start(void)
{
	lockdep_assert_held(&pp_mutex);
	return registered ? 0 : pp_ftrace_register_ops();
}

/*
 * Whenever the filter of a registered ops is set, even to what it is already, ftrace writes all
 * sites that differ from their records.
 */
int pp_ftrace_update(const unsigned long *ips, unsigned int nr)
{
	struct pp_record_sites sites;
	int ret;

	lockdep_assert_held(&pp_mutex);
	ret = pp_ftrace_start();
	if (ret)
		return ret;
	pp_record_sites_before(&sites, ips, nr);
	ret = ftrace_set_filter_ip(&ops, anchor_site.ip, 0, 0);
	pp_record_sites_after(&sites);
	return ret;
}

/*
 * For when no site is hooked and none will be soon.  While a site is unsettled, the ops stays
 * registered; pp_sites_linger_retry() calls this again when it has settled the last one.
 */
void pp_ftrace_stop(void)
{
	lockdep_assert_held(&pp_mutex);
	if (registered && pp_sites_all_settled())
		pp_ftrace_unregister_ops();
}
