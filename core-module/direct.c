// SPDX-License-Identifier: GPL-2.0-only
/*
 * The direct mode: ftrace's site calls a stub of ours and nothing in between, so that a
 * call of a switched function costs three instructions more, and tracers of the function
 * go on working: then ftrace calls its own code, and that the handler of ftrace.c.
 *
 * A stub has two instructions, each in a word of its own:
 *
 *	drop			the return address into the old function
 *	jump			to the new function; or, to let calls through, back into the old
 *				one, behind its site
 *
 * The jump alone is switched, by one store, or live as an entry is: both of what it may be
 * are jumps, which the breakpoint's handler can make in its stead.
 *
 * Stubs lie in the text of the patch module (one for each of its functions), with unwind
 * data, so that every stack that they are on can be walked.  A task that is in front of the
 * jump is in neither function yet, as one that is about to call: it goes where the jump leads
 * by then, and is in the text of the module, which has to be empty before the module goes.
 *
 * ftrace has a site call an ops' own trampoline directly as long as that ops is the only
 * one there; so each site has an ops, with the stub for its trampoline.  The interface
 * that is made for direct calls (register_ftrace_direct()) does the same to the site, but
 * to take N addresses back from it waits for N grace periods of RCU-tasks, one after the
 * other: it waits under its own mutex, and of the variant that takes many sites at once
 * each ops has one address.
 */
#include <linux/delay.h>
#include <linux/ftrace.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <pokepatch_format.h>

#include "arch/pp_arch.h"
#include "core_print.h"
#include "debug.h"
#include "direct.h"
#include "ftrace.h"
#include "kernel_symbols.h"
#include "module.h"
#include "pp_patch.h"
#include "record.h"
#include "site.h"
#include "text.h"
#include "watch.h"

/*
 * Calls of a function that has several tracers look at every ops that there is; so only
 * this many of a patch's functions get one without being asked.
 */
#define AUTO_MAX 8

/* How often a BPF program that is just being attached or detached is asked to share. */
#define TRIES 100

static unsigned long direct_stub_of(const struct pp_func *func)
{
	const struct pp_patch *patch = func->patch;

	if (!pp_arch.stub.size || !patch->image->nr_stubs)
		return 0;
	return patch->image->stubs + (func - patch->funcs) * pp_arch.stub.size;
}

static int direct_report_probe(const struct pp_site *site)
{
	pr_err("calls of %ps cannot be switched: there is a probe in the stub that they go by\n",
	       (void *)site->ip);
	return -EBUSY;
}

/*
 * A stub can be probed like any text of a module.  A write would take away the probe's
 * breakpoint, or be taken back by kprobes later.  A probe is in the table before its
 * breakpoint is written: one that this does not see yet, and whose breakpoint is not among
 * the bytes that were read before, shows when these are compared with those that are replaced.
 */
static bool direct_is_probed(const struct pp_poke *poke)
{
	bool found = false;
	unsigned int i;

	preempt_disable();
	/* Not only at its start: what stands there now may be several instructions. */
	for (i = 0; i < poke->size && !found && !pp_debug_skip_probed; i++)
		found = pp_kernel.get_kprobe((void *)(poke->at + i));
	preempt_enable();
	return found;
}

/* What the jump of @site's stub is to be, that lies at @jump, for calls to go to @target. */
static int direct_jump_insn(const struct pp_site *site, unsigned long jump, unsigned long target,
			    u8 *insn)
{
	return pp_arch.entry.insn(jump, target ?: site->ip + pp_arch.entry.size, insn);
}

static int direct_pokes(const struct pp_site *site, unsigned long target, struct pp_poke *poke)
{
	/* Its patch leaves, or comes, below another one. */
	if (site->target == target)
		return 0;
	poke->at = site->stub + pp_arch.stub.jump;
	poke->size = pp_arch.entry.size;
	if (direct_jump_insn(site, poke->at, site->target, poke->old) ||
	    direct_jump_insn(site, poke->at, target, poke->new))
		return -ERANGE;
	return direct_is_probed(poke) ? direct_report_probe(site) : 1;
}

/*
 * @site is about to call the stub at @stub, which nobody does yet, and which is as the loader
 * left it, or as its last site did: it shall go where the calls of @site go.
 */
