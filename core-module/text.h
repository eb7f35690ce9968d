/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing instructions: text.c. */
#ifndef POKEPATCH_TEXT_H
#define POKEPATCH_TEXT_H

#include <linux/types.h>

#include "pp_time.h"

struct pp_func;
struct pp_patch;

/* The longest instruction that is written, and the widest word, in bytes. */
#define PP_TEXT_WORD_MAX 8

/* One instruction, within one word (pp_text_fits()). */
struct pp_poke {
	unsigned long at;
	u8 size;
	u8 old[PP_TEXT_WORD_MAX], new[PP_TEXT_WORD_MAX];
	const struct pp_func *func; /* for whose sake; for the history */
	/*
	 * Two of a text are of the same instruction: the first of them makes it a NOP, and the
	 * second what it was, when others have been written in between.
	 */
	bool passes, returns;
	struct pp_when when;	/* live: it was written */
	struct pp_when *route;	/* live: a copy of that, for who waits for it, or NULL */
	u64 change;		/* record.c's */
	/* pp_text_map() sets these */
	void *alias;		/* of its word, writable; or where it runs (pp_arch.h: text_store) */
	u64 mask, old_word, new_word;
};

struct pp_text {
	struct pp_poke *poke;
	unsigned int nr;
	void *alias;		/* the mapping */
	const struct pp_poke *bad; /* which one failed */
	const u8 *wanted;	/* there */
	u64 found;		/* the word that was there, when not written live */
	const struct pp_poke *stuck; /* and one that could not be put back, or NULL */
	bool written;		/* live: some of it was, if only to be put back */
	unsigned int put_back;	/* not live: so many of the first ones were, after they were written */
	struct pp_time turned;	/* likewise: when, between the one and the other */
	struct pp_when when;	/* not live: all of it was written */
};

/* Does the instruction lie within one word?  Any context. */
bool pp_text_fits(unsigned long at, unsigned int size);
/* Make and unmake the writable mapping.  May sleep; -ENOMEM, -EIO. */
int pp_text_map(struct pp_text *text);
void pp_text_unmap(struct pp_text *text);
bool pp_text_write(struct pp_text *text);
/*
 * Log what went wrong in pp_text_write(), for the patch, or the tracer, of this name.
 * Return: -EIO.
 */
int pp_text_report(const struct pp_text *text, const char *name);
/* All of that for text that nobody runs; recorded.  May sleep; 0, -ENOMEM, -EIO (logged). */
int pp_text_write_unused(struct pp_text *text, const struct pp_patch *patch);

#endif /* POKEPATCH_TEXT_H */
