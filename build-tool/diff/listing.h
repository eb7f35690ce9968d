/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function's instructions as text, for people. */
#ifndef POKEPATCH_LISTING_H
#define POKEPATCH_LISTING_H

#include "common/util.h"

struct atom;
struct object;

struct listing_line {
	uint64_t offset; /* in the function */
	char *text;	 /* "callq    kmalloc" */
	/*
	 * The text without what moves when instructions are added in front: the targets of jumps
	 * within the function.  Equal instructions of two builds have equal keys.
	 */
	char *key;
};

struct listing {
	VEC(struct listing_line) lines;
	size_t cold; /* number of lines before the .cold part, if there is one */
};

/*
 * listing_make - list a function of a split object, and its .cold part behind it.  Empty where
 * capstone does not know the machine.  The caller frees it with listing_deinit().
 */
void listing_make(struct object *object, const struct atom *atom, struct listing *ret);
void listing_deinit(struct listing *listing);

#endif /* POKEPATCH_LISTING_H */
