/* SPDX-License-Identifier: GPL-2.0-only */
/* Asking busy tasks to leave, and holding them for an attempt: park.c. */
#ifndef POKEPATCH_PARK_H
#define POKEPATCH_PARK_H

#include <linux/list.h>

struct pp_scan;

/* The tasks that were asked to leave, and are held on their way to user mode for one attempt. */
struct pp_park {
	struct list_head tasks;
};

/* All of these may sleep. */
void pp_park_init(struct pp_park *park);
/* Ask each user task that @scan has found busy to leave, and to wait on its way to user mode. */
void pp_park_ask(struct pp_park *park, const struct pp_scan *scan);
/* Let all tasks of @park continue, and empty it. */
void pp_park_release(struct pp_park *park);
/* Wait until no task runs code of park.c any more, before the core goes. */
void pp_park_exit(void);

#endif /* POKEPATCH_PARK_H */
