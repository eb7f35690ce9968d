// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_torture - calls four functions from every context while patches of them come and go,
 * and compares the results with the state that the program torture has written.
 *
 * Patch number k makes each function that it changes return k more.  0 stands for the original.
 * The numbers of the four functions are a state.  The program writes to the parameter "state"
 * before and after each switch:
 *
 *	state = LIVE << 63 | SEQUENCE << 32 | AFTER << 16 | BEFORE
 *
 * AFTER and BEFORE have four bits for each function.  Between two switches they are equal.
 * LIVE: the functions are switched one by one.
 * - A call must return the number that BEFORE or AFTER has, as read before or after the call.
 *   15 in a function's field allows any number.
 * - Four calls with interrupts off must return one whole state, since a stop cannot come in
 *   between.  (This holds for interrupts, softirqs and process context.  It does not hold for
 *   NMIs, which no stop stops, nor during a live switch.)
 * - The module counts the numbers that were returned.  The new functions count their calls.
 *   The program reads the latter by "peek", and the test compares the two.
 */
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/gcd.h>
#include <linux/kthread.h>
#include <linux/lcm.h>
#include <linux/livepatch.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/timer.h>
#include <linux/uaccess.h>

#include "test_hrtimer.h"
#include "test_nmi.h"

#define FUNCTIONS 4
#define FIELD 4 /* bits */
#define VECTOR 16
#define ANYTHING ((1 << FIELD) - 1) /* no patch has this number */
#define PERIOD_NS (500 * NSEC_PER_USEC) /* of the interrupts, and of the NMIs */

static u64 state;
module_param(state, ullong, 0600);

enum context { PREEMPTIBLE, PROCESS, SOFTIRQ, HARDIRQ, NMI, NMI_IN_STOP, CONTEXTS };

static const char *const context_names[CONTEXTS] = {
	"preemptible", "process", "softirq", "hardirq", "nmi", "nmi-in-stop",
};

static const char *const function_names[FUNCTIONS] = { "int_pow", "int_sqrt", "gcd", "lcm" };

/* Each CPU counts in its own, with one instruction, which an NMI cannot interrupt half-way. */
struct counts {
	u64 calls[CONTEXTS];
	u64 returned[1 << FIELD][FUNCTIONS];
};

static DEFINE_PER_CPU(struct counts, counts);
static atomic64_t unsure; /* more than one switch began or ended during the call */
static atomic64_t wrong;

/*
 * Volatile, so that the compiler makes each call: some of the functions are declared to depend on
 * their arguments alone.
 */
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

/* Has at most one switch begun or ended between reading @first and reading @last? */
static bool is_sure(u64 first, u64 last)
{
	return sequence(last) - sequence(first) <= 1;
}

static bool is_one_of(unsigned int function, unsigned int got, u64 state)
{
	return got == field(before(state), function) || got == field(after(state), function) ||
	       field(before(state), function) == ANYTHING;
}

/* May @function return @got? */
static bool is_right(unsigned int function, unsigned int got, u64 first, u64 last)
{
	return is_one_of(function, got, first) || is_one_of(function, got, last);
}

/* May all four functions together return @got? */
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

static unsigned int counted_call(enum context context, unsigned int function)
{
	/* The last field also counts the results that no patch can return. */
	const unsigned int got = min_t(unsigned int, call(function), ANYTHING);

	this_cpu_inc(counts.calls[context]);
	this_cpu_inc(counts.returned[got][function]);
	return got;
}

