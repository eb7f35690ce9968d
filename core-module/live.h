/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing text that CPUs may be executing, for live transitions: live.c. */
#ifndef POKEPATCH_LIVE_H
#define POKEPATCH_LIVE_H

#include <linux/types.h>

struct pp_patch;
struct pp_text;

/* Set up the architecture's protocol, when the core is loaded.  May sleep. */
void pp_live_init(void);
/* What this kernel lacks for live transitions, to be printed; NULL if it has everything. */
const char *pp_live_missing(void);
/*
 * Write @text while CPUs may be executing it, compare it before and after, and make the records.
 * If the comparison fails, put all of it back.  Sorts text->poke by address.  May sleep.
 * Return: 0; -EIO if code is not as expected, or -EBUSY if a probe is on it (both logged); or
 * -EOPNOTSUPP.
 */
int pp_text_write_live(struct pp_text *text, const struct pp_patch *patch);

#endif /* POKEPATCH_LIVE_H */
