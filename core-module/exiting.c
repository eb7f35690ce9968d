// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exiting tasks.
 *
 * release_task() takes a task off the task list while that task may still run. A task that is
 * reaped automatically calls it for itself, in exit_notify(), and goes on (and may sleep, in
 * proc_flush_pid()). A zombie can be reaped by its parent while it is still between
 * exit_notify() and its last schedule(). A walk of the task list does not find these tasks, so
 * they are tracked here: from the tracepoint sched_process_exit, which every task passes before
 * exit_notify(), until the task is TASK_DEAD and off its CPU.
 *
 * At its end do_exit() disables preemption for good before it sets TASK_DEAD. So a task that
 * stop_machine() finds off its CPU either is TASK_DEAD and has run its last instruction, or can
 * still be preempted and is tracked.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/mmzone.h>
#include <linux/mutex.h>
#include <linux/nodemask.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stop_machine.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <trace/events/sched.h>

#include "compat.h"
#include "core_print.h"
#include "debug.h"
#include "exiting.h"
#include "kernel_symbols.h"
#include "stack.h"

struct exiting {
	struct list_head node;
	struct task_struct *task; /* holds a reference, except in spare */
	u32 since;		  /* in jiffies */
	u32 by_walk : 1;	  /* it was noted by exiting_catch_up(), not at the tracepoint */
	u32 round : 31;		  /* of catching up: the last one that had begun by then */
};

/*
 * Anyone can have many tasks hang in their exit, by a FUSE file say, and other exits must not
 * cost more for it. So the tracepoint looks only at the first LOOKS entries of `recent`, where
 * those come first that it has not looked at for longest. A task that is still there after SOON
 * goes to `slow`. sort_work looks at the entries of that list, once a second while there are any.
 */
static LIST_HEAD(recent);
static LIST_HEAD(slow);
static unsigned int nr_recent, nr_slow;
#define LOOKS 2
#define SOON (HZ / 10)
/*
 * The tracepoint may neither allocate memory nor drop a task's last reference: it may have
 * preemption off, and with PREEMPT_RT both take locks that sleep. So it takes a spare entry, and
 * where it holds a task's last reference, it moves the entry to another list. A work item
 * (exiting_refill()) drops those references and keeps as many entries spare as a burst of exits
 * may need. Where an allocation cannot sleep, the tracepoint makes one when all spare entries are
 * in use.
 */
static LIST_HEAD(gone);
static LIST_HEAD(spare);
static unsigned int nr_spare, nr_gone;
#define SPARE 256
/*
 * Guards the lists. Its holder cannot be preempted, so no task holds it in the stopped section,
 * where `recent` and `slow` are read without it.
 */
static DEFINE_RAW_SPINLOCK(exiting_lock);
/* At most so many entries are looked at while the lock is held. */
#define CHUNK 64
/*
 * How many tasks could not be noted because memory was short, and how many of these are known
 * by other means (exiting_catch_up()).
 */
static atomic_t lost = ATOMIC_INIT(0), caught_up = ATOMIC_INIT(0);
/* One task at a time catches up. */
static DEFINE_MUTEX(catch_up_mutex);
/* How often that has begun, and the last time that it was done, and that memory was too short. */
static u32 begun_round, done_round, failed_round;
static struct tracepoint *exit_tracepoint;

/*
 * Add @change to one of the four counts. exiting_lock is held. Some readers do not take the lock,
 * because they only decide whether a work item is due or how much room to make. WRITE_ONCE() has
 * them read the count from before or from after, and no part of either.
 */
static void exiting_count(unsigned int *nr, int change)
{
	WRITE_ONCE(*nr, *nr + change);
}

/* Is @task dead, and was its CPU switched away from it for the last time? */
static bool exiting_is_gone(const struct task_struct *task)
{
	return READ_ONCE(task->__state) == TASK_DEAD && !pp_on_cpu(task);
}

