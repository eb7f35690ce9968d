// SPDX-License-Identifier: GPL-2.0-only
/*
 * Transitions: how a switch of a patch is made. A stop transition stops the machine, checks
 * every stack, and switches all functions of the patch at once if no task is busy (stop.c).
 * Otherwise it switches nothing and tries again, until the patch's timeout. A live transition
 * needs neither the stop nor the check of stacks (live.c). Hooking, callbacks and bookkeeping
 * are the same for both.
 */
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/freezer.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/semaphore.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include <pokepatch_format.h>
#include <pokepatch_history.h>

#include "access.h"
#include "arch/pp_arch.h"
#include "callbacks.h"
#include "claim.h"
#include "core_print.h"
#include "debug.h"
#include "drain.h"
#include "entry.h"
#include "exiting.h"
#include "layout.h"
#include "levels.h"
#include "live.h"
#include "module.h"
#include "park.h"
#include "pp_patch.h"
#include "pp_time.h"
#include "record.h"
#include "replace.h"
#include "site.h"
#include "stack.h"
#include "stop.h"
#include "sysfs.h"
#include "transition.h"
#include "transition_state.h"
#include "verify.h"
#include "watch.h"
#include "words.h"

/* --- before and after the switch -------------------------------------------------- */

/*
 * The build tool has found addresses of new code or data that are stored or passed on: a timer
 * or a list may hold such an address when no stack does. The module of such a patch stays once
 * any of its code may have run, until a callback withdraws the addresses; see pp_patch_unpin().
 */
void pp_patch_pin(struct pp_patch *patch)
{
	lockdep_assert_held(&pp_mutex);
	if (!(patch->image->flags & POKEPATCH_IMAGE_PINNED) || patch->pinned || pp_debug_skip_pin)
		return;
	__module_get(patch->mod);
	patch->pinned = true;
}

/* @patch is enabled again, and an enabled patch holds its module: the drain need not. */
static void transition_end_draining(struct pp_patch *patch)
{
	if (!patch->draining)
		return;
	patch->draining = false;
	module_put(patch->mod);
}

static void transition_commit_patch(struct transition *tr, struct pp_patch *patch, bool on)
{
	unsigned int i;

	for (i = 0; i < patch->nr_funcs; i++) {
		struct pp_func *func = &patch->funcs[i];

		if (!pp_func_active(func))
			continue;
		if (on)
			list_add(&func->on, pp_func_active(func));
		else
			list_del_init(&func->on);
	}
	/* An oops that reads the list meanwhile (crash.c) may miss patches, but finds its end. */
	if (on)
		list_move_tail(&patch->list, &pp_patches);
	WRITE_ONCE(patch->enabled, on);
	WRITE_ONCE(patch->stop_ns, tr->stop_ns);
	if (on) {
		transition_end_draining(patch);
		pp_patch_pin(patch);
		pp_level_enabled(patch);
	} else {
		if (tr->live)
			pp_drain_begin(patch);
		pp_sites_unhook(patch->funcs, patch->nr_funcs, PP_ALL_OBJECTS, false);
	}
}

/*
 * A task that is still in the code of @patch may pass on addresses that the callback has just
 * withdrawn, so the module stays.
 */
static void transition_forget_withdrawn(struct pp_patch *patch)
{
	if (!patch->draining || !patch->withdrawn)
		return;
	patch->withdrawn = false;
	pr_notice("%s: its module stays loaded: pokepatch_withdrawn() has no effect in a live transition\n",
		  patch->name);
}

/* The switch has been made: do the bookkeeping, and call the callbacks that follow it. */
static void transition_commit(struct transition *tr)
{
	unsigned int i;

	if (tr->enable)
		transition_commit_patch(tr, tr->patch, true);
	for (i = 0; i < tr->nr_off; i++)
		transition_commit_patch(tr, tr->off[i], false);
	pp_patches_number();
	for (i = 0; i < tr->nr_off; i++) {
		pp_callbacks_after(tr->off[i], false);
		transition_forget_withdrawn(tr->off[i]);
	}
	if (tr->enable)
		pp_callbacks_after(tr->patch, true);
	pp_watch_now();
}

