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
 * Before the switch, call pre-patch or pre-unpatch of all attached objects for which it was not
 * called yet.  Return: 0, or the error of a pre-patch callback (logged).  After an error, and
 * whenever the switch is not made, the caller must call pp_callbacks_cancel().
 */
int pp_callbacks_before(struct pp_patch *patch, bool enable);
/* After the switch, call post-patch or post-unpatch. */
void pp_callbacks_after(struct pp_patch *patch, bool enable);
/* The switch was not made: undo what pp_callbacks_before() called. */
void pp_callbacks_cancel(struct pp_patch *patch, bool enable);
/* The module of @obj comes while the patch is enabled: before and after it is switched. */
int pp_object_pre_patch(struct pp_object *obj);
void pp_object_post_patch(struct pp_object *obj);
/*
 * @obj is detached, from an enabled or a disabled patch: before and after its sites are released.
 * Call pre-unpatch only if post-patch was the last one, and post-unpatch only if pre-patch was
 * called.
 */
void pp_object_pre_unpatch(struct pp_object *obj);
void pp_object_post_unpatch(struct pp_object *obj);

#endif /* POKEPATCH_CALLBACKS_H */
