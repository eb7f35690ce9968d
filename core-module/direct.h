/* SPDX-License-Identifier: GPL-2.0-only */
/* The direct mode, in which the site calls a stub in the patch module: direct.c. */
#ifndef POKEPATCH_DIRECT_H
#define POKEPATCH_DIRECT_H

#include <linux/types.h>

#include "ftrace.h"

struct pp_patch;

#if PP_HAS_FTRACE
/*
 * Free the second ops of hand-overs.  The caller has waited for a grace period since
 * pp_mode.leave(), of RCU-tasks and a rude one.  Under pp_mutex.
 */
void pp_direct_free_second_ops(void);
/*
 * Try again to make sites stop calling the stubs of patches that are disabled.  Under pp_mutex; may
 * sleep.  Return: does a site still call one?
 */
bool pp_direct_retry(void);
/*
 * Does a site still call a stub of @patch, which is disabled?  Tries to end that first.  Takes
 * pp_mutex; may sleep.
 */
bool pp_direct_holds(const struct pp_patch *patch);
#else
static inline void pp_direct_free_second_ops(void)
{
}

static inline bool pp_direct_retry(void)
{
	return false;
}

static inline bool pp_direct_holds(const struct pp_patch *patch)
{
	return false;
}
#endif

#endif /* POKEPATCH_DIRECT_H */
