// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/pokepatch: the folders and files of the loaded patches. README.md lists the
 * files.
 *
 * Of all these files only writes of `enabled` and `replace` wait for anything that a transition
 * holds, so every file can be read while a transition is under way.
 */
#include <linux/build_bug.h>
#include <linux/completion.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/semaphore.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include <pokepatch_format.h>

#include "access.h"
#include "compat.h"
#include "core_print.h"
#include "drain.h"
#include "main.h"
#include "marker.h"
#include "park.h"
#include "pp_patch.h"
#include "replace.h"
#include "site.h"
#include "sysfs.h"
#include "transition.h"
#include "watch.h"

static struct kobject *root;
static struct workqueue_struct *workqueue;

static const char *const state_names[] = {
	[PP_DISABLED] = "disabled",
	[PP_ENABLING] = "enabling",
	[PP_ENABLED] = "enabled",
	[PP_DISABLING] = "disabling",
	[PP_BLOCKED] = "blocked",
};

static struct pp_patch *pp_sysfs_patch(struct kobject *kobj)
{
	return container_of(kobj, struct pp_patch, kobj);
}

/*
 * The caller holds op, or is the only one that changes the patch's state. A switch that is tried
 * again is enabling or disabling in between, and stays blocked since the first time.
 */
static void pp_sysfs_note_blocked(struct pp_patch *patch, enum pp_state state)
{
	if (state == PP_ENABLED || state == PP_DISABLED)
		WRITE_ONCE(patch->blocked_since, 0);
	else if (state == PP_BLOCKED && !patch->blocked_since)
		WRITE_ONCE(patch->blocked_since, max_t(u64, ktime_get_boottime_seconds(), 1));
}

void pp_sysfs_state(struct pp_patch *patch, enum pp_state state)
{
	pp_sysfs_note_blocked(patch, state);
	/* Release: a reader that sees the end of a switch also sees its error. */
	smp_store_release(&patch->state, state);
	sysfs_notify(&patch->kobj, NULL, "state");
}

/* --- enabled ------------------------------------------------------------------- */

/*
 * All files that can be written are binary files, because the write of such a file gets the struct
 * file, and with it who opened it; `enabled` needs O_NONBLOCK, too. They read like other files.
 */
static ssize_t pp_sysfs_enabled_read(struct file *file, struct kobject *kobj,
				     pp_bin_attribute *attr, char *buf, loff_t off,
				     size_t count)
{
	const char *text = READ_ONCE(pp_sysfs_patch(kobj)->enabled) ? "1\n" : "0\n";

	return memory_read_from_buffer(buf, count, &off, text, 2);
}

static const char *pp_sysfs_op(bool enable)
{
	return enable ? "enable" : "disable";
}

void pp_sysfs_give_up(struct pp_patch *patch)
{
	patch->retry_due = false;
	WRITE_ONCE(patch->blocked_since, 0);
}

/*
 * Did a switch fail for a reason that passes?  Memory is short, a probe or a processor that is
 * offline is in the way, a patch that is to be replaced is just being switched, all tasks freeze.
 */
static bool pp_sysfs_passes(int ret)
{
	return ret == -EBUSY || ret == -ENOMEM || ret == -EAGAIN || ret == -EINTR ||
	       ret == -ERESTARTNOINTR;
}

/*
 * A switch has ended with @ret: if tasks were in the way, have it tried again after retry_ms; and
 * if this was such a try, @again, for whatever reason that passes. If it was made, `evict` has
 * served: no later switch must kill tasks because of it. The caller holds op.
 */
static void pp_sysfs_switched(struct pp_patch *patch, bool enable, bool again, int ret)
{
	const unsigned int ms = READ_ONCE(patch->retry_ms);

	if (!ret)
		WRITE_ONCE(patch->evict, PP_EVICT_LATER);
	if (again && ms && pp_sysfs_passes(ret))
		pp_sysfs_state(patch, PP_BLOCKED);
	patch->retry_due = ret && patch->state == PP_BLOCKED && ms;
	patch->retry_enable = enable;
	if (patch->retry_due)
		mod_delayed_work(workqueue, &patch->retry, msecs_to_jiffies(ms));
	else
		pp_sysfs_give_up(patch);
}

