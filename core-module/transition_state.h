/* SPDX-License-Identifier: GPL-2.0-only */
/* What transition.c, layout.c and stop.c share: a transition while it is under way. */
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

/* A site and where its calls shall go. */
struct flip {
	struct pp_site *site;
	const struct pp_func *func;	/* of it */
	unsigned long from, target;
	struct pp_when when;		/* live: they went there */
	bool shared;			/* live, direct mode: by the stub, or by the handler */
};

enum verdict { UNDECIDED, SWITCHED, REFUSED, BROKEN };

/* What each CPU does and finds in the stopped section. */
struct stop_cpu {
	struct task_struct *stopper;
	u64 entered;		/* ns, monotonic */
	cycles_t cycles;	/* at that time */
	struct pp_stack_walk walk;
	bool clear;
};

struct transition {
	struct pp_patch *patch;	/* that is switched, on or off */
	bool enable;
	struct pp_patch **off;	/* those that are switched off, the newest first */
	unsigned int nr_off;
	bool look_only;		/* switch nothing: is the patch module's text empty? */
	bool forced;		/* its module goes in any case: no timeout, no signal ends it */
	bool background;	/* the same, without the patch's op */
	bool live;		/* while everything runs */
	bool cancelled;		/* by a pre-patch callback */
	/* laid out before the stop */
	struct flip *flips;
	unsigned int nr_flips;
	struct pp_text text;	/* what the flips write */
	unsigned int nr_funcs;	/* of all these patches */
	struct pp_busy busy;
	unsigned int max_ranges; /* that there is room for in busy.range */
	struct pp_scan scan;
	struct pp_park park;
	bool ask;		/* those in the way: next time they shall be out of it */
	struct stop_cpu *cpus;	/* by CPU number */
	struct task_struct **stoppers;
	u64 nr;			/* its number in the history */
	/* the stop */
	struct pp_when when;	/* the deciding CPU wrote */
	unsigned int decided_on; /* that */
	atomic_t arrived;
	atomic_t serialised;	/* CPUs that did, for the debug build */
	int verdict;		/* enum verdict */
	u64 stop_ns;
	cycles_t stop_cycles;	/* of the processor that decides */
	/* all stops, and what else it took */
	u64 started;		/* ns, monotonic */
	u64 last_stop;		/* likewise: before it */
	u64 last_stop_ns, stopped_ns; /* of it, and in all */
	unsigned int nr_stops;
};

#endif /* POKEPATCH_TRANSITION_STATE_H */
