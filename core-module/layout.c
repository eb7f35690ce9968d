// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is laid out before a switch: where the calls of each site shall go and what is
 * written for that, and, if the machine is to be stopped, which code must be empty.
 */
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

/* New function, new .cold, veneers. */
#define RANGES_OF_NEW (2 + PP_VENEERS_OF_FUNC)
/* Entry, old function, old .cold; the new one's; those of the patch on top. */
#define RANGES_PER_FUNC (3 + 2 * RANGES_OF_NEW)

/*
 * What is behind the end belongs to it if a call stands in front of that; else it may be the
 * next function, and a word that points to that.
 */
static void busy_add(struct pp_busy *busy, const struct pp_func *func, unsigned long start,
		      unsigned long size)
{
	unsigned long end = start + size;

	if (!start || !size)
		return;
	if (pp_arch.stack.returns_to && !pp_arch.stack.returns_to(end))
		end--;
	busy->range[busy->nr++] = (struct pp_range){ start, end, func };
}

/* Who is in front of the first instruction is seen by pp_stack_saved_pc(), if that is needed. */
static void busy_add_new(struct pp_busy *busy, const struct pp_func *func)
{
	const unsigned int pointers = pp_arch.entry.prepared ? 1 : 0;

	busy_add(busy, func, func->desc->new_addr + pointers, func->desc->new_size - pointers);
	if (!pp_debug_skip_cold)
		busy_add(busy, func, func->desc->new_cold_addr, func->desc->new_cold_size);
	pp_veneers_add_busy(busy, func);
}

/*
 * The newest enabled copy of a carried function, which an enabled function may
 * have jumped to, so that it alone is on a stack.  (Those of patches that leave are in
 * their modules' text.)
 */
static void busy_add_carried(struct pp_busy *busy, const struct pp_func *func)
{
	const struct pp_func *other;

	list_for_each_entry(other, pp_func_active(func), on) {
		if (other->patch->leaving || other->patch == func->patch ||
		    other->old_addr != func->old_addr)
			continue;
		busy_add_new(busy, other);
		return;
	}
}

/*
 * Its entry, if that is several words: who was interrupted there may have loaded another address
 * than the one that is jumped by when it goes on (entry.c).  But not who is in front of the first
 * word: that is a call that has not begun yet, and goes where the entry leads by then.  So the
 * function's address itself does not count, which is in many registers and stacks as a pointer
 * to call; where each word of a stack is taken for code, these would be in the way for long.
 * Return: where the rest begins.
 */
static unsigned long busy_add_entry(struct pp_busy *busy, const struct pp_func *func)
{
	if (!func->site || !pp_arch.entry.prepared)
		return func->old_addr;
	/* pp_stack_saved_pc() of the first word is not in it either. */
	if (!pp_debug_skip_entries)
		busy->range[busy->nr++] = (struct pp_range){
			func->site->ip + 2, func->site->ip + pp_entry_span() - 1, func
		};
	return func->site->ip + pp_entry_span();
}

static void busy_add_old(struct pp_busy *busy, const struct pp_func *func)
{
	const unsigned long start = busy_add_entry(busy, func);

	if (pp_debug_skip_old)
		return;
	busy_add(busy, func, start, func->old_addr + func->sym->size - start);
	if (func->old_cold && !pp_debug_skip_cold)
		busy_add(busy, func, func->old_cold,
			 func->patch->symbols[func->desc->cold].size);
}

/* A patch was switched live, ever; pp_mutex. */
static bool went_live;

/* In whose functions there may be tasks. */
static bool may_be_run(const struct pp_patch *patch)
{
	return patch->enabled || patch->draining;
}

/*
 * A stop leaves tasks in none of a function's versions but the one that it switches to.  A
 * live transition leaves them where they are: afterwards they may be in that of any enabled
 * patch, also below the newest, and of a disabled one that is draining.
 */
static void busy_add_left_behind(struct transition *tr, u64 attempt)
{
	const struct pp_patch *patch;
	unsigned int i;

	list_for_each_entry(patch, &pp_patches, list) {
		for (i = 0; may_be_run(patch) && i < patch->nr_funcs; i++) {
			const struct pp_func *func = &patch->funcs[i];

			if (!func->old_addr)
				continue;
			if (func->site ? func->site->laid_out == attempt :
					 pp_carried_is_switched(func, attempt))
				busy_add_new(&tr->busy, func);
		}
	}
}

