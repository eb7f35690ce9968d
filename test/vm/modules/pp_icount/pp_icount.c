// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_icount - the number of instructions that one call of int_pow() costs.
 *
 * The module is made for a guest with one CPU under QEMU's -icount shift=0, where executed
 * instructions are the clock.  It measures with NOPs how many ns one instruction takes.  Reading
 * the parameter "measure" gives a line for each call depth, "DEPTH INSTRUCTIONS RESULT": the
 * instructions of one round of a loop around the call, in hundredths, and the result of
 * int_pow(1, 0).
 */
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/math.h>
#include <linux/module.h>
#include <linux/stringify.h>
#include <linux/timekeeping.h>

#define ROUNDS 10000
#define NOPS 100

/* The number of this module's functions that are on the stack at the call. */
static const unsigned int depths[] = { 1, 4, 16, 64 };

/* The ns that all rounds take.  With interrupts off nothing else runs on the only CPU. */
#define TIME(what)                               \
	({                                       \
		unsigned long flags_;            \
		unsigned int i_;                 \
		u64 start_, end_;                \
						 \
		local_irq_save(flags_);          \
		start_ = ktime_get_ns();         \
		for (i_ = 0; i_ < ROUNDS; i_++)  \
			what;                    \
		end_ = ktime_get_ns();           \
		local_irq_restore(flags_);       \
		end_ - start_;                   \
	})

static noinline u64 time_of_nops(void)
{
	return TIME(asm volatile(".rept " __stringify(NOPS) "\n\tnop\n\t.endr"));
}

static noinline u64 time_of_nothing(void)
{
	return TIME(asm volatile(""));
}

static noinline u64 time_of_calls(u64 *result)
{
	return TIME(*result = int_pow(1, 0));
}

static noinline u64 time_at(unsigned int depth, u64 *result)
{
	u64 time = depth > 1 ? time_at(depth - 1, result) : time_of_calls(result);

	/* Without work after the call, the compiler would turn the recursion into a loop. */
	barrier();
	return time;
}

static int measure_get(char *text, const struct kernel_param *param)
{
	u64 time, nops, result = 0;
	int length = 0;
	size_t i;

	/* The first run of each fills QEMU's cache of translations, so only the second counts. */
	time_of_nops();
	time_of_nothing();
	nops = time_of_nops() - time_of_nothing();
	for (i = 0; i < ARRAY_SIZE(depths); i++) {
		time_at(depths[i], &result);
		time = time_at(depths[i], &result);
		length += scnprintf(text + length, PAGE_SIZE - length, "%u %llu %llu\n", depths[i],
				    nops ? div64_u64(time * NOPS * 100 + nops / 2, nops) : 0, result);
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
