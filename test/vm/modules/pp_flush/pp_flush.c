// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_flush - while hold=1, tasks that reap themselves sleep in proc_flush_pid(), after they have
 * left the task list.  The module redirects that function by a kernel livepatch, or by ftrace
 * where the kernel has no livepatch, so that it works before the core is loaded.
 */
#include <linux/ftrace.h>
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/string.h>

static bool hold;
module_param(hold, bool, 0644);

/* It leaves out the removal of stale names from /proc, which the kernel makes up for in time. */
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

/* Without a name, the object is vmlinux. */
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

/* Where ftrace passes arguments alone, there are no registers to ask for. */
#ifdef CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS
#define FLAGS FTRACE_OPS_FL_IPMODIFY
#define go_to(fregs, func) ftrace_regs_set_instruction_pointer(fregs, (unsigned long)(func))
#else
#define FLAGS (FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY)
#define go_to(fregs, func) instruction_pointer_set(ftrace_get_regs(fregs), (unsigned long)(func))
#endif

static void notrace redirect(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *op,
			     struct ftrace_regs *fregs)
{
	go_to(fregs, new_proc_flush_pid);
}

static struct ftrace_ops ops = {
	.func = redirect,
	.flags = FLAGS,
};

static int __init pp_flush_init(void)
{
	static char name[] = "proc_flush_pid";

	return ftrace_set_filter(&ops, name, strlen(name), 1) ?: register_ftrace_function(&ops);
}

/* The test unloads the module only after hold=0, when the task that was held has ended. */
static void __exit pp_flush_exit(void)
{
	unregister_ftrace_function(&ops);
}

#endif

module_init(pp_flush_init);
module_exit(pp_flush_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Holds tasks at their end, for pokepatch's tests");
