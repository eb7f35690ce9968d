/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a transition while it is under way: shared by transition.c, layout.c, stop.c. */
#ifndef POKEPATCH_TRANSITION_STATE_H
#define POKEPATCH_TRANSITION_STATE_H

#include <linux/atomic.h>
#include <linux/timex.h>
#include <linux/types.h>

#include "park.h"
#include "pp_time.h"
#include "stack.h"
#include "text.h"

struct pp_func;
struct pp_patch;
struct pp_site;
struct task_struct;

/* One site's part of a transition: where its calls went and where they will go. */
struct flip {
	struct pp_site *site;
	const struct pp_func *func;	/* of that site, in the deciding patch */
	unsigned long from, target;	/* old and new site->target */
	struct pp_when when;		/* live: when calls changed over */
	bool shared;			/* live, direct mode: a tracer uses the site too */
};

/* BUSY: a task is.  BROKEN: code was not as expected; everything is put back. */
enum verdict { VERDICT_NONE, VERDICT_SWITCHED, VERDICT_BUSY, VERDICT_BROKEN };

/* What each CPU does and finds in the stopped section. */
struct stop_cpu {
	struct task_struct *stopper;
	u64 entered;		/* ns, monotonic */
	cycles_t cycles;	/* at the same time */
	struct pp_stack_walk walk; /* of the stopper's stack */
	bool clear;		/* the stopper is not busy */
};

struct transition {
	struct pp_patch *patch;	/* to be switched on or off; NULL: trace_entry.c has the stop */
	bool enable;
	struct pp_patch **off;	/* patches to be switched off, the newest first */
	unsigned int nr_off;
	bool look_only;		/* switch nothing: is any task in the patch module's text? */
	bool forced;		/* the module goes in any case: no timeout, no signal ends this */
	bool background;	/* look_only, by a caller that does not hold the patch's op */
	bool live;		/* a live transition, without a stop */
	bool cancelled;		/* a pre-patch callback failed */
	/* Laid out for each attempt, before the stop: */
	struct flip *flips;
	unsigned int nr_flips;
	struct pp_text text;	/* what the flips write */
	unsigned int nr_funcs;	/* of all patches that are switched */
	const struct pp_func *offline; /* an offline CPU may be in it; NULL: in none of them */
	struct pp_busy busy;
	unsigned int max_ranges; /* room in busy.range */
	struct pp_scan scan;
	struct pp_park park;
	bool ask;		/* this attempt asks busy tasks to leave before the next one */
	struct stop_cpu *cpus;	/* by CPU number */
	struct task_struct **stoppers; /* likewise */
	u64 nr;			/* the transition's number in the history */
	/* The last stop: */
	struct pp_when when;	/* when the deciding CPU wrote */
	unsigned int decided_on; /* the number of that CPU */
	atomic_t arrived;	/* CPUs that have checked their own stacks */
	unsigned int step;	/* of a write: so often the CPUs were called, see stop_meet() */
	atomic_t met;		/* how many have come, over all steps, without the deciding CPU */
	atomic_t serialised;	/* how often a CPU has serialised, for the log */
	int verdict;		/* enum verdict */
	u64 stop_ns;
	u64 max_stop_ns;	/* how long stop_decide() may look at tasks; 0: for ever */
	cycles_t stop_cycles;	/* of the deciding CPU */
	/* The transition so far: */
	u64 started;		/* ns, monotonic */
	u64 last_stop;		/* likewise: just before the last stop */
	u64 last_stop_ns, stopped_ns; /* how long the last stop took, and all stops together */
	unsigned int nr_stops;
	const char *name;	/* how messages begin: the patch's name, or the tracer's */
};

#endif /* POKEPATCH_TRANSITION_STATE_H */