/*
 * May @entry go because its task has another one, or will get one? Catching up notes all exiting
 * tasks of the task list, since it cannot tell which of them have entries. Without this, each time
 * would make another entry for each task that hangs.
 *
 * A task that is still on the list after a walk that was done has been there since before that walk
 * began. If it was noted before the walk, its PF_EXITING was set, so the walk has noted it again.
 * A walk that failed has added entries that the next one makes anew. That comes before the next
 * stop, because tasks are missing until then (pp_exiting_all_known()).
 *
 * A task may be noted by a walk just before it passes the tracepoint. The second entry stays until
 * the next walk, or until the task has gone: the stop then looks at its stack twice.
 */
static bool exiting_is_double(const struct exiting *entry)
{
	return (entry->round < done_round || (entry->by_walk && entry->round == failed_round)) &&
	       pid_alive(entry->task);
}

/*
 * Look at the first entry of `recent`, or of `slow`: if the task has gone, or has another entry,
 * move this one out of the way, or else to the end. The list is not empty; exiting_lock is held.
 *
 * A task that has just gone has a reference that is dropped after a grace period, so ours is seldom
 * the last.
 */
static void exiting_look(struct list_head *list, unsigned int *nr)
{
	struct exiting *entry = list_first_entry(list, struct exiting, node);
	const bool useless = exiting_is_gone(entry->task) || exiting_is_double(entry);

	if (useless && refcount_dec_not_one(&entry->task->usage)) {
		list_move(&entry->node, &spare);
		exiting_count(&nr_spare, 1);
		exiting_count(nr, -1);
	} else if (useless) {
		list_move(&entry->node, &gone);
		exiting_count(&nr_gone, 1);
		exiting_count(nr, -1);
	} else if (list == &recent && (u32)jiffies - entry->since > SOON) {
		list_move_tail(&entry->node, &slow);
		exiting_count(&nr_slow, 1);
		exiting_count(nr, -1);
	} else {
		list_move_tail(&entry->node, list);
	}
}

/* Look at each entry that is in the list now. */
static void exiting_look_at_all(struct list_head *list, unsigned int *nr)
{
	unsigned int left = READ_ONCE(*nr), i;

	while (left) {
		raw_spin_lock(&exiting_lock);
		for (i = 0; i < CHUNK && left && *nr; i++, left--)
			exiting_look(list, nr);
		if (!*nr)
			left = 0;
		raw_spin_unlock(&exiting_lock);
		cond_resched();
	}
}

/* Look at all entries.  If two tasks do this at a time, each looks at some for the other. */
static void exiting_sort_out(void)
{
	exiting_look_at_all(&recent, &nr_recent);
	exiting_look_at_all(&slow, &nr_slow);
}

/* Make @entry spare, or free it if there are enough. */
static void exiting_give_back(struct exiting *entry)
{
	bool keep;

	raw_spin_lock(&exiting_lock);
	keep = nr_spare < SPARE;
	if (keep) {
		list_add(&entry->node, &spare);
		exiting_count(&nr_spare, 1);
	}
	raw_spin_unlock(&exiting_lock);
	if (!keep)
		kfree(entry);
}

/* Drop the references to the tasks that have gone. */
static void exiting_drop_gone(void)
{
	struct exiting *entry, *next;
	LIST_HEAD(mine);

	raw_spin_lock(&exiting_lock);
	list_splice_init(&gone, &mine);
	WRITE_ONCE(nr_gone, 0);
	raw_spin_unlock(&exiting_lock);
	list_for_each_entry_safe(entry, next, &mine, node) {
		list_del(&entry->node);
		put_task_struct(entry->task);
		exiting_give_back(entry);
		cond_resched();
	}
}

void pp_exiting_sweep(void)
{
	exiting_sort_out();
	exiting_drop_gone();
}

