// SPDX-License-Identifier: GPL-2.0-only
/*
 * The layout of a transition, made before each attempt: where the calls of each site will go,
 * what is written for that, and, if the machine is to be stopped, in which code no task may be.
 */
#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/slab.h>

#include "arch/pp_arch.h"
#include "core_print.h"
#include "debug.h"
#include "entry.h"
#include "layout.h"
#include "module.h"
#include "pp_patch.h"
#include "site.h"
#include "stack.h"
#include "text.h"
#include "transition_state.h"
#include "veneer.h"

/* Of a new function: its text, its .cold part, its veneers. */
#define RANGES_OF_NEW (2 + PP_VENEERS_OF_FUNC)
/*
 * Of a function: its entry, the old text, the old .cold part; the new function's ranges; those
 * of the patch on top.
 */
#define RANGES_PER_FUNC (3 + 2 * RANGES_OF_NEW)

/*
 * Add the code [@start, @start + @size). The address behind its end counts as part of it if a
 * call stands in front of that address: the call returns to it. Otherwise it may be the first
 * address of the next function, to which a word on a stack may point.
 */
static void layout_add_busy(struct pp_busy *busy, const struct pp_func *func, unsigned long start,
			    unsigned long size)
{
	unsigned long end = start + size;

	if (!start || !size)
		return;
	if (pp_arch.stack.returns_to && !pp_arch.stack.returns_to(end))
		end--;
	busy->range[busy->nr++] = (struct pp_range){ start, end, func };
}

/*
 * Where each word of a stack counts, the address of the first instruction itself is left out,
 * because it is found as a mere pointer; a task that was interrupted there is found by
 * pp_stack_saved_pc().
 */
static void layout_add_new(struct pp_busy *busy, const struct pp_func *func)
{
	const unsigned int pointers = pp_arch.entry.prepared ? 1 : 0;

	layout_add_busy(busy, func, func->desc->new_addr + pointers,
			func->desc->new_size - pointers);
	if (!pp_debug_skip_cold)
		layout_add_busy(busy, func, func->desc->new_cold_addr, func->desc->new_cold_size);
	pp_veneers_add_busy(busy, func);
}

/*
 * @func is carried: add the newest enabled copy of its function. An enabled function may have
 * jumped to that copy, so that the copy alone is on a stack. (The copies of patches that are
 * switched off are within the text of their modules, which is added as a whole.)
 */
static void layout_add_carried(struct pp_busy *busy, const struct pp_func *func)
{
	const struct pp_func *other;

	list_for_each_entry(other, pp_func_active(func), on) {
		if (other->patch->leaving || other->patch == func->patch ||
		    other->old_addr != func->old_addr)
			continue;
		layout_add_new(busy, other);
		return;
	}
}

/*
 * Add the entry of @func if it is several words. A task that was interrupted inside it may have
 * loaded another address than the one to which the jump will lead when the task continues
 * (entry.c). A task in front of the first word is not busy: its call has not begun, and goes
 * where the entry leads by then. So the function's address itself is left out. It is in many
 * registers and stacks as a pointer to call, and where each word of a stack counts as code,
 * such words would block a switch for long.
 * Return: where the rest of the function begins.
 */
static unsigned long layout_add_entry(struct pp_busy *busy, const struct pp_func *func)
{
	if (!func->site || !pp_arch.entry.prepared)
		return func->old_addr;
	/* The range also leaves out pp_stack_saved_pc() of the first word, hence + 2. */
	if (!pp_debug_skip_entries)
		busy->range[busy->nr++] = (struct pp_range){
			func->site->ip + 2, func->site->ip + pp_entry_span() - 1, func
		};
	return func->site->ip + pp_entry_span();
}

static void layout_add_old(struct pp_busy *busy, const struct pp_func *func)
{
	const unsigned long start = layout_add_entry(busy, func);

	if (pp_debug_skip_old)
		return;
	layout_add_busy(busy, func, start, func->old_addr + func->sym->size - start);
	if (func->old_cold && !pp_debug_skip_cold)
		layout_add_busy(busy, func, func->old_cold,
				func->patch->symbols[func->desc->cold].size);
}

/* A live transition has begun since the core was loaded; pp_mutex. */
static bool went_live;

/* May tasks be in functions of @patch, apart from a switch that is under way? */
static bool layout_may_hold_tasks(const struct pp_patch *patch)
{
	return patch->enabled || patch->draining;
}

/*
 * A stop leaves tasks only in the version of a function to which it switches. A live transition
 * leaves tasks where they are. After it they may be in the version of any enabled patch, also
 * below the newest, and in that of a disabled patch that is draining. Add all of these versions
 * of the functions that this attempt switches.
 */
static void layout_add_left_behind(struct transition *tr, u64 attempt)
{
	const struct pp_patch *patch;
	unsigned int i;

	list_for_each_entry(patch, &pp_patches, list) {
		for (i = 0; layout_may_hold_tasks(patch) && i < patch->nr_funcs; i++) {
			const struct pp_func *func = &patch->funcs[i];

			if (!func->old_addr)
				continue;
			if (func->site ? func->site->laid_out == attempt :
					 pp_carried_is_switched(func, attempt))
				layout_add_new(&tr->busy, func);
		}
	}
}

/* Make room for all ranges that this attempt may add.  Under pp_mutex. */
static int layout_make_room(struct transition *tr)
{
	unsigned int need = RANGES_PER_FUNC * tr->nr_funcs;
	const struct pp_patch *patch;

	list_for_each_entry(patch, &pp_patches, list)
		if (went_live && layout_may_hold_tasks(patch))
			need += RANGES_OF_NEW * patch->nr_funcs;
	if (need <= tr->max_ranges)
		return 0;
	kvfree(tr->busy.range);
	tr->max_ranges = 0;
	tr->busy.range = kvmalloc_array(need, sizeof(*tr->busy.range), GFP_KERNEL);
	if (!tr->busy.range)
		return -ENOMEM;
	tr->max_ranges = need;
	return 0;
}

