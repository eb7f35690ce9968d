// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_slots - functions with MIPS entries, which return 1, and threads that call them.
 *
 * pp_slots_held() begins two words before the end of a page, so its deciding word is the first of
 * the next page.  There QEMU takes interrupts between two instructions, as real CPUs do anywhere.
 *
 * pp_slots_traced() begins one word before the end of a page.  So the word that decides whether the
 * function is traced is the first of the next page.  Of pp_slots_held(), the delay slot of that
 * word is the first of the next page.
 *
 * value	reading it calls pp_slots_value() and pp_slots_held(): "VALUE HELD"
 * words	the words of their entries, as they are in memory
 * traced	reading it calls pp_slots_traced(0x11, 0x22, ... 0x88)
 * kept		reading it calls pp_slots_registers() with a number in each register: the registers
 *		that hold another number behind the function's entry; 32 and 33 are HI and LO
 * spin		1: a thread on each CPU calls all three functions all the time; 0: the threads end
 * counts	how often the threads got 1, 2, 3, and another result: "N N N N"
 * hold		1: a thread on the last CPU calls pp_slots_held() all the time, until an interrupt
 *		finds it in front of the deciding word.  From then on a second thread, of real-time
 *		priority, keeps it from going on.  2: the same with pp_slots_traced() and the word
 *		that decides whether it is traced.  0: the first thread goes on, and both end.
 *		Reading it: "no", "armed", "held".
 */
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>

#include <asm/irq_regs.h>
#include <asm/ptrace.h>

#include "slots.h"
#include "test_hrtimer.h"

int pp_slots_value(void);
int pp_slots_held(void);
int pp_slots_traced(void);

RETURNS(pp_slots_value, "\t.p2align 4\n", SLOTS, 1);
RETURNS(pp_slots_held, "\t.p2align 12\n\t.space 4096 - 8\n", SLOTS, 1);
RETURNS(pp_slots_traced, "\t.p2align 12\n\t.space 4096 - 4\n", SLOTS, 1);

#define DECIDES 8
#define TRACE_DECIDES 4

/*
 * The content of $1 ("at") at a call is arbitrary.  Here it is 0, so that a jump by an address that
 * the entry's words have not loaded goes to 0.
 */
static __always_inline int call(int (*fn)(void))
{
	asm volatile(".set push\n.set noat\nmove $1, $0\n.set pop" ::: "memory");
	return fn();
}

static atomic_long_t counts[4];

static void count(int result)
{
	atomic_long_inc(&counts[result >= 1 && result <= 3 ? result - 1 : 3]);
}

static int caller(void *unused)
{
	while (!kthread_should_stop()) {
		unsigned int i;

		for (i = 0; i < 100; i++) {
			count(call(pp_slots_value));
			count(call(pp_slots_held));
			count(call(pp_slots_traced));
		}
		cond_resched();
	}
	return 0;
}

/* --- spin ------------------------------------------------------------------------- */

static struct task_struct *spinning[NR_CPUS];

static struct task_struct *start(int (*fn)(void *), unsigned int cpu, const char *name)
{
	struct task_struct *task = kthread_create(fn, NULL, "%s/%u", name, cpu);

	if (IS_ERR(task))
		return NULL;
	kthread_bind(task, cpu);
	return task;
}

static void stop(struct task_struct **task)
{
	if (*task)
		kthread_stop(*task);
	*task = NULL;
}

static int spin_set(const char *text, const struct kernel_param *param)
{
	bool on;
	int cpu, ret = kstrtobool(text, &on);

	if (ret)
		return ret;
	for_each_online_cpu(cpu) {
		if (!on) {
			stop(&spinning[cpu]);
			continue;
		}
		spinning[cpu] = spinning[cpu] ?: start(caller, cpu, "pp_slots_spin");
		if (!spinning[cpu])
			return -ENOMEM;
		/* Let the tasks that share the CPU get on. */
		set_user_nice(spinning[cpu], MAX_NICE);
		wake_up_process(spinning[cpu]);
	}
	return 0;
}

/* --- hold -------------------------------------------------------------------------- */

static struct task_struct *victim, *hog;
static struct hrtimer timer;
static bool held;
static int (*victims)(void);	/* the function that the victim calls */
static unsigned long where;	/* the instruction in front of which it is held */

/* Run little else than the entry, so that an interrupt soon comes there. */
static int held_caller(void *unused)
{
	while (!kthread_should_stop()) {
		unsigned int i;

		for (i = 0; i < 100; i++) {
			const int result = call(victims);

			if (result < 1 || result > 3)
				count(result);
		}
		cond_resched();
	}
	return 0;
}

static enum hrtimer_restart look(struct hrtimer *timer)
{
	const struct pt_regs *regs = get_irq_regs();