/*
 * Switch the patch. The caller holds op, which is free when this returns.
 *
 * Audit may sleep for long where its queue is full, so it comes when op is free again. The patch
 * cannot go away: pp_sysfs_remove() waits for the works, as for writers of `enabled`. The patches
 * that were replaced can, so the transition has copied their names.
 */
static int pp_sysfs_switch(struct pp_patch *patch, bool enable, bool again)
{
	char *replaced = NULL, *name;
	const int ret = pp_transition(patch, enable, &replaced);

	pp_sysfs_switched(patch, enable, again, ret);
	up(&patch->op);
	/* What was put off is tried again by this task, and audit could hold up the suspend. */
	if (ret != -ERESTARTNOINTR) {
		for (name = replaced; name && *name; name += strlen(name) + 1)
			pp_audit(name, "replace", ret);
		pp_audit(patch->name, pp_sysfs_op(enable), ret);
	}
	kfree(replaced);
	return ret;
}

static void pp_sysfs_retry_work(struct work_struct *work)
{
	struct pp_patch *patch = container_of(to_delayed_work(work), struct pp_patch, retry);
	bool enable;

	/* The holder of op may only write another file, or fail to replace the patch. */
	if (down_trylock(&patch->op)) {
		if (READ_ONCE(patch->retry_ms))
			mod_delayed_work(workqueue, &patch->retry,
					 msecs_to_jiffies(READ_ONCE(patch->retry_ms)));
		return;
	}
	enable = patch->retry_enable;
	if (!patch->retry_due || !READ_ONCE(patch->retry_ms)) {
		pp_sysfs_give_up(patch);
		up(&patch->op);
		return;
	}
	pp_sysfs_switch(patch, enable, true);
}

static void pp_sysfs_switch_work(struct work_struct *work)
{
	struct pp_patch *patch = container_of(work, struct pp_patch, work);

	pp_sysfs_switch(patch, patch->work_enable, false);
}

/*
 * Switch the patch, and return when it is switched or cannot be. With O_NONBLOCK a worker
 * switches it, this returns at once, and `state` tells the progress: otherwise the writer has
 * vfs_write() and its callees on its own stack, so that a patch of these could not be switched.
 * Return: also -ENODEV until the patch's module is live (pp_sysfs_ready()).
 */
static ssize_t pp_sysfs_enabled_write(struct file *file, struct kobject *kobj,
				      pp_bin_attribute *attr, char *buf, loff_t off,
				      size_t count)
{
	struct pp_patch *patch = pp_sysfs_patch(kobj);
	const size_t len = count && buf[count - 1] == '\n' ? count - 1 : count;
	bool enable;
	int ret;

	if (!pp_may_switch_by(file))
		return -EPERM;
	if (len != 1 || (buf[0] != '0' && buf[0] != '1'))
		return -EINVAL;
	enable = buf[0] == '1';

	if (file->f_flags & O_NONBLOCK) {
		if (down_trylock(&patch->op))
			return -EBUSY;
		if (!patch->ready) {
			up(&patch->op);
			return -ENODEV;
		}
		patch->work_enable = enable;
		if (patch->enabled != enable)
			pp_sysfs_state(patch, enable ? PP_ENABLING : PP_DISABLING);
		queue_work(workqueue, &patch->work);
		pp_audit(patch->name, enable ? "ask-enable" : "ask-disable", 0);
		return count;
	}
	/* Interruptible, so that a suspend can freeze the task.  It has begun nothing yet. */
	if (down_interruptible(&patch->op))
		return -ERESTARTNOINTR;
	if (!patch->ready) {
		up(&patch->op);
		return -ENODEV;
	}
	ret = pp_sysfs_switch(patch, enable, false);
	return ret ?: count;
}

static struct bin_attribute bin_attr_enabled =
	__BIN_ATTR(enabled, 0644, pp_sysfs_enabled_read, pp_sysfs_enabled_write, 0);

