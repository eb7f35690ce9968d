/* SPDX-License-Identifier: GPL-2.0-only */
/* Waiting until every CPU has scheduled: rude.c. */
#ifndef POKEPATCH_RUDE_H
#define POKEPATCH_RUDE_H

/*
 * Wait until every CPU has scheduled, so that whatever it was doing with preemption off is over, in
 * the idle loop and in interrupts too, where RCU does not watch.  Sleeps.  The caller must not hold
 * the hotplug lock.
 */
void pp_synchronize_rude(void);

#endif /* POKEPATCH_RUDE_H */