static void one_call(enum context context, unsigned int function)
{
	const u64 first = READ_ONCE(state);
	unsigned int got;
	u64 last;

	barrier();
	got = counted_call(context, function);
	barrier();
	last = READ_ONCE(state);
	if (!is_sure(first, last))
		atomic64_inc(&unsure);
	else if (!is_right(function, got, first, last))
		complain(context, function_names[function], got, first, last);
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
		got |= counted_call(context, i) << i * FIELD;
	barrier();
	last = READ_ONCE(state);
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

/* --- the contexts that call ---------------------------------------------------- */

static int caller(void *unused)
{
	unsigned int i;

	while (!kthread_should_stop()) {
		for (i = 0; i < 200; i++) {
			one_call(PREEMPTIBLE, i % FUNCTIONS);
			all_calls_irqs_off(PROCESS);
		}
		cond_resched();
		/* A kernel livepatch tries once a second, and switches only tasks that sleep. */
		if (klp_patch_pending(current))
			msleep(20);
		else if (get_random_u32() % 8 == 0)
			usleep_range(100, 1000);
	}
	return 0;
}

/* The callers on one CPU, which come and go with it. */
struct processor {
	struct task_struct *caller;
	struct timer_list soft;
	struct hrtimer hard;
	bool sends; /* its hard timer sends the NMIs */
	bool stopping;
};

static DEFINE_PER_CPU(struct processor, cpus);

static void send_nmis(void);

static void soft_timer(struct timer_list *timer)
{
	struct processor *this = container_of(timer, struct processor, soft);

	all_calls_irqs_off(SOFTIRQ);
	if (!READ_ONCE(this->stopping))
		mod_timer(timer, jiffies + 1);
}

static enum hrtimer_restart hard_timer(struct hrtimer *timer)
{
	struct processor *this = container_of(timer, struct processor, hard);
	const ktime_t began = ktime_get();
	s64 took;

	all_calls(HARDIRQ);
	/* While interrupts are off here, no CPU can go offline. */
	if (this->sends)
		send_nmis();
	if (READ_ONCE(this->stopping))
		return HRTIMER_NORESTART;
	/*
	 * Tracers, probes, BPF programs and a busy host make calls long.  With a fixed period the
	 * last CPU that is online might do nothing but run this timer.
	 */
	took = ktime_to_ns(ktime_sub(ktime_get(), began));
	hrtimer_forward_now(timer, ns_to_ktime(max_t(s64, PERIOD_NS, 4 * took)));
	return HRTIMER_RESTART;
}

#ifdef TEST_HAS_NMI

static void send_nmis(void)
{
	apic->send_IPI_mask(cpu_online_mask, NMI_VECTOR);
}

/*
 * No timer runs in a stop.  There, one NMI goes round: each CPU that gets it sends one to the next
 * CPU.  So NMIs come at any moment from when the first CPU is stopped until the last goes on.
 * runner is the CPU to which the NMI was sent, or -1.
 */
static int runner = -1;

static void pass_on(unsigned int cpu)
{
	unsigned int next = cpumask_next(cpu, cpu_online_mask);

	if (next >= nr_cpu_ids)
		next = cpumask_first(cpu_online_mask);
	/* A CPU that is alone would get the next NMI before it has gone on. */
	if (next == cpu) {
		cmpxchg(&runner, cpu, -1);
		return;
	}
	if (READ_ONCE(runner) != cpu && cmpxchg(&runner, -1, next) != -1)
		return; /* another NMI is under way */
	WRITE_ONCE(runner, next);
	test_nmi_send(next);
}

/* Is this CPU in the stop of a switch?  The program is then waiting for a stop transition. */
static bool in_stop(const struct pt_regs *regs)
{
	const u64 now = READ_ONCE(state);

	return !(regs->flags & X86_EFLAGS_IF) && !strncmp(current->comm, "migration/", 10) &&
	       before(now) != after(now) && !is_live(now);
}

static int nmi(unsigned int type, struct pt_regs *regs)
{
	const unsigned int cpu = smp_processor_id();
	const bool stopped = in_stop(regs);
	unsigned int i;

	for (i = 0; i < FUNCTIONS; i++)
		one_call(stopped ? NMI_IN_STOP : NMI, i);
	if (stopped)
		pass_on(cpu);
	else
		cmpxchg(&runner, cpu, -1);
	return NMI_HANDLED;
}

static int nmis_begin(void)
{
	return test_nmi_register(nmi, "pp_torture");
}

static void nmis_end(void)
{
	test_nmi_unregister("pp_torture");
}

#else /* a module cannot get NMIs */

static void send_nmis(void)
{
}

static int nmis_begin(void)
{
	return 0;
}

static void nmis_end(void)
{
}

#endif

/* The kernel calls both on the CPU itself, while that is online. */
static int cpu_comes(unsigned int cpu)
{
	struct processor *this = &per_cpu(cpus, cpu);
	struct task_struct *task = kthread_create(caller, NULL, "pp_torture/%u", cpu);

	if (IS_ERR(task))
		return PTR_ERR(task);
	this->stopping = false;
	this->sends = !cpu; /* CPU 0 never goes */
	timer_setup(&this->soft, soft_timer, TIMER_PINNED);
	mod_timer(&this->soft, jiffies + 1);
	test_hrtimer_setup(&this->hard, hard_timer, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&this->hard, ns_to_ktime(PERIOD_NS), HRTIMER_MODE_REL_PINNED_HARD);
	kthread_bind(task, cpu);
	this->caller = task;
	wake_up_process(task);
	return 0;
}

static int cpu_goes(unsigned int cpu)
{
	struct processor *this = &per_cpu(cpus, cpu);

	WRITE_ONCE(this->stopping, true);
	kthread_stop(this->caller);
	timer_delete_sync(&this->soft);
	hrtimer_cancel(&this->hard);
	return 0;
}

/* --- counts -------------------------------------------------------------------------- */

/* "CONTEXT SUM CPU0 CPU1 ..." */
static int context_get(char *text, enum context context)
{
	u64 sum = 0;
	unsigned int cpu;
	int length;

	for_each_possible_cpu(cpu)
		sum += per_cpu(counts, cpu).calls[context];
	length = scnprintf(text, PAGE_SIZE, "%s %llu", context_names[context], sum);
	for_each_possible_cpu(cpu)
		length += scnprintf(text + length, 32, " %llu",
				    per_cpu(counts, cpu).calls[context]);
	return length + scnprintf(text + length, 2, "\n");
}

static int counts_get(char *text, const struct kernel_param *param)
{
	int length = 0;
	unsigned int i, k, cpu;

	for (i = 0; i < CONTEXTS; i++)
		length += context_get(text + length, i);
	for (k = 0; k < 1 << FIELD; k++) {
		for (i = 0; i < FUNCTIONS; i++) {
			u64 sum = 0;

			for_each_possible_cpu(cpu)
				sum += per_cpu(counts, cpu).returned[k][i];
			if (sum)
				length += scnprintf(text + length, PAGE_SIZE - length,
						    "returned-%u-%s %llu\n", k, function_names[i],
						    sum);
		}
	}
	return length + scnprintf(text + length, PAGE_SIZE - length, "unsure %lld\nwrong %lld\n",
				  atomic64_read(&unsure), atomic64_read(&wrong));
}

static const struct kernel_param_ops counts_ops = {
	.get = counts_get,
};
module_param_cb(counts, &counts_ops, NULL, 0444);

/* The parameter peek: write an address, then read the word at it. */
static unsigned long peek_at;

static int peek_set(const char *text, const struct kernel_param *param)
{
	return kstrtoul(text, 0, &peek_at);
}

static int peek_get(char *text, const struct kernel_param *param)
{
	unsigned long value;

	if (copy_from_kernel_nofault(&value, (void *)peek_at, sizeof(value)))
		return -EFAULT;
	return scnprintf(text, PAGE_SIZE, "%lu\n", value);
}

static const struct kernel_param_ops peek_ops = {
	.set = peek_set,
	.get = peek_get,
};
module_param_cb(peek, &peek_ops, NULL, 0600);

/* The parameter vector: reading it calls the four functions, and counts these calls too. */
static int vector_get(char *text, const struct kernel_param *param)
{
	unsigned int i;
	u16 got = 0;

	for (i = 0; i < FUNCTIONS; i++)
		got |= counted_call(PREEMPTIBLE, i) << i * FIELD;
	return scnprintf(text, PAGE_SIZE, "%u\n", got);
}

static const struct kernel_param_ops vector_ops = {
	.get = vector_get,
};
module_param_cb(vector, &vector_ops, NULL, 0400);

static int online_state;

static int __init pp_torture_init(void)
{
	int ret = nmis_begin();

	if (ret)
		return ret;
	online_state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "pp_torture:online", cpu_comes,
					 cpu_goes);
	if (online_state < 0) {
		nmis_end();
		return online_state;
	}
	return 0;
}

static void __exit pp_torture_exit(void)
{
	cpuhp_remove_state(online_state);
	nmis_end();
}

module_init(pp_torture_init);
module_exit(pp_torture_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Calls patched functions from every context");