/* --- the other files of a patch --------------------------------------------------- */

static ssize_t pp_sysfs_blocked_by_read(struct file *file, struct kobject *kobj,
					pp_bin_attribute *attr, char *buf, loff_t off,
					size_t count)
{
	struct pp_patch *patch = pp_sysfs_patch(kobj);
	ssize_t ret = 0;

	if (!pp_may_see_tasks(file))
		return -EPERM;
	mutex_lock(&patch->report_lock);
	if (patch->report)
		ret = memory_read_from_buffer(buf, count, &off, patch->report, patch->report_len);
	mutex_unlock(&patch->report_lock);
	return ret;
}

/* Binary, because the list of busy tasks may be longer than a page. */
static struct bin_attribute bin_attr_blocked_by =
	__BIN_ATTR(blocked_by, 0400, pp_sysfs_blocked_by_read, NULL, 0);

static ssize_t pp_sysfs_state_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", state_names[smp_load_acquire(&pp_sysfs_patch(kobj)->state)]);
}

/*
 * When tasks were first in the way of the switch that is still to be made, in seconds of
 * CLOCK_BOOTTIME, as in /proc/uptime: the other clock may be set later in the boot. 0: it is not
 * blocked.
 */
static ssize_t pp_sysfs_blocked_since_show(struct kobject *kobj, struct kobj_attribute *attr,
					   char *buf)
{
	return sysfs_emit(buf, "%llu\n", READ_ONCE(pp_sysfs_patch(kobj)->blocked_since));
}

/* The errno of the last switch that has ended, as a writer that waited got it, or 0. */
static ssize_t pp_sysfs_error_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", -READ_ONCE(pp_sysfs_patch(kobj)->error));
}

/* 1: the patch that was enabled first.  The highest gets the calls.  0: disabled. */
static ssize_t pp_sysfs_stack_order_show(struct kobject *kobj, struct kobj_attribute *attr,
					 char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(pp_sysfs_patch(kobj)->stack_order));
}

/* Of a cumulative patch, from 1.  0: it has no level. */
static ssize_t pp_sysfs_level_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", pp_sysfs_patch(kobj)->image->level);
}

#define TIME_MAX_MS (24 * 60 * 60 * 1000)
/* A reader of `state` should see that a switch is blocked. */
#define RETRY_MIN_MS 100

/* Files that hold one number of the patch, which is read when a switch begins or has ended. */
struct pp_number {
	struct bin_attribute attr;
	size_t offset;		/* in struct pp_patch */
	unsigned int min, max;	/* and 0 */
};

static unsigned int *pp_sysfs_number(struct kobject *kobj, const struct pp_number *number)
{
	return (void *)pp_sysfs_patch(kobj) + number->offset;
}

static ssize_t pp_sysfs_number_read(struct file *file, struct kobject *kobj,
				    pp_bin_attribute *attr, char *buf, loff_t off, size_t count)
{
	const struct pp_number *number = container_of(attr, struct pp_number, attr);
	char text[sizeof("4294967295\n")];
	const int length = scnprintf(text, sizeof(text), "%u\n",
				     READ_ONCE(*pp_sysfs_number(kobj, number)));

	return memory_read_from_buffer(buf, count, &off, text, length);
}

/* kernfs_fop_write_iter() puts a NUL behind what is written to any file. */
static ssize_t pp_sysfs_number_write(struct file *file, struct kobject *kobj,
				     pp_bin_attribute *attr, char *buf, loff_t off, size_t count)
{
	const struct pp_number *number = container_of(attr, struct pp_number, attr);
	unsigned int value;
	int ret = kstrtouint(buf, 10, &value);

	if (!pp_may_switch_by(file))
		return -EPERM;
	if (ret || (value && value < number->min) || value > number->max)
		return -EINVAL;
	WRITE_ONCE(*pp_sysfs_number(kobj, number), value);
	return count;
}

