/* SPDX-License-Identifier: GPL-2.0-only */
/* Getting sleepers out of the way: park.c. */
#ifndef POKEPATCH_PARK_H
#define POKEPATCH_PARK_H

#include <linux/list.h>

struct pp_scan;

/* Those that are kept on their way to user mode, for one attempt. */
struct pp_park {
	struct list_head tasks;
};

/* All may sleep. */
void pp_park_init(struct pp_park *park);
/* Ask each user task that was found in the way to come out and wait. */
void pp_park_blockers(struct pp_park *park, const struct pp_scan *scan);
/* Let them go, and forget them. */
void pp_park_release(struct pp_park *park);
void pp_park_exit(void);

#endif /* POKEPATCH_PARK_H */
