// SPDX-License-Identifier: GPL-2.0-only
/*
 * The check of all stacks: which tasks are busy, because they run code that a transition
 * switches or will return to it. It is made twice: while all CPUs run (pp_scan_running()), and
 * in the stopped section (pp_scan_stopped()).
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
#include <linux/timekeeping.h>

#include "arch/pp_arch.h"
#include "debug.h"
#include "exiting.h"
#include "kernel_symbols.h"
#include "stack.h"
#include "words.h"

static int stack_compare_ranges(const void *a, const void *b)
{
	const struct pp_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return 0;
}

static unsigned int stack_merge_ranges(struct pp_range *range, unsigned int nr)
{
	unsigned int i, last = 0;

	sort(range, nr, sizeof(*range), stack_compare_ranges, NULL);
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
	busy->nr = stack_merge_ranges(busy->range, busy->nr);
	busy->nr_text = stack_merge_ranges(busy->text, busy->nr_text);
}

static const struct pp_range *stack_find_range(const struct pp_range *range, unsigned int nr,
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
	/* The end of a range is included (struct pp_range). */
	if (low && addr < range[low - 1].end + !pp_debug_skip_last_calls)
		return &range[low - 1];
	return NULL;
}

/* Is @addr the first instruction of a function, as a pointer?  See pp_stack_saved_pc(). */
static bool stack_only_points_to(const struct pp_busy *busy, unsigned long addr)
{
	const struct pp_range *range;

	if (!pp_arch.entry.prepared)
		return false;
	range = stack_find_range(busy->range, busy->nr, pp_stack_saved_pc(addr));
	return range && range->start == pp_stack_saved_pc(addr);
}

/* Look for a function's range first, because blocked_by names the function. */
const struct pp_range *pp_busy_find(const struct pp_busy *busy, unsigned long addr)
{
	const struct pp_range *range = stack_find_range(busy->range, busy->nr, addr);

	if (range || stack_only_points_to(busy, addr))
		return range;
	return stack_find_range(busy->text, busy->nr_text, addr);
}

struct stack_visit {
	const struct pp_busy *busy;
	struct pp_stack_walk *walk;
};

static bool stack_visit(void *ctx, unsigned long addr)
{
	struct stack_visit *visit = ctx;
	const struct pp_range *range = pp_busy_find(visit->busy, addr);

	visit->walk->frames++;
	if (!range)
		return true;
	visit->walk->addr = addr;
	visit->walk->func = range->func;
	return false;
}

bool pp_stack_clear(const struct pp_busy *busy, struct task_struct *task,
		    struct pp_stack_walk *walk)
{
	struct stack_visit visit = { busy, walk };

	*walk = (struct pp_stack_walk){};
	/* A task that is dead and has left its CPU has no stack any more. */
	if (!try_get_task_stack(task))
		return true;
	walk->err = pp_arch.stack.walk(task, stack_visit, &visit);
	if (pp_debug_cross_check)
		pp_words_compare(busy, task, walk);
	pp_put_task_stack(task);
	return !walk->addr && (!walk->err || pp_debug_skip_unreliable);
}

void pp_scan_add(struct pp_scan *scan, const struct task_struct *task,
		 const struct pp_stack_walk *walk)
{
	struct pp_busy_task *busy_task;

	if (scan->nr_busy_tasks == scan->max_busy_tasks) {
		scan->unlisted++;
		return;
	}
	busy_task = &scan->busy_task[scan->nr_busy_tasks++];
	busy_task->pid = task_pid_nr((struct task_struct *)task);
	busy_task->start_time = task->start_time;
	/* get_task_comm() would take a lock.  The last byte of comm is always 0. */
	memcpy(busy_task->comm, task->comm, sizeof(busy_task->comm));
	busy_task->comm[sizeof(busy_task->comm) - 1] = 0;
	busy_task->addr = walk->addr;
	busy_task->func = walk->func;
}

static unsigned int stack_count_tasks(void)
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
	const unsigned int nr = stack_count_tasks() + pp_exiting_count() + num_possible_cpus() + 64;

	*scan = (struct pp_scan){ .busy = busy, .max_busy_tasks = pp_debug_no_room ? 0 : nr };
	scan->seen_bits = ilog2(nr) + 2; /* at most half full */
	scan->busy_task = kvmalloc_array(nr, sizeof(*scan->busy_task), GFP_KERNEL);
	scan->seen = kvcalloc(1UL << scan->seen_bits, sizeof(*scan->seen), GFP_KERNEL);
	if (scan->busy_task && scan->seen)
		return 0;
	pp_scan_deinit(scan);
	return -ENOMEM;
}

void pp_scan_deinit(struct pp_scan *scan)
{
	kvfree(scan->seen);
	kvfree(scan->busy_task);
}

/*
 * How often @task was switched out. __schedule() counts before it switches away, so a task that
 * is off its CPU and has the same count as before has not run in between. The two counters are
 * not read together. So the sum can only be too small, and then a later, correct sum differs.
 */
