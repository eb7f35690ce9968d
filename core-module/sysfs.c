// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/pokepatch: see DESIGN.md and the contract that it points to.
 *
 * Nothing but writes of `enabled` and `replace` waits for anything that a transition
 * holds, so all can be read while one goes on.
 */
#include <linux/completion.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/semaphore.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/workqueue.h>

#include <pokepatch_format.h>

#include "core_print.h"
#include "drain.h"
#include "main.h"
#include "marker.h"
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

static struct pp_patch *to_patch(struct kobject *kobj)
{
	return container_of(kobj, struct pp_patch, kobj);
}

void pp_sysfs_state(struct pp_patch *patch, enum pp_state state)
{
	/* Release: who reads that it is over finds how, in error. */
	smp_store_release(&patch->state, state);
	sysfs_notify(&patch->kobj, NULL, "state");
}

/* --- enabled ------------------------------------------------------------------- */

/*
 * A binary file only because its write gets the struct file, and with it
 * O_NONBLOCK.  Reads like any other.
 */
static ssize_t enabled_read(struct file *file, struct kobject *kobj, struct bin_attribute *attr,
			    char *buf, loff_t off, size_t count)
{
	const char *text = READ_ONCE(to_patch(kobj)->enabled) ? "1\n" : "0\n";

	return memory_read_from_buffer(buf, count, &off, text, 2);
}

static void transition_work(struct work_struct *work)
{
	struct pp_patch *patch = container_of(work, struct pp_patch, work);

	pp_transition(patch, patch->work_enable);
	up(&patch->op);
}

/*
 * -ENODEV until the patch's module is live, see pp_sysfs_ready().
 * Returns when it is done, or cannot be.  With O_NONBLOCK returns at once, and
 * state tells how it goes: the writer has vfs_write() and the like on its own
 * stack, so that patches of those need it.
 */
static ssize_t enabled_write(struct file *file, struct kobject *kobj, struct bin_attribute *attr,
			     char *buf, loff_t off, size_t count)
{
	struct pp_patch *patch = to_patch(kobj);
	const size_t len = count && buf[count - 1] == '\n' ? count - 1 : count;
	bool enable;
	int ret;

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
		return count;
	}
	if (down_killable(&patch->op))
		return -EINTR;
	ret = patch->ready ? pp_transition(patch, enable) : -ENODEV;
	up(&patch->op);
	return ret ?: count;
}

static BIN_ATTR_RW(enabled, 0);

/* --- the other files of a patch --------------------------------------------------- */

static ssize_t blocked_by_read(struct file *file, struct kobject *kobj,
			       struct bin_attribute *attr, char *buf, loff_t off, size_t count)
{
	struct pp_patch *patch = to_patch(kobj);
	ssize_t ret = 0;

	mutex_lock(&patch->report_lock);
	if (patch->report)
		ret = memory_read_from_buffer(buf, count, &off, patch->report, patch->report_len);
	mutex_unlock(&patch->report_lock);
	return ret;
}

/* There may be more tasks in the way than a page holds. */
static BIN_ATTR_RO(blocked_by, 0);

static ssize_t state_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", state_names[smp_load_acquire(&to_patch(kobj)->state)]);
}

/* Of the last switch that is over: the errno, which a writer that waited has got, or 0. */
static ssize_t error_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%d\n", -READ_ONCE(to_patch(kobj)->error));
}

/* 1 is the patch that was enabled first, the highest has the last word; 0: disabled. */
static ssize_t stack_order_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(to_patch(kobj)->stack_order));
}

static ssize_t timeout_ms_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", READ_ONCE(to_patch(kobj)->timeout_ms));
}

#define TIMEOUT_MAX_MS (24 * 60 * 60 * 1000)

static ssize_t timeout_ms_store(struct kobject *kobj, struct kobj_attribute *attr,
				const char *buf, size_t count)
{
	unsigned int ms;
	int ret = kstrtouint(buf, 10, &ms);

	if (ret || ms > TIMEOUT_MAX_MS)
		return -EINVAL;
	WRITE_ONCE(to_patch(kobj)->timeout_ms, ms);
	return count;
}

