/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Jumps behind an included function, for its short branches, which cannot reach their targets. */
#ifndef POKEPATCH_STUBS_H
#define POKEPATCH_STUBS_H

#include "object/atoms.h"

/* The stubs of an included atom. */
struct stubs {
	uint64_t size;	  /* bytes of all stubs, which follow the atom's own bytes */
	uint64_t *places; /* for each short branch: offset of its stub from the atom's start */
};
void stubs_deinit(struct stubs *stubs);

/*
 * stubs_place - choose a place behind an atom for the stub of each of its short branches.  Returns
 * false if a branch does not reach its stub, or if the architecture has no stubs.
 */
bool stubs_place(const struct arch_veneers *veneers, const struct atom *atom, struct stubs *ret);

/*
 * stubs_append - append the stubs to the atom's copy and point the copy's branches at them.
 * @out: section that ends with the copy
 * @start: offset of the copy in it
 */
void stubs_append(const struct arch_veneers *veneers, const struct atom *atom,
		  const struct stubs *stubs, struct section *out, uint64_t start);

#endif /* POKEPATCH_STUBS_H */
