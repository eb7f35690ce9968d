/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recognizes line numbers that code passes on at run time, such as __LINE__ in ASSERT_RTNL().  They
 * change with every line that a patch adds above them, and are no difference.  In a line that the
 * author wrote, such a constant is a difference: msleep(20) of line 20 may become msleep(21) in
 * line 21.
 */
#ifndef POKEPATCH_LINE_NUMBERS_H
#define POKEPATCH_LINE_NUMBERS_H

#include "object/atoms.h"

/* Where the author wrote lines: their numbers in the compiled text, sorted.  NULL: not known. */
struct authored_lines {
	VEC(uint64_t) numbers;
};

/*
 * code_first_difference - offset, from the start of both atoms, of the first byte that differs and
 * is no part of a line number; or the size of the shorter atom.
 */
uint64_t code_first_difference(struct object *orig, const struct atom *a, struct object *patched,
			       const struct atom *b, const struct authored_lines *authored);

/*
 * same_text_but_line - whether two texts differ only in a line number behind a colon, which is the
 * line of the code that refers to the text.  FORTIFY_SOURCE's warnings have such texts:
 * "field \"&d\" at fs/dcache.c:2930".
 * @place_a, @place_b: offset of the reference in the section of code
 */
bool same_text_but_line(struct object *orig, const struct section *section_a, uint64_t place_a,
			const char *a, struct object *patched, const struct section *section_b,
			uint64_t place_b, const char *b, const struct authored_lines *authored);

#endif /* POKEPATCH_LINE_NUMBERS_H */
