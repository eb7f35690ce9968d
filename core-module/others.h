/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What other writers write into the kernel's text: others.c.  Other files of the core call this
 * one before they make records.  It calls only history.c, place.c and kernel_symbols.c.
 */
#ifndef POKEPATCH_OTHERS_H
#define POKEPATCH_OTHERS_H

#include <linux/types.h>

#include <pokepatch_history.h>

#include "pp_time.h"

void pp_others_init(void);
void pp_others_exit(void);
/* All that other writers wrote since then is recorded; mono is 0: it is not recorded. */
struct pp_time pp_others_since(void);
/*
 * Other writers may be writing now without the core noticing.  A record that is made meanwhile
 * must be followed by a gap (pp_history_end()).  Any context.
 */
bool pp_others_deaf(void);
/* Are all writes of other writers being noted? */
static inline bool pp_others_heard(void)
{
	return pp_others_since().mono && !pp_others_deaf();
}
/* A patch reroutes the calls of the function at @start, of @size bytes.  Under pp_mutex. */
void pp_others_patched(unsigned long start, unsigned long size);

/* A site that ftrace may write for the core, and what was seen of that. */
struct pp_record_site {
	unsigned long ip;
	u64 change;		/* record.c: the number of its first record */
	bool heard;		/* this task wrote there; begin, old and new are of that write */
	struct pp_time begin;
	u8 old[POKEPATCH_HISTORY_BYTES_MAX], new[POKEPATCH_HISTORY_BYTES_MAX];
};

/* See pp_record_sites_before(). */
struct pp_record_sites {
	struct pp_record_site *site, one; /* sorted by ip */
	unsigned int nr;
	bool listening;		/* a site that was not heard was not written */
	struct pp_time before;
};

/*
 * Until unmute() the core itself makes the records of what this task writes: of everything, or
 * with @only of these sites, and the probe notes what is written there in them.  Under pp_mutex.
 */
void pp_others_mute(struct pp_record_sites *only);
void pp_others_unmute(void);
/*
 * Record everything that other writers have written until now.  Return: the moment up to which
 * that is true; no write was in progress then.  The caller must not hold text_mutex.  May sleep.
 */
struct pp_time pp_others_record_all(void);
/* Do so only if there are writes from before the call that have no record yet. */
void pp_others_record_pending(void);

#endif /* POKEPATCH_OTHERS_H */