/* Free the entries that a burst of exits has left spare. */
static void exiting_free_surplus(void)
{
	struct exiting *entry;

	do {
		entry = NULL;
		raw_spin_lock(&exiting_lock);
		if (nr_spare > SPARE) {
			entry = list_first_entry(&spare, struct exiting, node);
			list_del(&entry->node);
			exiting_count(&nr_spare, -1);
		}
		raw_spin_unlock(&exiting_lock);
		kfree(entry);
		cond_resched();
	} while (entry);
}

static void exiting_refill(struct work_struct *work)
{
	struct exiting *entry;

	exiting_drop_gone();
	exiting_free_surplus();
	while (READ_ONCE(nr_spare) < SPARE) {
		/* Not by kmalloc(), whose calls fault.h counts: this one comes at any time. */
		entry = kmalloc_node(sizeof(*entry), GFP_KERNEL | __GFP_NOWARN, NUMA_NO_NODE);
		if (!entry)
			return;
		exiting_give_back(entry);
	}
}

static DECLARE_WORK(refill_work, exiting_refill);

static bool exiting_is_refill_due(void)
{
	const unsigned int nr = READ_ONCE(nr_spare);

	return nr < SPARE / 2 || nr > 2 * SPARE || READ_ONCE(nr_gone) > SPARE / 8;
}

static void exiting_sort(struct work_struct *work);
static DECLARE_DELAYED_WORK(sort_work, exiting_sort);

/* Should sort_work run?  `recent` is short unless many tasks hang that exited at a time. */
static bool exiting_is_sort_due(void)
{
	return READ_ONCE(nr_slow) || READ_ONCE(nr_recent) > CHUNK;
}

static void exiting_sort(struct work_struct *work)
{
	pp_exiting_sweep();
	exiting_free_surplus();
	if (exiting_is_sort_due())
		queue_delayed_work(pp_unbound_workqueue, &sort_work, HZ);
}

/* A new entry, or NULL if memory is short.  May be called with preemption off. */
static struct exiting *exiting_make(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && !preemptible())
		return NULL;
	return kmalloc(sizeof(struct exiting), GFP_ATOMIC | __GFP_NOWARN);
}

/* Note @task in @entry.  exiting_lock is held. */
static void exiting_add(struct exiting *entry, struct task_struct *task, bool by_walk)
{
	entry->task = get_task_struct(task);
	entry->since = jiffies;
	entry->round = begun_round;
	entry->by_walk = by_walk;
	list_add_tail(&entry->node, &recent);
	exiting_count(&nr_recent, 1);
}

/* Note @task in a spare entry, if there is one.  exiting_lock is held. */
static bool exiting_add_spare(struct task_struct *task, bool by_walk)
{
	struct exiting *entry = list_first_entry_or_null(&spare, struct exiting, node);

	if (!entry || PP_FAULT("exiting_add_spare"))
		return false;
	list_del(&entry->node);
	exiting_count(&nr_spare, -1);
	exiting_add(entry, task, by_walk);
	return true;
}

/*
 * Note @task, and look at more entries than that adds, which keeps the list short. May be called
 * with preemption off. Return: false if memory is short: no entry is spare, and none can be made.
 */
static bool exiting_note(struct task_struct *task, bool by_walk)
{
	struct exiting *entry;
	bool noted;
	int i;

	raw_spin_lock(&exiting_lock);
	for (i = 0; i < LOOKS && nr_recent; i++)
		exiting_look(&recent, &nr_recent);
	noted = exiting_add_spare(task, by_walk);
	raw_spin_unlock(&exiting_lock);
	if (noted)
		return true;
	entry = exiting_make();
	if (!entry)
		return false;
	raw_spin_lock(&exiting_lock);
	exiting_add(entry, task, by_walk);
	raw_spin_unlock(&exiting_lock);
	return true;
}

