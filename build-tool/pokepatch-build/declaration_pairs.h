/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which declarations of two preprocessed texts are the same, and which of those only stand at
 * another place.
 */
#ifndef POKEPATCH_DECLARATION_PAIRS_H
#define POKEPATCH_DECLARATION_PAIRS_H

#include "pokepatch-build/declaration_parser.h"

/* declaration_range - declarations that follow each other: [first, end) in parser->declarations */
struct declaration_range {
	size_t first, end;
};

/*
 * declarations_mark_changed - set ->changed of the declarations that only one text has, and of
 * those that were moved if that may change what they mean, or what others mean by them.
 * @a: where the first text differs from the second; the parser has read all of the first
 * @b: where the second text differs from the first
 *
 * #include lines are moved, added and removed all the time, which moves declarations past others.
 * C has a name declared before it is used, so the single declaration of a name comes first on both
 * sides, and what mentions it means the same.  It may mean something else if the name has several
 * declarations (an array gets its size, a function an attribute) and is moved past one of them, or
 * past a #pragma.  Code of units that differ so only may still be laid out otherwise: the compiler
 * looks at functions in their order.
 */
void declarations_mark_changed(struct parser *parser, struct declaration_range a,
			       struct declaration_range b);

#endif /* POKEPATCH_DECLARATION_PAIRS_H */