static ssize_t stop_ns_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", READ_ONCE(to_patch(kobj)->stop_ns));
}

static ssize_t build_id_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct pokepatch_object *vmlinux = to_patch(kobj)->objects[0].desc;

	return sysfs_emit(buf, "%*phN\n", (int)vmlinux->build_id_len, vmlinux->build_id);
}

static ssize_t replace_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	struct pp_patch *patch = to_patch(kobj);
	ssize_t ret;

	mutex_lock(&patch->report_lock);
	ret = patch->replaces ? sysfs_emit(buf, "%s\n", patch->replaces) : 0;
	mutex_unlock(&patch->report_lock);
	return ret;
}

/* Which patches the next 1 to `enabled` switches off, while this one is disabled. */
static ssize_t replace_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			     size_t count)
{
	struct pp_patch *patch = to_patch(kobj);
	int ret;

	if (down_trylock(&patch->op))
		return -EBUSY;
	ret = patch->enabled ? -EBUSY : pp_replace_set(patch, buf);
	up(&patch->op);
	return ret ?: count;
}

/* A line for each, see pp_markers_show(); more room than it says, as counts may grow meanwhile. */
static ssize_t markers_read(struct file *file, struct kobject *kobj, struct bin_attribute *attr,
			    char *buf, loff_t off, size_t count)
{
	struct pp_patch *patch = to_patch(kobj);
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

static BIN_ATTR_RO(markers, 0);

static struct kobj_attribute state_attr = __ATTR_RO(state);
static struct kobj_attribute error_attr = __ATTR_RO(error);
static struct kobj_attribute stack_order_attr = __ATTR_RO(stack_order);
static struct kobj_attribute timeout_ms_attr = __ATTR_RW(timeout_ms);
static struct kobj_attribute stop_ns_attr = __ATTR_RO(stop_ns);
static struct kobj_attribute build_id_attr = __ATTR_RO(build_id);
static struct kobj_attribute replace_attr = __ATTR_RW(replace);

static struct attribute *patch_attrs[] = {
	&state_attr.attr,    &timeout_ms_attr.attr, &stop_ns_attr.attr,
	&build_id_attr.attr, &replace_attr.attr,    &error_attr.attr,
	&stack_order_attr.attr, NULL,
};

static struct bin_attribute *patch_bin_attrs[] = { &bin_attr_enabled, &bin_attr_blocked_by,
						   &bin_attr_markers, NULL };

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

static struct pp_func *to_func(struct kobject *kobj)
{
	return container_of(kobj, struct pp_func, kobj);
}

/* What it is switched in, and who has no effect because of that; else what is wanted. */
static ssize_t mode_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	const struct pp_func *func = to_func(kobj);
	const struct pp_mode *mode = READ_ONCE(func->mode);
	const unsigned int shadows = READ_ONCE(func->shadows);
	char text[64];

	if (!mode)
		return sysfs_emit(buf, "%s\n", pp_mode_name(READ_ONCE(func->want)));
	if (!shadows)
		return sysfs_emit(buf, "%s\n", mode->name);
	pp_shadows_show(shadows, text, sizeof(text));
	return sysfs_emit(buf, "%s,shadows:%s\n", mode->name, text);
}

/* Ask for a mode, while the patch is disabled. */
static ssize_t mode_store(struct kobject *kobj, struct kobj_attribute *attr, const char *buf,
			  size_t count)
{
	struct pp_func *func = to_func(kobj);
	struct pp_patch *patch = func->patch;
	u32 mode;
	int ret = pp_mode_parse(buf, &mode);

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

/* 0 while the parent is not loaded. */
static ssize_t old_addr_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "0x%lx\n", READ_ONCE(to_func(kobj)->old_addr));
}

static ssize_t new_addr_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "0x%llx\n", to_func(kobj)->desc->new_addr);
}

static ssize_t old_size_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%llu\n", to_func(kobj)->sym->size);
}

static ssize_t new_size_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", to_func(kobj)->desc->new_size);
}

