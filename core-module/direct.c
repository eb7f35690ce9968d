// SPDX-License-Identifier: GPL-2.0-only
/*
 * The direct mode: ftrace's site calls a stub of ours and nothing in between, so that a
 * call of a switched function costs three instructions more, and tracers of the function
 * go on working: ftrace itself calls the stub, when it has others to call as well.
 *
 * A stub has two instructions, each in a word of its own:
 *
 *	through or pass		drop the return address into the old function; or return
 *	jump			to the new function
 *
 * The jump is written before anybody calls the stub. Then the first instruction alone is
 * switched, on or off; from one new function to another, the jump alone.
 *
 * Stubs lie in the text of the patch module (one for each of its functions), with unwind
 * data, so that every stack that they are on can be walked.  A task in a stub that passes
 * has the old function on its stack; one behind the first instruction is at the entry of
 * whatever the jump leads to, and in the text of the module, which has to be empty before
 * the module goes.
 */
#include <linux/ftrace.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "core.h"

#ifdef CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS

/*
 * Each stub that is taken from ftrace costs a grace period of RCU-tasks, a tenth of a
 * second and more; so only this many of a patch's functions get one without being asked.
 */
#define AUTO_MAX 8

static unsigned long stub_of(const struct pp_func *func)
{
	const struct pp_patch *patch = func->patch;

	if (!pp_arch.stub_size || !patch->image->nr_stubs)
		return 0;
	return patch->image->stubs + (func - patch->funcs) * pp_arch.stub_size;
}

static int direct_pokes(const struct pp_site *site, unsigned long target, struct pp_poke *poke)
{
	const unsigned long jump = site->stub + pp_arch.stub_jump;
	const u8 *pass = site->stub_owner->stub_pass, *through = pp_arch.stub_through;
	int nr = 0;

	if (target) {
		poke[nr].at = jump;
		poke[nr].size = pp_arch.entry_size;
		/* What it was left with is no matter: only this file writes it. */
		memcpy(poke[nr].old, (void *)jump, pp_arch.entry_size);
		if (pp_arch.entry_insn(jump, target, poke[nr].new))
			return -ERANGE;
		nr += !!memcmp(poke[nr].old, poke[nr].new, pp_arch.entry_size);
	}
	if (!target != !site->target) {
		poke[nr].at = site->stub;
		poke[nr].size = pp_arch.stub_jump;
		memcpy(poke[nr].old, target ? pass : through, pp_arch.stub_jump);
		memcpy(poke[nr].new, target ? through : pass, pp_arch.stub_jump);
		nr++;
	}
	return nr;
}

/*
 * The site is about to call the stub at @stub, which nobody does yet: it must pass, and
 * may have been left otherwise when its last site went with its module. The jump is
 * written here too, so that switching on is one store: an NMI may come between two.
 */
static int take_stub(struct pp_site *site, const struct pp_func *func, unsigned long stub)
{
	struct pp_poke pokes[] = {
		{ .at = stub, .size = pp_arch.stub_jump },
		{ .at = stub + pp_arch.stub_jump, .size = pp_arch.entry_size },
	};
	struct pp_text text = { .poke = pokes, .nr = ARRAY_SIZE(pokes) };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pokes); i++)
		memcpy(pokes[i].old, (void *)pokes[i].at, pokes[i].size);
	memcpy(pokes[0].new, func->patch->stub_pass, pp_arch.stub_jump);
	if (pp_arch.entry_insn(pokes[1].at, func->desc->new_addr, pokes[1].new))
		return -ERANGE;
	site->stub = stub;
	site->stub_owner = func->patch;
	return pp_text_write_unused(&text, func->patch);
}

/* Why not?  NULL: it is hooked now. */
static const char *hook_one(struct pp_func *func)
{
	const unsigned long stub = stub_of(func);
	struct pp_site *site = func->site;
	int ret;

	if (!stub)
		return "the patch was built without stubs";
	if (site->lingers)
		return "its entry could not be given back to ftrace yet";
	ret = take_stub(site, func, stub);
	if (ret == -ERANGE)
		return "the new function is too far away";
	ret = ret ?: register_ftrace_direct(site->ip, stub);
	if (ret) {
		site->stub = 0;
		site->stub_owner = NULL;
	}
	if (ret == -EBUSY)
		return "a BPF program or another live patch uses its entry, or ftrace is off";
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
		why = hook_one(funcs[i]);
		if (!why || !asked)
			continue;
		pr_err("%s: %s cannot be switched in direct mode: %s\n", funcs[i]->patch->name,
		       funcs[i]->name, why);
		return -EBUSY;
	}
	return 0;
}

/* Waits until nobody is in a stub that goes. */
static void direct_unhook(struct pp_site **sites, unsigned int nr, bool going)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct pp_site *site = sites[i];

		if (unregister_ftrace_direct(site->ip, site->stub) && !going) {
			/* The site may go on calling it. */
			pr_err("%s: its module stays loaded: ftrace does not let go of %ps; is it dead?\n",
			       site->stub_owner->name, (void *)site->ip);
			__module_get(site->stub_owner->mod);
		}
		site->mode = NULL;
		site->stub = 0;
		site->stub_owner = NULL;
	}
	/* ftrace has waited for all tasks but the idle ones. */
	synchronize_rcu_tasks_rude();
}

/* Another patch's function on @site, which is hooked: of the newest, who may replace the rest. */
static struct pp_func *other_user(const struct pp_site *site, const struct pp_func *func)
{
	struct pp_patch *patch;
	unsigned int i;

	list_for_each_entry_reverse(patch, &pp_patches, list)
		for (i = 0; i < patch->nr_funcs; i++)
			if (patch->funcs[i].site == site && patch->funcs[i].hooked &&
			    &patch->funcs[i] != func)
				return &patch->funcs[i];
	return NULL;
}

/* Have the site call the stub of @heir, which then does what the one that it calls now does. */
static int hand_over(struct pp_site *site, struct pp_func *heir)
{
	struct pp_site other = { .ip = site->ip, .mode = &pp_direct_mode };
	struct pp_poke pokes[PP_POKES_MAX];
	struct pp_text text = { .poke = pokes };
	const unsigned long stub = stub_of(heir);
	int ret;

	if (!stub)
		return -EOPNOTSUPP;
	ret = take_stub(&other, heir, stub) ?: pp_site_pokes(&text, &other, site->target) ?:
	      pp_text_write_unused(&text, heir->patch) ?:
	      modify_ftrace_direct(site->ip, site->stub, stub);
	if (ret)
		return ret;
	site->stub = stub;
	site->stub_owner = other.stub_owner;
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

	if (site->stub != stub_of(func))
		return false;
	heir = other_user(site, func);
	if (!WARN_ON(!heir) && !hand_over(site, heir))
		return true;
	pr_warn("%s: its module stays loaded: calls of %s go by its code, and ftrace does not take another way\n",
		func->patch->name, func->name);
	__module_get(func->patch->mod);
	return false;
}

const struct pp_mode pp_direct_mode = {
	.name = "direct",
	.hook = direct_hook,
	.unhook = direct_unhook,
	.leave = direct_leave,
	.pokes = direct_pokes,
};

#else

static int direct_hook(struct pp_func **funcs, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		if (funcs[i]->want != POKEPATCH_MODE_DIRECT)
			continue;
		pr_err("%s: %s cannot be switched in direct mode: this kernel has no CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS\n",
		       funcs[i]->patch->name, funcs[i]->name);
		return -EBUSY;
	}
	return 0;
}

const struct pp_mode pp_direct_mode = {
	.name = "direct",
	.hook = direct_hook,
};

#endif
