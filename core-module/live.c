// SPDX-License-Identifier: GPL-2.0-only
/*
 * Switching while everything runs: for patches whose functions do not depend on each
 * other, so that any mix of old and new ones will do for a moment.
 *
 * Where a site or stub is an instruction, it is written by the architecture's protocol for
 * text that CPUs may be running (pp_arch.h), all of a patch in one batch, so that what makes
 * the CPUs take notice of it is done for all of them together.  Until its last step each
 * instruction does as a whole what it did, and from then on what it does now: so that calls
 * in any context, NMIs too, take the one way or the other.  In ftrace mode no text is
 * written: the store of the site's target is the switch.
 *
 * A task that was interrupted in front of such an instruction goes on with whatever is
 * there by then; one that was behind it is in the new function, or in the old.  Both stay
 * where they are in memory for as long: the old for ever, the new until pp_drained() has
 * found nobody there.
 */
#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "arch/pp_arch.h"
#include "core_print.h"
#include "debug.h"
#include "kernel_symbols.h"
#include "live.h"
#include "module.h"
#include "others.h"
#include "pp_patch.h"
#include "record.h"
#include "stop.h"
#include "text.h"
#include "transition.h"

/* --- writing ------------------------------------------------------------------------ */

/* The kernel's symbol that it would need and this one does not have; NULL: it can be done. */
const char *pp_live_missing(void)
{
	return pp_arch.live.missing ? pp_arch.live.missing() : "protocol for this architecture";
}

void pp_live_init(void)
{
	if (pp_live_missing())
		return;
	cpus_read_lock();
	mutex_lock(pp_kernel.text_mutex);
	if (pp_arch.live.init)
		pp_arch.live.init();
	mutex_unlock(pp_kernel.text_mutex);
	cpus_read_unlock();
}

static bool holds(const struct pp_poke *poke, const u8 *bytes)
{
	return !memcmp((void *)poke->at, bytes, poke->size);
}

