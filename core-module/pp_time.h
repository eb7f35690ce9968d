/* SPDX-License-Identifier: GPL-2.0-only */
/* Times, by both clocks of the history, and the times of a text change. */
#ifndef POKEPATCH_PP_TIME_H
#define POKEPATCH_PP_TIME_H

#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched/clock.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

/* One time, by both clocks (pokepatch_history.h). */
struct pp_time {
	u64 mono, perf;		/* ns: CLOCK_MONOTONIC, local_clock() */
};

/*
 * Any context, NMI and the stopped section included: neither clock takes a lock, sleeps, or has an
 * entry that could be traced.  (DESIGN.md says what if a patch changes one, or a clocksource.)
 * With preemption on, the two clocks may be read some time apart.
 */
static __always_inline struct pp_time pp_now(void)
{
	return (struct pp_time){
		.mono = ktime_get_mono_fast_ns(),
		.perf = local_clock(),
	};
}

/*
 * Adjust @time so that it does not precede @earlier.  It was read later, but perhaps on another
 * CPU, and the clocks of two CPUs may differ by more than the time in between.
 */
static inline struct pp_time pp_later(struct pp_time time, const struct pp_time *earlier)
{
	return (struct pp_time){
		.mono = max(time.mono, earlier->mono),
		.perf = max(time.perf, earlier->perf),
	};
}

/* The times of a text change. */
struct pp_when {
	struct pp_time before, after;	/* old bytes until before, new bytes from after on */
	struct pp_time begin, end;	/* calls began to take the new way in between */
	u32 cpu;			/* the CPU that wrote */
	bool exact;			/* POKEPATCH_HISTORY_EXACT */
	bool told;			/* the kernel has reported the change to perf */
};

#endif /* POKEPATCH_PP_TIME_H */
