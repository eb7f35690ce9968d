/* SPDX-License-Identifier: GPL-2.0-only */
/* The direct mode: direct.c. */
#ifndef POKEPATCH_DIRECT_H
#define POKEPATCH_DIRECT_H

#include <linux/types.h>

#include "ftrace.h"

struct pp_patch;

#if PP_HAS_FTRACE
/* After the grace period that follows leave().  Under pp_mutex. */
void pp_direct_free_second_ops(void);
/* Hand over stubs that could not be.  Return: true if some still could not.  pp_mutex. */
bool pp_direct_retry(void);
/*
 * Does some site still call a stub of @patch, which is disabled?  Tries to end that.
 * Takes pp_mutex; may sleep.
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
