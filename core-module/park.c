// SPDX-License-Identifier: GPL-2.0-only
/*
 * Asking busy tasks to leave.
 *
 * A task that sleeps in a function that is to be switched may sleep there for ever. The core
 * interrupts it as a signal would. If the sleep is interruptible, the system call ends, and the
 * task will start it again from user mode. That alone is not enough, because the task would be
 * back in the function at once. So it is held on its way to user mode, where it has no lock and
 * is in no function of a patch, until the next attempt is over.
 *
 * A task that waits in io_uring_enter() runs task work within that call, so it is held there, with
 * these functions on its stack and without a lock that an attempt needs.  Of a patch of these it
 * stays in the way.
 *
 * Kernel threads, the kernel's workers for a process (of io_uring, of vhost), and tasks that sleep
 * uninterruptibly, stay where they are.
 */
#include <linux/atomic.h>
#include <linux/freezer.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/task_work.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "access.h"
#include "compat.h"
#include "core_print.h"
#include "kernel_symbols.h"
#include "park.h"
#include "stack.h"

/* Jiffies.  Longer than an attempt takes; a task is never held longer, whatever happens. */
#define LONGEST (HZ / 4)

/* A task that was asked to leave.  Both the transition and the task hold a reference. */
struct parked {
	struct callback_head work;
	struct list_head node;	  /* in pp_park.tasks */
	struct task_struct *task; /* holds a reference */
	refcount_t refs;
	wait_queue_head_t wait;
	bool over;
};

/* The core must stay while a task is in park_keep() or may still reach it. */
static atomic_t outstanding = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(all_gone);

/*
 * A system call that is interrupted as by a signal may return to its caller with an error
 * (epoll_wait() does). So tasks first get time to leave by themselves.
 */
static unsigned int ask_after_ms = 500;
pp_param_uint(ask_after_ms);
MODULE_PARM_DESC(ask_after_ms,
		 "when user tasks in the way are asked to leave, milliseconds; 0: never");

/* The time between two rounds of asking by a patch whose `evict` is set, at most. */
#define EVICT_PERIOD (HZ / 2)

bool pp_park_asks_after(unsigned long elapsed)
{
	const unsigned int after = READ_ONCE(ask_after_ms);

	return after && elapsed >= msecs_to_jiffies(after);
}

/*
 * The first round asks and the second one kills. A task needs time for either before the timeout,
 * so the second round comes half-way, or after EVICT_PERIOD if that is earlier. Half is rounded up:
 * a third round would come at the timeout, when no attempt is left that could gain by a kill, and
 * transition_try() leaves that out.
 */
static unsigned long park_kill_period(unsigned int timeout_ms)
{
	return clamp(DIV_ROUND_UP(msecs_to_jiffies(timeout_ms), 2), 1UL,
		     (unsigned long)EVICT_PERIOD);
}

void pp_park_init(struct pp_park *park, enum pp_evict evict, unsigned int timeout_ms)
{
	*park = (struct pp_park){ .evict = evict, .due = jiffies, .period = EVICT_PERIOD };
	INIT_LIST_HEAD(&park->tasks);
	xa_init(&park->asked);
	if (evict == PP_EVICT_KILL)
		park->period = park_kill_period(timeout_ms);
	if (evict != PP_EVICT_LATER)
		return;
	park->period = msecs_to_jiffies(READ_ONCE(ask_after_ms));
	park->due += park->period;
}

void pp_park_deinit(struct pp_park *park)
{
	pp_park_release(park);
	xa_destroy(&park->asked);
}

bool pp_park_is_due(struct pp_park *park)
{
	/* Tasks that the last attempt has asked had the pause to arrive in park_keep(). */
	if (!park->period || !list_empty(&park->tasks) || time_before(jiffies, park->due))
		return false;
	park->due = jiffies + park->period;
	return true;
}

static void park_put(struct parked *parked)
{
	if (!refcount_dec_and_test(&parked->refs))
		return;
	put_task_struct(parked->task);
	kfree(parked);
	if (atomic_dec_and_test(&outstanding))
		wake_up_all(&all_gone);
}

/* The task work: @work's task is on its way to user mode, or exits. */
static void park_keep(struct callback_head *work)
{
	struct parked *parked = container_of(work, struct parked, work);

	if (!(current->flags & PF_EXITING))
		wait_event_killable_timeout(parked->wait, READ_ONCE(parked->over), LONGEST);
	park_put(parked);
}

