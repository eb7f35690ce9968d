/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pairs the numbered static variables of functions (count.0, f.count.1) of two objects. */
#ifndef POKEPATCH_STATICS_H
#define POKEPATCH_STATICS_H

#include "diff/compare.h"

struct statics;

/* statics_create - find the users of the numbered variables of two objects. */
struct statics *statics_create(struct object *orig, struct object *patched);
/* statics_destroy - free it; NULL is allowed. */
void statics_destroy(struct statics *statics);

/*
 * statics_pair - pair the numbered variables among the atoms of one key, or mark them as ambiguous.
 * @a, @b: these atoms of orig and of patched, each in the order of its object
 */
void statics_pair(struct statics *statics, struct atom *const *a, size_t count_a,
		  struct atom *const *b, size_t count_b);

/*
 * statics_confirm - after the comparison of all atoms: mark the unsure pairs as ambiguous that no
 * unchanged function confirms.
 */
void statics_confirm(const struct pairing *pairing);

#endif /* POKEPATCH_STATICS_H */
