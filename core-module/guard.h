/* SPDX-License-Identifier: GPL-2.0-only */
/* The guard, which refuses users of code that no call reaches: guard.c. */
#ifndef POKEPATCH_GUARD_H
#define POKEPATCH_GUARD_H

#include "ftrace.h"

/* May sleep.  The guard leaves out what the kernel or the machine has no means for. */
#if PP_HAS_FTRACE
void pp_guard_init(void);
void pp_guard_exit(void);
#else
static inline void pp_guard_init(void)
{
}

static inline void pp_guard_exit(void)
{
}
#endif

#endif /* POKEPATCH_GUARD_H */
