/* SPDX-License-Identifier: GPL-2.0-only */
/* Transitions: how a patch is switched on or off: transition.c. */
#ifndef POKEPATCH_TRANSITION_H
#define POKEPATCH_TRANSITION_H

#include <linux/types.h>

struct pp_patch;

/*
 * Switch @patch on or off, within its timeout. A patch that is switched on replaces the patches
 * in its file `replace`, which are switched off with it. Takes pp_mutex for each attempt; the
 * caller holds patch->op. May sleep. *@replaced gets the names of the patches that are replaced, or
 * were to be (pp_replace_names()), for the caller to kfree(); it is left alone if there are none.
 * Return: 0 if the patch is switched (or was already), -EBUSY if tasks stayed busy
 * (patch->report names them) or if a function or a patch to be replaced is not free, -EINTR,
 * -ERESTARTNOINTR if the task is to be frozen, -ENODEV if the module is going, -ENOMEM, or another
 * error. After an error nothing has changed.
 */
int pp_transition(struct pp_patch *patch, bool enable, char **replaced);
/*
 * Switch @patch off. It is enabled, and its module is being removed by force, so neither its
 * timeout nor a signal ends this. The caller holds patch->op. May sleep.
 * Return: 0, or any error of pp_transition() but -EBUSY, -EINTR and -ERESTARTNOINTR.
 */
int pp_transition_forced(struct pp_patch *patch);
/*
 * Look for tasks in the text of @patch, which is disabled, and list them in blocked_by. @ask:
 * ask them to leave, and look again. @background: the caller does not hold patch->op. Takes
 * pp_mutex; may sleep.
 * Return: 0 if no task is there, -EAGAIN if there are some, or another error.
 */
int pp_transition_look(struct pp_patch *patch, bool ask, bool background);

/*
 * If addresses of the code or data of @patch escape, hold its module from now on. Under
 * pp_mutex.
 */
void pp_patch_pin(struct pp_patch *patch);

#endif /* POKEPATCH_TRANSITION_H */
