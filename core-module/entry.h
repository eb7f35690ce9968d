/* SPDX-License-Identifier: GPL-2.0-only */
/* The entry mode: entry.c. */
#ifndef POKEPATCH_ENTRY_H
#define POKEPATCH_ENTRY_H

#include <linux/compiler.h>
#include <linux/types.h>

#include "arch/pp_arch.h"
#include "site.h"

struct pp_patch;

/* The bytes of a site, and where in it the instruction is that decides.  Any context. */
static inline unsigned int pp_entry_span(void)
{
	return pp_arch.entry.span ?: pp_arch.entry.size;
}

static inline unsigned long pp_entry_deciding(const struct pp_site *site)
{
	return site->ip + pp_arch.entry.prepared * pp_arch.entry.size;
}

/*
 * Calls of @site go to @target from now on, and its text says so, if it is text that does.  Any
 * context, under pp_mutex, or in a stop for which it is held.
 */
static __always_inline void pp_site_set_target(struct pp_site *site, unsigned long target)
{
	if (target)
		site->prepared = target;
	WRITE_ONCE(site->target, target);
}

/* Tell who is in the way of @patch's switch: a probe at @probe.  Return: -EBUSY. */
int pp_entry_report_probe(const struct pp_patch *patch, unsigned long probe);

/* Give @site back, as pp_claim_release(), and take from it first what was prepared. */
int pp_entry_release(struct pp_site *site, bool *update);

#endif /* POKEPATCH_ENTRY_H */