/*
 * Call the new patch's pre-patch callbacks, which may fail, and then the pre-unpatch callbacks
 * of the patches that are switched off.
 */
static int transition_call_before(struct transition *tr)
{
	int ret = tr->enable ? pp_callbacks_before(tr->patch, true) : 0;
	unsigned int i;

	for (i = 0; i < tr->nr_off && !ret; i++)
		pp_callbacks_before(tr->off[i], false);
	return ret;
}

/* The switch has not been made and will not be: unhook, and undo the callbacks. */
static void transition_cancel(struct transition *tr)
{
	struct pp_patch *patch = tr->patch;
	unsigned int i;

	mutex_lock(&pp_mutex);
	pp_record_enter(tr->nr, patch->name);
	if (tr->enable)
		pp_sites_unhook(patch->funcs, patch->nr_funcs, PP_ALL_OBJECTS, false);
	for (i = tr->nr_off; i--;)
		pp_callbacks_cancel(tr->off[i], false);
	if (tr->enable) {
		pp_callbacks_cancel(patch, true);
		transition_forget_withdrawn(patch);
	}
	pp_watch_now();
	pp_record_leave();
	mutex_unlock(&pp_mutex);
}

/* Put one word for where @task is into @buf. */
static void transition_describe(const struct pp_busy_task *task, char *buf, size_t size)
{
	if (task->func)
		strscpy(buf, task->func->name, size);
	else if (task->addr)
		snprintf(buf, size, "%ps", (void *)task->addr);
	else
		strscpy(buf, "[unreliable-stack]", size);
	*strchrnul(buf, ' ') = 0; /* "symbol [module]" */
}

/* Keep the busy tasks of @scan for blocked_by; without a scan, none. */
static void transition_report(struct pp_patch *patch, const struct pp_scan *scan)
{
	const size_t line = 12 + TASK_COMM_LEN + KSYM_NAME_LEN + 2;
	char *text = NULL, *function = NULL, *c;
	size_t len = 0, size;
	unsigned int i;

	if (scan && scan->nr_busy_tasks) {
		size = scan->nr_busy_tasks * line;
		text = kvmalloc(size, GFP_KERNEL);
		function = kmalloc(KSYM_SYMBOL_LEN, GFP_KERNEL);
	}
	for (i = 0; text && function && i < scan->nr_busy_tasks; i++) {
		const struct pp_busy_task *task = &scan->busy_task[i];
		size_t comm;

		transition_describe(task, function, KSYM_SYMBOL_LEN);
		len += scnprintf(text + len, size - len, "%d ", task->pid);
		comm = len;
		len += scnprintf(text + len, size - len, "%s", task->comm);
		/* A task may give itself any name, but it must not make lines of its own. */
		for (c = text + comm; c < text + len; c++)
			if (*c < ' ' || *c == 0x7f)
				*c = '?';
		len += scnprintf(text + len, size - len, " %s\n", function);
	}
	kfree(function);

	mutex_lock(&patch->report_lock);
	swap(patch->report, text);
	patch->report_len = len;
	mutex_unlock(&patch->report_lock);
	kvfree(text);
}

/*
 * Is the site of @flip in direct mode and used by a tracer too? Then it calls the handler and
 * not its stub. Unless it calls the stub both before the stub was written and after the target
 * was, calls did not all change over with the stub. (A tracer that comes and goes in between
 * waits for ftrace's grace periods, which take longer than that.)
 */
static bool transition_site_shared(const struct flip *flip)
{
	return flip->site->mode == &pp_direct_mode && flip->from != flip->target &&
	       pp_claim_is_shared(flip->site->ip);
}

/*
 * In a live transition: set the target of a site. In ftrace mode this is the switch of the
 * site. In the other modes calls changed over when text was written.
 */
