/* SPDX-License-Identifier: GPL-2.0-only */
/* hrtimer_setup() has taken the place of hrtimer_init(); the Kbuild of a module that uses this looks. */
#ifndef TEST_HRTIMER_H
#define TEST_HRTIMER_H

#include <linux/hrtimer.h>

static inline void test_hrtimer_setup(struct hrtimer *timer,
				      enum hrtimer_restart (*function)(struct hrtimer *),
				      enum hrtimer_mode mode)
{
#ifdef HAS_HRTIMER_SETUP
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = function;
#endif
}

#endif /* TEST_HRTIMER_H */