static void park_ask(struct pp_park *park, struct task_struct *task)
{
	struct parked *parked = kmalloc(sizeof(*parked), GFP_KERNEL);

	if (!parked)
		return;
	atomic_inc(&outstanding);
	parked->task = get_task_struct(task);
	parked->over = false;
	init_waitqueue_head(&parked->wait);
	init_task_work(&parked->work, park_keep);
	refcount_set(&parked->refs, 2);
	list_add(&parked->node, &park->tasks);
	/* This fails if the task exits and runs no more task work. */
	if (!task_work_add(task, &parked->work, TWA_SIGNAL))
		return;
	list_del(&parked->node);
	park_put(parked);
	park_put(parked);
}

/* Get @busy, unless it has gone. Its PID may belong to another task by now. */
static struct task_struct *park_get_task(const struct pp_busy_task *busy)
{
	struct task_struct *task;

	rcu_read_lock();
	task = pid_task(find_pid_ns(busy->pid, &init_pid_ns), PIDTYPE_PID);
	if (task && task->start_time != busy->start_time)
		task = NULL;
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	return task;
}

static void *park_value(const struct pp_busy_task *busy)
{
	return xa_mk_value(busy->start_time & LONG_MAX);
}

/* Without memory for it, the task is not killed before it was asked once more. */
static void park_remember(struct pp_park *park, const struct pp_busy_task *busy)
{
	if (park->evict == PP_EVICT_KILL)
		xa_store(&park->asked, busy->pid, park_value(busy), GFP_KERNEL | __GFP_NOWARN);
}

/*
 * Was @busy asked to leave before, and is it certainly in the way?  A task whose stack is
 * unreliable may be elsewhere.  A frozen task cannot leave, and init must not be killed.  A task
 * that exits, or is about to, needs no signal.
 */
static bool park_may_kill(struct pp_park *park, const struct pp_busy_task *busy,
			  struct task_struct *task)
{
	return xa_load(&park->asked, busy->pid) == park_value(busy) && busy->addr &&
	       !freezing(task) && !is_global_init(task) && !(task->flags & PF_EXITING) &&
	       !fatal_signal_pending(task);
}

static void park_kill(struct task_struct *task, const struct pp_busy_task *busy, const char *name)
{
	/* A task may give itself any name, also one with lines of its own. */
	pr_notice("%s: kills %*pE[%d], which was asked to leave and has not\n", name,
		  (int)strlen(busy->comm), busy->comm, busy->pid);
	send_sig(SIGKILL, task, 1);
}

void pp_park_ask(struct pp_park *park, const struct pp_scan *scan, const char *name)
{
	unsigned int i;

	for (i = 0; i < scan->nr_busy_tasks; i++) {
		struct task_struct *task = park_get_task(&scan->busy_task[i]);

		if (!task)
			continue;
		/* These never return to user mode. */
		if (task != current &&
		    !(task->flags & (PF_KTHREAD | PF_IO_WORKER | PP_PF_USER_WORKER))) {
			if (park_may_kill(park, &scan->busy_task[i], task))
				park_kill(task, &scan->busy_task[i], name);
			park_ask(park, task);
			park_remember(park, &scan->busy_task[i]);
		}
		put_task_struct(task);
	}
}

static bool park_is_work(struct callback_head *work, void *wanted)
{
	return work == wanted;
}

__nocfi void pp_park_release(struct pp_park *park)
{
	struct parked *parked, *next;

	list_for_each_entry_safe(parked, next, &park->tasks, node) {
		list_del(&parked->node);
		/*
		 * Cancel the work of a task that has not begun it. Otherwise the task is in
		 * park_keep(), or will be soon: other task work of its own, which may take any
		 * time, runs before it.
		 */
		WRITE_ONCE(parked->over, true);
		if (pp_kernel.task_work_cancel_match(parked->task, park_is_work, &parked->work))
			park_put(parked);
		else
			wake_up_all(&parked->wait);
		park_put(parked);
	}
}

/* No transition is left.  But a task may be between park_put() and its return to the caller. */
void pp_park_exit(void)
{
	wait_event(all_gone, !atomic_read(&outstanding));
	synchronize_rcu_tasks();
}
