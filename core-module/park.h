/* SPDX-License-Identifier: GPL-2.0-only */
/* Asking busy tasks to leave, and holding them for an attempt: park.c. */
#ifndef POKEPATCH_PARK_H
#define POKEPATCH_PARK_H

#include <linux/list.h>
#include <linux/xarray.h>

struct pp_scan;

/* How a transition treats user tasks that are in its way; as numbers, the values of `evict`. */
enum pp_evict {
	PP_EVICT_LATER,	/* it asks them to leave after ask_after_ms */
	PP_EVICT_ASK,	/* it asks them at once */
	PP_EVICT_KILL,	/* likewise, and kills those of them that are there when it asks again */
};

struct pp_park {
	struct list_head tasks;	/* that were asked to leave; held before user mode for an attempt */
	enum pp_evict evict;
	unsigned long due;	/* jiffies: when to ask next */
	unsigned long period;	/* jiffies between two times; 0: never ask */
	struct xarray asked;	/* PP_EVICT_KILL: start times of the tasks it asked, by PID */
};

/* All of these may sleep. */
void pp_park_init(struct pp_park *park, enum pp_evict evict, unsigned int timeout_ms);
void pp_park_deinit(struct pp_park *park);
/* Should the attempt that begins now ask, if tasks are in its way? */
bool pp_park_is_due(struct pp_park *park);
/*
 * Ask each user task that @scan has found busy to leave, and to wait on its way to user mode; or
 * kill it.  @name: of the patch, for messages.
 */
void pp_park_ask(struct pp_park *park, const struct pp_scan *scan, const char *name);
/* Should tasks be asked to leave that have been busy for @elapsed jiffies (ask_after_ms)? */
bool pp_park_asks_after(unsigned long elapsed);
/* Let all tasks of @park continue, and empty it. */
void pp_park_release(struct pp_park *park);
/* Wait until no task runs code of park.c any more, before the core goes. */
void pp_park_exit(void);

#endif /* POKEPATCH_PARK_H */
