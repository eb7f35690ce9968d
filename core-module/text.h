/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing instructions that CPUs may execute: text.c. */
#ifndef POKEPATCH_TEXT_H
#define POKEPATCH_TEXT_H

#include <linux/types.h>

#include "pp_time.h"

struct pp_func;
struct pp_patch;

/* The longest instruction that is written, and the widest word, in bytes. */
#define PP_TEXT_WORD_MAX 8

/* The write of one instruction, which lies within one word (pp_text_fits()). */
struct pp_poke {
	unsigned long at;
	u8 size;
	u8 old[PP_TEXT_WORD_MAX], new[PP_TEXT_WORD_MAX];
	const struct pp_func *func; /* the function for which it is written; for the history */
	/*
	 * Two pokes of a text may write the same instruction: the first (passes) makes it a NOP,
	 * and the second (returns) writes it again when other words have been written in between.
	 */
	bool passes, returns;
	struct pp_when when;	/* written live: the time of the write */
	struct pp_when *route;	/* written live: where to copy that time, or NULL */
	u64 change;		/* record.c: the number of the change */
	/* pp_text_map() sets these */
	void *alias;		/* its word, mapped writable; with a text.store(): as it runs */
	u64 mask, old_word, new_word; /* the instruction's bits in its word, before and after */
};

/* Pokes that are written together, and what became of them. */
struct pp_text {
	struct pp_poke *poke;
	unsigned int nr;
	void *alias;		/* the writable mapping, one page for each poke, or NULL */
	const struct pp_poke *bad; /* the poke that failed, or NULL */
	const u8 *wanted;	/* the bytes that should have been at that place */
	u64 found;		/* not written live: the word that was there */
	const struct pp_poke *stuck; /* the first poke that could not be put back, or NULL */
	bool written;		/* written live: some were, even if they were put back */
	unsigned int put_back;	/* not written live: so many of the first pokes were put back */
	struct pp_time turned;	/* the time between writing these and putting them back */
	struct pp_when when;	/* not written live: the time of all writes */
};

/* Does the instruction of @size bytes at @at lie within one word?  Any context. */
bool pp_text_fits(unsigned long at, unsigned int size);
/* Make and remove the writable mapping of the words of @text.  May sleep; -ENOMEM, -EIO. */
int pp_text_map(struct pp_text *text);
void pp_text_unmap(struct pp_text *text);
/*
 * Write all pokes of @text, in their order, and read them back.  If a place does not hold its old
 * bytes before, or its new bytes afterwards, put back all of them.  Return: are they written?
 *
 * Any context.  text_mutex is held, by the task that stopped the machine or by the caller.  CPUs
 * that execute the text afterwards must serialise first.
 */
bool pp_text_write(struct pp_text *text);
/* Log why pp_text_write() failed, for the patch or the tracer @name.  Return: -EIO. */
int pp_text_report(const struct pp_text *text, const char *name);
/*
 * Map, write and unmap text that no CPU can execute yet, and record the change.  May sleep.
 * Return: 0, -ENOMEM, or -EBUSY or -EIO (logged).
 */
int pp_text_write_unused(struct pp_text *text, const struct pp_patch *patch);

#endif /* POKEPATCH_TEXT_H */
