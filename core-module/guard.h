/* SPDX-License-Identifier: GPL-2.0-only */
/* The guard, which refuses users of code that no call reaches: guard.c. */
#ifndef POKEPATCH_GUARD_H
#define POKEPATCH_GUARD_H

#include <linux/types.h>

#include "ftrace.h"

struct kprobe;

/* May sleep.  The guard leaves out what the kernel or the machine has no means for. */
#if PP_HAS_FTRACE
void pp_guard_init(void);
void pp_guard_exit(void);
/* Has the guard a probe in the code [@start, @start + @size)? */
bool pp_guard_listens(unsigned long start, unsigned long size);
/* Is @probe one of the guard's?  Any context. */
bool pp_guard_is_own(const struct kprobe *probe);
/* The function at @start, of @size bytes, is changed by a patch that is loaded. */
void pp_guard_patched(unsigned long start, unsigned long size);
#else
static inline bool pp_guard_listens(unsigned long start, unsigned long size)
{
	return false;
}

static inline bool pp_guard_is_own(const struct kprobe *probe)
{
	return false;
}

static inline void pp_guard_patched(unsigned long start, unsigned long size)
{
}

static inline void pp_guard_init(void)
{
}

static inline void pp_guard_exit(void)
{
}
#endif

#endif /* POKEPATCH_GUARD_H */
