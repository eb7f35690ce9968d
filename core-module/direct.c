// SPDX-License-Identifier: GPL-2.0-only
/*
 * The direct mode: ftrace's site calls a stub of the patch module, with nothing in between.  So a
 * call of a switched function costs three instructions more, and tracers of the function keep
 * working: with a tracer, the site calls ftrace's code, and that calls the handler in ftrace.c.
 *
 * A stub has two instructions, each in a word of its own:
 *
 *	drop			the return address into the old function
 *	jump			to the new function; or, to let calls through, back into the old
 *				one, behind its site
 *
 * A switch writes only the jump, as it writes an entry.  Before and after, the instruction is a
 * jump, which the breakpoint handler can emulate.
 *
 * Stubs lie in the text of the patch module, one for each of its functions, with unwind data, so
 * every stack that they are on can be walked.  A task in front of the jump is in neither function
 * yet, like a task that is about to call: it goes where the jump leads by then.  It is in the text
 * of the module, which must be empty before the module goes.
 *
 * ftrace makes a site call the trampoline of an ops directly as long as that ops is the only one at
 * the site.  So each site has an ops, with the stub as its trampoline.  ftrace's interface for
 * direct calls (register_ftrace_direct()) has the same effect on the site.  But to take N addresses
 * back, it waits for N grace periods of RCU-tasks, one after the other, because it waits under its
 * own mutex.  Its variant for many sites has one address for each ops.
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
#include "claim.h"
#include "core_print.h"
#include "debug.h"
#include "direct.h"
#include "ftrace.h"
#include "kernel_symbols.h"
#include "module.h"
#include "pp_patch.h"
#include "record.h"
#include "rude.h"
#include "site.h"
#include "text.h"
#include "watch.h"

/*
 * Each call of a function with several tracers looks at every registered ops.  So at most this many
 * functions of a patch get one if the mode is `auto`.
 */
#define AUTO_MAX 8

/* How often to ask a BPF program that is just being attached or detached to share the site. */
#define TRIES 100

/* The address of the stub of @func, or 0. */
static unsigned long direct_stub_of(const struct pp_func *func)
{
	const struct pp_patch *patch = func->patch;

	if (!pp_arch.stub.size || !patch->image->nr_stubs)
		return 0;
	return patch->image->stubs + (func - patch->funcs) * pp_arch.stub.size;
}

static int direct_report_probe(const struct pp_site *site)
{
	pr_err("calls of %ps cannot be switched: there is a probe in the stub that its entry calls; remove the probe and try again\n",
	       (void *)site->ip);
	return -EBUSY;
}

/*
 * Is there a probe in the bytes of @poke?
 *
 * A stub can be probed like any text of a module.  A write would remove the probe's breakpoint, or
 * kprobes would undo the write later.  This look is for a message that names the function.  A probe
 * that comes after it is found before the write, when none can come any more: see
 * pp_claim_write_begin().
 */
static bool direct_is_probed(const struct pp_poke *poke)
{
	return !pp_debug_skip_probed && pp_claim_is_probed(poke->at, poke->size);
}

/*
 * Make the instruction for the jump, at @jump, of the stub of @site that leads to @target (0: to
 * the old function, behind its site).  Return: 0, or an error if it does not reach.
 */
static int direct_jump_insn(const struct pp_site *site, unsigned long jump, unsigned long target,
			    u8 *insn)
{
	return pp_arch.entry.insn(jump, target ?: site->ip + pp_arch.entry.size, insn);
}

static int direct_pokes(const struct pp_site *site, unsigned long target, struct pp_poke *poke)
{
	/* The patch is switched below another one on the stack, which keeps the calls. */
	if (site->target == target)
		return 0;
	poke->at = site->stub + pp_arch.stub.jump;
	poke->size = poke->unprobed = pp_arch.entry.size;
	if (direct_jump_insn(site, poke->at, site->target, poke->old) ||
	    direct_jump_insn(site, poke->at, target, poke->new))
		return -ERANGE;
	return direct_is_probed(poke) ? direct_report_probe(site) : 1;
}

/*
 * Write the stub of @func at @stub, which @site will call, so that it leads where the calls of
 * @site go now.  No site calls the stub yet.  It holds what the loader, or its last use, left
 * there.
 * Return: 0, -ERANGE if a jump does not reach, -EBUSY if a probe is in the stub, -ENOMEM, -EIO.
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
		pokes[i].unprobed = pokes[i].size;
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

/*
 * ftrace has shut itself down, and @site may call its stub for ever.  So the module with the stub
 * must stay, even after `rmmod -f`.
 */