static void transition_switch_target(struct flip *flip)
{
	const bool decides = flip->site->mode == &pp_ftrace_mode;
	struct pp_time begin, end;
	unsigned int cpu;

	/* On one CPU, and with nothing but the store between the two times. */
	local_irq_disable();
	cpu = raw_smp_processor_id();
	begin = pp_now();
	pp_site_set_target(flip->site, flip->target);
	smp_mb();
	end = pp_now();
	local_irq_enable();
	if (decides)
		flip->when = (struct pp_when){
			.before = begin,
			.begin = begin,
			.end = end,
			.after = end,
			.cpu = cpu,
			.exact = true,
		};
	else if (flip->shared || transition_site_shared(flip))
		flip->when = (struct pp_when){
			.before = flip->when.before,
			.begin = flip->when.begin,
			.end = end,
			.after = end,
			.cpu = flip->when.cpu,
		};
	pp_record_route(flip->func, flip->from, flip->target, &flip->when,
			decides ? POKEPATCH_HISTORY_FTRACE : pp_arch.live.method);
}

/*
 * Switch while all CPUs run. Calls that are on their way, and those of other CPUs, go to the
 * old function or to the new one.
 * Return: 0, -EIO (logged) if text is not as expected, or another error.
 */
static int transition_switch_live(struct transition *tr)
{
	unsigned int i;
	int ret;

	for (i = 0; i < tr->nr_flips; i++)
		tr->flips[i].shared = transition_site_shared(&tr->flips[i]);
	ret = pp_text_write_live(&tr->text, tr->patch);
	if (ret)
		pp_transition_hold_stuck(tr);
	if (ret && tr->text.written)
		pp_flips_record_put_back(tr, tr->text.nr, NULL, NULL, pp_arch.live.method);
	if (ret && tr->text.written && tr->enable) {
		/* For a moment the patch was on, so tasks may have entered its code. */
		if (!tr->patch->draining)
			__module_get(tr->patch->mod);
		pp_drain_begin(tr->patch);
		pp_patch_pin(tr->patch);
	}
	if (ret)
		return ret;
	transition_report(tr->patch, NULL);
	for (i = 0; i < tr->nr_flips; i++)
		transition_switch_target(&tr->flips[i]);
	pr_debug("%s: switched live, %u words\n", tr->patch->name, tr->text.nr);
	return 0;
}

/*
 * Stop the machine. pp_claim_write() keeps kprobes away from what will be written, from its
 * look for probes until pp_claim_written().
 */
static int transition_stop(struct transition *tr)
{
	const unsigned long probe = pp_claim_write_begin(&tr->text, 0, 0);
	int ret;

	if (probe)
		return pp_entry_report_probe(tr->patch, probe);
	ret = pp_stop(tr);
	pp_claim_write_end();
	return ret;
}

/* Switch in a stop, if no task is busy.  Return: 0, -EAGAIN if tasks are busy, or an error. */
static int transition_switch_stopped(struct transition *tr)
{
	int ret = pp_scan_init(&tr->scan, &tr->busy);

	if (ret)
		return ret;
	tr->stop_ns = 0;
	ret = pp_scan_running(&tr->scan) ? 0 : -EAGAIN;
	PP_PAUSE(stop);
	ret = ret ?: transition_stop(tr);
	if (ret == -EAGAIN && tr->scan.nr_busy_tasks)
		pr_debug("%s: %u tasks in the way, the first in %pS\n", tr->patch->name,
			 tr->scan.nr_busy_tasks, (void *)tr->scan.busy_task[0].addr);
	/* A look in the background must not replace the report of a switch that is under way. */
	if (!tr->background || READ_ONCE(tr->patch->state) == PP_DISABLED)
		transition_report(tr->patch, ret ? &tr->scan : NULL);
	pp_words_report();
	if (ret == -EAGAIN && tr->ask)
		pp_park_ask(&tr->park, &tr->scan, tr->patch->name);
	pp_scan_deinit(&tr->scan);
	return ret;
}