static struct kobj_attribute mode_attr = __ATTR_RW(mode);
static struct kobj_attribute old_addr_attr = __ATTR_RO_MODE(old_addr, 0400);
static struct kobj_attribute new_addr_attr = __ATTR_RO_MODE(new_addr, 0400);
static struct kobj_attribute old_size_attr = __ATTR_RO(old_size);
static struct kobj_attribute new_size_attr = __ATTR_RO(new_size);

static struct attribute *func_attrs[] = {
	&mode_attr.attr,     &old_addr_attr.attr, &new_addr_attr.attr,
	&old_size_attr.attr, &new_size_attr.attr, NULL,
};
ATTRIBUTE_GROUPS(func);

/* --- folders ------------------------------------------------------------------------ */

/*
 * All these kobjects live in the struct pp_patch, so the last of them to be
 * released tells pp_sysfs_remove() that the patch may go.
 */
static void kobj_gone(struct pp_patch *patch)
{
	if (refcount_dec_and_test(&patch->kobjs))
		complete(&patch->kobjs_gone);
}

static void patch_release(struct kobject *kobj)
{
	kobj_gone(to_patch(kobj));
}

static void object_release(struct kobject *kobj)
{
	kobj_gone(container_of(kobj, struct pp_object, kobj)->patch);
}

static void func_release(struct kobject *kobj)
{
	kobj_gone(to_func(kobj)->patch);
}

static const struct kobj_type patch_type = {
	.release = patch_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = patch_groups,
};

static const struct kobj_type object_type = {
	.release = object_release,
	.sysfs_ops = &kobj_sysfs_ops,
};

static const struct kobj_type func_type = {
	.release = func_release,
	.sysfs_ops = &kobj_sysfs_ops,
	.default_groups = func_groups,
};

static int add_kobj(struct pp_patch *patch, struct kobject *kobj, const struct kobj_type *type,
		    struct kobject *parent, const char *name, int pos)
{
	refcount_inc(&patch->kobjs);
	if (pos < 0)
		return kobject_init_and_add(kobj, type, parent, "%s", name);
	return kobject_init_and_add(kobj, type, parent, "%s,%d", name, pos);
}

/* A kobject that was not set up has no ktype.  The last put also takes it from sysfs. */
static void remove_kobj(struct kobject *kobj)
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
	INIT_WORK(&patch->work, transition_work);
	pp_drain_init(patch);
	ret = add_kobj(patch, &patch->kobj, &patch_type, root, patch->name, -1);
	for (i = 0; i < patch->nr_objects && !ret; i++)
		if (patch->objects[i].has_funcs)
			ret = add_kobj(patch, &patch->objects[i].kobj, &object_type, &patch->kobj,
				       patch->objects[i].name, -1);
	for (i = 0; i < patch->nr_funcs && !ret; i++) {
		struct pp_func *func = &patch->funcs[i];

		if (pp_func_carried(func))
			continue;
		ret = add_kobj(patch, &func->kobj, &func_type, &patch->objects[func->obj].kobj,
			       func->name, func->sym->pos);
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
 * `enabled` was there before the folders below it, and before the module's init is over.
 * Had a writer switched the patch on by then, and one of them failed, the module would go
 * with its code in use.  Writers look at ready with op held: those who came before this
 * saw it clear and started nothing, so that the ways out find the patch disabled and no
 * work queued.  Until then, who holds op waits for nobody but pp_mutex, so that the module
 * notifiers, which we are in, may wait for op.
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
	 * First the file that starts transitions: removing it waits for those who
	 * are in it, and after the worker nobody can switch the patch any more.
	 */
	if (patch->kobj.state_in_sysfs)
		sysfs_remove_bin_file(&patch->kobj, &bin_attr_enabled);
	flush_work(&patch->work);
	pp_drain_exit(patch);
	for (i = 0; i < patch->nr_funcs; i++)
		remove_kobj(&patch->funcs[i].kobj);
	for (i = 0; i < patch->nr_objects; i++)
		remove_kobj(&patch->objects[i].kobj);
	remove_kobj(&patch->kobj);
	kobj_gone(patch); /* the count that pp_sysfs_add() began with */
	wait_for_completion(&patch->kobjs_gone);
}

static ssize_t version_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", PP_VERSION);
}

static struct kobj_attribute version_attr = __ATTR_RO(version);

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
