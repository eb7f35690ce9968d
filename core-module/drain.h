/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Draining: after a live transition has switched a patch off, its module stays until no task
 * is in its code: drain.c.
 */
#ifndef POKEPATCH_DRAIN_H
#define POKEPATCH_DRAIN_H

#include <linux/types.h>

struct pp_patch;

/*
 * From now on tasks may be in the text of @patch although it is not enabled.  The reference to
 * its module that an enabled patch holds now belongs to the drain.  Under pp_mutex.
 */
void pp_drain_begin(struct pp_patch *patch);
/* Is @patch draining?  Takes pp_mutex. */
bool pp_drain_active(struct pp_patch *patch);
/*
 * If @patch is draining, look for tasks in its text now; if there are any, look again later, in
 * the background.  The caller holds patch->op.  Takes pp_mutex; may sleep.
 * Return: true if @patch was draining and no task is in its text.  Then the drain is over, and
 * the caller drops the reference to the module.  Otherwise the background work will drop it.
 */
bool pp_drain_try_end(struct pp_patch *patch);
/* If @patch is draining, look for tasks in its text later, in the background.  Takes pp_mutex. */
void pp_drain_later(struct pp_patch *patch);
void pp_drain_init(struct pp_patch *patch);
/* Wait until the background work has ended.  The module of @patch is going.  May sleep. */
void pp_drain_exit(struct pp_patch *patch);

#endif /* POKEPATCH_DRAIN_H */