/* By address: which the protocol wants. */
static int compare_pokes(const void *a, const void *b)
{
	const struct pp_poke *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* All under pp_mutex: one batch at a time. */
static struct {
	struct pp_poke *poke[PP_LIVE_MAX];
	unsigned int nr;
	bool back;
} batch;

static void write_batch(void)
{
	if (batch.nr) {
		pp_others_mute(NULL);
		pp_arch.live.write(batch.poke, batch.nr, batch.back);
		pp_others_unmute();
	}
	batch.nr = 0;
}

static void add_to_batch(struct pp_poke *poke, bool back)
{
	if (batch.nr == PP_LIVE_MAX)
		write_batch();
	batch.poke[batch.nr++] = poke;
	batch.back = back;
}

static void write_them(struct pp_text *text)
{
	unsigned int i;

	for (i = 0; i < text->nr; i++)
		add_to_batch(&text->poke[i], false);
	write_batch();
}

/* What is not as it was written now is somebody else's, and is let alone. */
static void take_back(struct pp_text *text)
{
	unsigned int i;

	for (i = 0; i < text->nr && !pp_debug_stuck_text; i++)
		if (holds(&text->poke[i], text->poke[i].new))
			add_to_batch(&text->poke[i], true);
	write_batch();
}

/* Who waits for it is told when it was. */
static void record(struct pp_text *text)
{
	unsigned int i;

	for (i = 0; i < text->nr; i++)
		if (text->poke[i].route)
			*text->poke[i].route = text->poke[i].when;
	pp_record_text(text, NULL, pp_arch.live.method, 0, false);
}

static bool is_as_before(const struct pp_poke *poke)
{
	return !PP_FAULT("poke") && holds(poke, poke->old);
}

static bool is_written(const struct pp_poke *poke)
{
	return !PP_FAULT("read back") && !pp_debug_stuck_text && holds(poke, poke->new);
}

/* The first that does not hold its old bytes, or with @after its new ones; NULL: all do. */
static const struct pp_poke *first_that_differs(const struct pp_text *text, bool after)
{
	unsigned int i;

	if (after ? pp_debug_skip_read_back : pp_debug_skip_compare)
		return NULL;
	for (i = 0; i < text->nr; i++) {
		const struct pp_poke *poke = &text->poke[i];

		if (!(after ? is_written(poke) : is_as_before(poke)))
			return poke;
	}
	return NULL;
}

static void blame(const struct pp_poke *bad, const u8 *found, const u8 *expected,
		  const struct pp_patch *patch, const char *outcome)
{
	pr_err("%s: the code at %pS is %*ph, expected %*ph: somebody else has changed it; %s\n",
	       patch->name, (void *)bad->at, (int)bad->size, found, (int)bad->size, expected,
	       outcome);
}

/* Hotplug lock and text_mutex are held: nobody else who keeps to the rules writes text. */
static int write_all(struct pp_text *text, const struct pp_patch *patch)
{
	u8 found[PP_TEXT_WORD_MAX];
	unsigned int i;

	text->bad = text->stuck = NULL;
	for (i = 0; i < text->nr; i++) {
		int ret = pp_arch.live.check(&text->poke[i]);

		if (WARN_ON(ret))
			return ret;
	}
	text->bad = first_that_differs(text, false);
	if (text->bad) {
		blame(text->bad, (void *)text->bad->at, text->bad->old, patch, "nothing is switched");
		return -EIO;
	}

	text->written = true;
	write_them(text);
	text->bad = first_that_differs(text, true);
	if (!text->bad)
		return 0;

	memcpy(found, (void *)text->bad->at, text->bad->size);
	/* For a moment they were there. */
	record(text);
	take_back(text);
	pp_record_text(text, NULL, pp_arch.live.method, 0, true);
	blame(text->bad, found, text->bad->new, patch, "everything is put back");
	text->stuck = first_that_differs(text, false);
	if (text->stuck)
		blame(text->stuck, (void *)text->stuck->at, text->stuck->old, patch,
		      "this one cannot be put back");
	return -EIO;
}

/*
 * Holding the hotplug lock, since a CPU that is just coming up runs code, and would not
 * be told to take notice of what is written.
 */
int pp_text_write_live(struct pp_text *text, const struct pp_patch *patch)
{
	int ret;

	text->written = false;
	if (!text->nr)
		return 0;
	if (pp_live_missing())
		return -EOPNOTSUPP;
	sort(text->poke, text->nr, sizeof(*text->poke), compare_pokes, NULL);
	cpus_read_lock();
	mutex_lock(pp_kernel.text_mutex);
	ret = write_all(text, patch);
	mutex_unlock(pp_kernel.text_mutex);
	cpus_read_unlock();
	if (!ret)
		record(text);
	return ret;
}

/* --- the patch module afterwards --------------------------------------------------------- */

#define FIRST_PAUSE (HZ / 50)
#define LONGEST_PAUSE HZ

/*
 * A patch that was switched off live is draining: tasks may be in its text, and it holds its
 * module until somebody has seen that none is.  That is looked for at once, and then again
 * and again in the background, without patch->op, so that nobody finds the patch busy
 * because of it.  Meanwhile the patch may be enabled, which ends the draining, and disabled
 * once more, which begins another one: drain_nr says which one a look was for.
 */
void pp_drain_begin(struct pp_patch *patch)
{
	lockdep_assert_held(&pp_mutex);
	patch->draining = true;
	patch->drain_nr++;
	patch->drain_since = jiffies;
	patch->drain_pause = FIRST_PAUSE;
}

/* Which one is it?  0: none. */
static unsigned int draining(struct pp_patch *patch)
{
	unsigned int nr;

	mutex_lock(&pp_mutex);
	nr = patch->draining ? patch->drain_nr : 0;
	mutex_unlock(&pp_mutex);
	return nr;
}

bool pp_draining(struct pp_patch *patch)
{
	return draining(patch);
}

/* Return: true if this ends it, and the reference is the caller's. */
static bool end(struct pp_patch *patch, unsigned int nr)
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
 * Is nobody in the text of @patch?  0, -EAGAIN if somebody is, or why it cannot be told.
 *
 * No site leads there any more.  But a task may have been
 * preempted on its way: in ftrace's trampoline, after the handler had decided; in a stub.
 * It has not slept since, and a grace period of RCU-tasks waits until it has, or has left:
 * then it is in the new function and its stack shows it, or never will be.  The second
 * grace period is for idle tasks and for handlers in interrupts.
 *
 * From then on nobody comes, and who is there is found by a look at all stacks, in a stop
 * that switches nothing.
 */
static int look(struct pp_patch *patch, unsigned int nr, bool background)
{
	const bool ask = pp_transition_asks(jiffies - patch->drain_since);

	if (READ_ONCE(patch->drain_waited) != nr) {
		synchronize_rcu_tasks();
		pp_synchronize_rude();
		WRITE_ONCE(patch->drain_waited, nr);
	}
	return pp_debug_skip_drain ? 0 : pp_transition_look(patch, ask, background);
}

bool pp_drained(struct pp_patch *patch)
{
	const unsigned int nr = draining(patch);
	int ret;

	if (!nr)
		return false;
	ret = look(patch, nr, false);
	if (!ret)
		return end(patch, nr);
	if (ret == -EAGAIN)
		pr_notice("%s: tasks are in its code, its module stays until they have left, see /sys/kernel/pokepatch/%s/blocked_by\n",
			  patch->name, patch->name);
	else
		pr_notice("%s: whether tasks are in its code could not be seen (%d), its module stays until that shows that there are none\n",
			  patch->name, ret);
	pp_drain_later(patch);
	return false;
}

void pp_drain_later(struct pp_patch *patch)
{
	if (draining(patch))
		queue_delayed_work(system_unbound_wq, &patch->drain, patch->drain_pause);
}

/* The module's exit waits for this work, so the patch stays until it returns. */
static void drain(struct work_struct *work)
{
	struct pp_patch *patch = container_of(to_delayed_work(work), struct pp_patch, drain);
	const unsigned int nr = draining(patch);

	if (!nr)
		return;
	if (look(patch, nr, true)) {
		patch->drain_pause = min_t(unsigned long, 2 * patch->drain_pause, LONGEST_PAUSE);
		queue_delayed_work(system_unbound_wq, &patch->drain, patch->drain_pause);
	} else if (end(patch, nr)) {
		pr_debug("%s: nobody is in its code any more\n", patch->name);
		module_put(patch->mod);
	}
}

void pp_drain_init(struct pp_patch *patch)
{
	INIT_DELAYED_WORK(&patch->drain, drain);
}

/* Its module goes, so nobody is in its text: at most the work's own end is left. */
void pp_drain_exit(struct pp_patch *patch)
{
	cancel_delayed_work_sync(&patch->drain);
}
