// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_often - has KCSAN watch accesses of some functions far more often than others.
 *
 * KCSAN watches one in kcsan.skip_watch accesses of a CPU, whose count down is kcsan_skip.  The
 * core makes a thousandth of a kernel's accesses.  So at each entry of a function that is written to
 * the parameter "function" (its address), the count is set to a number below RANGE: one of the next
 * accesses of this function, or of those that it calls, is watched.
 *
 * skip=ADDRESS is what kallsyms says of the per-CPU variable kcsan_skip.  "entries" counts.
 */
#include <linux/atomic.h>
#include <linux/ftrace.h>
#include <linux/kstrtox.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/timex.h>

#define RANGE 32

static unsigned long skip;
module_param(skip, ulong, 0400);

static atomic_long_t entries = ATOMIC_LONG_INIT(0);

/* Any context.  An interrupt in between sets the count too, which does no harm. */
static void notrace __no_kcsan often_entered(unsigned long ip, unsigned long parent_ip,
					     struct ftrace_ops *ops, struct ftrace_regs *fregs)
{
	preempt_disable_notrace();
	*this_cpu_ptr((long __percpu *)skip) = get_cycles() % RANGE;
	preempt_enable_notrace();
	arch_atomic_long_inc(&entries);
}

static struct ftrace_ops ops = { .func = often_entered, .flags = FTRACE_OPS_FL_RECURSION };

/* Functions without an entry of ftrace's are refused. */
static int often_add(const char *text, const struct kernel_param *unused)
{
	unsigned long address;

	return kstrtoul(text, 16, &address) ?: ftrace_set_filter_ip(&ops, address, 0, 0);
}

static const struct kernel_param_ops function_ops = { .set = often_add };
module_param_cb(function, &function_ops, NULL, 0200);

/* Without a filter it would be called at every function. */
static int often_switch_on(const char *text, const struct kernel_param *unused)
{
	return ops.flags & FTRACE_OPS_FL_INITIALIZED ? register_ftrace_function(&ops) : -EINVAL;
}

static const struct kernel_param_ops on_ops = { .set = often_switch_on };
module_param_cb(on, &on_ops, NULL, 0200);

static int often_get_entries(char *text, const struct kernel_param *unused)
{
	return sprintf(text, "%ld\n", arch_atomic_long_read(&entries));
}

static const struct kernel_param_ops entries_ops = { .get = often_get_entries };
module_param_cb(entries, &entries_ops, NULL, 0400);

static int __init pp_often_init(void)
{
	return skip ? 0 : -EINVAL;
}

static void __exit pp_often_exit(void)
{
	unregister_ftrace_function(&ops);
}

module_init(pp_often_init);
module_exit(pp_often_exit);
MODULE_LICENSE("GPL");