#define PP_NUMBER(name, least, most)							\
	{										\
		.attr = __BIN_ATTR(name, 0644, pp_sysfs_number_read, pp_sysfs_number_write, 0), \
		.offset = offsetof(struct pp_patch, name) +				\
			  BUILD_BUG_ON_ZERO(!__same_type(((struct pp_patch *)0)->name,	\
							 unsigned int)),		\
		.min = (least),								\
		.max = (most),								\
	}

enum { NUMBER_TIMEOUT_MS, NUMBER_RETRY_MS, NUMBER_EVICT };

static struct pp_number numbers[] = {
	[NUMBER_TIMEOUT_MS] = PP_NUMBER(timeout_ms, 0, TIME_MAX_MS),
	[NUMBER_RETRY_MS] = PP_NUMBER(retry_ms, RETRY_MIN_MS, TIME_MAX_MS),
	[NUMBER_EVICT] = PP_NUMBER(evict, 0, PP_EVICT_KILL),
};

static ssize_t pp_sysfs_stop_ns_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", READ_ONCE(pp_sysfs_patch(kobj)->stop_ns));
}

static ssize_t pp_sysfs_build_id_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct pokepatch_object *vmlinux = pp_sysfs_patch(kobj)->objects[0].desc;

	return sysfs_emit(buf, "%*phN\n", (int)vmlinux->build_id_len, vmlinux->build_id);
}

static ssize_t pp_sysfs_replace_read(struct file *file, struct kobject *kobj,
				     pp_bin_attribute *attr, char *buf, loff_t off, size_t count)
{
	struct pp_patch *patch = pp_sysfs_patch(kobj);
	char *text = NULL;
	ssize_t ret = 0;

	mutex_lock(&patch->report_lock);
	if (patch->replaces)
		text = kasprintf(GFP_KERNEL, "%s\n", patch->replaces);
	if (text)
		ret = memory_read_from_buffer(buf, count, &off, text, strlen(text));
	else if (patch->replaces)
		ret = -ENOMEM;
	mutex_unlock(&patch->report_lock);
	kfree(text);
	return ret;
}

/* While this patch is disabled: the patches that the next 1 to `enabled` switches off. */
static ssize_t pp_sysfs_replace_write(struct file *file, struct kobject *kobj,
				      pp_bin_attribute *attr, char *buf, loff_t off, size_t count)
{
	struct pp_patch *patch = pp_sysfs_patch(kobj);
	int ret;

	if (!pp_may_switch_by(file))
		return -EPERM;
	if (down_trylock(&patch->op))
		return -EBUSY;
	ret = patch->enabled ? -EBUSY : pp_replace_set(patch, buf);
	up(&patch->op);
	return ret ?: count;
}

static struct bin_attribute bin_attr_replace =
	__BIN_ATTR(replace, 0644, pp_sysfs_replace_read, pp_sysfs_replace_write, 0);

/*
 * A line for each marker, see pp_markers_show(). The buffer has more room than asked for,
 * because the counts may grow meanwhile.
 */
static ssize_t pp_sysfs_markers_read(struct file *file, struct kobject *kobj,
				     pp_bin_attribute *attr, char *buf, loff_t off,
				     size_t count)
{
	struct pp_patch *patch = pp_sysfs_patch(kobj);
	const size_t size = pp_markers_show(patch, NULL, 0) + PAGE_SIZE;
	char *text = kvmalloc(size, GFP_KERNEL);
	ssize_t ret;

	if (!text)
		return -ENOMEM;
	ret = memory_read_from_buffer(buf, count, &off, text,
				      min(pp_markers_show(patch, text, size), size));
	kvfree(text);
	return ret;
}

static struct bin_attribute bin_attr_markers =
	__BIN_ATTR(markers, 0444, pp_sysfs_markers_read, NULL, 0);

static struct kobj_attribute state_attr = __ATTR(state, 0444, pp_sysfs_state_show, NULL);
static struct kobj_attribute blocked_since_attr =
	__ATTR(blocked_since, 0444, pp_sysfs_blocked_since_show, NULL);
