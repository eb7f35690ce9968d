// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_stacks - a kernel thread that sleeps, until the module is removed, on a stack that holds the
 * address busy=.  A walk that trusts the unwind data misses this address:
 *
 *	at=0		the unwind data say that the stack ends before it
 *	at=ADDRESS	the thread was interrupted at ADDRESS.  An unwinder that goes on from there
 *			takes another word for a return address, and then skips the next word,
 *			which is the busy one
 *
 * "waiting" is Y once the thread sleeps.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

static unsigned long busy, at;
module_param(busy, ulong, 0444);
module_param(at, ulong, 0444);
static bool waiting;
module_param(waiting, bool, 0444);

/* stacks.S */
void pp_stacks_ended(unsigned long busy);
void pp_stacks_interrupted(unsigned long busy, unsigned long at);

/* Called by stacks.S. */
void pp_stacks_sleep(void);

void pp_stacks_sleep(void)
{
	WRITE_ONCE(waiting, true);
	while (!kthread_should_stop())
		schedule_timeout_uninterruptible(HZ / 50);
}

static int stacks(void *unused)
{
	if (at)
		pp_stacks_interrupted(busy, at);
	else
		pp_stacks_ended(busy);
	return 0;
}

static struct task_struct *thread;

static int __init pp_stacks_init(void)
{
	thread = kthread_run(stacks, NULL, "pp_stacks");
	return PTR_ERR_OR_ZERO(thread);
}

static void __exit pp_stacks_exit(void)
{
	kthread_stop(thread);
}

module_init(pp_stacks_init);
module_exit(pp_stacks_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A task with a stack that misleads, for pokepatch's tests");
