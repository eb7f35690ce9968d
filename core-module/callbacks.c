// SPDX-License-Identifier: GPL-2.0-only
/*
 * The callbacks of patches: functions of a patch that the core calls around a switch, for each
 * parent object.  pokepatch_patch(7) tells authors what they can rely on.
 *
 * obj->called is the last callback that was called.  An object without callbacks goes through the
 * same states, so that the next state never depends on which callbacks an object has:
 *
 *	NONE -> PRE_PATCH -> POST_PATCH -> PRE_UNPATCH -> NONE (post-unpatch)
 *
 * If the switch is not made, PRE_PATCH -> NONE (post-unpatch) and PRE_UNPATCH -> POST_PATCH
 * (post-patch, once more).  So post-unpatch is called if and only if pre-patch succeeded, and
 * never twice for one pre-patch.
 *
 * All this runs under pp_mutex: between a callback and its switch no module comes or goes, and no
 * other switch is made.  The patch module is held meanwhile, by the switch or because the patch is
 * enabled.  No other task runs a callback of the patch, so a transition that looks for tasks in
 * the patch's text finds no callback on a stack.
 *
 * The core calls pre-patch and post-patch in the order of the table of objects, vmlinux first, and
 * the callbacks of unpatching in the reverse order.
 */
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/sched.h>

#include <pokepatch_format.h>
#include <pokepatch_patch.h>

#include "callbacks.h"
#include "core_print.h"
#include "module.h"
#include "pp_patch.h"
#include "transition.h"

static const char *const kind_names[POKEPATCH_CALLBACK_KINDS] = {
	[POKEPATCH_CALLBACK_PRE_PATCH] = "pre-patch",
	[POKEPATCH_CALLBACK_POST_PATCH] = "post-patch",
	[POKEPATCH_CALLBACK_PRE_UNPATCH] = "pre-unpatch",
	[POKEPATCH_CALLBACK_POST_UNPATCH] = "post-unpatch",
};

/* The object whose post-unpatch callback is running, and the task.  Written under pp_mutex. */
static struct pp_object *unpatching;
static struct task_struct *unpatching_task;

static void callback_prepare(struct pp_object *obj, enum pokepatch_callback_kind kind)
{
	pr_debug("%s: %s of %s\n", obj->patch->name, kind_names[kind], obj->name);
	obj->parent = (struct pokepatch_parent){
		.patch = obj->patch->name,
		.name = obj->name,
		.module = obj->mod,
	};
}

/*
 * The writer of `enabled` gets a callback's error from write().  Turn a value that is no errno for
 * user space into -EINVAL: a positive one would mean that write() succeeded.
 */
static int callback_check_errno(const struct pp_object *obj, int ret)
{
	if (ret <= 0 && ret > -ERESTARTSYS)
		return ret;
	pr_notice("%s: the pre-patch callback of %s returned %d, which is no error\n",
		  obj->patch->name, obj->name, ret);
	return -EINVAL;
}

static int callback_pre_patch(struct pp_object *obj)
{
	const unsigned long addr = obj->callbacks[POKEPATCH_CALLBACK_PRE_PATCH];
	int (*call)(const struct pokepatch_parent *parent) = (void *)addr;
	int ret = 0;

	if (addr) {
		callback_prepare(obj, POKEPATCH_CALLBACK_PRE_PATCH);
		ret = callback_check_errno(obj, call(&obj->parent));
	}
	if (ret) {
		pr_notice("%s: the pre-patch callback of %s failed (%d)\n", obj->patch->name,
			  obj->name, ret);
		return ret;
	}
	obj->called = PP_CALLED_PRE_PATCH;
	if (addr)
		pp_patch_pin(obj->patch); /* the callback may have handed out addresses */
	return 0;
}

static void callback_call(struct pp_object *obj, enum pokepatch_callback_kind kind)
{
	void (*call)(const struct pokepatch_parent *parent) = (void *)obj->callbacks[kind];

	if (!call)
		return;
	callback_prepare(obj, kind);
	call(&obj->parent);
}