/* Try once.  Return: 0, -EAGAIN if tasks are busy, or an error. */
static int transition_attempt(struct transition *tr)
{
	struct pp_patch *patch = tr->patch;
	bool looked = false;
	int ret;

	ret = pp_exiting_ready(!tr->forced);
	if (ret)
		return ret;
	if (tr->forced)
		mutex_lock(&pp_mutex);
	else if (mutex_lock_killable(&pp_mutex))
		return -EINTR;
	pp_record_enter(tr->nr, patch->name);
	ret = tr->enable ? pp_level_check(patch) : 0;
	if (ret)
		goto unlock;
	/* In each attempt, for parents that have come since the last one. */
	if (!tr->look_only) {
		ret = transition_call_before(tr);
		tr->cancelled = ret;
		if (ret)
			goto unlock;
	}
	if (tr->enable) {
		ret = pp_sites_hook(patch->funcs, patch->nr_funcs, PP_ALL_OBJECTS);
		if (ret)
			goto unlock;
	}
	PP_PAUSE(ready);
	ret = pp_layout_make(tr);
	if (ret)
		goto unlock;
	looked = true;
	ret = tr->live ? transition_switch_live(tr) : transition_switch_stopped(tr);
	if (!ret && !tr->look_only)
		transition_commit(tr);
unlock:
	/* The tasks that an earlier attempt found in the way are not why this one failed. */
	if (ret && !looked && !tr->look_only)
		transition_report(patch, NULL);
	pp_record_leave();
	mutex_unlock(&pp_mutex);
	pp_exiting_sweep();
	return ret;
}

/*
 * Collect the patches that are switched off: to enable, those that the patch replaces, with
 * their op taken; to disable, the patch itself.
 */
static int transition_choose_off(struct transition *tr)
{
	struct pp_patch **off;

	if (tr->enable) {
		off = pp_replace_begin(tr->patch, &tr->nr_off);
		if (IS_ERR(off))
			return PTR_ERR(off);
		tr->off = off;
		return 0;
	}
	tr->off = kmalloc_array(1, sizeof(*tr->off), GFP_KERNEL);
	if (!tr->off)
		return -ENOMEM;
	tr->off[0] = tr->patch;
	tr->nr_off = 1;
	return 0;
}

/* @forced: it goes on until it succeeds */
static int transition_init(struct transition *tr, struct pp_patch *patch, bool enable, bool forced)
{
	unsigned int i, funcs = enable ? patch->nr_funcs : 0;
	int ret;

	*tr = (struct transition){
		.patch = patch,
		.name = patch->name,
		.enable = enable,
		.forced = forced,
		.live = patch->live,
	};
	pp_park_init(&tr->park, READ_ONCE(patch->evict),
		     forced ? UINT_MAX : READ_ONCE(patch->timeout_ms));
	ret = transition_choose_off(tr);
	if (ret)
		return ret;
	for (i = 0; i < tr->nr_off; i++) {
		funcs += tr->off[i]->nr_funcs;
		/* The functions of a patch that is replaced may depend on each other. */
		tr->live &= tr->off[i]->live;
	}
	tr->nr_funcs = funcs;
	tr->flips = kvmalloc_array(funcs, sizeof(*tr->flips), GFP_KERNEL);
	tr->busy.text = kvmalloc_array(tr->nr_off + 1, sizeof(*tr->busy.text), GFP_KERNEL);
	tr->text.poke = kvmalloc_array(funcs, PP_POKES_MAX * sizeof(*tr->text.poke), GFP_KERNEL);
	tr->cpus = kcalloc(nr_cpu_ids, sizeof(*tr->cpus), GFP_KERNEL);
	tr->stoppers = kcalloc(nr_cpu_ids, sizeof(*tr->stoppers), GFP_KERNEL);
	return tr->flips && tr->busy.text && tr->text.poke && tr->cpus &&
	       tr->stoppers ? 0 : -ENOMEM;
}

static void transition_deinit(struct transition *tr)
{
	pp_park_deinit(&tr->park);
	kfree(tr->stoppers);
	kfree(tr->cpus);
	kvfree(tr->text.poke);
	kvfree(tr->busy.text);
	kvfree(tr->busy.range);
	kvfree(tr->flips);
	kfree(tr->off);
}

#define FIRST_PAUSE_MS 1
#define LONGEST_PAUSE_MS 32

static unsigned int stop_share = 10;
pp_param_uint(stop_share);
MODULE_PARM_DESC(stop_share,
		 "how much of a transition's time the machine may be stopped, percent");

