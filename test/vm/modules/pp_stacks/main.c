// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_stacks - a kernel thread that sleeps, until the module is removed, on a stack on which
 * the address busy= can only be found by who does not trust the unwind data:
 *
 *	at=0		they say that the stack ends before it
 *	at=ADDRESS	the thread was interrupted there, and if the unwinder goes on from
 *			there it takes a word for a return address that is none, and then
 *			leaves the next out, which is the busy one
 *
 * "waiting" tells that it is there.
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

/* Called from there. */
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
