// SPDX-License-Identifier: GPL-2.0-only
/*
 * Getting sleepers out of the way.
 *
 * A task that sleeps in a function that is to be switched may do so for ever. What a
 * signal would do helps, if the sleep can be interrupted: the system call ends, to be
 * begun again from user mode. That alone is not enough, since the task would be back in
 * the function at once; so on its way to user mode, where it holds no lock and is in no
 * function of ours, it is kept for the next attempt, and then let go.
 *
 * Kernel threads, and tasks that sleep uninterruptibly, stay where they are.
 */
#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/wait.h>

#include "kernel_symbols.h"
#include "park.h"
#include "stack.h"

/* Longer than an attempt takes; a task is not kept longer, whatever happens to that. */
#define LONGEST (HZ / 4)

/* Belongs to the transition and to the task; who drops it last frees it. */
struct parked {
	struct callback_head work;
	struct list_head node;	  /* the transition's */
	struct task_struct *task; /* holds a reference */
	refcount_t refs;
	wait_queue_head_t wait;
	bool over;
};

/* The core stays while a task may come to keep(), or is in it. */
static atomic_t outstanding = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(all_gone);

void pp_park_init(struct pp_park *park)
{
	INIT_LIST_HEAD(&park->tasks);
}

static void put(struct parked *parked)
{
	if (!refcount_dec_and_test(&parked->refs))
		return;
	put_task_struct(parked->task);
	kfree(parked);
	if (atomic_dec_and_test(&outstanding))
		wake_up_all(&all_gone);
}

/* In the task, on its way to user mode, or to its end. */
static void keep(struct callback_head *work)
{
	struct parked *parked = container_of(work, struct parked, work);

	if (!(current->flags & PF_EXITING))
		wait_event_killable_timeout(parked->wait, READ_ONCE(parked->over), LONGEST);
	put(parked);
}

static void ask(struct pp_park *park, struct task_struct *task)
{
	struct parked *parked = kmalloc(sizeof(*parked), GFP_KERNEL);

	if (!parked)
		return;
	atomic_inc(&outstanding);
	parked->task = get_task_struct(task);
	parked->over = false;
	init_waitqueue_head(&parked->wait);
	init_task_work(&parked->work, keep);
	refcount_set(&parked->refs, 2);
	list_add(&parked->node, &park->tasks);
	/* Fails if the task is past where such work is done: it exits. */
	if (!task_work_add(task, &parked->work, TWA_SIGNAL))
		return;
	list_del(&parked->node);
	put(parked);
	put(parked);
}

/* The task that was called @pid in the scan; another one by now is kept for nothing. */
static struct task_struct *get_task(pid_t pid)
{
	struct task_struct *task;

	rcu_read_lock();
	task = pid_task(find_pid_ns(pid, &init_pid_ns), PIDTYPE_PID);
	if (task)
		get_task_struct(task);
	rcu_read_unlock();
	return task;
}

void pp_park_blockers(struct pp_park *park, const struct pp_scan *scan)
{
	unsigned int i;

	for (i = 0; i < scan->nr_blockers; i++) {
		struct task_struct *task = get_task(scan->blocker[i].pid);

		if (!task)
			continue;
		/* Neither kernel threads nor io_uring's workers ever go to user mode. */
		if (task != current && !(task->flags & (PF_KTHREAD | PF_IO_WORKER)))
			ask(park, task);
		put_task_struct(task);
	}
}

static bool is_it(struct callback_head *work, void *wanted)
{
	return work == wanted;
}

void pp_park_release(struct pp_park *park)
{
	struct parked *parked, *next;

	list_for_each_entry_safe(parked, next, &park->tasks, node) {
		list_del(&parked->node);
		/*
		 * Who has not come to it yet shall not. Else the task is at it, or about to
		 * be: behind other work of its own, which may take as long as it likes.
		 */
		WRITE_ONCE(parked->over, true);
		if (pp_kernel.task_work_cancel_match(parked->task, is_it, &parked->work))
			put(parked);
		else
			wake_up_all(&parked->wait);
		put(parked);
	}
}

/* No transition is left.  Some task may still be between put() and its return. */
void pp_park_exit(void)
{
	wait_event(all_gone, !atomic_read(&outstanding));
	synchronize_rcu_tasks();
}
