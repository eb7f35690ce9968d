/* SPDX-License-Identifier: GPL-2.0-only */
/* Moments, by both clocks, and when text was changed. */
#ifndef POKEPATCH_PP_TIME_H
#define POKEPATCH_PP_TIME_H

#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched/clock.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

/* One moment, by both clocks (pokepatch_history.h). */
struct pp_time {
	u64 mono, perf;		/* ns */
};

/*
 * Any context, with preemption off or where the two may be a moment apart: neither clock
 * takes a lock, sleeps or can be traced, and so neither can be patched.
 */
static __always_inline struct pp_time pp_now(void)
{
	return (struct pp_time){
		.mono = ktime_get_mono_fast_ns(),
		.perf = local_clock(),
	};
}

/*
 * A moment that came after another one, which was taken on another CPU: their clocks may differ
 * by more than lies in between.
 */
static inline struct pp_time pp_later(struct pp_time time, const struct pp_time *earlier)
{
	return (struct pp_time){
		.mono = max(time.mono, earlier->mono),
		.perf = max(time.perf, earlier->perf),
	};
}

/* When text was changed, and by whom. */
struct pp_when {
	struct pp_time before, after;	/* until then the old bytes; from then on the new ones */
	struct pp_time begin, end;	/* when calls began to take the new way */
	u32 cpu;
	bool exact;			/* POKEPATCH_HISTORY_EXACT */
	bool told;			/* the kernel has told perf */
};

#endif /* POKEPATCH_PP_TIME_H */