/*
 * How long to wait before the next stop, in jiffies, so that all stops so far, and one more
 * like the last, stay within their share of the transition's time. The first stop needs no
 * wait, as nothing is known yet.
 */
static long transition_share_pause(const struct transition *tr)
{
	const unsigned int share = clamp(READ_ONCE(stop_share), 1U, 100U);
	const u64 due = div_u64((tr->stopped_ns + tr->last_stop_ns) * 100, share);
	const u64 elapsed = ktime_get_ns() - tr->started;

	/* nsecs_to_jiffies() rounds down, and part of the current jiffy has passed. */
	return due > elapsed ? nsecs_to_jiffies(due - elapsed) + 2 : 0;
}

/* Record the beginning of @tr.  A look (look_only) is no transition and is not recorded. */
static void transition_record_begin(struct transition *tr)
{
	struct pp_record_transition record = {
		.kind = tr->enable ? POKEPATCH_HISTORY_ENABLE : POKEPATCH_HISTORY_DISABLE,
		.patch = tr->patch->name,
		.live = tr->live,
	};

	tr->nr = record.nr = pp_record_transition_number();
	pp_record_transition(&record, POKEPATCH_HISTORY_BEFORE);
}

/*
 * Sleep for @wait jiffies. A task that is to be frozen holds up a suspend until it has left the
 * kernel. So it gives up, and its system call begins anew once the task is thawed. Without the
 * signal that the freezer has it see, the call would not. A look comes after a switch that has
 * succeeded, and would not be made again. The freezer does not wake a killable sleep.
 */
static int transition_sleep(const struct transition *tr, long wait)
{
	for (; wait > 0; wait -= HZ) {
		schedule_timeout_killable(min_t(long, wait, HZ));
		if (fatal_signal_pending(current))
			return -EINTR;
		if (!tr->look_only && signal_pending(current) && freezing(current))
			return -ERESTARTNOINTR;
	}
	return 0;
}

static int transition_try(struct transition *tr)
{
	const unsigned long start = jiffies;
	const unsigned long deadline =
		start + msecs_to_jiffies(READ_ONCE(tr->patch->timeout_ms));
	unsigned int pause = FIRST_PAUSE_MS;

	tr->started = ktime_get_ns();
	for (;;) {
		int ret;
		long left, share, wait;

		/* None follows one that begins after the deadline: a kill would be in vain. */
		tr->ask = (tr->forced || time_before(jiffies, deadline)) &&
			  pp_park_is_due(&tr->park);
		tr->scan.late = false;
		ret = transition_attempt(tr);
		if (!tr->ask)
			pp_park_release(&tr->park);
		left = tr->forced ? MAX_SCHEDULE_TIMEOUT : deadline - jiffies;
		if (ret != -EAGAIN || tr->cancelled)
			return ret;
		share = transition_share_pause(tr);
		/* If memory was short, the last stop could not tell which tasks are busy. */
		if (left <= 0 || share > left)
			return tr->scan.lost ? -ENOMEM : -EBUSY;
		wait = max(share, min_t(long, msecs_to_jiffies(pause), left));
		if (tr->forced) {
			schedule_timeout_uninterruptible(wait);
		} else {
			ret = transition_sleep(tr, wait);
			if (ret)
				return ret;
		}
		pause = min(2 * pause, (unsigned int)LONGEST_PAUSE_MS);
	}
}

static int transition_look_init(struct transition *tr, struct pp_patch *patch)
{
	int ret = transition_init(tr, patch, false, false);

	tr->look_only = true;
	tr->live = false;
	return ret;
}

int pp_transition_look(struct pp_patch *patch, bool ask, bool background)
{
	struct transition tr;
	int ret = transition_look_init(&tr, patch);

	tr.ask = ask;
	tr.background = background;
	ret = ret ?: transition_attempt(&tr);
	if (ret == -EAGAIN && ask) {
		schedule_timeout_uninterruptible(msecs_to_jiffies(LONGEST_PAUSE_MS));
		tr.ask = false;
		ret = transition_attempt(&tr);
	}
	transition_deinit(&tr);
	return ret;
}