static struct kobj_attribute error_attr = __ATTR(error, 0444, pp_sysfs_error_show, NULL);
static struct kobj_attribute stack_order_attr =
	__ATTR(stack_order, 0444, pp_sysfs_stack_order_show, NULL);
static struct kobj_attribute level_attr = __ATTR(level, 0444, pp_sysfs_level_show, NULL);
static struct kobj_attribute stop_ns_attr = __ATTR(stop_ns, 0444, pp_sysfs_stop_ns_show, NULL);
static struct kobj_attribute build_id_attr = __ATTR(build_id, 0444, pp_sysfs_build_id_show, NULL);

static struct attribute *patch_attrs[] = {
	&state_attr.attr,
	&blocked_since_attr.attr,
	&stop_ns_attr.attr,
	&build_id_attr.attr,
	&error_attr.attr,
	&stack_order_attr.attr,
	&level_attr.attr,
	NULL,
};

static pp_bin_attribute *patch_bin_attrs[] = {
	&bin_attr_enabled,
	&bin_attr_blocked_by,
	&bin_attr_markers,
	&bin_attr_replace,
	&numbers[NUMBER_TIMEOUT_MS].attr,
	&numbers[NUMBER_RETRY_MS].attr,
	&numbers[NUMBER_EVICT].attr,
	NULL,
};

static const struct attribute_group patch_group = {
	.attrs = patch_attrs,
	.bin_attrs = patch_bin_attrs,
};
__ATTRIBUTE_GROUPS(patch);

bool pp_sysfs_reserved(const char *name)
{
	unsigned int i;

	for (i = 0; patch_attrs[i]; i++)
		if (!strcmp(name, patch_attrs[i]->name))
			return true;
	for (i = 0; patch_bin_attrs[i]; i++)
		if (!strcmp(name, patch_bin_attrs[i]->attr.name))
			return true;
	return false;
}

/* --- a function's files ------------------------------------------------------------ */

static struct pp_func *pp_sysfs_func(struct kobject *kobj)
{
	return container_of(kobj, struct pp_func, kobj);
}

/*
 * The mode that the function is switched in, and the tracers and probes that have no effect
 * because of that. While it is not hooked: the mode that was asked for.
 */
static ssize_t pp_sysfs_mode_read(struct file *file, struct kobject *kobj,
				  pp_bin_attribute *attr, char *buf, loff_t off, size_t count)
{
	const struct pp_func *func = pp_sysfs_func(kobj);
	const struct pp_mode *mode = READ_ONCE(func->mode);
	const unsigned int shadows = READ_ONCE(func->shadows);
	char text[96];
	int len;

	len = scnprintf(text, sizeof(text), "%s",
			mode ? mode->name : pp_mode_name(READ_ONCE(func->want)));
	if (mode && shadows) {
		len += scnprintf(text + len, sizeof(text) - len, ",shadows:");
		len += pp_shadows_show(shadows, text + len, sizeof(text) - len);
	}
	len += scnprintf(text + len, sizeof(text) - len, "\n");
	return memory_read_from_buffer(buf, count, &off, text, len);
}

/* Ask for a mode, while the patch is disabled. */
static ssize_t pp_sysfs_mode_write(struct file *file, struct kobject *kobj,
				   pp_bin_attribute *attr, char *buf, loff_t off, size_t count)
{
	struct pp_func *func = pp_sysfs_func(kobj);
	struct pp_patch *patch = func->patch;
	u32 mode;
	int ret = pp_mode_parse(buf, &mode);

	if (!pp_may_switch_by(file))
		return -EPERM;
	if (ret)
		return ret;
	if (down_trylock(&patch->op))
		return -EBUSY;
	if (patch->enabled)
		ret = -EBUSY;
	else
		WRITE_ONCE(func->want, mode);
	up(&patch->op);
	return ret ?: count;
}

/* Binary, because the read of such a file gets the struct file, and with it who opened it. */
static ssize_t pp_sysfs_address_read(struct file *file, u64 address, char *buf, loff_t off,
				     size_t count)
{
	char text[sizeof("0x0123456789abcdef\n")];
	const int length = scnprintf(text, sizeof(text), "0x%llx\n",
				     pp_may_see_addresses(file) ? address : 0);

	return memory_read_from_buffer(buf, count, &off, text, length);
}