/* The tracepoint: in the exiting task, with preemption off or, in newer kernels, on. */
static void notrace exiting_probe(PP_EXIT_PARAMETERS)
{
	if (!exiting_note(task, false))
		atomic_inc(&lost);
	if (exiting_is_refill_due())
		schedule_work(&refill_work);
	if (exiting_is_sort_due() && !delayed_work_pending(&sort_work))
		queue_delayed_work(pp_unbound_workqueue, &sort_work, HZ);
}

/* --- counting stacks ------------------------------------------------------------------ */

/*
 * Without CONFIG_TASKS_RCU, and with it from Linux 6.9 on if they sleep, the core cannot wait for
 * tasks that had left the task list before it began to track them. But the kernel counts the
 * memory of all stacks. At its end do_exit() takes the task's stack off that count
 * (exit_task_stack_account()), and then does not sleep any more. So if there are no more stacks
 * than known tasks, only tasks that were preempted after that may be missing.  A kernel that is
 * preemptible has CONFIG_TASKS_RCU to wait for those.
 *
 * The count is made in a stop, because otherwise stacks and tasks would change meanwhile; there
 * each task has been switched out at a point where it asked for it. A task that is just being
 * made has a stack and is on no list yet. It may be the reason for a surplus, so the count is
 * repeated for a while. So may a zombie that has not run its last instruction: it is not
 * counted as a task, since nothing tells whether its stack is still in the kernel's count.
 */
#define COUNT_FIRST_FOR (30 * HZ)
/* A transition tries again, until its timeout. */
#define COUNT_FOR	HZ

static long exiting_count_stacks(int nid)
{
	struct pglist_data *node = NODE_DATA(nid);
	long kb = atomic_long_read(&node->vm_stat[NR_KERNEL_STACK_KB]);
	int cpu;

	for_each_possible_cpu(cpu)
		kb += per_cpu_ptr(node->per_cpu_nodestats, cpu)->vm_node_stat_diff[NR_KERNEL_STACK_KB];
	return kb * SZ_1K / THREAD_SIZE;
}

/* In the stopped section: count the stacks that belong to no known task. */
static __nocfi int exiting_count_unknown(void *unknown)
{
	const struct task_struct *group, *task;
	long nr = 0;
	int i;

	for_each_online_node(i)
		nr += exiting_count_stacks(i);
	for_each_process_thread(group, task)
		nr -= !READ_ONCE(task->exit_state);
	for_each_possible_cpu(i) {
		task = pp_kernel.idle_task(i);
		/* The stack of the first CPU's idle task is in the kernel's image. */
		nr -= task && task != &init_task;
	}
	*(long *)unknown = nr;
	return 0;
}

/*
 * Count until no task is missing, for @period jiffies at most. May sleep.
 * Return: 0, -EAGAIN if one was missing to the end, or -EOPNOTSUPP if this kernel cannot tell.
 */
static int exiting_find_all_stacks(long period)
{
	const unsigned long end =
		jiffies + (pp_debug_count_ms ? msecs_to_jiffies(pp_debug_count_ms) : period);
	long unknown = 0;
	int ret;

	if (IS_ENABLED(CONFIG_PREEMPTION) && !IS_ENABLED(CONFIG_TASKS_RCU))
		return -EOPNOTSUPP;
	for (;;) {
		ret = stop_machine(exiting_count_unknown, &unknown, NULL);
		if (ret || !unknown)
			return ret;
		/* With fewer stacks than tasks, the kernel's count has another meaning. */
		if (unknown < 0)
			return -EOPNOTSUPP;
		if (!time_before(jiffies, end))
			return -EAGAIN;
		msleep(20);
	}
}

/* --- catching up ---------------------------------------------------------------------- */

/* Return: 0, also if this kernel can never tell; or an error of exiting_find_all_stacks(). */
static int exiting_wait_for_unknown(long period)
{
	static bool told;
	int ret = 0;

	if (pp_debug_skip_earlier)
		return 0;
	if (!PP_TASKS_RCU_COVERS_EXIT)
		ret = exiting_find_all_stacks(period);
	synchronize_rcu_tasks();
	if (ret == -EAGAIN)
		pr_notice_ratelimited("tasks are made all the time, so the core cannot tell yet whether it misses one that is just exiting\n");
	if (ret != -EOPNOTSUPP)
		return ret;
	if (!told)
		pr_notice("this kernel cannot wait for all tasks that are just exiting, so the core may miss some\n");
	told = true;
	return 0;
}

