// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is where: the check of all stacks.
 */
#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include "arch/pp_arch.h"
#include "debug.h"
#include "exiting.h"
#include "kernel_symbols.h"
#include "stack.h"
#include "words.h"

static int compare_ranges(const void *a, const void *b)
{
	const struct pp_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return 0;
}

static unsigned int merge(struct pp_range *range, unsigned int nr)
{
	unsigned int i, last = 0;

	sort(range, nr, sizeof(*range), compare_ranges, NULL);
	for (i = 1; i < nr; i++) {
		if (range[i].start < range[last].end)
			range[last].end = max(range[last].end, range[i].end);
		else
			range[++last] = range[i];
	}
	return nr ? last + 1 : 0;
}

void pp_busy_finish(struct pp_busy *busy)
{
	busy->nr = merge(busy->range, busy->nr);
	busy->nr_text = merge(busy->text, busy->nr_text);
}

static const struct pp_range *find_range(const struct pp_range *range, unsigned int nr,
					 unsigned long addr)
{
	unsigned int low = 0, high = nr;

	/* The last range that starts at or below addr. */
	while (low < high) {
		unsigned int mid = low + (high - low) / 2;

		if (range[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	/* The end too: pp_range. */
	if (low && addr < range[low - 1].end + !pp_debug_skip_last_calls)
		return &range[low - 1];
	return NULL;
}

/* See pp_goes_on(). */
static bool only_points_to(const struct pp_busy *busy, unsigned long addr)
{
	const struct pp_range *range;

	if (!pp_arch.entry.prepared)
		return false;
	range = find_range(busy->range, busy->nr, pp_goes_on(addr));
	return range && range->start == pp_goes_on(addr);
}

/* A function's range if there is one: it knows the function. */
const struct pp_range *pp_busy_find(const struct pp_busy *busy, unsigned long addr)
{
	const struct pp_range *range = find_range(busy->range, busy->nr, addr);

	if (range || only_points_to(busy, addr))
		return range;
	return find_range(busy->text, busy->nr_text, addr);
}

struct visit {
	const struct pp_busy *busy;
	struct pp_hit *hit;
};

static bool visit_addr(void *ctx, unsigned long addr)
{
	struct visit *visit = ctx;
	const struct pp_range *range = pp_busy_find(visit->busy, addr);

	visit->hit->frames++;
	if (!range)
		return true;
	visit->hit->addr = addr;
	visit->hit->func = range->func;
	return false;
}

bool pp_stack_clear(const struct pp_busy *busy, struct task_struct *task, struct pp_hit *hit)
{
	struct visit visit = { busy, hit };

	*hit = (struct pp_hit){};
	/* A task that is dead and gone from the CPU has no stack any more. */
	if (!try_get_task_stack(task))
		return true;
	hit->err = pp_arch.stack.walk(task, visit_addr, &visit);
	if (pp_debug_cross_check)
		pp_words_compare(busy, task, hit);
	pp_put_task_stack(task);
	return !hit->addr && (!hit->err || pp_debug_skip_unreliable);
}

void pp_scan_add(struct pp_scan *scan, const struct task_struct *task, const struct pp_hit *hit)
{
	struct pp_blocker *blocker;

	if (scan->nr_blockers == scan->max_blockers) {
		scan->unlisted++;
		return;
	}
	blocker = &scan->blocker[scan->nr_blockers++];
	blocker->pid = task_pid_nr((struct task_struct *)task);
	/* Not get_task_comm(): it takes a lock.  The last byte is always 0. */
	memcpy(blocker->comm, task->comm, sizeof(blocker->comm));
	blocker->comm[sizeof(blocker->comm) - 1] = 0;
	blocker->addr = hit->addr;
	blocker->func = hit->func;
}

static unsigned int count_tasks(void)
{
	struct task_struct *group, *task;
	unsigned int nr = 0;

	rcu_read_lock();
	for_each_process_thread(group, task)
		nr++;
	rcu_read_unlock();
	return nr;
}

int pp_scan_init(struct pp_scan *scan, const struct pp_busy *busy)
{
	const unsigned int nr = count_tasks() + num_possible_cpus() + 64;

	*scan = (struct pp_scan){ .busy = busy, .max_blockers = pp_debug_no_room ? 0 : nr };
	scan->seen_bits = ilog2(nr) + 2; /* at most half full */
	scan->blocker = kvmalloc_array(nr, sizeof(*scan->blocker), GFP_KERNEL);
	scan->seen = kvcalloc(1UL << scan->seen_bits, sizeof(*scan->seen), GFP_KERNEL);
	if (scan->blocker && scan->seen)
		return 0;
	pp_scan_deinit(scan);
	return -ENOMEM;
}

void pp_scan_deinit(struct pp_scan *scan)
{
	kvfree(scan->seen);
	kvfree(scan->blocker);
}

/*
 * The times that a task was switched out.  __schedule() counts before it switches
 * away, so a task that is off its CPU with the same count as before has not run
 * in between.  The two parts are read apart: the sum can only come out too small,
 * and then a later, true one differs.
 */
static unsigned long switches(const struct task_struct *task)
{
	return READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
}

static struct pp_seen *seen_slot(const struct pp_scan *scan, const struct task_struct *task)
{
	const unsigned int mask = (1U << scan->seen_bits) - 1;
	unsigned int i = hash_ptr(task, scan->seen_bits);

	while (scan->seen[i].task && scan->seen[i].task != task)
		i = (i + 1) & mask;
	return &scan->seen[i];
}

static void seen_add(struct pp_scan *scan, const struct task_struct *task, unsigned long count)
{
	struct pp_seen *slot = seen_slot(scan, task);

	/* New tasks since pp_scan_init(): let them be looked at again. */
	if (!slot->task && scan->nr_seen >= 1U << (scan->seen_bits - 1))
		return;
	scan->nr_seen += !slot->task;
	*slot = (struct pp_seen){ task, task->start_time, count };
}

/* The address of a task may be another task's by now, but not with its start time. */
static bool seen_unchanged(const struct pp_scan *scan, const struct task_struct *task)
{
	const struct pp_seen *slot = seen_slot(scan, task);

	return slot->task && slot->start_time == task->start_time &&
	       (slot->switches == switches(task) || pp_debug_skip_runs);
}

/*
 * One task, while everything runs: by task_call_func(), so that it is asleep and
 * not woken, or waiting for its CPU and kept waiting, or running and left alone.
 * Holds the task's locks, interrupts off.
 */
static int look_at_running(struct task_struct *task, void *arg)
{
	struct pp_scan *scan = arg;
	struct pp_hit hit;

	if (task != current && pp_on_cpu(task))
		return 0;
	if (!pp_stack_clear(scan->busy, task, &hit))
		pp_scan_add(scan, task, &hit);
	else if (task != current)
		seen_add(scan, task, switches(task));
	return 0;
}

bool pp_scan_running(struct pp_scan *scan)
{
	struct task_struct *group, *task;

	if (pp_debug_skip_tasks)
		return true;
	rcu_read_lock();
	for_each_process_thread(group, task)
		pp_kernel.task_call_func(task, look_at_running, scan);
	rcu_read_unlock();
	return !scan->nr_blockers;
}

/* One task, in the stopped section: it is not running, and will not. */
static void look_at_stopped(struct pp_scan *scan, struct task_struct *task)
{
	struct pp_hit hit;

	scan->walked++;
	if (!pp_stack_clear(scan->busy, task, &hit))
		pp_scan_add(scan, task, &hit);
	scan->frames += hit.frames;
}

/*
 * The task list is whole here: it changes under write_lock_irq(&tasklist_lock),
 * and who holds that cannot be stopped.  A task that is being made is on the list
 * or has not run yet.
 */
bool pp_scan_stopped(struct pp_scan *scan, struct task_struct *const *stoppers)
{
	struct task_struct *group, *task;
	int cpu;

	if (!pp_debug_skip_tasks) {
		for_each_process_thread(group, task) {
			if (stoppers[task_cpu(task)] == task)
				continue;
			if (!pp_debug_walk_all && seen_unchanged(scan, task))
				scan->skipped++;
			else
				look_at_stopped(scan, task);
		}
	}
	if (!pp_debug_skip_exiting) {
		pp_exiting_for_each(look_at_stopped, scan);
		scan->lost = !pp_exiting_all_known();
	}
	/* Idle tasks of CPUs that are down start afresh when these come up. */
	if (!pp_debug_skip_idle)
		for_each_online_cpu(cpu)
			look_at_stopped(scan, pp_kernel.idle_task(cpu));
	return !scan->nr_blockers && (!scan->unlisted || pp_debug_skip_unlisted) &&
	       (!scan->lost || pp_debug_skip_lost);
}
