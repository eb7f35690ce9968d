/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Line numbers that the source passes on at run time: __LINE__ in ASSERT_RTNL() and the like. */
#ifndef POKEPATCH_LINE_NUMBERS_H
#define POKEPATCH_LINE_NUMBERS_H

#include "object/atoms.h"

/*
 * code_first_difference - offset from the start of both atoms of the first byte that
 * differs and is no part of a line number, or the size of the shorter one.
 */
uint64_t code_first_difference(struct object *orig, const struct atom *a, struct object *patched,
			 const struct atom *b);

/*
 * same_text_but_line - two texts that code at a place of each section refers to:
 * do they differ only in the number of that code's line, behind a colon?
 * FORTIFY_SOURCE's warnings have such: "field \"&d\" at fs/dcache.c:2930".
 */
bool same_text_but_line(struct object *orig, const struct section *section_a, uint64_t place_a,
			const char *a, struct object *patched, const struct section *section_b,
			uint64_t place_b, const char *b);

#endif /* POKEPATCH_LINE_NUMBERS_H */
