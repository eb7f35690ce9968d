// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting until every CPU has scheduled.
 *
 * ftrace's handlers run with preemption off, in any context, also where RCU does not watch: in the
 * idle loop, and at the edges of interrupts.  So what they use is freed only once every CPU has
 * switched from one task to another.  The kernel's synchronize_rcu_tasks_rude() waits for that in
 * older kernels.  Since Linux 6.13 it does nothing on machines whose noinstr code cannot be traced
 * (x86, arm64), because ftrace has no handlers in the idle loop there; but the core's entry of a
 * function may be reached from anywhere, and idle tasks call functions that are traced.  So the
 * core does here what the kernel did, in all kernels: it has each CPU run a work item.  A
 * worker is a task of its own, so the CPU has switched to it, which it does only where it may
 * schedule.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/workqueue.h>

#include "rude.h"

static DEFINE_PER_CPU(struct work_struct, rude_works);
static DEFINE_MUTEX(rude_mutex); /* the work items; taken before the hotplug lock */

static void rude_do_nothing(struct work_struct *work)
{
}

/*
 * The hotplug lock keeps the CPUs that are online from going, and their workers with them.  A
 * CPU that is offline has no task in a section with preemption off: it left the last one when
 * it went.
 */
void pp_synchronize_rude(void)
{
	int cpu;

	mutex_lock(&rude_mutex);
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		struct work_struct *work = per_cpu_ptr(&rude_works, cpu);

		INIT_WORK(work, rude_do_nothing);
		schedule_work_on(cpu, work);
	}
	for_each_online_cpu(cpu)
		flush_work(per_cpu_ptr(&rude_works, cpu));
	cpus_read_unlock();
	mutex_unlock(&rude_mutex);
}
