// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draining: a live transition switches a patch off while tasks may be in its text, so the patch
 * keeps its reference to its module until the core has seen that no task is there. Until then
 * the patch is draining.
 *
 * The writer of `enabled` makes the first look. Then a work item looks again and again, without
 * patch->op, so that the patch can be switched meanwhile. Enabling the patch ends the draining,
 * and disabling it live once more begins another one. drain_nr tells a look for which of them
 * it was made.
 */
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "core_print.h"
#include "debug.h"
#include "drain.h"
#include "module.h"
#include "park.h"
#include "pp_patch.h"
#include "rude.h"
#include "transition.h"

#define FIRST_PAUSE (HZ / 50)
#define LONGEST_PAUSE HZ

void pp_drain_begin(struct pp_patch *patch)
{
	lockdep_assert_held(&pp_mutex);
	patch->draining = true;
	patch->drain_nr++;
	/*
	 * The work item of an earlier drain may still be running, and reads these two without
	 * pp_mutex.  It may also store another pause: then the first look is later, no more.
	 */
	WRITE_ONCE(patch->drain_since, jiffies);
	WRITE_ONCE(patch->drain_pause, FIRST_PAUSE);
}

/* The number of the drain that is under way, or 0. */
static unsigned int drain_current(struct pp_patch *patch)
{
	unsigned int nr;

	mutex_lock(&pp_mutex);
	nr = patch->draining ? patch->drain_nr : 0;
	mutex_unlock(&pp_mutex);
	return nr;
}

bool pp_drain_active(struct pp_patch *patch)
{
	return drain_current(patch);
}

/* End drain @nr.  Return: false if it had ended already; else the reference is the caller's. */
static bool drain_end(struct pp_patch *patch, unsigned int nr)
{
	bool ended;

	mutex_lock(&pp_mutex);
	ended = patch->draining && patch->drain_nr == nr;
	if (ended)
		patch->draining = false;
	mutex_unlock(&pp_mutex);
	return ended;
}

/*
 * Look for tasks in the text of @patch, which is draining. May sleep.
 *
 * No site leads to that text any more. But a task may have been preempted on its way: in
 * ftrace's trampoline after the handler had decided, or in a stub. It has not slept since. A
 * grace period of RCU-tasks waits until every such task has slept or gone to user mode. By then
 * it either is in the new function, where its stack shows it, or will never enter it. The
 * second grace period is for idle tasks and for handlers in interrupts.
 *
 * After both, no task enters the text any more. A look at all stacks, in a stop that switches
 * nothing, finds those that are still in it.
 * Return: 0 if no task is, -EAGAIN if there are some, or the error for which the core cannot
 * tell.
 */
static int drain_look(struct pp_patch *patch, unsigned int nr, bool background)
{
	const bool ask = pp_park_asks_after(jiffies - READ_ONCE(patch->drain_since));

	if (READ_ONCE(patch->drain_waited) != nr) {
		synchronize_rcu_tasks();
		pp_synchronize_rude();
		WRITE_ONCE(patch->drain_waited, nr);
	}
	return pp_debug_skip_drain ? 0 : pp_transition_look(patch, ask, background);
}

bool pp_drain_try_end(struct pp_patch *patch)
{
	const unsigned int nr = drain_current(patch);
	int ret;

	if (!nr)
		return false;
	ret = drain_look(patch, nr, false);
	if (!ret)
		return drain_end(patch, nr);
	if (ret == -EAGAIN)
		pr_notice("%s: tasks are in its code, its module stays until they have left, see /sys/kernel/pokepatch/%s/blocked_by\n",
			  patch->name, patch->name);
	else
		pr_notice("%s: cannot tell whether tasks are in its code (%d); its module stays until none are\n",
			  patch->name, ret);
	pp_drain_later(patch);
	return false;
}

void pp_drain_later(struct pp_patch *patch)
{
	if (drain_current(patch))
		queue_delayed_work(pp_unbound_workqueue, &patch->drain,
				   READ_ONCE(patch->drain_pause));
}

/* The module's exit waits for this work item (pp_drain_exit()), so @patch is valid throughout. */
static void drain_work(struct work_struct *work)
{
	struct pp_patch *patch = container_of(to_delayed_work(work), struct pp_patch, drain);
	const unsigned int nr = drain_current(patch);

	if (!nr)
		return;
	if (drain_look(patch, nr, true)) {
		const unsigned long pause = min_t(unsigned long, 2 * READ_ONCE(patch->drain_pause),
						  LONGEST_PAUSE);

		WRITE_ONCE(patch->drain_pause, pause);
		queue_delayed_work(pp_unbound_workqueue, &patch->drain, pause);
	} else if (drain_end(patch, nr)) {
		pr_debug("%s: no task is in its code any more\n", patch->name);
		module_put(patch->mod);
	}
}

void pp_drain_init(struct pp_patch *patch)
{
	INIT_DELAYED_WORK(&patch->drain, drain_work);
}

/* The module is going, so no task is in its text: at most the end of the work item is left. */
void pp_drain_exit(struct pp_patch *patch)
{
	cancel_delayed_work_sync(&patch->drain);
}