/* Room for all ranges that this attempt may have.  Under pp_mutex. */
static int make_room(struct transition *tr)
{
	unsigned int need = RANGES_PER_FUNC * tr->nr_funcs;
	const struct pp_patch *patch;

	list_for_each_entry(patch, &pp_patches, list)
		if (went_live && may_be_run(patch))
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
 * An entry in two words may be in entry mode for a patch that is switched live, and had asked
 * for it: either that one is replaced, or it replaces one whose switch needs a stop.
 */
static int check_fits(const struct transition *tr, const struct pp_func *func,
		      unsigned int first)
{
	unsigned int i;

	for (i = first; i < tr->text.nr && !tr->live; i++) {
		if (pp_text_fits(tr->text.poke[i].at, tr->text.poke[i].size))
			continue;
		pr_err("%s: %s cannot be switched with the machine stopped, as one of the patches needs that is switched together with its own: its entry cannot be written in one store; disable what is to be replaced first\n",
		       func->patch->name, func->name);
		return -EBUSY;
	}
	return 0;
}

/*
 * Of the site's pokes, which are the last ones, it is the last that decides where calls go; or
 * the last of those that were written while it let calls through.
 */
static void note_route(struct transition *tr, struct flip *flip)
{
	struct pp_poke *poke = &tr->text.poke[tr->text.nr - 1];

	if (poke->returns)
		poke--;
	poke->route = &flip->when;
}

/*
 * Where calls of @func's site shall go, now that its patch is switched on, or off.
 * A site gets one flip, for whichever of the patches comes first: the one that is
 * switched on, or else any of those that leave, which all go by who stays.
 */
static int lay_out_site(struct transition *tr, const struct pp_func *func, u64 attempt)
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
	ret = pp_site_add_pokes(&tr->text, site, func, flip->target) ?: check_fits(tr, func, first);
	if (!ret && tr->text.nr > first)
		note_route(tr, flip);
	return ret;
}

static int lay_out_patch(struct transition *tr, const struct pp_patch *patch, u64 attempt)
{
	unsigned int i;

	for (i = 0; i < patch->nr_funcs; i++) {
		struct pp_func *func = &patch->funcs[i], *top;
		int ret;

		if (!func->old_addr)
			continue;
		busy_add_old(&tr->busy, func);
		if (!pp_debug_skip_new)
			busy_add_new(&tr->busy, func);
		if (!func->site) {
			pp_carried_note_switch(func, attempt);
			if (!pp_debug_skip_carried)
				busy_add_carried(&tr->busy, func);
			continue;
		}
		ret = lay_out_site(tr, func, attempt);
		if (ret)
			return ret;
		top = list_first_entry_or_null(&func->site->active, struct pp_func, on);
		if (top && top != func && !pp_debug_skip_top)
			busy_add_new(&tr->busy, top);
	}
	return 0;
}

/*
 * What each site shall do, and which code must be empty for it.  Old and new count
 * in both directions: the return address of a call to ftrace lies in the old
 * function even when the handler has chosen the new one (see pp_ftrace_handler()).
 * To disable, the whole text of the patch module must be empty, so that it can be
 * removed.
 */
int pp_lay_out(struct transition *tr)
{
	static u64 attempts; /* pp_mutex */
	unsigned int i;
	int ret;

	went_live |= tr->live;
	ret = make_room(tr);
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
	/* Who is there will be in the text. */
	for (i = 0; tr->look_only && i < tr->patch->nr_funcs; i++)
		pp_veneers_add_busy(&tr->busy, &tr->patch->funcs[i]);
	if (tr->enable)
		ret = lay_out_patch(tr, tr->patch, attempts);
	for (i = 0; i < tr->nr_off && !tr->look_only && !ret; i++)
		ret = lay_out_patch(tr, tr->off[i], attempts);
	for (i = 0; i < tr->nr_off; i++)
		tr->off[i]->leaving = false;
	if (went_live && !tr->look_only && !tr->live && !pp_debug_skip_left_behind)
		busy_add_left_behind(tr, attempts);
	pp_busy_finish(&tr->busy);
	return ret;
}
