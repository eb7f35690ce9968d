// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_front - a task that is stopped in front of the instruction at jump=ADDRESS.  The task is a
 * kernel thread.  "waiting" is Y while it sleeps, until 1 is written to "go".
 *
 * The thread is in the state of a task that called a function in direct mode, with the arguments
 * (1, 0), and was preempted in front of the stub's jump.  The only trace of this is the jump's
 * address on its stack.  When the thread goes on, it runs the jump.  "result" holds what the
 * function then returned.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

static unsigned long jump;
module_param(jump, ulong, 0444);
static bool go, waiting;
module_param(go, bool, 0644);
module_param(waiting, bool, 0444);
static ulong result;
module_param(result, ulong, 0444);

/* way.S */
unsigned long pp_front_call(unsigned long jump);

/* Called by way.S. */
void pp_front_sleep(void);

void pp_front_sleep(void)
{
	WRITE_ONCE(waiting, true);
	while (!READ_ONCE(go))
		schedule_timeout_uninterruptible(HZ / 50);
}

static int front(void *unused)
{
	WRITE_ONCE(result, pp_front_call(jump));
	WRITE_ONCE(waiting, false);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 50);
	return 0;
}

static struct task_struct *thread;

static int __init pp_front_init(void)
{
	thread = kthread_run(front, NULL, "pp_front");
	return PTR_ERR_OR_ZERO(thread);
}

static void __exit pp_front_exit(void)
{
	kthread_stop(thread);
}

module_init(pp_front_init);
module_exit(pp_front_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A task in front of an instruction");