/*
 * A post-unpatch callback has withdrawn the addresses of a disabled patch. A task that followed
 * one of them before may still be in the patch's text, but no task can enter it any more. Look
 * at all stacks once more before the module may go.
 */
static void pp_patch_unpin(struct pp_patch *patch)
{
	struct transition tr;
	int ret = transition_look_init(&tr, patch);

	if (!ret)
		ret = transition_try(&tr);
	transition_deinit(&tr);
	if (ret == -EBUSY) {
		pr_notice("%s: its module stays loaded: its callback says that nothing refers to it, but tasks are in its code, see /sys/kernel/pokepatch/%s/blocked_by\n",
			  patch->name, patch->name);
		return;
	}
	if (ret) {
		pr_notice("%s: its module stays loaded: its callback says that nothing refers to it, but the core cannot tell whether tasks are in its code (%d)\n",
			  patch->name, ret);
		return;
	}
	mutex_lock(&pp_mutex);
	patch->pinned = false;
	mutex_unlock(&pp_mutex);
	module_put(patch->mod);
}

static void transition_conclude(struct transition *tr, int ret)
{
	struct pp_patch *patch = tr->patch;
	const bool put_off = ret == -ERESTARTNOINTR;
	const char *what = tr->enable ? "enabled" : "disabled";
	const struct pp_record_transition record = {
		.nr = tr->nr,
		.kind = tr->enable ? POKEPATCH_HISTORY_ENABLE : POKEPATCH_HISTORY_DISABLE,
		.patch = patch->name,
		.live = tr->live,
		.error = put_off ? -EAGAIN : ret,
		.stop_ns = ret ? 0 : tr->stop_ns,
		.functions = ret ? 0 : tr->nr_flips,
	};
	const bool late = ret == -EBUSY && tr->scan.late;
	bool blocked = ret == -EBUSY && (patch->report_len || late) && !tr->cancelled;

	if (tr->nr_stops)
		pr_debug("%s: %u stops, the last %llu ns after the start, %llu ns in those before it\n",
			 patch->name, tr->nr_stops, tr->last_stop - tr->started,
			 tr->stopped_ns - tr->last_stop_ns);
	if (!ret && tr->live)
		pr_info("%s: %s live, %u function%s\n", patch->name, what, tr->nr_flips,
			pp_plural(tr->nr_flips));
	else if (!ret)
		pr_info("%s: %s, %u function%s, the machine stopped for %llu us\n", patch->name,
			what, tr->nr_flips, pp_plural(tr->nr_flips),
			div_u64(tr->stop_ns, NSEC_PER_USEC));
	else if (late)
		pr_notice("%s: cannot be %s: too many tasks run for a stop of no more than max_stop_us\n",
			  patch->name, what);
	else if (blocked)
		pr_notice("%s: cannot be %s: tasks are in the way, see /sys/kernel/pokepatch/%s/blocked_by\n",
			  patch->name, what, patch->name);
	else if (put_off)
		pr_info("%s: not yet %s, as tasks are frozen\n", patch->name, what);
	else
		pr_notice("%s: cannot be %s (%d)\n", patch->name, what, ret);
	pp_record_transition(&record, POKEPATCH_HISTORY_AFTER);
	/* The switch that was put off has not ended for its writer. */
	if (put_off)
		transition_report(patch, NULL);
	WRITE_ONCE(patch->error, put_off ? 0 : ret);
	pp_sysfs_state(patch, blocked ? PP_BLOCKED : patch->enabled ? PP_ENABLED : PP_DISABLED);
}

static void transition_unpin(struct pp_patch *patch)
{
	/* The caller holds op: only transitions of @patch write both while it is disabled. */
	if (patch->pinned && patch->withdrawn)
		pp_patch_unpin(patch);
}

/*
 * An enabled patch holds its module. @patch has just been disabled: does the caller drop that
 * reference now? If not, it is dropped when the last task has left the patch's code.
 */
static bool transition_ends_hold(const struct transition *tr, struct pp_patch *patch)
{
	return !tr->live || pp_drain_try_end(patch);
}

