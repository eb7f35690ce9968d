/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Levels of cumulative patches that are revoked: a patch can say that patches of lower levels are
 * not to be switched on any more, although they are signed.  That holds until the next boot.
 */
#ifndef PP_LEVELS_H
#define PP_LEVELS_H

#include <linux/types.h>

struct pp_patch;

/*
 * pp_level_check - Return: 0; or -EKEYREVOKED if the patch must not be switched on, and the log
 * says why. The caller holds pp_mutex until the patch is on.
 */
int pp_level_check(const struct pp_patch *patch);

/* pp_level_enabled - the patch is switched on: its revocations hold. The caller holds pp_mutex. */
void pp_level_enabled(const struct pp_patch *patch);

#endif /* PP_LEVELS_H */