static int direct_write_stub(struct pp_site *site, const struct pp_func *func, unsigned long stub)
{
	struct pp_poke pokes[] = {
		{ .at = stub, .size = pp_arch.stub.jump, .func = func },
		{ .at = stub + pp_arch.stub.jump, .size = pp_arch.entry.size, .func = func },
	};
	struct pp_text text = { .poke = pokes, .nr = ARRAY_SIZE(pokes) };
	u8 later[PP_TEXT_WORD_MAX];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pokes); i++) {
		memcpy(pokes[i].old, (void *)pokes[i].at, pokes[i].size);
		if (direct_is_probed(&pokes[i]))
			return -EBUSY;
	}
	memcpy(pokes[0].new, pp_arch.stub.drop, pp_arch.stub.jump);
	if (direct_jump_insn(site, pokes[1].at, site->target, pokes[1].new) ||
	    direct_jump_insn(site, pokes[1].at, func->desc->new_addr, later))
		return -ERANGE;
	site->stub = stub;
	site->stub_owner = func->patch;
	return pp_text_write_unused(&text, func->patch);
}

static void direct_free_ops(struct ftrace_ops *ops)
{
	if (!ops)
		return;
	ftrace_free_filter(ops);
	kfree(ops);
}

/* ftrace is dead, and @site may call its stub for ever: not even `rmmod -f` may end that. */
static void direct_hold_for_good(struct pp_site *site)
{
	pr_err("%s: its module stays loaded: ftrace does not let go of %ps; is it dead?\n",
	       site->stub_owner->name, (void *)site->ip);
	__module_get(site->stub_owner->mod);
	site->stub_owner->stuck = true;
}

/* Have @site call its stub. */
static int direct_register(struct pp_site *site)
{
	struct ftrace_ops *ops = kzalloc(sizeof(*ops), GFP_KERNEL);
	struct pp_record_sites sites;
	unsigned int tries = 0;
	int ret;

	if (!ops)
		return -ENOMEM;
	ops->func = pp_ftrace_handler;
	ops->flags = PP_FTRACE_FLAGS;
	ops->trampoline = site->stub;
	ret = ftrace_set_filter_ip(ops, site->ip, 0, 0);
	if (ret) {
		direct_free_ops(ops);
		return ret;
	}
	pp_record_sites_before(&sites, &site->ip, 1);
	while ((ret = register_ftrace_function(ops)) == -EAGAIN && ++tries < TRIES)
		usleep_range(1000, 2000);
	pp_record_sites_after(&sites);
	if (!ret) {
		site->ops = ops;
		return 0;
	}
	/*
	 * It was alive when it took the filter, so it died since, at this site perhaps, which
	 * may have been written or not.  What it keeps of the ops nobody can say either.
	 */
	if (ret == -ENODEV) {
		direct_hold_for_good(site);
		return ret;
	}
	/* It may have been in ftrace's list for a moment. */
	synchronize_rcu_tasks_rude();
	direct_free_ops(ops);
	return ret;
}

/*
 * ftrace waits for a grace period whenever an ops goes that is dynamic, which is what it
 * takes all for that lie in a module, so that the ops may be freed.  The callers here wait
 * once for many.  Nobody else writes the flags of an ops than who registers it.
 */
static int direct_unregister(struct ftrace_ops *ops, unsigned long ip)
{
	struct pp_record_sites sites;
	int ret;

	ops->flags &= ~FTRACE_OPS_FL_DYNAMIC;
	pp_record_sites_before(&sites, &ip, 1);
	ret = pp_ftrace_unregister(ops);
	pp_record_sites_after(&sites);
	return ret;
}

/* Why not?  NULL: it is hooked now. */
static const char *direct_hook_one(struct pp_func *func)
{
	const unsigned long stub = direct_stub_of(func);
	struct pp_site *site = func->site;
	int ret;

	if (!pp_arch.stub.size)
		return "this kernel does not allow it";
	if (!stub)
		return "the patch was built without stubs";
	if (site->lingers)
		return "its entry could not be given back to ftrace yet";
	ret = direct_write_stub(site, func, stub);
	if (ret == -ERANGE)
		return "the new function is too far away";
	if (ret == -EBUSY)
		return "there is a probe in its stub";
	if (!ret) {
		pp_record_stub_born(site);
		ret = direct_register(site);
		if (ret)
			pp_record_stub_dies(site);
	}
	if (ret) {
		site->stub = 0;
		site->stub_owner = NULL;
	}
	if (ret == -EBUSY || ret == -EAGAIN)
		return "another live patch or a probe redirects it, a BPF program does not share it, or ftrace is off";
	if (ret)
		return "ftrace does not take it";
	site->mode = &pp_direct_mode;
	return NULL;
}

