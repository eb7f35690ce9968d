/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jumps behind a carried function, for its branches that cannot reach as far as they lead. */
#ifndef POKEPATCH_STUBS_H
#define POKEPATCH_STUBS_H

#include "object/atoms.h"

/*
 * stubs_place - find a place behind an atom to be carried for each of its short branches; false
 * if one does not reach its own, or the architecture has none.
 */
bool stubs_place(const struct arch *arch, struct atom *atom);

/* stubs_append - write them behind the atom's copy, and point the copy's branches at them. */
void stubs_append(const struct arch *arch, const struct atom *atom);

#endif /* POKEPATCH_STUBS_H */
