/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which atom of one object is which of the other, and which have changed. */
#ifndef POKEPATCH_COMPARE_H
#define POKEPATCH_COMPARE_H

#include "object/atoms.h"

/* correlate - set twin (and ambiguous) in the atoms of both; both were split. */
void correlate(struct object *orig, struct object *patched);

/*
 * atom_same - whether two atoms mean the same: equal bytes, and relocations
 * that lead to the same things; blind to line numbers in bug tables, to
 * compiler-made numbers in names, and to where strings lie.  Results are kept
 * in the atoms.
 */
bool atom_same(struct object *orig, struct atom *a, struct object *patched, struct atom *b);

/* atom_first_difference - offset from the start of b of the first byte that differs. */
uint64_t atom_first_difference(struct object *orig, const struct atom *a, struct object *patched,
			       const struct atom *b);

#endif /* POKEPATCH_COMPARE_H */
