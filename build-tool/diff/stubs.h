/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jumps behind a carried function, for its branches that cannot reach as far as they lead. */
#ifndef POKEPATCH_STUBS_H
#define POKEPATCH_STUBS_H

#include "object/atoms.h"

/* Of an atom that is carried. */
struct stubs {
	uint64_t size;	  /* bytes of all; they follow the atom's own */
	uint64_t *places; /* of the stub of each short branch, in bytes from the atom's start */
};
void stubs_deinit(struct stubs *stubs);

/*
 * stubs_place - find a place behind an atom to be carried for each of its short branches; false
 * if one does not reach its own, or the architecture has none.
 */
bool stubs_place(const struct arch_veneers *veneers, const struct atom *atom, struct stubs *ret);

/*
 * stubs_append - write them behind the atom's copy, which ends a section and begins at start in
 * it, and point the copy's branches at them.
 */
void stubs_append(const struct arch_veneers *veneers, const struct atom *atom,
		  const struct stubs *stubs, struct section *out, uint64_t start);

#endif /* POKEPATCH_STUBS_H */
