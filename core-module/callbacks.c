// SPDX-License-Identifier: GPL-2.0-only
/*
 * The callbacks of patches: functions of the patch's own that are called around a
 * switch, for each parent object.  pokepatch_patch(7) tells authors what they can rely
 * on.
 *
 * obj->called says which was the last one.  An object without callbacks goes through the
 * same states, so that what comes next never depends on which of them there are:
 *
 *	NONE -> PRE_PATCH -> POST_PATCH -> PRE_UNPATCH -> NONE (post-unpatch)
 *
 * and, if the switch does not come about, PRE_PATCH -> NONE (post-unpatch) and
 * PRE_UNPATCH -> POST_PATCH (post-patch, once more).  So post-unpatch is called if and
 * only if pre-patch succeeded, and never twice for one pre-patch.
 *
 * All under pp_mutex: no module comes or goes, and no other switch is made, between a
 * callback and the switch that it is for.  The patch module is held meanwhile, by the
 * switch or since the patch is enabled.  Nobody else runs a callback of the patch, so
 * that they are on no stack when a transition looks for those in the patch's text.
 *
 * Objects are prepared in the order of the table, vmlinux first, and the other way round
 * on the way back.
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

/* Whose post-unpatch callback is running, and in which task.  Written under pp_mutex. */
static struct pp_object *unpatching;
static struct task_struct *unpatching_task;

static void tell(struct pp_object *obj, enum pokepatch_callback_kind kind)
{
	pr_debug("%s: %s of %s\n", obj->patch->name, kind_names[kind], obj->name);
	obj->parent = (struct pokepatch_parent){
		.patch = obj->patch->name,
		.name = obj->name,
		.module = obj->mod,
	};
}

/* The errno of a callback, which a writer of `enabled` gets: never taken for success. */
static int check_errno(const struct pp_object *obj, int ret)
{
	if (ret <= 0 && ret > -ERESTARTSYS)
		return ret;
	pr_notice("%s: the pre-patch callback of %s returned %d, which is no error\n",
		  obj->patch->name, obj->name, ret);
	return -EINVAL;
}

static int call_pre_patch(struct pp_object *obj)
{
	const unsigned long addr = obj->callbacks[POKEPATCH_CALLBACK_PRE_PATCH];
	int (*call)(const struct pokepatch_parent *parent) = (void *)addr;
	int ret = 0;

	if (addr) {
		tell(obj, POKEPATCH_CALLBACK_PRE_PATCH);
		ret = check_errno(obj, call(&obj->parent));
	}
	if (ret) {
		pr_notice("%s: the pre-patch callback of %s failed (%d)\n", obj->patch->name,
			  obj->name, ret);
		return ret;
	}
	obj->called = PP_CALLED_PRE_PATCH;
	if (addr)
		pp_patch_pin(obj->patch); /* code of the patch has run */
	return 0;
}

static void call(struct pp_object *obj, enum pokepatch_callback_kind kind)
{
	void (*call)(const struct pokepatch_parent *parent) = (void *)obj->callbacks[kind];

	if (!call)
		return;
	tell(obj, kind);
	call(&obj->parent);
}

static void call_post_patch(struct pp_object *obj)
{
	call(obj, POKEPATCH_CALLBACK_POST_PATCH);
	obj->called = PP_CALLED_POST_PATCH;
}

static void call_pre_unpatch(struct pp_object *obj)
{
	call(obj, POKEPATCH_CALLBACK_PRE_UNPATCH);
	obj->called = PP_CALLED_PRE_UNPATCH;
}

static void call_post_unpatch(struct pp_object *obj)
{
	WRITE_ONCE(unpatching_task, current);
	WRITE_ONCE(unpatching, obj);
	call(obj, POKEPATCH_CALLBACK_POST_UNPATCH);
	WRITE_ONCE(unpatching, NULL);
	obj->called = PP_CALLED_NONE;
}

/*
 * Called by the patch's own callback, so in the task that holds pp_mutex for it; anybody
 * else does not find itself in unpatching_task, whatever it reads in unpatching.
 */
void pokepatch_withdrawn(const void *parent)
{
	struct pp_object *obj = READ_ONCE(unpatching);

	if (READ_ONCE(unpatching_task) != current || !obj || parent != &obj->parent) {
		pr_notice("pokepatch_withdrawn() has no effect but in a post-unpatch callback\n");
		return;
	}
	obj->patch->withdrawn = true;
}
EXPORT_SYMBOL_GPL(pokepatch_withdrawn);

/* --- one object -------------------------------------------------------------------- */

int pp_callbacks_coming(struct pp_object *obj)
{
	lockdep_assert_held(&pp_mutex);
	return call_pre_patch(obj);
}

void pp_callbacks_came(struct pp_object *obj)
{
	lockdep_assert_held(&pp_mutex);
	call_post_patch(obj);
}

void pp_callbacks_going(struct pp_object *obj)
{
	lockdep_assert_held(&pp_mutex);
	if (obj->called == PP_CALLED_POST_PATCH)
		call_pre_unpatch(obj);
}

void pp_callbacks_gone(struct pp_object *obj)
{
	lockdep_assert_held(&pp_mutex);
	if (obj->called != PP_CALLED_NONE)
		call_post_unpatch(obj);
}

/* --- all that are there ---------------------------------------------------------------- */

int pp_callbacks_before(struct pp_patch *patch, bool enable)
{
	unsigned int i;

	lockdep_assert_held(&pp_mutex);
	for (i = 0; enable && i < patch->nr_objects; i++) {
		struct pp_object *obj = &patch->objects[i];
		int ret = obj->attached && obj->called == PP_CALLED_NONE ? call_pre_patch(obj) : 0;

		if (ret)
			return ret;
	}
	for (i = patch->nr_objects; !enable && i--;)
		if (patch->objects[i].called == PP_CALLED_POST_PATCH)
			call_pre_unpatch(&patch->objects[i]);
	return 0;
}

static void post_patch_all(struct pp_patch *patch, enum pp_called from)
{
	unsigned int i;

	for (i = 0; i < patch->nr_objects; i++)
		if (patch->objects[i].called == from)
			call_post_patch(&patch->objects[i]);
}

static void post_unpatch_all(struct pp_patch *patch, enum pp_called from)
{
	unsigned int i;

	patch->withdrawn = false;
	for (i = patch->nr_objects; i--;)
		if (patch->objects[i].called == from)
			call_post_unpatch(&patch->objects[i]);
}

void pp_callbacks_after(struct pp_patch *patch, bool enable)
{
	lockdep_assert_held(&pp_mutex);
	if (enable)
		post_patch_all(patch, PP_CALLED_PRE_PATCH);
	else
		post_unpatch_all(patch, PP_CALLED_PRE_UNPATCH);
}

void pp_callbacks_cancel(struct pp_patch *patch, bool enable)
{
	lockdep_assert_held(&pp_mutex);
	if (enable)
		post_unpatch_all(patch, PP_CALLED_PRE_PATCH);
	else
		post_patch_all(patch, PP_CALLED_PRE_UNPATCH);
}
