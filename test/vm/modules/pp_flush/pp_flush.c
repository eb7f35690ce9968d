// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_flush - while hold=1, tasks that reap themselves sleep in proc_flush_pid(), when the task
 * list has lost them already.  By a live patch of the kernel's own kind, or where there is none by
 * ftrace, so that pokepatch need not be there.
 */
#include <linux/ftrace.h>
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/string.h>

static bool hold;
module_param(hold, bool, 0644);

/* What it does not do is to drop names of /proc that are no more, which others do in time. */
static void new_proc_flush_pid(struct pid *pid)
{
	while (READ_ONCE(hold) && (current->flags & PF_EXITING))
		schedule_timeout_uninterruptible(HZ / 20);
}

#ifdef CONFIG_LIVEPATCH

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

MODULE_INFO(livepatch, "Y");

#else

static void notrace redirect(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			     struct ftrace_regs *fregs)
{
	instruction_pointer_set(ftrace_get_regs(fregs), (unsigned long)new_proc_flush_pid);
}

static struct ftrace_ops ops = {
	.func = redirect,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
};

static int __init pp_flush_init(void)
{
	static char name[] = "proc_flush_pid";

	return ftrace_set_filter(&ops, name, strlen(name), 1) ?: register_ftrace_function(&ops);
}

/* Who unloads it sees to it that nobody is in it: hold=0, and the task has ended. */
static void __exit pp_flush_exit(void)
{
	unregister_ftrace_function(&ops);
}

#endif

module_init(pp_flush_init);
module_exit(pp_flush_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Holds tasks at their end, for pokepatch's tests");
