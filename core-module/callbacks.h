/* SPDX-License-Identifier: GPL-2.0-only */
/* Calling the patches' own functions around a switch: callbacks.c. */
#ifndef POKEPATCH_CALLBACKS_H
#define POKEPATCH_CALLBACKS_H

#include <linux/types.h>

struct pp_object;
struct pp_patch;

/*
 * All under pp_mutex; may sleep.
 *
 * Before the switch: pre-patch or pre-unpatch, for all attached objects for which it
 * was not called yet.  Return: 0, or the error of a pre-patch callback (logged); then
 * pp_callbacks_cancel() is to be called, as whenever the switch is not made.
 */
int pp_callbacks_before(struct pp_patch *patch, bool enable);
/* After the switch: post-patch or post-unpatch. */
void pp_callbacks_after(struct pp_patch *patch, bool enable);
/* There was no switch: undo what pp_callbacks_before() called. */
void pp_callbacks_cancel(struct pp_patch *patch, bool enable);
/* The same for one object, whose module comes to an enabled patch. */
int pp_callbacks_coming(struct pp_object *obj);
void pp_callbacks_came(struct pp_object *obj);
/* Its module goes, from whatever patch: before its functions are let go, and after. */
void pp_callbacks_going(struct pp_object *obj);
void pp_callbacks_gone(struct pp_object *obj);

#endif /* POKEPATCH_CALLBACKS_H */