/* 0 while the parent is not loaded. */
static ssize_t pp_sysfs_old_addr_read(struct file *file, struct kobject *kobj,
				      pp_bin_attribute *attr, char *buf, loff_t off,
				      size_t count)
{
	return pp_sysfs_address_read(file, READ_ONCE(pp_sysfs_func(kobj)->old_addr), buf, off,
				     count);
}

static ssize_t pp_sysfs_new_addr_read(struct file *file, struct kobject *kobj,
				      pp_bin_attribute *attr, char *buf, loff_t off,
				      size_t count)
{
	return pp_sysfs_address_read(file, pp_sysfs_func(kobj)->desc->new_addr, buf, off, count);
}

static ssize_t pp_sysfs_old_size_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", pp_sysfs_func(kobj)->sym->size);
}

static ssize_t pp_sysfs_new_size_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", pp_sysfs_func(kobj)->desc->new_size);
}

static struct bin_attribute bin_attr_mode =
	__BIN_ATTR(mode, 0644, pp_sysfs_mode_read, pp_sysfs_mode_write, 0);
static struct bin_attribute bin_attr_old_addr =
	__BIN_ATTR(old_addr, 0400, pp_sysfs_old_addr_read, NULL, 0);
static struct bin_attribute bin_attr_new_addr =
	__BIN_ATTR(new_addr, 0400, pp_sysfs_new_addr_read, NULL, 0);
static struct kobj_attribute old_size_attr = __ATTR(old_size, 0444, pp_sysfs_old_size_show, NULL);
static struct kobj_attribute new_size_attr = __ATTR(new_size, 0444, pp_sysfs_new_size_show, NULL);

static struct attribute *func_attrs[] = {
	&old_size_attr.attr, &new_size_attr.attr, NULL,
};

static pp_bin_attribute *func_bin_attrs[] = { &bin_attr_mode, &bin_attr_old_addr, &bin_attr_new_addr,
					     NULL };

static const struct attribute_group func_group = {
	.attrs = func_attrs,
	.bin_attrs = func_bin_attrs,
};
__ATTRIBUTE_GROUPS(func);

/* --- folders ------------------------------------------------------------------------ */

/*
 * All these kobjects are parts of struct pp_patch, so the release of the last one tells
 * pp_sysfs_remove() that the patch may be freed.
 */
static void pp_sysfs_kobj_gone(struct pp_patch *patch)
{
	if (refcount_dec_and_test(&patch->kobjs))
		complete(&patch->kobjs_gone);
}

static void pp_sysfs_patch_release(struct kobject *kobj)
{
	pp_sysfs_kobj_gone(pp_sysfs_patch(kobj));
}

static void pp_sysfs_object_release(struct kobject *kobj)
{
	pp_sysfs_kobj_gone(container_of(kobj, struct pp_object, kobj)->patch);
}

static void pp_sysfs_func_release(struct kobject *kobj)
{
	pp_sysfs_kobj_gone(pp_sysfs_func(kobj)->patch);
}

static const struct kobj_type patch_type = {
	.release = pp_sysfs_patch_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = patch_groups,
};

static const struct kobj_type object_type = {
	.release = pp_sysfs_object_release,
	.sysfs_ops = &kobj_sysfs_ops,
};

static const struct kobj_type func_type = {
	.release = pp_sysfs_func_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = func_groups,
};

static int pp_sysfs_kobj_add(struct pp_patch *patch, struct kobject *kobj,
			     const struct kobj_type *type, struct kobject *parent, const char *name,
			     int pos)
{
	refcount_inc(&patch->kobjs);
	if (pos < 0)
		return kobject_init_and_add(kobj, type, parent, "%s", name);
	return kobject_init_and_add(kobj, type, parent, "%s,%d", name, pos);
}