static void direct_hold_for_good(struct pp_site *site)
{
	pr_err("%s: its module stays loaded: ftrace failed, and the entry of %ps may keep calling its stub; has ftrace shut itself down?\n",
	       site->stub_owner->name, (void *)site->ip);
	__module_get(site->stub_owner->mod);
	site->stub_owner->stuck = true;
}

/* Register an ops that makes @site call its stub.  Return: 0 or an error. */
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
	 * ftrace accepted the filter, so it has shut itself down since, perhaps at this site, which
	 * it may have written or not.  It may also still use the ops, so do not free that.
	 */
	if (ret == -ENODEV) {
		direct_hold_for_good(site);
		return ret;
	}
	/* The ops may have been in ftrace's list for a moment. */
	pp_synchronize_rude();
	direct_free_ops(ops);
	return ret;
}

/*
 * ftrace waits for a grace period whenever a dynamic ops is unregistered, so that the ops may be
 * freed.  It marks every ops in a module as dynamic.  Callers of this function wait once for many
 * ops, so take the mark away.  Apart from ftrace itself, only the owner of an ops writes its flags.
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

/* Hook @func's site.  Return: NULL, or the reason why it cannot be in direct mode. */
static const char *direct_hook_one(struct pp_func *func)
{
	const unsigned long stub = direct_stub_of(func);
	struct pp_site *site = func->site;
	int ret;

	if (!pp_arch.stub.size)
		return "this kernel does not allow it";
	if (pp_text_missing())
		return pp_text_missing();
	if (!stub)
		return "the patch was built without stubs";
	if (site->lingers)
		return "the core could not release its entry to ftrace yet";
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
	pp_site_set_mode(site, &pp_direct_mode);
	return NULL;
}

static int direct_hook(struct pp_func **funcs, unsigned int nr)
{
	unsigned int i, unasked = 0;

	for (i = 0; i < nr; i++) {
		bool asked = pp_func_want(funcs[i]) == POKEPATCH_MODE_DIRECT;
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

/*
 * Drop the reference to the module whose stub @site called.  No task is in that stub or can come to
 * it any more, or another reference holds the module.
 */
static void direct_put_held_module(struct pp_site *site)
{
	if (!site->stub_held)
		return;
	module_put(site->stub_held->mod);
	site->stub_held = NULL;
}

/*
 * Before it frees an ops, this waits until no task is in its stub, or in ftrace's code with the
 * ops: once for tasks, wherever they were preempted, and once for idle tasks and for CPUs that walk
 * the list of ops, which ftrace does with preemption off where RCU may not be watching.
 */
static void direct_unhook(struct pp_site **sites, unsigned int nr, bool going)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct pp_site *site = sites[i];

		if (!direct_unregister(site->ops, site->ip))
			continue;
		/*
		 * ftrace may still use the ops, so do not free it, and the site may call the stub.
		 */
		site->ops = NULL;
		if (!going)
			direct_hold_for_good(site);
	}
	synchronize_rcu_tasks();
	pp_synchronize_rude();
	for (i = 0; i < nr; i++) {
		struct pp_site *site = sites[i];

		direct_free_ops(site->ops);
		pp_record_stub_dies(site);
		direct_put_held_module(site);
		site->ops = NULL;
		pp_site_set_mode(site, NULL);
		site->stub = 0;
		site->stub_owner = NULL;
	}
}

/*
 * The hooked function on @site, other than @func, of the newest patch, or NULL.  The newest,
 * because that patch may be about to replace the others.
 */
static struct pp_func *direct_other_user(const struct pp_site *site, const struct pp_func *func)
{
	struct pp_func *other;

	list_for_each_entry(other, &site->hooked, hook)
		if (other != func)
			return other;
	return NULL;
}

/* A second ops for a site, whose handler does nothing. */
struct second_ops {
	struct ftrace_ops ops;
	struct list_head node;
};

/*
 * All of them, from before they are registered.  An unregistered one stays here until no CPU can
 * still use it.
 */
static LIST_HEAD(second_ops_list);

static void notrace direct_second_handler(unsigned long ip, unsigned long parent_ip,
					  struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
}