/*
 * Note the tasks that have passed the tracepoint without being noted. May sleep.
 *
 * A task sets its own PF_EXITING before it reaches the tracepoint, where it either does not see our
 * probe yet or is counted in `lost`. Both, the probe's registration and the look at `lost`, come
 * before the RCU grace period, in which every CPU executes a memory barrier. A task that had not
 * seen the probe by then read the tracepoint before its CPU's barrier, and so its PF_EXITING is
 * visible after the grace period, even if the task was preempted within the tracepoint (which
 * newer kernels guard by SRCU, with preemption on). So the walk finds those of the tasks that are
 * still on the list.
 *
 * The other tasks have left the list in release_task(), which is after exit_tasks_rcu_start().
 * synchronize_rcu_tasks() waits until they have passed exit_tasks_rcu_finish(), after which
 * they cannot be preempted any more. zap_pid_ns_processes() leaves that section for a while,
 * but only while its task is on the list.
 *
 * From Linux 6.9 on synchronize_rcu_tasks() does not wait for a task that sleeps in that section.
 * So the stacks are counted first. Once no stack is unknown, every task that had left the list
 * has passed exit_task_stack_account(), after which it does not sleep any more.
 * synchronize_rcu_tasks() then waits for those that were preempted there.
 */
static int exiting_catch_up(long period)
{
	struct task_struct *group, *task;
	int ret = 0;

	raw_spin_lock(&exiting_lock);
	begun_round++;
	raw_spin_unlock(&exiting_lock);
	synchronize_rcu();
	rcu_read_lock();
	for_each_process_thread(group, task) {
		if ((READ_ONCE(task->flags) & PF_EXITING) && !exiting_is_gone(task) &&
		    !exiting_note(task, true)) {
			ret = -ENOMEM;
			goto out;
		}
	}
out:
	rcu_read_unlock();
	/*
	 * __unhash_process() clears thread_pid before it takes a task off the list. It holds
	 * tasklist_lock, and is so in a section of RCU, also where that lock leaves interrupts on
	 * (RT). So after this grace period pid_alive() is false for each task that the walk has
	 * missed because of that.
	 */
	synchronize_rcu();
	raw_spin_lock(&exiting_lock);
	*(ret ? &failed_round : &done_round) = begun_round;
	raw_spin_unlock(&exiting_lock);
	return ret ?: exiting_wait_for_unknown(period);
}

/*
 * This must not hold pp_mutex: the grace period waits for all preempted tasks, and for tasks
 * that sleep at their very end. Neither loads of modules nor switches that need no such wait
 * should wait as long. Tasks that are lost while this runs stay counted, and are caught up with
 * by the next call.
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
		ret = exiting_catch_up(COUNT_FOR);
	if (!ret)
		atomic_set(&caught_up, nr);
	mutex_unlock(&catch_up_mutex);
	return ret;
}

/*
 * The stop asks again, because a task may have passed the tracepoint without being noted since
 * pp_exiting_ready(). A task leaves the task list only after the tracepoint. So a task that the
 * stop finds behind the probe was counted in `lost`, and one that it finds in front of the probe,
 * or preempted within it, is still on the task list.
 */
bool pp_exiting_all_known(void)
{
	return atomic_read(&lost) == atomic_read(&caught_up);
}

/*
 * May @task still run although it has left the task list? __unhash_process() clears thread_pid as
 * it takes a task off that list.
 */
static bool exiting_is_unlisted(const struct task_struct *task)
{
	return !exiting_is_gone(task) && !pid_alive(task);
}

