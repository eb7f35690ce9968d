/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which static local variable of one object is which of the other. */
#ifndef POKEPATCH_STATICS_H
#define POKEPATCH_STATICS_H

#include "object/atoms.h"

/* statics_note - what refers to each numbered variable, and what is known of its declaration. */
void statics_note(struct object *object);

/* statics_pair - pair the variables of two chains of one key; functions have been paired. */
void statics_pair(struct object *orig, struct atom *a, struct object *patched, struct atom *b);

/*
 * statics_settle - after everything was compared: pairs that were only likely and that no
 * unchanged function confirms become ambiguous.
 */
void statics_settle(struct object *patched);

#endif /* POKEPATCH_STATICS_H */