	if (current == victim && regs && regs->cp0_epc == where) {
		WRITE_ONCE(held, true);
		wake_up_process(hog);
		return HRTIMER_NORESTART;
	}
	hrtimer_forward_now(timer, ns_to_ktime(500 * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

static int keep(void *unused)
{
	test_hrtimer_setup(&timer, look, HRTIMER_MODE_REL_PINNED_HARD);
	hrtimer_start(&timer, ns_to_ktime(NSEC_PER_MSEC), HRTIMER_MODE_REL_PINNED_HARD);
	set_current_state(TASK_INTERRUPTIBLE);
	while (!READ_ONCE(held) && !kthread_should_stop()) {
		schedule();
		set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
	while (!kthread_should_stop())
		cpu_relax();
	hrtimer_cancel(&timer);
	return 0;
}

static int hold_set(const char *text, const struct kernel_param *param)
{
	const unsigned int cpu = cpumask_last(cpu_online_mask);
	unsigned int kind;
	int ret = kstrtouint(text, 10, &kind);

	if (ret)
		return ret;
	stop(&hog);
	stop(&victim);
	WRITE_ONCE(held, false);
	if (!kind)
		return 0;
	victims = kind == 2 ? pp_slots_traced : pp_slots_held;
	where = (unsigned long)victims + (kind == 2 ? TRACE_DECIDES : DECIDES);
	victim = start(held_caller, cpu, "pp_slots_victim");
	hog = start(keep, cpu, "pp_slots_hog");
	if (!victim || !hog)
		return -ENOMEM;
	sched_set_fifo(hog);
	wake_up_process(victim);
	wake_up_process(hog);
	return 0;
}

static int hold_get(char *text, const struct kernel_param *param)
{
	return scnprintf(text, PAGE_SIZE, "%s\n", !hog ? "no" : READ_ONCE(held) ? "held" : "armed");
}

/* --- parameters -------------------------------------------------------------------- */

static int value_get(char *text, const struct kernel_param *param)
{
	return scnprintf(text, PAGE_SIZE, "%d %d\n", pp_slots_value(), pp_slots_held());
}

static int words_get(char *text, const struct kernel_param *param)
{
	int (*const functions[])(void) = { pp_slots_value, pp_slots_held };
	unsigned int i, k, len = 0;

	for (i = 0; i < ARRAY_SIZE(functions); i++)
		for (k = 0; k < SLOTS; k++)
			len += scnprintf(text + len, PAGE_SIZE - len, "%08x%c",
					 ((const u32 *)functions[i])[k], k + 1 < SLOTS ? ' ' : '\n');
	return len;
}

static int traced_get(char *text, const struct kernel_param *param)
{
	long (*const traced)(long, long, long, long, long, long, long, long) = (void *)pp_slots_traced;

	return scnprintf(text, PAGE_SIZE, "%ld\n",
			 traced(0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88));
}

/*
 * Behind its entry pp_slots_registers() stores each register $n to the n-th word on the stack,
 * where its caller has made room.  pp_slots_call() calls it with the numbers of @before in the
 * registers, copies the stored words to @after, and returns the stack pointer of the call.
 */
#define EACH_REGISTER(x)								\
	x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(14) x(15) x(16) x(17)	\
	x(18) x(19) x(20) x(21) x(22) x(23) x(24) x(25) x(30)
#define STORE(n) "\tsd $" #n ", 8 * " #n "($29)\n"
#define LOAD(n) "\tld $" #n ", 8 * " #n "($4)\n"
#ifdef CONFIG_CPU_MIPSR6
#define SET_HILO
#define STORE_HILO
#else
#define SET_HILO "\tld $1, 8 * 32($4)\n\tmthi $1\n\tld $1, 8 * 33($4)\n\tmtlo $1\n"
#define STORE_HILO "\tmfhi $1\n\tsd $1, 8 * 32($29)\n\tmflo $1\n\tsd $1, 8 * 33($29)\n"
#endif

asm("	.pushsection .text\n"
    "	.set push\n"
    "	.set noreorder\n"
    "	.set noat\n"
    "	.p2align 4\n"
    "	.globl pp_slots_registers\n"
    "	.type pp_slots_registers, @function\n"
    "pp_slots_registers:\n"
    "	.rept " STRING(SLOTS) "\n"
    "	nop\n"
    "	.endr\n"
    EACH_REGISTER(STORE) STORE(28) STORE(29) STORE(31) STORE_HILO
    "	jr $31\n"
    "	 nop\n"
    "	.size pp_slots_registers, . - pp_slots_registers\n"
    "	.globl pp_slots_call\n"
    "	.type pp_slots_call, @function\n"
    "pp_slots_call:\n"
    "	daddiu $29, $29, -512\n"	/* the words of registers, and what this function saves */
    "	sd $31, 400($29)\n"
    "	sd $5, 408($29)\n"
    "	sd $16, 416($29)\n	sd $17, 424($29)\n	sd $18, 432($29)\n"
    "	sd $19, 440($29)\n	sd $20, 448($29)\n	sd $21, 456($29)\n"
    "	sd $22, 464($29)\n	sd $23, 472($29)\n	sd $30, 480($29)\n"
    SET_HILO
    /* The delay slot loads $4, which holds the address of the numbers. */
    LOAD(2) LOAD(3) LOAD(5) LOAD(6) LOAD(7) LOAD(8) LOAD(9) LOAD(10) LOAD(11) LOAD(14) LOAD(15)
    LOAD(16) LOAD(17) LOAD(18) LOAD(19) LOAD(20) LOAD(21) LOAD(22) LOAD(23) LOAD(24) LOAD(25)
    LOAD(30)
    "	lui $1, %hi(pp_slots_registers)\n"
    "	daddiu $1, $1, %lo(pp_slots_registers)\n"
    "	jalr $31, $1\n"
    "	 ld $4, 8 * 4($4)\n"
    "pp_slots_called:\n"
    "	ld $16, 416($29)\n	ld $17, 424($29)\n	ld $18, 432($29)\n"
    "	ld $19, 440($29)\n	ld $20, 448($29)\n	ld $21, 456($29)\n"
    "	ld $22, 464($29)\n	ld $23, 472($29)\n	ld $30, 480($29)\n"
    "	ld $5, 408($29)\n"
    "	li $2, 34\n"
    "	move $3, $29\n"
    "1:	ld $4, 0($3)\n"
    "	sd $4, 0($5)\n"
    "	daddiu $2, $2, -1\n"
    "	daddiu $3, $3, 8\n"
    "	bnez $2, 1b\n"
    "	 daddiu $5, $5, 8\n"
    "	move $2, $29\n"
    "	ld $31, 400($29)\n"
    "	jr $31\n"
    "	 daddiu $29, $29, 512\n"
    "	.size pp_slots_call, . - pp_slots_call\n"
    "	.set pop\n"
    "	.popsection\n");

unsigned long pp_slots_call(const unsigned long *before, unsigned long *after);
extern const char pp_slots_called[];

#define REGISTERS 34

static int kept_get(char *text, const struct kernel_param *param)
{
	static const u8 numbers[] = {
#define NUMBER_OF(n) n,
		EACH_REGISTER(NUMBER_OF) 28, 29, 31,
#ifndef CONFIG_CPU_MIPSR6
		32, 33,
#endif
	};
	unsigned long before[REGISTERS], after[REGISTERS] = {};
	unsigned int i, len = 0;

	for (i = 0; i < REGISTERS; i++)
		before[i] = 0x0123456789abcd00 + i;
	before[28] = (unsigned long)current_thread_info();
	before[31] = (unsigned long)pp_slots_called;
	before[29] = pp_slots_call(before, after);
	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		if (before[numbers[i]] != after[numbers[i]])
			len += scnprintf(text + len, PAGE_SIZE - len, "%u ", numbers[i]);
	return len + scnprintf(text + len, PAGE_SIZE - len, "\n");
}

static int counts_get(char *text, const struct kernel_param *param)
{
	return scnprintf(text, PAGE_SIZE, "%ld %ld %ld %ld\n", atomic_long_read(&counts[0]),
			 atomic_long_read(&counts[1]), atomic_long_read(&counts[2]),
			 atomic_long_read(&counts[3]));
}

static const struct kernel_param_ops value_ops = { .get = value_get };
module_param_cb(value, &value_ops, NULL, 0444);
static const struct kernel_param_ops words_ops = { .get = words_get };
module_param_cb(words, &words_ops, NULL, 0444);
static const struct kernel_param_ops traced_ops = { .get = traced_get };
module_param_cb(traced, &traced_ops, NULL, 0444);
static const struct kernel_param_ops kept_ops = { .get = kept_get };
module_param_cb(kept, &kept_ops, NULL, 0444);
static const struct kernel_param_ops counts_ops = { .get = counts_get };
module_param_cb(counts, &counts_ops, NULL, 0444);
static const struct kernel_param_ops spin_ops = { .set = spin_set };
module_param_cb(spin, &spin_ops, NULL, 0200);
static const struct kernel_param_ops hold_ops = { .set = hold_set, .get = hold_get };
module_param_cb(hold, &hold_ops, NULL, 0600);

static int __init pp_slots_init(void)
{
	return 0;
}

static void __exit pp_slots_exit(void)
{
	hold_set("0", NULL);
	spin_set("0", NULL);
}

module_init(pp_slots_init);
module_exit(pp_slots_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Entries of several words, for pokepatch's tests");