bool pp_exiting_for_each(bool (*fn)(struct pp_scan *scan, struct task_struct *task),
			 struct pp_scan *scan)
{
	struct list_head *const lists[] = { &recent, &slow };
	struct exiting *entry;
	int i;

	for (i = 0; i < ARRAY_SIZE(lists); i++)
		list_for_each_entry(entry, lists[i], node)
			if (exiting_is_unlisted(entry->task) && !fn(scan, entry->task))
				return false;
	return true;
}

unsigned int pp_exiting_count(void)
{
	return READ_ONCE(nr_recent) + READ_ONCE(nr_slow);
}

/*
 * Take up to CHUNK tasks that have left the task list from the front of `slow`, whose entries go to
 * its end, with a reference to each.  Return: how many entries it went past.
 */
static unsigned int exiting_take(struct task_struct **tasks, unsigned int *nr)
{
	unsigned int past;

	*nr = 0;
	raw_spin_lock(&exiting_lock);
	for (past = 0; past < CHUNK && past < nr_slow; past++) {
		struct exiting *entry = list_first_entry(&slow, struct exiting, node);

		if (exiting_is_unlisted(entry->task))
			tasks[(*nr)++] = get_task_struct(entry->task);
		list_move_tail(&entry->node, &slow);
	}
	raw_spin_unlock(&exiting_lock);
	return past;
}

/*
 * sort_work may turn the list meanwhile, so a task may be missed here, or visited twice.
 */
void pp_exiting_visit(void (*visit)(struct task_struct *task, void *ctx), void *ctx)
{
	unsigned int left = READ_ONCE(nr_slow), past, nr, i;
	struct task_struct *tasks[CHUNK];

	for (; left; left -= min(left, past)) {
		past = exiting_take(tasks, &nr);
		for (i = 0; i < nr; i++) {
			visit(tasks[i], ctx);
			put_task_struct(tasks[i]);
		}
		if (!past)
			return;
		cond_resched();
	}
}

static void exiting_find_tracepoint(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sched_process_exit"))
		exit_tracepoint = tp;
}

static void exiting_free_list(struct list_head *list, bool holds_task)
{
	struct exiting *entry, *next;

	list_for_each_entry_safe(entry, next, list, node) {
		list_del(&entry->node);
		if (holds_task)
			put_task_struct(entry->task);
		kfree(entry);
		cond_resched(); /* anyone can have had tens of thousands of tasks hang */
	}
}

/* Nothing uses the lists any more. */
static void exiting_free_all(void)
{
	exiting_free_list(&recent, true);
	exiting_free_list(&slow, true);
	exiting_free_list(&gone, true);
	exiting_free_list(&spare, false);
}

int pp_exiting_init(void)
{
	int ret;

	for_each_kernel_tracepoint(exiting_find_tracepoint, NULL);
	if (!exit_tracepoint) {
		pr_err("this kernel has no tracepoint sched_process_exit, which the core needs\n");
		return -ENOENT;
	}
	/* The compiler compares the probe's type with the tracepoint's. */
	check_trace_callback_type_sched_process_exit(exiting_probe);
	exiting_refill(NULL);
	ret = tracepoint_probe_register(exit_tracepoint, exiting_probe, NULL);
	if (ret) {
		pr_err("cannot watch tasks exit (%d)\n", ret);
		exiting_free_all();
		return ret;
	}
	ret = exiting_catch_up(COUNT_FIRST_FOR);
	if (ret == -EAGAIN) {
		atomic_inc(&lost); /* the first transition catches up again */
		ret = 0;
	}
	if (ret)
		pp_exiting_exit();
	return ret;
}

void pp_exiting_exit(void)
{
	tracepoint_probe_unregister(exit_tracepoint, exiting_probe, NULL);
	tracepoint_synchronize_unregister();
	cancel_work_sync(&refill_work);
	cancel_delayed_work_sync(&sort_work);
	exiting_free_all();
}
