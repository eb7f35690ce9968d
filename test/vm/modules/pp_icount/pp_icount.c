// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_icount - what one call of int_pow() costs, in instructions.
 *
 * Meant for a guest under QEMU's -icount shift=0 with one processor, where the
 * time-stamp counter counts executed instructions, and arm64's counter nanoseconds
 * that are as many, in ticks.  Reading the parameter
 * "measure" prints a line for each call depth: DEPTH INSTRUCTIONS RESULT, the
 * instructions of one round of a loop around the call in hundredths, and what
 * int_pow(1, 0) returned.
 */
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/module.h>
#include <linux/timex.h>

#define ROUNDS 10000

struct measurement {
	u64 instructions; /* of all rounds */
	u64 result;	  /* of the last call */
};

/* How many functions of ours are on the stack when the call is made. */
static const unsigned int depths[] = { 1, 4, 16, 64 };

/* Instructions in one step of the counter. */
static u64 step(void)
{
#ifdef CONFIG_ARM64
	return NSEC_PER_SEC / read_sysreg(cntfrq_el0);
#else
	return 1;
#endif
}

/* With interrupts off: nothing else runs on the one processor. */
static noinline void measure_here(struct measurement *m)
{
	unsigned long flags;
	unsigned int i;
	u64 start;

	local_irq_save(flags);
	start = get_cycles();
	for (i = 0; i < ROUNDS; i++)
		m->result = int_pow(1, 0);
	m->instructions = get_cycles() - start;
	local_irq_restore(flags);
}

static noinline void measure_at(unsigned int depth, struct measurement *m)
{
	if (depth > 1)
		measure_at(depth - 1, m);
	else
		measure_here(m);
	/* Work after the call, or the compiler would make a loop of it. */
	barrier();
}

static int measure_get(char *text, const struct kernel_param *param)
{
	struct measurement m;
	int length = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		/* The first time fills caches of translations; the second counts. */
		measure_at(depths[i], &m);
		measure_at(depths[i], &m);
		length += scnprintf(text + length, PAGE_SIZE - length, "%u %llu %llu\n",
				    depths[i], m.instructions * step() * 100 / ROUNDS, m.result);
	}
	return length;
}

static const struct kernel_param_ops measure_ops = {
	.get = measure_get,
};
module_param_cb(measure, &measure_ops, NULL, 0444);
MODULE_PARM_DESC(measure, "read: call depth, instructions per call in hundredths, result");

static int __init pp_icount_init(void)
{
	return 0;
}

static void __exit pp_icount_exit(void)
{
}

module_init(pp_icount_init);
module_exit(pp_icount_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Instructions per call, for pokepatch's bench");
