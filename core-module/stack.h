/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who is where: stacks, tasks in the way, and how they are got out of it.  A part of core.h,
 * which includes it.
 */
#ifndef POKEPATCH_STACK_H
#define POKEPATCH_STACK_H

/* --- stack.c: who is where --------------------------------------------------- */

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
 * Where each word of a stack is taken for code, and entries load addresses (arch.h:
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
 * For architectures (arch.h): call @visit for each word of the stack of @task, which is current
 * or not running, and for each return address that kretprobes or the graph tracer keep for it.
 * Any context; take no lock.  Return: false if @visit ended it.
 */
bool pp_visit_words(struct task_struct *task, bool (*visit)(void *ctx, unsigned long addr),
		    void *ctx);
bool pp_visit_hidden(const struct task_struct *task, bool (*visit)(void *ctx, unsigned long addr),
		     void *ctx);

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

/* --- park.c: sleepers that can be got out of the way --------------------------- */

/* Those that are kept on their way to user mode, for one attempt. */
struct pp_park {
	struct list_head tasks;
};

/* All may sleep. */
void pp_park_init(struct pp_park *park);
/* Ask each user task that was found in the way to come out and wait. */
void pp_park_blockers(struct pp_park *park, const struct pp_scan *scan);
/* Let them go, and forget them. */
void pp_park_release(struct pp_park *park);
void pp_park_exit(void);

/* --- exiting.c: tasks on their way out, which the task list does not show ----- */

int pp_exiting_init(void);
void pp_exiting_exit(void);
/*
 * Make sure that every exiting task is known.  May sleep, for long; not under pp_mutex.
 * Return: 0, -ENOMEM, or, if @killable, -EINTR.
 */
int pp_exiting_ready(bool killable);
/* Drop what is known of tasks that are gone.  Any context but NMI. */
void pp_exiting_sweep(void);
/* In the stopped section: is that still so? */
bool pp_exiting_all_known(void);
/* In the stopped section: each task that runs on, though the task list has lost it. */
void pp_exiting_for_each(void (*fn)(struct pp_scan *scan, struct task_struct *task),
			 struct pp_scan *scan);

/* --- watch.c: who has no effect because of us -------------------------------- */

/* Look now, and again every second while there is something to see.  pp_mutex. */
void pp_watch(void);
/* Look in a second, whatever there is to see. */
void pp_watch_later(void);
void pp_watch_exit(void);
/* enum pp_shadows in words, "kprobe,tracer".  Return: the length.  Any context. */
int pp_shadows_show(unsigned int shadows, char *buf, size_t size);

#endif /* POKEPATCH_STACK_H */
