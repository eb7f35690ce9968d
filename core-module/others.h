/* SPDX-License-Identifier: GPL-2.0-only */
/* What others write into the kernel's text: others.c. */
#ifndef POKEPATCH_OTHERS_H
#define POKEPATCH_OTHERS_H

#include <linux/types.h>

#include "pp_time.h"

struct pp_record_sites;

void pp_others_init(void);
void pp_others_exit(void);
/* Since when (ns, monotonic) all that others wrote is recorded; 0: it is not. */
u64 pp_others_since(void);
/* Just now it is not: who makes a record makes one that is lost, too.  Any context. */
bool pp_others_deaf(void);
/* All that is written is heard. */
static inline bool pp_others_heard(void)
{
	return pp_others_since() && !pp_others_deaf();
}
/* Calls of [start, start + size) are about to go elsewhere. */
void pp_others_patched(unsigned long start, unsigned long size);
/*
 * What this task writes until unmute() is recorded by the core itself: all, or with @only
 * what is at these sites, and that is noted there.  Under pp_mutex.
 */
void pp_others_mute(struct pp_record_sites *only);
void pp_others_unmute(void);
/*
 * Record all that others wrote until now.  Return: the moment in which nobody was writing and
 * of which that is true.  Not under text_mutex; may sleep.
 */
struct pp_time pp_others_settle(void);
/* The same if there is something that was written before this was called. */
void pp_others_drain(void);

#endif /* POKEPATCH_OTHERS_H */
