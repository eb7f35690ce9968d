/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps a marker that is reached while another one is being served, on the same CPU and at the same
 * level, from being served: for the core, and for modules for the kernel's livepatch core.
 */
#ifndef POKEPATCH_MARK_GUARD_H
#define POKEPATCH_MARK_GUARD_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/hardirq.h>
#include <linux/percpu.h>
#include <linux/preempt.h>

#include <pokepatch_mark.h>

/* Contexts that can interrupt each other on one CPU: interrupt_context_level(). */
#define POKEPATCH_MARK_LEVELS 4

/* Per CPU: is a marker being served, at each level? */
struct pokepatch_mark_guard {
	bool busy[POKEPATCH_MARK_LEVELS];
};

/* Any context: @marker was reached where it could not be served. */
static __always_inline void pokepatch_mark_missed(struct pokepatch_marker *marker)
{
	atomic_long_inc((atomic_long_t *)&marker->missed);
}

/*
 * Any context.  Turn preemption off and take this CPU's level, or count @marker as missed.  Nothing
 * is called before the level is taken, since what is called may have a marker.
 * Return: what pokepatch_mark_end() gets, or NULL.
 */
static __always_inline bool *pokepatch_mark_begin(struct pokepatch_mark_guard __percpu *guard,
						  struct pokepatch_marker *marker)
{
	bool *busy;

	preempt_disable_notrace();
	busy = &this_cpu_ptr(guard)->busy[interrupt_context_level()];
	if (*busy) {
		pokepatch_mark_missed(marker);
		preempt_enable_notrace();
		return NULL;
	}
	WRITE_ONCE(*busy, true);
	barrier();
	return busy;
}

/* The last call may enter the scheduler, which turns preemption off before anything else. */
static __always_inline void pokepatch_mark_end(bool *busy)
{
	barrier();
	WRITE_ONCE(*busy, false);
	preempt_enable_notrace();
}

#endif /* POKEPATCH_MARK_GUARD_H */