/* A kobject that was never set up has no ktype.  The last put also removes it from sysfs. */
static void pp_sysfs_kobj_remove(struct kobject *kobj)
{
	if (kobj->ktype)
		kobject_put(kobj);
}

int pp_sysfs_add(struct pp_patch *patch)
{
	unsigned int i;
	int ret;

	refcount_set(&patch->kobjs, 1);
	init_completion(&patch->kobjs_gone);
	INIT_WORK(&patch->work, pp_sysfs_switch_work);
	INIT_DELAYED_WORK(&patch->retry, pp_sysfs_retry_work);
	pp_drain_init(patch);
	ret = pp_sysfs_kobj_add(patch, &patch->kobj, &patch_type, root, patch->name, -1);
	for (i = 0; i < patch->nr_objects && !ret; i++)
		if (patch->objects[i].has_funcs)
			ret = pp_sysfs_kobj_add(patch, &patch->objects[i].kobj, &object_type,
						&patch->kobj, patch->objects[i].name, -1);
	for (i = 0; i < patch->nr_funcs && !ret; i++) {
		struct pp_func *func = &patch->funcs[i];

		if (pp_func_carried(func))
			continue;
		ret = pp_sysfs_kobj_add(patch, &func->kobj, &func_type,
					&patch->objects[func->obj].kobj, func->name,
					func->sym->pos);
	}
	if (ret) {
		pr_err("%s is refused: its folder in sysfs cannot be made (%d)\n", patch->name,
		       ret);
		pp_sysfs_remove(patch);
		return ret;
	}
	return 0;
}

/*
 * `enabled` exists before the folders below it, and before the module's init has ended. If a
 * writer could switch the patch on by then, and a later step failed, the module would go with
 * its code in use. So a writer checks patch->ready with op held. A writer that came earlier saw
 * it clear and started nothing; so the error paths find the patch disabled and no work queued.
 * Until this function has run, a task that holds op waits for no lock but pp_mutex, so the
 * module notifiers, in which we are, may wait for op.
 */
void pp_sysfs_ready(struct pp_patch *patch)
{
	down(&patch->op);
	patch->ready = true;
	up(&patch->op);
}

void pp_sysfs_remove(struct pp_patch *patch)
{
	unsigned int i;

	/*
	 * First remove the file that starts transitions: that waits for the tasks that are
	 * using it. After the workers have ended too, no task can switch the patch any more.
	 */
	if (patch->kobj.state_in_sysfs)
		sysfs_remove_bin_file(&patch->kobj, &bin_attr_enabled);
	flush_work(&patch->work);
	cancel_delayed_work_sync(&patch->retry);
	pp_drain_exit(patch);
	for (i = 0; i < patch->nr_funcs; i++)
		pp_sysfs_kobj_remove(&patch->funcs[i].kobj);
	for (i = 0; i < patch->nr_objects; i++)
		pp_sysfs_kobj_remove(&patch->objects[i].kobj);
	pp_sysfs_kobj_remove(&patch->kobj);
	pp_sysfs_kobj_gone(patch); /* the count with which pp_sysfs_add() began */
	wait_for_completion(&patch->kobjs_gone);
}

static ssize_t pp_sysfs_version_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", PP_VERSION);
}

static struct kobj_attribute version_attr = __ATTR(version, 0444, pp_sysfs_version_show, NULL);

int pp_sysfs_add_file(const struct bin_attribute *file)
{
	return sysfs_create_bin_file(root, file);
}

void pp_sysfs_remove_file(const struct bin_attribute *file)
{
	sysfs_remove_bin_file(root, file);
}

int __init pp_sysfs_init(void)
{
	int ret;

	workqueue = alloc_workqueue("pokepatch", WQ_UNBOUND, 0);
	if (!workqueue)
		return -ENOMEM;
	root = kobject_create_and_add("pokepatch", kernel_kobj);
	ret = root ? sysfs_create_file(root, &version_attr.attr) : -ENOMEM;
	if (ret)
		pp_sysfs_exit();
	return ret;
}

void pp_sysfs_exit(void)
{
	kobject_put(root);
	destroy_workqueue(workqueue);
}
