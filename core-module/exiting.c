// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks on their way out.
 *
 * release_task() takes a task from the task list while that task may still run:
 * an auto-reaped one calls it for itself, in exit_notify(), and goes on (and may
 * sleep, in proc_flush_pid()); a zombie can be reaped by its parent while it is
 * still between exit_notify() and its last schedule().  Nothing that walks the
 * task list sees those, so they are tracked here: from the tracepoint
 * sched_process_exit, which every task passes before exit_notify(), until it is
 * TASK_DEAD and off its CPU.
 *
 * At its end do_exit() disables preemption for good before it sets TASK_DEAD, so
 * a task that stop_machine() finds off its CPU either is TASK_DEAD and has run
 * its last instruction, or can be preempted still and is tracked.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/list.h>
#include <linux/mmzone.h>
#include <linux/mutex.h>
#include <linux/nodemask.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stop_machine.h>
#include <linux/tracepoint.h>

#include "core_print.h"
#include "debug.h"
#include "exiting.h"
#include "kernel_symbols.h"
#include "stack.h"

struct exiting {
	struct list_head node;
	struct task_struct *task; /* holds a reference */
};

static LIST_HEAD(exiting);
/*
 * Guards the list.  Its holder cannot be preempted, so nobody holds it in a
 * stopped section, where the list is read without it.
 */
static DEFINE_RAW_SPINLOCK(exiting_lock);
/* How often a task could not be noted, for want of memory; so many are known by other means. */
static atomic_t lost = ATOMIC_INIT(0), caught_up = ATOMIC_INIT(0);
/* One at a time catches up. */
static DEFINE_MUTEX(catch_up_mutex);
static struct tracepoint *exit_tracepoint;

/* Dead, and switched away from for the last time. */
static bool is_gone(const struct task_struct *task)
{
	return READ_ONCE(task->__state) == TASK_DEAD && !pp_on_cpu(task);
}

void pp_exiting_sweep(void)
{
	struct exiting *entry, *next;
	LIST_HEAD(gone);

	raw_spin_lock(&exiting_lock);
	list_for_each_entry_safe(entry, next, &exiting, node)
		if (is_gone(entry->task))
			list_move(&entry->node, &gone);
	raw_spin_unlock(&exiting_lock);

	list_for_each_entry_safe(entry, next, &gone, node) {
		put_task_struct(entry->task);
		kfree(entry);
	}
}

static bool note_exiting(struct task_struct *task)
{
	struct exiting *entry = kmalloc(sizeof(*entry), GFP_ATOMIC | __GFP_NOWARN);

	if (!entry)
		return false;
	entry->task = get_task_struct(task);
	raw_spin_lock(&exiting_lock);
	list_add(&entry->node, &exiting);
	raw_spin_unlock(&exiting_lock);
	return true;
}

/* In the exiting task, preemption off.  The sweep keeps the list short. */
static void notrace probe_exit(void *unused, struct task_struct *task)
{
	pp_exiting_sweep();
	if (!note_exiting(task))
		atomic_inc(&lost);
}

/* --- by their stacks ------------------------------------------------------------------ */

/*
 * Without CONFIG_TASKS_RCU nobody can be asked to wait for those that have left the task list
 * unseen.  But the kernel counts the memory of all stacks, and at its end do_exit() takes the
 * task's from that (exit_task_stack_account()), after which a kernel that is not preemptible does
 * not switch away from it but for good.  So if the stacks are no more than the tasks that are
 * known, nobody is missing.  In a stop, since everything else would be counted while it changes;
 * there each task has been switched out where it asked for it.  A task that is just being made has
 * a stack and is nowhere yet: what is too much may be that, so it is counted again.
 */
#define COUNT_FOR (30 * HZ)

static long stacks_of(int nid)
{
	struct pglist_data *node = NODE_DATA(nid);
	long kb = atomic_long_read(&node->vm_stat[NR_KERNEL_STACK_KB]);
	int cpu;

	for_each_possible_cpu(cpu)
		kb += per_cpu_ptr(node->per_cpu_nodestats, cpu)->vm_node_stat_diff[NR_KERNEL_STACK_KB];
	return kb * SZ_1K / THREAD_SIZE;
}

/* How many stacks are of tasks that are not known.  In the stopped section. */
static int count_unknown(void *unknown)
{
	const struct task_struct *group, *task;
	long nr = 0;
	int i;

	for_each_online_node(i)
		nr += stacks_of(i);
	for_each_process_thread(group, task)
		nr -= READ_ONCE(task->__state) != TASK_DEAD;
	for_each_possible_cpu(i) {
		task = pp_kernel.idle_task(i);
		/* The first one's is in the kernel's image. */
		nr -= task && task != &init_task;
	}
	*(long *)unknown = nr;
	return 0;
}

