/* SPDX-License-Identifier: GPL-2.0-only */
/* The entry mode, in which the site itself is the jump to the new function: entry.c. */
#ifndef POKEPATCH_ENTRY_H
#define POKEPATCH_ENTRY_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "arch/pp_arch.h"
#include "site.h"

struct pp_patch;

/* The size of an entry, in bytes: all of its words.  Any context. */
static inline unsigned int pp_entry_span(void)
{
	return pp_arch.entry.span ?: pp_arch.entry.size;
}

/* The address of the instruction of @site that decides where calls go.  Any context. */
static inline unsigned long pp_entry_deciding(const struct pp_site *site)
{
	return site->ip + pp_arch.entry.prepared * pp_arch.entry.size;
}

/*
 * Note that calls of @site go to @target from now on (0: to the old function).  In entry and direct
 * mode the caller has written the text that leads there.  In ftrace mode this store is the switch.
 * Any context.  The caller holds pp_mutex, or runs in a stop whose initiator holds it.
 */
static __always_inline void pp_site_set_target(struct pp_site *site, unsigned long target)
{
	if (target)
		site->prepared = target;
	WRITE_ONCE(site->target, target);
}

/* Log that a probe at @probe is in the way of switching @patch.  Return: -EBUSY. */
int pp_entry_report_probe(const struct pp_patch *patch, unsigned long probe);

/*
 * Make the prepared words of @site NOPs again, and release it as pp_claim_release() does.
 * Under pp_mutex; may sleep.  Return: 0, or an error if the site must stay claimed for now.
 */
int pp_entry_release(struct pp_site *site, bool *update);

#endif /* POKEPATCH_ENTRY_H */
