/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sites that are borrowed from ftrace, and given back: claim.c.  Where there is no ftrace, alone.c
 * defines the same functions.
 */
#ifndef POKEPATCH_CLAIM_H
#define POKEPATCH_CLAIM_H

#include <linux/types.h>

#include "ftrace.h"

struct pp_text;

/* All may sleep. */
bool pp_claim_possible(void);
bool pp_claim_site(unsigned long ip, const u8 *nop, unsigned int size);
int pp_claim_release(unsigned long ip, bool *update);
void pp_claim_settle(unsigned long ip);
/* Who is registered for the site at @ip, claimed or not: enum pp_shadows, 0 if not known. */
unsigned int pp_claim_user_kinds(unsigned long ip);
/*
 * May there be more than one registered for the site at @ip, which is not claimed?  Then it
 * calls ftrace's own code, and that the handlers.
 */
bool pp_claim_is_shared(unsigned long ip);
/*
 * From here to pp_claim_write_end() nobody puts a probe on a word of entries, or takes one from it,
 * that @text writes, or on its delay slot, or on any of the @size bytes at @entry.  Where ftrace
 * owns the entries, what probes them is ftrace's, and need not be kept off.  Sleeps; takes a lock
 * that comes before cpus_read_lock() and text_mutex. Return: 0; or what a probe is at already,
 * armed or not: the word or @entry; then nothing is held.
 */
#if PP_HAS_FTRACE
static inline unsigned long pp_claim_write_begin(const struct pp_text *text, unsigned long entry,
						 unsigned int size)
{
	return 0;
}

static inline void pp_claim_write_end(void)
{
}
#else
unsigned long pp_claim_write_begin(const struct pp_text *text, unsigned long entry,
				   unsigned int size);
void pp_claim_write_end(void);
#endif

#endif /* POKEPATCH_CLAIM_H */
