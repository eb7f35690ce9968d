/* SPDX-License-Identifier: GPL-2.0-only */
/* The stopped section: stop.c. */
#ifndef POKEPATCH_STOP_H
#define POKEPATCH_STOP_H

#include <linux/rcupdate.h>

struct pp_when;
struct transition;

/*
 * Stop the machine and switch, or not.
 *
 * The order of locks is the kernel's: who changes text takes the hotplug lock
 * first, then text_mutex, and stop_machine() would take the hotplug lock itself.
 * Return: 0, -EAGAIN if somebody is in the way, -EIO if text is not what it should
 * be (logged), or -ENOMEM.
 */
int pp_stop(struct transition *tr);

/*
 * What could not be put back may lead to the patch, which is not enabled: then its module
 * must not go.  Of a patch that was to be switched off it is held anyway, as it stays enabled.
 */
void pp_hold_if_stuck(struct transition *tr);

/*
 * The first @nr of the text's pokes were written, and put back: so calls went the new way for
 * a while, from @there on (NULL: what the flip says) until @back (NULL: what the poke says).
 */
void pp_record_way_and_back(const struct transition *tr, unsigned int nr,
			    const struct pp_when *there, const struct pp_when *back,
			    unsigned int method);

/*
 * Every CPU has scheduled since, so that what it did with preemption off is over, in the idle loop
 * too, where RCU does not look.  Sleeps; no hotplug lock is held.  A kernel without ftrace may not
 * have it.
 */
#ifdef CONFIG_TASKS_RUDE_RCU
#define pp_synchronize_rude synchronize_rcu_tasks_rude
#else
void pp_synchronize_rude(void);
#endif

#endif /* POKEPATCH_STOP_H */
