/* SPDX-License-Identifier: GPL-2.0-only */
/* Which patches a patch replaces: replace.c. */
#ifndef POKEPATCH_REPLACE_H
#define POKEPATCH_REPLACE_H

struct pp_patch;

/*
 * Set which patches @patch, which is disabled, will replace the next time that it is enabled: the
 * names in @text, or all for "*", or none for "".  The caller holds patch->op.  May sleep.
 * Return: 0, -ENOENT if a named patch is not loaded, -EINVAL if @patch names itself, or -ENOMEM.
 */
int pp_replace_set(struct pp_patch *patch, const char *text);
/*
 * Begin to replace: take the op of each of those patches that is enabled, so that it stays enabled
 * and loaded.  The caller holds patch->op, and later releases each op.  May sleep.
 * Return: the patches, the newest first, in an array to kfree(); NULL if @patch replaces none; or
 * an ERR_PTR: -EBUSY if one of them is being switched (logged), -ENOMEM.
 */
struct pp_patch **pp_replace_begin(struct pp_patch *patch, unsigned int *nr);
/*
 * Store in *@ret a buffer of the names of the @nr patches in @off, each ended by a NUL, with an
 * empty name behind the last.  The caller frees it with kfree(), and holds the patches' ops.  If
 * @nr is 0, *@ret is not written.
 * Return: 0 or -ENOMEM.
 */
int pp_replace_names(struct pp_patch *const *off, unsigned int nr, char **ret);
/* The patches are replaced: forget their names.  The caller holds patch->op. */
void pp_replace_done(struct pp_patch *patch);

#endif /* POKEPATCH_REPLACE_H */
