/* SPDX-License-Identifier: GPL-2.0-only */
/* Finding busy tasks: the check of all stacks: stack.c. */
#ifndef POKEPATCH_STACK_H
#define POKEPATCH_STACK_H

#include <linux/sched.h>
#include <linux/types.h>

struct pp_func;

/*
 * Addresses from @start to @end, both included: a call may be the last instruction of a
 * function, and then its return address is @end.
 */
struct pp_range {
	unsigned long start, end;
	const struct pp_func *func;	/* NULL if this is a patch module's text */
};

/* The code that a stop transition switches or frees: a task that may run it is busy. */
struct pp_busy {
	struct pp_range *range;		/* sorted, disjoint */
	unsigned int nr;
	struct pp_range *text;		/* the same of patch modules that are switched off */
	unsigned int nr_text;
};

/*
 * The program counter @addr, which an exception has saved on a stack, as an architecture visits
 * it in addition to @addr itself.
 *
 * This is for machines where each word of a stack is taken for a code address and where entries
 * load addresses (pp_arch.h: entry.prepared). There the address of a function's first
 * instruction is in many words from which no task will continue: pointers that are about to be
 * called and, in the frame of an exception that came after a call through such an entry, the
 * register that the entry had loaded. No call returns to that address. Only a task that was
 * interrupted in front of the first instruction continues there. So the address itself is not
 * in the function's range, but this value is.
 */
static inline unsigned long pp_stack_saved_pc(unsigned long addr)
{
	return addr + 1;
}

/* A busy task, as blocked_by shows it. */
struct pp_busy_task {
	pid_t pid;
	u64 start_time;			/* tells it from a later task with this PID */
	char comm[TASK_COMM_LEN];
	unsigned long addr;		/* the address on its stack; 0: the stack is unreliable */
	const struct pp_func *func;	/* whose code that is, or NULL */
};

/* A task that was not busy at its switches-th context switch. */
struct pp_seen {
	const struct task_struct *task;
	u64 start_time;
	unsigned long switches;
};

struct pp_scan {
	const struct pp_busy *busy;
	struct pp_busy_task *busy_task;
	unsigned int nr_busy_tasks, max_busy_tasks;
	unsigned int unlisted;		/* busy tasks for which there was no room */
	struct pp_seen *seen;		/* hash table, open addressing */
	unsigned int seen_bits, nr_seen;
	/* Counted in the stopped section: */
	unsigned int walked, skipped;	/* tasks whose stacks were walked, and that had not run */
	unsigned int frames;		/* addresses on stacks, including the stoppers' */
	bool lost;			/* exiting tasks may be missing, see exiting.c */
	u64 until;			/* ns, monotonic: when to give up; 0: never */
	bool late;			/* it has given up, and not looked at all tasks */
};

/* What the walk of one stack has found. */
struct pp_stack_walk {
	int err;			/* of the walk, or 0 */
	unsigned long addr;		/* the first address in code of pp_busy, or 0 */
	const struct pp_func *func;	/* whose code that is, or NULL */
	unsigned int frames;		/* addresses that were visited */
};

/* Make room for all tasks of this moment and some more.  May sleep.  Return: 0 or -ENOMEM. */
int pp_scan_init(struct pp_scan *scan, const struct pp_busy *busy);
void pp_scan_deinit(struct pp_scan *scan);

/* Sort the ranges and merge those that overlap. */
void pp_busy_finish(struct pp_busy *busy);
/* The range that @addr is in; a function's before a module text's; or NULL.  Any context. */
const struct pp_range *pp_busy_find(const struct pp_busy *busy, unsigned long addr);

/*
 * Walk the stack of @task, which is current, or cannot run meanwhile: the machine is stopped, or
 * the caller holds the task's locks. Takes no lock that is not taken in a stop; does not sleep.
 * Return: true if @task is not busy; else false, and *walk says why.
 */
bool pp_stack_clear(const struct pp_busy *busy, struct task_struct *task,
		    struct pp_stack_walk *walk);

/*
 * Look for busy tasks while all CPUs run, and remember the tasks that were not busy. A task
 * that this finds really was busy. A task that it does not find may be busy all the same,
 * except for the remembered tasks, as long as they do not run. Takes the locks of each task in
 * turn.
 * Return: true if it has found no busy task.
 */
bool pp_scan_running(struct pp_scan *scan);

/*
 * In the stopped section: look at every task but those in @stoppers, one for each CPU, which
 * have checked themselves.
 * Return: true if certainly no task is busy.
 */
bool pp_scan_stopped(struct pp_scan *scan, struct task_struct *const *stoppers);

/*
 * Is @task on a CPU? finish_task() clears on_cpu with release semantics when the switch away
 * from the task is complete, so after false its stack is complete too.
 */
static inline bool pp_on_cpu(const struct task_struct *task)
{
#ifdef CONFIG_SMP
	return smp_load_acquire(&task->on_cpu);
#else
	return task == current;
#endif
}

/* Note that @task is busy. One CPU at a time, for one scan. Does not sleep. */
void pp_scan_add(struct pp_scan *scan, const struct task_struct *task,
		 const struct pp_stack_walk *walk);

#endif /* POKEPATCH_STACK_H */
