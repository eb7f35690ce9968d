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
#include <linux/completion.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/rcupdate.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/wait.h>

#include "core.h"

/* Longer than an attempt takes; a task is not kept longer, whatever happens to that. */
#define LONGEST (HZ / 4)

struct parked {
	struct callback_head work;
	struct list_head node;
	struct pp_park *park;
	struct task_struct *task; /* holds a reference */
	struct completion done;
};

void pp_park_init(struct pp_park *park)
{
	*park = (struct pp_park){};
	INIT_LIST_HEAD(&park->tasks);
	init_waitqueue_head(&park->wait);
}

/* In the task, on its way to user mode, or to its end. */
static void keep(struct callback_head *work)
{
	struct parked *parked = container_of(work, struct parked, work);

	if (!(current->flags & PF_EXITING))
		wait_event_killable_timeout(parked->park->wait, READ_ONCE(parked->park->over),
					    LONGEST);
	complete(&parked->done); /* it may be freed now */
}

static void ask(struct pp_park *park, struct task_struct *task)
{
	struct parked *parked = kmalloc(sizeof(*parked), GFP_KERNEL);

	if (!parked)
		return;
	parked->park = park;
	parked->task = get_task_struct(task);
	init_completion(&parked->done);
	init_task_work(&parked->work, keep);
	/* Fails if the task is past where such work is done: it exits. */
	if (task_work_add(task, &parked->work, TWA_SIGNAL)) {
		put_task_struct(task);
		kfree(parked);
		return;
	}
	list_add(&parked->node, &park->tasks);
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
		if (task != current && !(task->flags & PF_KTHREAD))
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

	WRITE_ONCE(park->over, true);
	wake_up_all(&park->wait);
	list_for_each_entry_safe(parked, next, &park->tasks, node) {
		/* Who has not come to it yet shall not; else it is at it, or done. */
		if (!pp_kernel.task_work_cancel_match(parked->task, is_it, &parked->work))
			wait_for_completion(&parked->done);
		put_task_struct(parked->task);
		kfree(parked);
	}
	pp_park_init(park);
}

/* No transition is left. Some task may still be between complete() and its return. */
void pp_park_exit(void)
{
	synchronize_rcu_tasks();
}
