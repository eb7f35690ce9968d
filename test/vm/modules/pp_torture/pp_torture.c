// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_torture - calls four functions from every context while patches of them come and go,
 * and compares what they return with what the program torture says is current.
 *
 * Patch number k makes each function that it changes return k more; 0 is the original.
 * A state is the four functions' numbers.  The program writes to "state" before and after
 * each switch:
 *
 *	state = LIVE << 63 | SEQUENCE << 32 | AFTER << 16 | BEFORE
 *
 * with four bits for each function.  Between two switches AFTER and BEFORE are the same.
 * LIVE: the functions are switched one by one.
 * - A call must return what one of them says, as read before or after the call.
 * - Four calls with interrupts off must together be one of these states: nothing can be
 *   switched in between.  (Interrupts, softirqs and process context; not NMIs, which no
 *   stop stops; and not while a live switch is made.)
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/gcd.h>
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/lcm.h>
#include <linux/math.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/timer.h>

#include <asm/apic.h>
#include <asm/nmi.h>

#define FUNCTIONS 4
#define FIELD 4 /* bits */
#define VECTOR 16

static u64 state;
module_param(state, ullong, 0600);

enum context { PREEMPTIBLE, PROCESS, SOFTIRQ, HARDIRQ, NMI, NMI_IN_STOP, CONTEXTS };

static const char *const context_names[CONTEXTS] = {
	"preemptible", "process", "softirq", "hardirq", "nmi", "nmi-in-stop",
};

static atomic64_t calls[CONTEXTS];
static atomic64_t patched; /* of these, what a patch has returned */
static atomic64_t unsure;  /* switched more than once meanwhile */
static atomic64_t wrong;

/* Not constants for the compiler: some are declared to depend on their arguments alone. */
static u64 (*volatile call_pow)(u64, unsigned int) = int_pow;
static unsigned long (*volatile call_sqrt)(unsigned long) = int_sqrt;
static unsigned long (*volatile call_gcd)(unsigned long, unsigned long) = gcd;
static unsigned long (*volatile call_lcm)(unsigned long, unsigned long) = lcm;

static unsigned int call(unsigned int function)
{
	switch (function) {
	case 0:
		return call_pow(1, 0) - 1;
	case 1:
		return call_sqrt(16) - 4;
	case 2:
		return call_gcd(0, 5) - 5;
	default:
		return call_lcm(0, 5);
	}
}

static unsigned int field(u64 vector, unsigned int function)
{
	return vector >> function * FIELD & ((1 << FIELD) - 1);
}

static u16 before(u64 state)
{
	return state;
}

static u16 after(u64 state)
{
	return state >> VECTOR;
}

static u32 sequence(u64 state)
{
	return state << 1 >> 33;
}

static bool is_live(u64 state)
{
	return state >> 63;
}

/* From reading the one to reading the other at most one switch has begun or ended. */
static bool is_sure(u64 first, u64 last)
{
	return sequence(last) - sequence(first) <= 1;
}

/* What one function has returned may be. */
static bool is_right(unsigned int function, unsigned int got, u64 first, u64 last)
{
	return got == field(before(first), function) || got == field(after(first), function) ||
	       got == field(before(last), function) || got == field(after(last), function);
}

/* What all four have returned may be. */
static bool are_right(u16 got, u64 first, u64 last)
{
	unsigned int i;

	if (got == before(first) || got == after(first) || got == before(last) ||
	    got == after(last))
		return true;
	for (i = 0; i < FUNCTIONS; i++)
		if (!is_right(i, field(got, i), first, last))
			return false;
	return is_live(first) || is_live(last);
}

static void complain(enum context context, const char *what, unsigned int got, u64 first, u64 last)
{
	if (atomic64_inc_return(&wrong) <= 10)
		pr_err("pp_torture: %s: %s %x, state %llx to %llx\n", context_names[context], what,
		       got, first, last);
}

static void one_call(enum context context, unsigned int function)
{
	static const char *const names[] = { "int_pow", "int_sqrt", "gcd", "lcm" };
	const u64 first = READ_ONCE(state);
	unsigned int got;
	u64 last;

	barrier();
	got = call(function);
	barrier();
	last = READ_ONCE(state);
	atomic64_inc(&calls[context]);
	if (got)
		atomic64_inc(&patched);
	if (!is_sure(first, last))
		atomic64_inc(&unsure);
	else if (!is_right(function, got, first, last))
		complain(context, names[function], got, first, last);
}

/* Interrupts are off. */
static void all_calls(enum context context)
{
	const u64 first = READ_ONCE(state);
	unsigned int i;
	u16 got = 0;
	u64 last;

	barrier();
	for (i = 0; i < FUNCTIONS; i++)
		got |= (call(i) & ((1 << FIELD) - 1)) << i * FIELD;
	barrier();
	last = READ_ONCE(state);
	atomic64_add(FUNCTIONS, &calls[context]);
	if (got)
		atomic64_inc(&patched);
	if (!is_sure(first, last))
		atomic64_inc(&unsure);
	else if (!are_right(got, first, last))
		complain(context, "all", got, first, last);
}