/*
 * Make @site call the stub of @heir from now on.  While a second ops is registered, the site calls
 * ftrace's own code, which leaves the decision to the handler, and the trampoline is not used.  So
 * it can be changed then.  When the second ops is unregistered, ftrace writes the site anew.
 */
static int direct_change_stub(struct pp_site *site, struct pp_func *heir)
{
	const unsigned long stub = direct_stub_of(heir);
	struct second_ops *second = kzalloc(sizeof(*second), GFP_KERNEL);
	struct pp_record_sites sites;
	int ret;

	if (!second)
		return -ENOMEM;
	list_add(&second->node, &second_ops_list);
	second->ops.func = direct_second_handler;
	/* Not used.  But without a trampoline, ftrace would make one. */
	second->ops.trampoline = stub;
	ret = ftrace_set_filter_ip(&second->ops, site->ip, 0, 0);
	if (ret)
		return ret;
	pp_record_sites_before(&sites, &site->ip, 1);
	ret = register_ftrace_function(&second->ops);
	pp_record_sites_after(&sites);
	/* ftrace has shut itself down and may still use the ops, so never free it. */
	if (ret == -ENODEV)
		list_del(&second->node);
	if (ret)
		return ret;
	WRITE_ONCE(site->ops->trampoline, stub);
	ret = direct_unregister(&second->ops, site->ip);
	if (ret) {
		pr_err_once("the core stays loaded: ftrace failed to unregister its ops; has ftrace shut itself down?\n");
		__module_get(THIS_MODULE);
		list_del(&second->node);
		/* The site may call this stub or the old one, whose module direct_leave() holds. */
		__module_get(heir->patch->mod);
		heir->patch->stuck = true;
	}
	return ret;
}

void pp_direct_free_second_ops(void)
{
	struct second_ops *second, *next;

	list_for_each_entry_safe(second, next, &second_ops_list, node) {
		list_del(&second->node);
		ftrace_free_filter(&second->ops);
		kfree(second);
	}
}

/*
 * Make @site call the stub of @heir, which then leads where the stub leads that it calls now.
 * Return: 0 or an error.  On success the caller waits before the old stub's module may go.
 */
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
	/* An attempt failed with ftrace, and the site may call the stub that would be written. */
	if (heir->patch->stuck)
		return -ENODEV;
	ret = direct_write_stub(&other, heir, stub);
	if (ret)
		return ret;
	pp_record_stub_born(&other);
	ret = direct_change_stub(site, heir);
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
 * @func is unhooked from a site that other patches still use, so calls must no longer need its
 * stub.  If the site calls it, hand over to another patch's stub.  Return: true if the caller must
 * wait, since a task may be in the old stub, before the module may go.
 */
static bool direct_leave(struct pp_func *func)
{
	struct pp_site *site = func->site;
	struct pp_func *heir;

	if (site->stub != direct_stub_of(func))
		return false;
	/*
	 * Drop a reference from an earlier hand-over that failed.  Until the end of this transition
	 * the patch itself holds its module.
	 */
	direct_put_held_module(site);
	heir = direct_other_user(site, func);
	if (WARN_ON(!heir) || direct_hand_over(site, heir)) {
		pr_notice("%s: its module stays loaded as long as calls of %s use its stub: ftrace does not switch them to another stub now; the core tries again every second\n",
			  func->patch->name, func->name);
		__module_get(func->patch->mod);
		site->stub_held = func->patch;
		pp_watch_later();
	}
	return true;
}

/* Each hooked function whose site has a stub_held.  A site may come more than once. */
#define for_each_held(patch, i)                                        \
	list_for_each_entry(patch, &pp_patches, list)                  \
		for (i = 0; i < (patch)->nr_funcs; i++)                \
			if ((patch)->funcs[i].hooked && (patch)->funcs[i].site->stub_held)

/*
 * Does @site still call the stub of the patch in stub_held?  If that patch is hooked there again,
 * it holds its module itself.
 */
static bool direct_calls_held(const struct pp_site *site)
{
	return site->stub_owner == site->stub_held &&
	       direct_stub_of(direct_other_user(site, NULL)) != site->stub;
}

/* Hand over all stubs first, then wait once for tasks that are in the old ones. */
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
	/* A hand-over that failed may have left a second ops, too. */
	if (wait || !list_empty(&second_ops_list)) {
		synchronize_rcu_tasks();
		pp_synchronize_rude();
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
