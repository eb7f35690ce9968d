/* SPDX-License-Identifier: GPL-2.0-only */
/* Tasks on their way out, which the task list does not show: exiting.c. */
#ifndef POKEPATCH_EXITING_H
#define POKEPATCH_EXITING_H

#include <linux/types.h>

struct pp_scan;
struct task_struct;

int pp_exiting_init(void);
void pp_exiting_exit(void);
/*
 * Make sure that every exiting task is known.  May sleep, for long; not under pp_mutex.
 * Return: 0, -ENOMEM, or, if @killable, -EINTR.
 */
int pp_exiting_ready(bool killable);
/*
 * Forget the tasks that are gone.  Task context only, since exiting_lock is taken with interrupts
 * enabled.  May be called with preemption off.
 */
void pp_exiting_sweep(void);
/* In the stopped section: is that still so? */
bool pp_exiting_all_known(void);
/* In the stopped section: each task that runs on, though the task list has lost it. */
void pp_exiting_for_each(void (*fn)(struct pp_scan *scan, struct task_struct *task),
			 struct pp_scan *scan);

#endif /* POKEPATCH_EXITING_H */
