// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_flush - a live patch of the kernel's own kind, so that pokepatch need not be there:
 * while hold=1, tasks that reap themselves sleep in proc_flush_pid(), when the task list has
 * lost them already.
 */
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>

static bool hold;
module_param(hold, bool, 0644);

/* What it does not do is to drop names of /proc that are no more, which others do in time. */
static void new_proc_flush_pid(struct pid *pid)
{
	while (READ_ONCE(hold) && (current->flags & PF_EXITING))
		schedule_timeout_uninterruptible(HZ / 20);
}

static struct klp_func functions[] = {
	{ .old_name = "proc_flush_pid", .new_func = new_proc_flush_pid },
	{},
};

/* No name: vmlinux. */
static struct klp_object objects[] = {
	{ .funcs = functions },
	{},
};

static struct klp_patch patch = {
	.mod = THIS_MODULE,
	.objs = objects,
};

static int __init pp_flush_init(void)
{
	return klp_enable_patch(&patch);
}

/* Runs only after the patch was disabled through sysfs and its transition ended. */
static void __exit pp_flush_exit(void)
{
}

module_init(pp_flush_init);
module_exit(pp_flush_exit);
MODULE_LICENSE("GPL");
MODULE_INFO(livepatch, "Y");
MODULE_DESCRIPTION("Holds tasks at their end, for pokepatch's tests");
