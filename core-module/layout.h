/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a transition writes and which code must not be busy, worked out before the stop:
 * layout.c.
 */
#ifndef POKEPATCH_LAYOUT_H
#define POKEPATCH_LAYOUT_H

#include <linux/types.h>

struct transition;

/*
 * Lay out one attempt of @tr for the patches, sites and parents of this moment: the flips, what
 * they write, and, if the machine is to be stopped, the code in which no task may be. Under
 * pp_mutex; may sleep.
 * Return: 0, -ERANGE if a target cannot be reached, -EBUSY or -EIO (logged), or -ENOMEM.
 */
int pp_layout_make(struct transition *tr);

/* Is a CPU present and offline? The answer holds while the hotplug lock is held. Any context. */
bool pp_layout_has_offline(void);

#endif /* POKEPATCH_LAYOUT_H */
