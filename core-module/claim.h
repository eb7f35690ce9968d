/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Claiming sites from ftrace, and releasing them: claim.c.  Where there is no ftrace, alone.c
 * defines the same functions.
 */
#ifndef POKEPATCH_CLAIM_H
#define POKEPATCH_CLAIM_H

#include <linux/types.h>

#include "detour.h"
#include "ftrace.h"

struct pp_text;

/* All functions may sleep. */

/* Does this kernel have everything that claiming a site needs? */
bool pp_claim_possible(void);
/*
 * Claim the site at @ip if it has no user and holds the @size bytes of @nop.
 * Return: is it claimed now?
 */
bool pp_claim_site(unsigned long ip, const u8 *nop, unsigned int size);
/*
 * Release the claimed site at @ip.  Under pp_mutex.
 * Return: 0, or -EBUSY if the site must stay claimed for now.  *@update is set if the site has
 * users: then the caller has to call pp_ftrace_update() and, once that succeeds, pp_claim_settle().
 */
int pp_claim_release(unsigned long ip, bool *update);
/* Settle the site at @ip, which was released and which ftrace has written since. */
void pp_claim_settle(unsigned long ip);
/*
 * What kinds of users are registered for the site at @ip, claimed or not: enum pp_shadows, or 0 if
 * that is not known.
 */
unsigned int pp_claim_user_kinds(unsigned long ip);
/*
 * May the site at @ip, which is not claimed, have more than one user?  Then it calls ftrace's own
 * code, which calls the handlers of all users.
 */
bool pp_claim_is_shared(unsigned long ip);
/*
 * The debug build: lock all entries that ftrace knows, if they can be visited, and unlock them.
 * pp_claim_each_entry() visits those of vmlinux, except those that are claimed and those that
 * ftrace has disabled because their functions cannot run.  @free: could the entry be claimed?
 */
#ifdef POKEPATCH_DEBUG
bool pp_claim_lock_entries(void);
void pp_claim_unlock_entries(void);
void pp_claim_each_entry(void (*visit)(void *ctx, unsigned long ip, bool free), void *ctx);
#endif
/* Is a kprobe, armed or not, on one of the instructions in the @size bytes at @at?  Any context. */
bool pp_claim_is_probed(unsigned long at, unsigned int size);
/*
 * Keep probes from being put on, or removed from, what @text writes, and the @size bytes at @entry,
 * until pp_claim_write_end(): words of entries, with their delay slots, or, where ftrace owns the
 * entries and handles their probes, poke->unprobed.  Under pp_mutex.  Takes a lock that comes
 * before cpus_read_lock() and text_mutex.
 * Return: 0; or, with no lock held, the address of a word that a probe is on already, armed or not
 * (@entry for any of the @size bytes there).
 */
unsigned long pp_claim_write_begin(const struct pp_text *text, unsigned long entry,
				   unsigned int size);
void pp_claim_write_end(void);

#endif /* POKEPATCH_CLAIM_H */
