/* SPDX-License-Identifier: GPL-2.0-only */
/* Switching while everything runs, and waiting until tasks have left a patch: live.c. */
#ifndef POKEPATCH_LIVE_H
#define POKEPATCH_LIVE_H

#include <linux/types.h>

struct pp_patch;
struct pp_text;

void pp_live_init(void);
/* What the kernel lacks for it, or NULL. */
const char *pp_live_missing(void);
/*
 * Write text that anybody may be running, and compare; or put all of it back; all of that
 * recorded.  Reorders text->poke.  May sleep; 0, -EIO (logged), -EOPNOTSUPP.
 */
int pp_text_write_live(struct pp_text *text, const struct pp_patch *patch);
/* Tasks may be in its text from now on, without its being enabled.  pp_mutex. */
void pp_drain_begin(struct pp_patch *patch);
/* Is it so?  Takes pp_mutex. */
bool pp_draining(struct pp_patch *patch);
/*
 * Return: true if @patch was draining and nobody is in its text: then the caller is to drop
 * the reference to the module that this held; else it is dropped when that is so.  The
 * caller holds patch->op.  May sleep.
 */
bool pp_drained(struct pp_patch *patch);
/* The same without a look now, if it is draining. */
void pp_drain_later(struct pp_patch *patch);
void pp_drain_init(struct pp_patch *patch);
void pp_drain_exit(struct pp_patch *patch);

#endif /* POKEPATCH_LIVE_H */