/*
 * Have the time at which calls change over copied to @flip. The site's pokes are the last ones
 * of @tr, and the very last decides where calls go. But if it only makes the instruction anew
 * that an earlier poke has made a NOP (pp_poke.returns), take the poke in front of it, which is
 * written while the site lets calls through.
 */
static void layout_note_route(struct transition *tr, struct flip *flip)
{
	struct pp_poke *poke = &tr->text.poke[tr->text.nr - 1];

	if (poke->returns)
		poke--;
	poke->route = &flip->when;
}

/*
 * Lay out the flip of @func's site. A site gets one flip in an attempt, for the first patch
 * that has it: the patch that is switched on or, without one, any of those that are switched
 * off; for each of these the target is the newest function that stays.
 */
static int layout_site(struct transition *tr, const struct pp_func *func, u64 attempt)
{
	struct pp_site *site = func->site;
	const unsigned int first = tr->text.nr;
	struct flip *flip;
	int ret;

	if (site->laid_out == attempt)
		return 0;
	site->laid_out = attempt;
	flip = &tr->flips[tr->nr_flips++];
	flip->site = site;
	flip->func = func;
	flip->from = site->target;
	flip->target = func->patch->leaving ? pp_site_top(site) : func->desc->new_addr;
	ret = pp_site_add_pokes(&tr->text, site, func, flip->target);
	if (!ret && tr->text.nr > first)
		layout_note_route(tr, flip);
	return ret;
}

/*
 * The function of @patch in which an offline CPU may be, or NULL. No stack shows where such a CPU
 * is. If it were in a patch's function, the module could be unloaded under it.
 */
static const struct pp_func *layout_find_offline(const struct pp_patch *patch)
{
	unsigned int i;

	for (i = 0; pp_arch.stack.offline_in && i < patch->nr_funcs; i++)
		if (patch->funcs[i].old_addr && pp_arch.stack.offline_in(patch->funcs[i].old_addr))
			return &patch->funcs[i];
	return NULL;
}

bool pp_layout_has_offline(void)
{
	return !cpumask_equal(cpu_online_mask, cpu_present_mask);
}

/*
 * Return: 0, -EAGAIN for a look, or -EBUSY (logged). A CPU may go offline after this, so the stop
 * asks again.
 */
static int layout_check_offline(struct transition *tr)
{
	unsigned int i;

	tr->offline = tr->enable ? layout_find_offline(tr->patch) : NULL;
	for (i = 0; i < tr->nr_off && !tr->offline; i++)
		tr->offline = layout_find_offline(tr->off[i]);
	if (!tr->offline || !pp_layout_has_offline())
		return 0;
	if (tr->look_only)
		return -EAGAIN;
	pr_notice("%s: cannot be switched while a processor is offline, which may be in %s\n",
		  tr->patch->name, tr->offline->name);
	return -EBUSY;
}

static int layout_patch(struct transition *tr, const struct pp_patch *patch, u64 attempt)
{
	unsigned int i;

	for (i = 0; i < patch->nr_funcs; i++) {
		struct pp_func *func = &patch->funcs[i], *top;
		int ret;

		if (!func->old_addr)
			continue;
		layout_add_old(&tr->busy, func);
		if (!pp_debug_skip_new)
			layout_add_new(&tr->busy, func);
		if (!func->site) {
			pp_carried_note_switch(func, attempt);
			if (!pp_debug_skip_carried)
				layout_add_carried(&tr->busy, func);
			continue;
		}
		ret = layout_site(tr, func, attempt);
		if (ret)
			return ret;
		top = list_first_entry_or_null(&func->site->active, struct pp_func, on);
		if (top && top != func && !pp_debug_skip_top)
			layout_add_new(&tr->busy, top);
	}
	return 0;
}

/*
 * The old and the new function of each site count in both directions: the return address of a
 * call to ftrace is in the old function even if the handler has chosen the new one (see
 * pp_ftrace_handler()). To disable a patch, the whole text of its module counts, so that the
 * module can be removed afterwards.
 */
int pp_layout_make(struct transition *tr)
{
	static u64 attempts; /* pp_mutex */
	unsigned int i;
	int ret;

	went_live |= tr->live;
	ret = layout_check_offline(tr) ?: layout_make_room(tr);
	if (ret)
		return ret;
	attempts++;
	tr->nr_flips = 0;
	tr->text.nr = 0;
	tr->busy.nr = 0;
	tr->busy.nr_text = pp_debug_skip_text ? 0 : tr->nr_off;
	for (i = 0; i < tr->nr_off; i++) {
		struct pp_patch *off = tr->off[i];

		off->leaving = true;
		tr->busy.text[i] = (struct pp_range){ off->text_start, off->text_end };
	}
	/* A task in one of these veneers will enter the text next. */
	for (i = 0; tr->look_only && i < tr->patch->nr_funcs; i++)
		pp_veneers_add_busy(&tr->busy, &tr->patch->funcs[i]);
	if (tr->enable)
		ret = layout_patch(tr, tr->patch, attempts);
	for (i = 0; i < tr->nr_off && !tr->look_only && !ret; i++)
		ret = layout_patch(tr, tr->off[i], attempts);
	for (i = 0; i < tr->nr_off; i++)
		tr->off[i]->leaving = false;
	if (went_live && !tr->look_only && !tr->live && !pp_debug_skip_left_behind)
		layout_add_left_behind(tr, attempts);
	pp_busy_finish(&tr->busy);
	return ret;
}
