/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing instructions that CPUs may execute: text.c. */
#ifndef POKEPATCH_TEXT_H
#define POKEPATCH_TEXT_H

#include <linux/types.h>

#include "pp_time.h"

struct page;
struct pp_func;
struct pp_patch;

/* The longest instruction that is written, and the widest word, in bytes. */
#define PP_TEXT_WORD_MAX 8

/* The write of one instruction. */
struct pp_poke {
	unsigned long at;
	u8 size;
	u8 old[PP_TEXT_WORD_MAX], new[PP_TEXT_WORD_MAX];
	const struct pp_func *func; /* the function for which it is written; for the history */
	/*
	 * Where the instructions are executed of which the jump overwrites several, or 0: then it
	 * replaces one instruction.
	 */
	unsigned long detour;
	/*
	 * So many bytes from @at must have no probe when they are written (pp_claim_write_begin()).
	 * Where ftrace owns the entries, 0 for these, of whose probes ftrace takes care.
	 */
	u8 unprobed;
	/*
	 * Two pokes of a text may write the same instruction: the first (passes) makes it a NOP,
	 * and the second (returns) writes it again when other words have been written in between.
	 */
	bool passes, returns;
	struct pp_when when;	/* written live: the time of the write */
	struct pp_when *route;	/* written live: where to copy that time, or NULL */
	u64 change;		/* record.c: the number of the change */
	bool keep;		/* written in steps: stays while the others are put back */
	/* pp_text_map() sets these */
	u8 *alias;		/* its first byte, mapped writable, or where it runs (store()) */
	u64 mask, old_word, new_word; /* the instruction's bits in its word, before and after */
};

/* Pokes that are written together, and what became of them. */
struct pp_text {
	struct pp_poke *poke;
	unsigned int nr;
	void *alias;		/* the writable mapping of the pages of all pokes, or NULL */
	/*
	 * In a stop: have every CPU serialise, and return when all have.  Called between the steps
	 * of a write.  NULL: no CPU can execute the text yet, or one store replaces each
	 * instruction.
	 */
	void (*meet)(struct pp_text *text);
	void *tables;		/* written in steps: what pp_arch.steps.prepare() made */
	bool mapped;		/* written in steps: write() maps it, for this CPU alone */
	unsigned int steps;	/* written in steps: how often the CPUs have met */
	const struct pp_poke *bad; /* the poke that failed, or NULL */
	const u8 *wanted;	/* the bytes that should have been at that place */
	u8 found[PP_TEXT_WORD_MAX]; /* not written live: the bytes that were there */
	const struct pp_poke *stuck; /* the first poke that could not be put back, or NULL */
	bool written;		/* written live: some were, even if they were put back */
	unsigned int put_back;	/* not written live: so many of the first pokes were put back */
	struct pp_time turned;	/* the time between writing these and putting them back */
	struct pp_when when;	/* not written live: the time of all writes */
};

/* The page of kernel or module text that @addr is in, or NULL.  May sleep. */
struct page *pp_text_page(unsigned long addr);
/* What this kernel lacks for writing text in a stop, to be printed; NULL if it has everything. */
const char *pp_text_missing(void);
/*
 * Make and remove the writable mapping of @text, and what else the write needs.  If the write takes
 * steps and text->meet is set, the pokes are sorted by address.  May sleep; -ENOMEM, -EIO.
 */
int pp_text_map(struct pp_text *text);
void pp_text_unmap(struct pp_text *text);
/*
 * Write all pokes of @text, in their order, and read them back.  If a place does not hold its old
 * bytes before, or its new bytes afterwards, put back all of them.  Return: are they written?
 *
 * Any context.  text_mutex is held, by the task that stopped the machine or by the caller.  CPUs
 * that execute the text afterwards must serialise first, unless they have met (text->steps).
 */
bool pp_text_write(struct pp_text *text);
/* Log why pp_text_write() failed, for the patch or the tracer @name.  Return: -EIO. */
int pp_text_report(const struct pp_text *text, const char *name);
/*
 * Hold the hotplug lock and text_mutex, and with them the kernel's own writers of text off, which
 * have nothing left to write by then.  May sleep.
 */
void pp_text_lock(void);
void pp_text_unlock(void);
/*
 * Map, write and unmap text that no CPU can execute yet, and record the change.  May sleep.
 * Return: 0, -ENOMEM, or -EBUSY or -EIO (logged).
 */
int pp_text_write_unused(struct pp_text *text, const struct pp_patch *patch);

#endif /* POKEPATCH_TEXT_H */