static void all_calls_irqs_off(enum context context)
{
	unsigned long flags;

	local_irq_save(flags);
	all_calls(context);
	local_irq_restore(flags);
}

/* --- where they are called from ---------------------------------------------------- */

static int caller(void *unused)
{
	unsigned int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < 200; i++) {
			one_call(PREEMPTIBLE, i % FUNCTIONS);
			all_calls_irqs_off(PROCESS);
		}
		cond_resched();
		if (get_random_u32() % 8 == 0)
			usleep_range(100, 1000);
	}
	return 0;
}

struct cpu_timers {
	struct timer_list soft;
	struct hrtimer hard;
	bool nmis; /* its hard one sends them */
};

static DEFINE_PER_CPU(struct cpu_timers, timers);
static bool stopping;

static void soft_timer(struct timer_list *timer)
{
	all_calls_irqs_off(SOFTIRQ);
	if (!READ_ONCE(stopping))
		mod_timer(timer, jiffies + 1);
}

static enum hrtimer_restart hard_timer(struct hrtimer *timer)
{
	struct cpu_timers *this = container_of(timer, struct cpu_timers, hard);

	all_calls(HARDIRQ);
	/*
	 * The first one goes to the other processors, also to those that are stopped; the
	 * mask is of those that are online, which cannot go while interrupts are off here.
	 */
	if (this->nmis)
		apic->send_IPI_mask(cpu_online_mask, NMI_VECTOR);
	if (READ_ONCE(stopping))
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(500 * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

static int nmi(unsigned int type, struct pt_regs *regs)
{
	/* A stopper; one that sleeps is not current. */
	const bool in_stop = !strncmp(current->comm, "migration/", 10);
	unsigned int i;

	for (i = 0; i < FUNCTIONS; i++)
		one_call(in_stop ? NMI_IN_STOP : NMI, i);
	return NMI_HANDLED;
}

static void start_timers(void *nmis)
{
	struct cpu_timers *this = this_cpu_ptr(&timers);

	this->nmis = nmis;
	timer_setup(&this->soft, soft_timer, TIMER_PINNED);
	this->soft.expires = jiffies + 1;
	add_timer(&this->soft);
	hrtimer_init(&this->hard, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	this->hard.function = hard_timer;
	hrtimer_start(&this->hard, ns_to_ktime(500 * NSEC_PER_USEC), HRTIMER_MODE_REL_PINNED_HARD);
}

/* --- counts -------------------------------------------------------------------------- */

static int counts_get(char *text, const struct kernel_param *param)
{
	int length = 0;
	unsigned int i;

	for (i = 0; i < CONTEXTS; i++)
		length += scnprintf(text + length, PAGE_SIZE - length, "%s %lld\n",
				    context_names[i], atomic64_read(&calls[i]));
	return length + scnprintf(text + length, PAGE_SIZE - length,
				  "patched %lld\nunsure %lld\nwrong %lld\n",
				  atomic64_read(&patched), atomic64_read(&unsure),
				  atomic64_read(&wrong));
}

static const struct kernel_param_ops counts_ops = {
	.get = counts_get,
};
module_param_cb(counts, &counts_ops, NULL, 0444);

static struct task_struct *callers[NR_CPUS];

static void stop_all(void)
{
	unsigned int cpu;

	WRITE_ONCE(stopping, true);
	for_each_possible_cpu(cpu) {
		if (callers[cpu])
			kthread_stop(callers[cpu]);
		if (per_cpu(timers, cpu).hard.function) {
			del_timer_sync(&per_cpu(timers, cpu).soft);
			hrtimer_cancel(&per_cpu(timers, cpu).hard);
		}
	}
	unregister_nmi_handler(NMI_LOCAL, "pp_torture");
}

static int __init pp_torture_init(void)
{
	unsigned int cpu;
	int ret = register_nmi_handler(NMI_LOCAL, nmi, 0, "pp_torture");

	if (ret)
		return ret;
	for_each_online_cpu(cpu) {
		struct task_struct *task = kthread_run(caller, NULL, "pp_torture/%u", cpu);

		if (IS_ERR(task)) {
			stop_all();
			return PTR_ERR(task);
		}
		callers[cpu] = task;
		smp_call_function_single(cpu, start_timers, (void *)(unsigned long)!cpu, 1);
	}
	return 0;
}

static void __exit pp_torture_exit(void)
{
	stop_all();
}

module_init(pp_torture_init);
module_exit(pp_torture_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Calls patched functions from every context");