static int direct_hook(struct pp_func **funcs, unsigned int nr)
{
	unsigned int i, unasked = 0;

	for (i = 0; i < nr; i++) {
		bool asked = funcs[i]->want == POKEPATCH_MODE_DIRECT;
		const char *why;

		if (!asked && ++unasked > AUTO_MAX)
			continue;
		why = direct_hook_one(funcs[i]);
		if (!why || !asked)
			continue;
		pr_err("%s: %s cannot be switched in direct mode: %s\n", funcs[i]->patch->name,
		       funcs[i]->name, why);
		return -EBUSY;
	}
	return 0;
}

/* Nobody is, or comes, by its stub, or its owner is held in another way. */
static void direct_put_held_module(struct pp_site *site)
{
	if (!site->stub_held)
		return;
	module_put(site->stub_held->mod);
	site->stub_held = NULL;
}

/*
 * Waits until nobody is in a stub that goes, or in ftrace's code with one of the ops: once
 * for tasks, wherever they were preempted, and once for idle ones and those under way in
 * the list of ops, which is walked with preemption off where RCU may not be watching.
 */
static void direct_unhook(struct pp_site **sites, unsigned int nr, bool going)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct pp_site *site = sites[i];

		if (!direct_unregister(site->ops, site->ip))
			continue;
		/* ftrace holds on to it, and the site may go on calling the stub. */
		site->ops = NULL;
		if (!going)
			direct_hold_for_good(site);
	}
	synchronize_rcu_tasks();
	synchronize_rcu_tasks_rude();
	for (i = 0; i < nr; i++) {
		struct pp_site *site = sites[i];

		direct_free_ops(site->ops);
		pp_record_stub_dies(site);
		direct_put_held_module(site);
		site->ops = NULL;
		site->mode = NULL;
		site->stub = 0;
		site->stub_owner = NULL;
	}
}

/* Another patch's function on @site, which is hooked: of the newest, who may replace the rest. */
static struct pp_func *direct_other_user(const struct pp_site *site, const struct pp_func *func)
{
	struct pp_func *other;

	list_for_each_entry(other, &site->hooked, hook)
		if (other != func)
			return other;
	return NULL;
}

/* A second ops for a site, that does nothing. */
struct second_ops {
	struct ftrace_ops ops;
	struct list_head node;
};

/* Some that have gone, which somebody may still be at. */
static LIST_HEAD(second_ops_list);