/* Until nobody is missing, or so long that it cannot be told: then false.  May sleep. */
static bool all_stacks_known(void)
{
	const unsigned long end = jiffies + COUNT_FOR;
	long unknown;

	if (IS_ENABLED(CONFIG_PREEMPTION))
		return false;
	while (!stop_machine(count_unknown, &unknown, NULL) && unknown > 0 &&
	       time_before(jiffies, end))
		msleep(20);
	return !unknown;
}

/* --- catching up ---------------------------------------------------------------------- */

static void wait_for_unknown(void)
{
	static bool told;

	if (pp_debug_skip_earlier)
		return;
	synchronize_rcu_tasks();
	if (IS_ENABLED(CONFIG_TASKS_RCU) || all_stacks_known() || told)
		return;
	pr_notice("this kernel has no CONFIG_TASKS_RCU, so tasks may not be seen that are just exiting\n");
	told = true;
}

/*
 * Note those that passed the tracepoint unseen.  PF_EXITING is set before it, by
 * the task itself, and is visible by now: both registering a probe and setting
 * counting in lost are followed by an RCU grace period, which the tracepoint's
 * preempt-off section cannot span.  So the ones that are on the list are found.
 * The others have left it in release_task(), hence after exit_tasks_rcu_start();
 * synchronize_rcu_tasks() waits until they have passed exit_tasks_rcu_finish(),
 * where they cannot be preempted any more.  (From Linux 6.9 on it does not wait for those
 * that sleep there, and this would not do.)
 *
 * zap_pid_ns_processes() leaves that section for a while, but only on the list.
 */
static int catch_up(void)
{
	struct task_struct *group, *task;
	int ret = 0;

	synchronize_rcu();
	rcu_read_lock();
	for_each_process_thread(group, task) {
		if ((READ_ONCE(task->flags) & PF_EXITING) && !is_gone(task) &&
		    !note_exiting(task)) {
			ret = -ENOMEM;
			goto out;
		}
	}
out:
	rcu_read_unlock();
	wait_for_unknown();
	return ret;
}

/*
 * Without pp_mutex: the grace period waits for all tasks that were preempted, and for those
 * that sleep at their very end, and neither modules nor switches of who need not wait shall
 * wait as well.  Those that are lost meanwhile are counted, and not caught up with.
 */
int pp_exiting_ready(bool killable)
{
	int ret = 0, nr;

	pp_exiting_sweep();
	if (pp_exiting_all_known())
		return 0;
	if (!killable)
		mutex_lock(&catch_up_mutex);
	else if (mutex_lock_killable(&catch_up_mutex))
		return -EINTR;
	nr = atomic_read(&lost);
	if (nr != atomic_read(&caught_up))
		ret = catch_up();
	if (!ret)
		atomic_set(&caught_up, nr);
	mutex_unlock(&catch_up_mutex);
	return ret;
}

/*
 * The stop asks again: a task may have passed the tracepoint, unnoted, since
 * pp_exiting_ready() did.  probe_exit() runs with preemption off, so that a task that the
 * stop finds past it was counted; one that it finds before it is on the task list.
 */
bool pp_exiting_all_known(void)
{
	return atomic_read(&lost) == atomic_read(&caught_up);
}

void pp_exiting_for_each(void (*fn)(struct pp_scan *scan, struct task_struct *task),
			 struct pp_scan *scan)
{
	struct exiting *entry;

	list_for_each_entry(entry, &exiting, node)
		/* __unhash_process() clears thread_pid as it takes the task from the list. */
		if (!is_gone(entry->task) && !pid_alive(entry->task))
			fn(scan, entry->task);
}

static void find_tracepoint(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sched_process_exit"))
		exit_tracepoint = tp;
}

/* Track exiting tasks from now on.  May sleep. */
int pp_exiting_init(void)
{
	int ret;

	for_each_kernel_tracepoint(find_tracepoint, NULL);
	if (!exit_tracepoint) {
		pr_err("this kernel has no tracepoint sched_process_exit, which the core needs\n");
		return -ENOENT;
	}
	ret = tracepoint_probe_register(exit_tracepoint, probe_exit, NULL);
	if (ret) {
		pr_err("cannot watch tasks exit (%d)\n", ret);
		return ret;
	}
	ret = catch_up();
	if (ret)
		pp_exiting_exit();
	return ret;
}

void pp_exiting_exit(void)
{
	struct exiting *entry, *next;

	tracepoint_probe_unregister(exit_tracepoint, probe_exit, NULL);
	tracepoint_synchronize_unregister();
	list_for_each_entry_safe(entry, next, &exiting, node) {
		list_del(&entry->node);
		put_task_struct(entry->task);
		kfree(entry);
	}
}