static void callback_post_patch(struct pp_object *obj)
{
	callback_call(obj, POKEPATCH_CALLBACK_POST_PATCH);
	obj->called = PP_CALLED_POST_PATCH;
}

static void callback_pre_unpatch(struct pp_object *obj)
{
	callback_call(obj, POKEPATCH_CALLBACK_PRE_UNPATCH);
	obj->called = PP_CALLED_PRE_UNPATCH;
}

static void callback_post_unpatch(struct pp_object *obj)
{
	WRITE_ONCE(unpatching_task, current);
	WRITE_ONCE(unpatching, obj);
	callback_call(obj, POKEPATCH_CALLBACK_POST_UNPATCH);
	WRITE_ONCE(unpatching, NULL);
	obj->called = PP_CALLED_NONE;
}

/*
 * A post-unpatch callback calls this, in the task that holds pp_mutex for it.  Any other caller is
 * not unpatching_task, whatever it reads from unpatching.
 */
void pokepatch_withdrawn(const void *parent)
{
	struct pp_object *obj = READ_ONCE(unpatching);

	if (READ_ONCE(unpatching_task) != current || !obj || parent != &obj->parent) {
		pr_notice("pokepatch_withdrawn() has an effect only in a post-unpatch callback\n");
		return;
	}
	obj->patch->withdrawn = true;
}
EXPORT_SYMBOL_GPL(pokepatch_withdrawn);

/* --- one object -------------------------------------------------------------------- */

int pp_object_pre_patch(struct pp_object *obj)
{
	lockdep_assert_held(&pp_mutex);
	return callback_pre_patch(obj);
}

void pp_object_post_patch(struct pp_object *obj)
{
	lockdep_assert_held(&pp_mutex);
	callback_post_patch(obj);
}

void pp_object_pre_unpatch(struct pp_object *obj)
{
	lockdep_assert_held(&pp_mutex);
	if (obj->called == PP_CALLED_POST_PATCH)
		callback_pre_unpatch(obj);
}

void pp_object_post_unpatch(struct pp_object *obj)
{
	lockdep_assert_held(&pp_mutex);
	if (obj->called != PP_CALLED_NONE)
		callback_post_unpatch(obj);
}

/* --- all attached objects ---------------------------------------------------------------- */

int pp_callbacks_before(struct pp_patch *patch, bool enable)
{
	unsigned int i;

	lockdep_assert_held(&pp_mutex);
	for (i = 0; enable && i < patch->nr_objects; i++) {
		struct pp_object *obj = &patch->objects[i];
		int ret = obj->attached && obj->called == PP_CALLED_NONE ?
				  callback_pre_patch(obj) : 0;

		if (ret)
			return ret;
	}
	for (i = patch->nr_objects; !enable && i--;)
		if (patch->objects[i].called == PP_CALLED_POST_PATCH)
			callback_pre_unpatch(&patch->objects[i]);
	return 0;
}

static void callbacks_post_patch(struct pp_patch *patch, enum pp_called from)
{
	unsigned int i;

	for (i = 0; i < patch->nr_objects; i++)
		if (patch->objects[i].called == from)
			callback_post_patch(&patch->objects[i]);
}

static void callbacks_post_unpatch(struct pp_patch *patch, enum pp_called from)
{
	unsigned int i;

	patch->withdrawn = false;
	for (i = patch->nr_objects; i--;)
		if (patch->objects[i].called == from)
			callback_post_unpatch(&patch->objects[i]);
}

void pp_callbacks_after(struct pp_patch *patch, bool enable)
{
	lockdep_assert_held(&pp_mutex);
	if (enable)
		callbacks_post_patch(patch, PP_CALLED_PRE_PATCH);
	else
		callbacks_post_unpatch(patch, PP_CALLED_PRE_UNPATCH);
}

void pp_callbacks_cancel(struct pp_patch *patch, bool enable)
{
	lockdep_assert_held(&pp_mutex);
	if (enable)
		callbacks_post_unpatch(patch, PP_CALLED_PRE_PATCH);
	else
		callbacks_post_patch(patch, PP_CALLED_PRE_UNPATCH);
}