static void notrace direct_second_handler(unsigned long ip, unsigned long parent_ip,
					  struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

/*
 * Have @site call @stub from now on.  While a second ops is there, the site calls ftrace's
 * own code, which has the handler decide, and nobody looks at the trampoline; when it goes,
 * ftrace writes the site anew.
 */
static int direct_change_stub(struct pp_site *site, unsigned long stub)
{
	struct second_ops *second = kzalloc(sizeof(*second), GFP_KERNEL);
	struct pp_record_sites sites;
	int ret;

	if (!second)
		return -ENOMEM;
	list_add(&second->node, &second_ops_list);
	second->ops.func = direct_second_handler;
	/* Never called, but else ftrace would make one. */
	second->ops.trampoline = stub;
	ret = ftrace_set_filter_ip(&second->ops, site->ip, 0, 0);
	if (ret)
		return ret;
	pp_record_sites_before(&sites, &site->ip, 1);
	ret = register_ftrace_function(&second->ops);
	pp_record_sites_after(&sites);
	/* As in direct_register(). */
	if (ret == -ENODEV)
		list_del(&second->node);
	if (ret)
		return ret;
	WRITE_ONCE(site->ops->trampoline, stub);
	ret = direct_unregister(&second->ops, site->ip);
	if (ret) {
		pr_err_once("ftrace does not let go of the core, which stays loaded; is it dead?\n");
		__module_get(THIS_MODULE);
		list_del(&second->node);
	}
	return ret;
}

/* All tasks have passed a grace period since functions left their sites. */
void pp_direct_free_second_ops(void)
{
	struct second_ops *second, *next;

	list_for_each_entry_safe(second, next, &second_ops_list, node) {
		list_del(&second->node);
		ftrace_free_filter(&second->ops);
		kfree(second);
	}
}

/* Have the site call the stub of @heir, which then does what the one that it calls now does. */
static int direct_hand_over(struct pp_site *site, struct pp_func *heir)
{
	struct pp_site other = {
		.ip = site->ip,
		.mode = &pp_direct_mode,
		.target = site->target,
	};
	const unsigned long stub = direct_stub_of(heir);
	int ret;

	if (!stub)
		return -EOPNOTSUPP;
	ret = direct_write_stub(&other, heir, stub);
	if (ret)
		return ret;
	pp_record_stub_born(&other);
	ret = direct_change_stub(site, stub);
	if (ret) {
		pp_record_stub_dies(&other);
		return ret;
	}
	pp_record_stub_dies(site);
	site->stub = stub;
	site->stub_owner = heir->patch;
	site->stub_born = other.stub_born;
	return 0;
}

/*
 * @func's patch leaves a site that others stay on: its stub must not be needed any more.
 * Nobody who came by it may be in it when its module goes: the caller waits.
 */
static bool direct_leave(struct pp_func *func)
{
	struct pp_site *site = func->site;
	struct pp_func *heir;

	if (site->stub != direct_stub_of(func))
		return false;
	/* From an earlier time; until the end of this transition the patch holds it. */
	direct_put_held_module(site);
	heir = direct_other_user(site, func);
	if (WARN_ON(!heir) || direct_hand_over(site, heir)) {
		pr_notice("%s: its module stays loaded as long as calls of %s go by its code: ftrace does not take another way now\n",
			  func->patch->name, func->name);
		__module_get(func->patch->mod);
		site->stub_held = func->patch;
		pp_watch_later();
	}
	return true;
}

/* Each function whose site calls, or called, a stub that is held; a site may come twice. */
#define for_each_held(patch, i)                                        \
	list_for_each_entry(patch, &pp_patches, list)                  \
		for (i = 0; i < (patch)->nr_funcs; i++)                \
			if ((patch)->funcs[i].hooked && (patch)->funcs[i].site->stub_held)

/* Its stub is in a patch that left, and that nothing but stub_held holds. */
static bool direct_calls_held(const struct pp_site *site)
{
	return site->stub_owner == site->stub_held &&
	       direct_stub_of(direct_other_user(site, NULL)) != site->stub;
}

/* All are handed over before the one wait for those who are in the old stubs. */
bool pp_direct_retry(void)
{
	struct pp_patch *patch;
	bool wait = false, again = false;
	unsigned int i;

	lockdep_assert_held(&pp_mutex);
	for_each_held(patch, i) {
		struct pp_site *site = patch->funcs[i].site;

		if (direct_calls_held(site) &&
		    !direct_hand_over(site, direct_other_user(site, NULL)))
			wait = true;
	}
	/* One that failed may have left something, too. */
	if (wait || !list_empty(&second_ops_list)) {
		synchronize_rcu_tasks();
		synchronize_rcu_tasks_rude();
		pp_direct_free_second_ops();
	}
	for_each_held(patch, i) {
		struct pp_site *site = patch->funcs[i].site;

		if (direct_calls_held(site))
			again = true;
		else
			direct_put_held_module(site);
	}
	return again;
}

bool pp_direct_holds(const struct pp_patch *patch)
{
	const struct pp_patch *other;
	unsigned int i;
	bool holds;

	mutex_lock(&pp_mutex);
	pp_direct_retry();
	holds = patch->stuck;
	for_each_held(other, i)
		holds |= other->funcs[i].site->stub_held == patch;
	mutex_unlock(&pp_mutex);
	return holds;
}

const struct pp_mode pp_direct_mode = {
	.name = "direct",
	.hook = direct_hook,
	.unhook = direct_unhook,
	.leave = direct_leave,
	.pokes = direct_pokes,
};