/*
 * Finish with the patches that were replaced, or were to be (@ret): release their op, so that
 * others can switch them.
 */
static void transition_release_replaced(struct transition *tr, int ret)
{
	unsigned int i;

	for (i = 0; i < tr->nr_off; i++) {
		struct pp_patch *off = tr->off[i];
		const bool put = !ret && transition_ends_hold(tr, off);

		if (!ret) {
			pr_info("%s: replaced by %s\n", off->name, tr->patch->name);
			transition_unpin(off);
		}
		pp_sysfs_state(off, !ret ? PP_DISABLED : off->retry_due ? PP_BLOCKED : PP_ENABLED);
		/*
		 * Its module may be about to go, even by force. The module's exit waits for op,
		 * so nothing of the patch may be touched after this.
		 */
		if (put)
			module_put(off->mod);
		up(&off->op);
	}
}

static int transition_switch_on(struct transition *tr)
{
	unsigned int i;

	for (i = 0; i < tr->nr_off; i++) {
		transition_report(tr->off[i], NULL);
		pp_sysfs_state(tr->off[i], PP_DISABLING);
	}
	return transition_try(tr);
}

static int transition_enable(struct pp_patch *patch, char **replaced)
{
	struct transition tr;
	int ret;

	/*
	 * An enabled patch holds its module, from before the switch on. This fails if the
	 * module is about to go; then its exit waits for us in pp_sysfs_remove().
	 */
	if (!try_module_get(patch->mod)) {
		WRITE_ONCE(patch->error, -ENODEV);
		pp_sysfs_state(patch, PP_DISABLED);
		return -ENODEV;
	}
	ret = transition_init(&tr, patch, true, false) ?:
	      pp_replace_names(tr.off, tr.nr_off, replaced);
	transition_record_begin(&tr);
	ret = ret ?: pp_verify_all_code(patch) ?: transition_switch_on(&tr);
	if (ret)
		transition_cancel(&tr);
	else
		pp_replace_done(patch);
	/*
	 * A reader that sees this patch enabled must find the replaced patches in their final
	 * state.
	 */
	transition_release_replaced(&tr, ret);
	transition_conclude(&tr, ret);
	transition_deinit(&tr);
	if (ret) {
		/* Its code may have run: all of it for a moment, or its pre-patch callbacks. */
		pp_drain_later(patch);
		transition_unpin(patch);
		module_put(patch->mod);
	}
	return ret;
}

static int transition_disable(struct pp_patch *patch, bool forced)
{
	struct transition tr;
	int ret = transition_init(&tr, patch, false, forced);
	bool put = false;

	transition_record_begin(&tr);
	ret = ret ?: transition_try(&tr);
	if (ret)
		transition_cancel(&tr);
	else
		put = transition_ends_hold(&tr, patch);
	transition_conclude(&tr, ret);
	transition_deinit(&tr);
	if (ret)
		return ret;
	transition_unpin(patch);
	/*
	 * After a stop transition no task is in the module's text, and none can enter it: when
	 * the stopped section ended, no stack led there, no handler was about to jump there,
	 * and no site has led there since. (The handler of an NMI that interrupted the section
	 * has ended on its CPU before the CPU left the section.) After a live transition
	 * pp_drain_try_end() finds that out, now or later.
	 */
	if (put)
		module_put(patch->mod);
	return 0;
}

int pp_transition(struct pp_patch *patch, bool enable, char **replaced)
{
	transition_report(patch, NULL);
	WRITE_ONCE(patch->error, 0);
	if (patch->enabled == enable) {
		pp_sysfs_state(patch, enable ? PP_ENABLED : PP_DISABLED);
		return 0;
	}
	pp_sysfs_state(patch, enable ? PP_ENABLING : PP_DISABLING);
	return enable ? transition_enable(patch, replaced) : transition_disable(patch, false);
}

int pp_transition_forced(struct pp_patch *patch)
{
	transition_report(patch, NULL);
	pp_sysfs_state(patch, PP_DISABLING);
	return transition_disable(patch, true);
}
