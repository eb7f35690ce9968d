/* SPDX-License-Identifier: GPL-2.0-only */
/* Which patches another one takes over from: replace.c. */
#ifndef POKEPATCH_REPLACE_H
#define POKEPATCH_REPLACE_H

struct pp_patch;

/*
 * Which patches @patch, which is disabled, shall replace the next time that it is
 * enabled: names, or "*" for all; "": none.  The caller holds patch->op.  May sleep.
 * Return: 0, -ENOENT if one is not loaded, -EINVAL if one is @patch, or -ENOMEM.
 */
int pp_replace_set(struct pp_patch *patch, const char *text);
/*
 * Those of them that are enabled, the newest first, in an array to kfree(); NULL:
 * none.  Their op is held from now on, so that they stay enabled, and loaded.  The
 * caller holds patch->op.  May sleep; -EBUSY (logged), -ENOMEM.
 */
struct pp_patch **pp_replace_begin(struct pp_patch *patch, unsigned int *nr);
/* They are replaced: what was set was for this time.  The caller holds patch->op. */
void pp_replace_done(struct pp_patch *patch);

#endif /* POKEPATCH_REPLACE_H */
