/* SPDX-License-Identifier: GPL-2.0-only */
/* Tasks, and the code that is on their stacks: stack.c. */
#ifndef POKEPATCH_STACK_H
#define POKEPATCH_STACK_H

#include <linux/sched.h>
#include <linux/types.h>

struct pp_func;

/* Addresses [start, end], the end too: a call may be a function's last instruction. */
struct pp_range {
	unsigned long start, end;
	const struct pp_func *func;	/* NULL: a patch module's text */
};

struct pp_busy {
	struct pp_range *range;		/* sorted, disjoint */
	unsigned int nr;
	struct pp_range *text;		/* of patch modules that leave; likewise */
	unsigned int nr_text;
};

/*
 * Where each word of a stack is taken for code, and entries load addresses (pp_arch.h:
 * entry_prepared), the address of a function's first instruction is in many of them that nobody
 * will go on from: pointers that are about to be called, and, in the frame of each exception that
 * came after a call through such an entry, the register that it had loaded.  No call returns to
 * there; only who was interrupted in front of it is there.  So that address itself is not in a
 * function's range, and for a program counter saved by an exception an architecture calls visit()
 * with this as well, which is.
 */
static inline unsigned long pp_goes_on(unsigned long addr)
{
	return addr + 1;
}

/* Somebody in the way. */
struct pp_blocker {
	pid_t pid;
	char comm[TASK_COMM_LEN];
	unsigned long addr;		/* in that code; 0: the stack cannot be relied on */
	const struct pp_func *func;	/* the function, or NULL */
};

/* A task whose stack was clear at its switches-th context switch. */
struct pp_seen {
	const struct task_struct *task;
	u64 start_time;
	unsigned long switches;
};

struct pp_scan {
	const struct pp_busy *busy;
	struct pp_blocker *blocker;
	unsigned int nr_blockers, max_blockers;
	unsigned int unlisted;		/* blockers for which there was no room */
	struct pp_seen *seen;		/* hash table, open addressing */
	unsigned int seen_bits, nr_seen;
	/* in the stopped section */
	unsigned int walked, skipped;	/* stacks of tasks */
	unsigned int frames;		/* addresses on stacks, those of the stoppers too */
	bool lost;			/* there may be exiting tasks that nobody has noted */
};

struct pp_hit {
	int err;			/* from the walk */
	unsigned long addr;		/* the first busy address, or 0 */
	const struct pp_func *func;
	unsigned int frames;		/* that were looked at */
};

/* Room for the tasks of now, and more.  May sleep. */
int pp_scan_init(struct pp_scan *scan, const struct pp_busy *busy);
void pp_scan_deinit(struct pp_scan *scan);

/* Sort the ranges and merge those that overlap. */
void pp_busy_finish(struct pp_busy *busy);
/* The range that @addr is in, or NULL; a function's if there is one.  Any context. */
const struct pp_range *pp_busy_find(const struct pp_busy *busy, unsigned long addr);

/*
 * The stack of @task, which is current or not running.  Any context.
 * Return: true if it is clear, else false and *hit says why.
 */
bool pp_stack_clear(const struct pp_busy *busy, struct task_struct *task, struct pp_hit *hit);

/*
 * Look for obvious blockers while everything runs, and remember the stacks that
 * were clear.  What it finds really was there; what it does not find proves
 * nothing, except for the tasks remembered, as long as they do not run.
 * Return: true if nobody is in the way.
 */
bool pp_scan_running(struct pp_scan *scan);

/*
 * Look at every task, in the stopped section, but at those in @stoppers, one for
 * each CPU: these checked themselves.  Proves that nobody is in the way.
 */
bool pp_scan_stopped(struct pp_scan *scan, struct task_struct *const *stoppers);

/*
 * @task runs on some CPU.  finish_task() clears on_cpu, with release semantics,
 * when the switch away from the task is complete.
 */
static inline bool pp_on_cpu(const struct task_struct *task)
{
#ifdef CONFIG_SMP
	return smp_load_acquire(&task->on_cpu);
#else
	return task == current;
#endif
}

/* Note that @task is in the way. */
void pp_scan_add(struct pp_scan *scan, const struct task_struct *task, const struct pp_hit *hit);

#endif /* POKEPATCH_STACK_H */
