// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_flush - while hold=1, tasks that reap themselves sleep in proc_flush_pid(), after they have
 * left the task list.  The module redirects that function by a kernel livepatch, or by ftrace where
 * the kernel has no livepatch, so that it works before the core is loaded.  Tasks that exit with
 * /dev/pp_flush open sleep as they close it, when they are still on the list.  The parameter "held"
 * says how many do either.
 */
#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/ftrace.h>
#include <linux/livepatch.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/wait.h>

static bool hold;
static atomic_t held = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(released);

static int hold_set(const char *text, const struct kernel_param *param)
{
	int ret = param_set_bool(text, param);

	wake_up_all(&released);
	return ret;
}

static const struct kernel_param_ops hold_ops = {
	.set = hold_set,
	.get = param_get_bool,
};
module_param_cb(hold, &hold_ops, &hold, 0644);

static int held_get(char *text, const struct kernel_param *param)
{
	return sysfs_emit(text, "%d\n", atomic_read(&held));
}

static const struct kernel_param_ops held_ops = {
	.get = held_get,
};
module_param_cb(held, &held_ops, NULL, 0444);

static void sleep_while_held(void)
{
	if (!READ_ONCE(hold) || !(current->flags & PF_EXITING))
		return;
	atomic_inc(&held);
	wait_event_idle(released, !READ_ONCE(hold));
	atomic_dec(&held);
}

/* Each close() calls this, also while other tasks have the file open. */
static int close_file(struct file *file, fl_owner_t owner)
{
	sleep_while_held();
	return 0;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.flush = close_file,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "pp_flush",
	.fops = &fops,
};

/* It leaves out the removal of stale names from /proc, which the kernel makes up for in time. */
static void new_proc_flush_pid(struct pid *pid)
{
	sleep_while_held();
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

static int __init redirect_init(void)
{
	return klp_enable_patch(&patch);
}

/* Runs only after the patch was disabled through sysfs and its transition ended. */
static void redirect_exit(void)
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

static int __init redirect_init(void)
{
	static char name[] = "proc_flush_pid";

	return ftrace_set_filter(&ops, name, strlen(name), 1) ?: register_ftrace_function(&ops);
}

/* The test unloads the module only after hold=0, when the task that was held has ended. */
static void redirect_exit(void)
{
	unregister_ftrace_function(&ops);
}

#endif

static int __init pp_flush_init(void)
{
	int ret = misc_register(&device);

	if (ret)
		return ret;
	ret = redirect_init();
	if (ret)
		misc_deregister(&device);
	return ret;
}

static void __exit pp_flush_exit(void)
{
	redirect_exit();
	misc_deregister(&device);
}

module_init(pp_flush_init);
module_exit(pp_flush_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Holds tasks at their end, for pokepatch's tests");
