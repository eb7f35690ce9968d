/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which static local variable of one object is which of the other. */
#ifndef POKEPATCH_STATICS_H
#define POKEPATCH_STATICS_H

#include "diff/compare.h"

struct statics;

/* statics_create - find what refers to the numbered variables of two objects. */
struct statics *statics_create(struct object *orig, struct object *patched);
/* statics_destroy - takes NULL, too. */
void statics_destroy(struct statics *statics);

/* statics_pair - pair the variables among the atoms of one key, in the order of the objects. */
void statics_pair(struct statics *statics, struct atom *const *a, size_t count_a,
		  struct atom *const *b, size_t count_b);

/*
 * statics_confirm - after everything was compared: pairs that were only likely and that no
 * unchanged function confirms become ambiguous.
 */
void statics_confirm(const struct pairing *pairing);

#endif /* POKEPATCH_STATICS_H */
