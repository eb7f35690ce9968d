/* SPDX-License-Identifier: GPL-2.0-only */
/* Exiting tasks that the task list no longer shows: exiting.c. */
#ifndef POKEPATCH_EXITING_H
#define POKEPATCH_EXITING_H

#include <linux/types.h>

struct pp_scan;
struct task_struct;

/* Track exiting tasks from now on.  May sleep.  Return: 0 or an error (logged). */
int pp_exiting_init(void);
void pp_exiting_exit(void);
/*
 * Make sure that every exiting task is known, by waiting if memory was short. May sleep, for
 * long; must not be called under pp_mutex.
 * Return: 0; -EAGAIN if this could not be told for a second; -ENOMEM; or, if @killable, -EINTR.
 */
int pp_exiting_ready(bool killable);
/*
 * Forget the tasks that have exited. May sleep. exiting_lock is taken with interrupts enabled.
 */
void pp_exiting_sweep(void);
/* In the stopped section: is every exiting task still known? */
bool pp_exiting_all_known(void);
/*
 * In the stopped section: call @fn for each task that may still run although it has left the
 * task list, until @fn returns false.  Return: has @fn returned true for all of them?
 */
bool pp_exiting_for_each(bool (*fn)(struct pp_scan *scan, struct task_struct *task),
			 struct pp_scan *scan);
/* An upper bound of the number of these tasks, now.  Any context. */
unsigned int pp_exiting_count(void);
/*
 * Call @visit for those of these tasks that have been exiting for long.  It may miss some and visit
 * others twice.  May sleep; @visit may not.
 */
void pp_exiting_visit(void (*visit)(struct task_struct *task, void *ctx), void *ctx);

#endif /* POKEPATCH_EXITING_H */