static unsigned long stack_switches(const struct task_struct *task)
{
	return READ_ONCE(task->nvcsw) + READ_ONCE(task->nivcsw);
}

static struct pp_seen *stack_seen_slot(const struct pp_scan *scan, const struct task_struct *task)
{
	const unsigned int mask = (1U << scan->seen_bits) - 1;
	unsigned int i = hash_ptr(task, scan->seen_bits);

	while (scan->seen[i].task && scan->seen[i].task != task)
		i = (i + 1) & mask;
	return &scan->seen[i];
}

static void stack_seen_add(struct pp_scan *scan, const struct task_struct *task,
			   unsigned long count)
{
	struct pp_seen *slot = stack_seen_slot(scan, task);

	/* More tasks than pp_scan_init() made room for: the stop looks at this one again. */
	if (!slot->task && scan->nr_seen >= 1U << (scan->seen_bits - 1))
		return;
	scan->nr_seen += !slot->task;
	*slot = (struct pp_seen){ task, task->start_time, count };
}

/*
 * Has @task not run since it was remembered? Its address may belong to a new task by now, but
 * then the start time differs.
 */
static bool stack_seen_unchanged(const struct pp_scan *scan, const struct task_struct *task)
{
	const struct pp_seen *slot = stack_seen_slot(scan, task);

	return slot->task && slot->start_time == task->start_time &&
	       (slot->switches == stack_switches(task) || pp_debug_skip_runs);
}

/*
 * Look at one task while all CPUs run. task_call_func() calls this with the locks of @task held
 * and interrupts off. So @task either sleeps and cannot be woken, or waits for a CPU and cannot
 * get it, or is running, and then it is left to the stop.
 */
static int stack_look_running(struct task_struct *task, void *arg)
{
	struct pp_scan *scan = arg;
	struct pp_stack_walk walk;

	if (task != current && pp_on_cpu(task))
		return 0;
	if (!pp_stack_clear(scan->busy, task, &walk))
		pp_scan_add(scan, task, &walk);
	else if (task != current)
		stack_seen_add(scan, task, stack_switches(task));
	return 0;
}

/* The same for a task that hangs in its exit, which may have left the task list. */
static __nocfi void stack_look_exiting(struct task_struct *task, void *scan)
{
	pp_kernel.task_call_func(task, stack_look_running, scan);
}

__nocfi bool pp_scan_running(struct pp_scan *scan)
{
	struct task_struct *group, *task;

	if (pp_debug_skip_tasks)
		return true;
	rcu_read_lock();
	for_each_process_thread(group, task)
		pp_kernel.task_call_func(task, stack_look_running, scan);
	rcu_read_unlock();
	if (!pp_debug_skip_exiting)
		pp_exiting_visit(stack_look_exiting, scan);
	return !scan->nr_busy_tasks;
}

/* In the stopped section: look at one task, which is off its CPU and stays off it. */
static void stack_look_stopped(struct pp_scan *scan, struct task_struct *task)
{
	struct pp_stack_walk walk;

	scan->walked++;
	if (!pp_stack_clear(scan->busy, task, &walk))
		pp_scan_add(scan, task, &walk);
	scan->frames += walk.frames;
}

/* Reading the clock takes longer than skipping a task. */
#define SKIPS_PER_LOOK_AT_CLOCK 64

/*
 * In the stopped section: look at @task, unless it has not run since it was found not busy.
 * Return: false if the time is over.
 */
static bool stack_look_if_run(struct pp_scan *scan, struct task_struct *task)
{
	const bool skip = !pp_debug_walk_all && stack_seen_unchanged(scan, task);

	if (skip)
		scan->skipped++;
	else
		stack_look_stopped(scan, task);
	if (scan->until && (!skip || !(scan->skipped % SKIPS_PER_LOOK_AT_CLOCK)))
		scan->late = ktime_get_mono_fast_ns() > scan->until;
	return !scan->late;
}

/*
 * The task list is complete here. It changes under write_lock_irq(&tasklist_lock), and a CPU
 * whose task holds that lock has interrupts off and cannot be stopped. A task that is being
 * made is on the list already or has not run yet.
 */
__nocfi bool pp_scan_stopped(struct pp_scan *scan, struct task_struct *const *stoppers)
{
	struct task_struct *group, *task;
	int cpu;

	if (!pp_debug_skip_tasks) {
		for_each_process_thread(group, task) {
			if (stoppers[task_cpu(task)] != task && !stack_look_if_run(scan, task))
				return false;
		}
	}
	if (!pp_debug_skip_exiting) {
		if (!pp_exiting_for_each(stack_look_if_run, scan))
			return false;
		scan->lost = !pp_exiting_all_known();
	}
	/* The idle task of an offline CPU starts afresh when that CPU comes up. */
	if (!pp_debug_skip_idle)
		for_each_online_cpu(cpu)
			stack_look_stopped(scan, pp_kernel.idle_task(cpu));
	return !scan->nr_busy_tasks && (!scan->unlisted || pp_debug_skip_unlisted) &&
	       (!scan->lost || pp_debug_skip_lost);
}
