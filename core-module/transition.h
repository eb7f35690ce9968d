/* SPDX-License-Identifier: GPL-2.0-only */
/* Switching a patch on or off: transition.c. */
#ifndef POKEPATCH_TRANSITION_H
#define POKEPATCH_TRANSITION_H

#include <linux/types.h>

struct pp_patch;

/*
 * Switch @patch on or off, within its timeout; on, and those off that it shall
 * replace.  Takes pp_mutex for each attempt; the caller holds patch->op.  May sleep.
 * Return: 0 if it is done (or was), -EBUSY if somebody is in the way
 * (patch->report says who), or a function or a patch to be replaced is not free,
 * -EINTR, -ENODEV if the module is going, or -ENOMEM; after an error nothing has
 * changed.
 */
int pp_transition(struct pp_patch *patch, bool enable);
/*
 * Switch @patch off, which is enabled, and whose module is being removed by force: neither
 * its timeout nor a signal ends this.  The caller holds patch->op.  May sleep.
 * Return: 0, or any error of pp_transition() but -EBUSY and -EINTR.
 */
int pp_transition_forced(struct pp_patch *patch);
/*
 * Is nobody in the text of @patch, which is disabled?  blocked_by tells who is.  @ask: they
 * shall leave.  @background: the caller does not hold patch->op.  Takes pp_mutex; may sleep.
 * Return: 0, -EAGAIN if somebody is, or another error.
 */
int pp_transition_look(struct pp_patch *patch, bool ask, bool background);
/* Are tasks to be asked to leave, that have been in the way for @elapsed jiffies? */
bool pp_transition_asks(unsigned long elapsed);

/* Its addresses may be anywhere from now on, if it is such a patch.  Under pp_mutex. */
void pp_patch_pin(struct pp_patch *patch);

#endif /* POKEPATCH_TRANSITION_H */
