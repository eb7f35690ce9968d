/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which atom of one object is which of the other, and which have changed. */
#ifndef POKEPATCH_COMPARE_H
#define POKEPATCH_COMPARE_H

#include "object/atoms.h"

struct statics;

enum atom_state { STATE_UNKNOWN, STATE_COMPARING, STATE_SAME, STATE_CHANGED };

/* What the comparison found out about an atom of the patched object. */
struct atom_verdict {
	enum atom_state state; /* of the atom against its twin */
	/* For atoms that are compared by content: the atom that was compared last, and the result. */
	const struct atom *met;
	bool met_same;
};

/* The two objects of a unit, and what correlate() and atom_same() say about their atoms. */
struct pairing {
	struct object *orig, *patched;
	struct statics *statics;  /* statics.c */
	struct atom_verdict *verdicts; /* of patched's atoms, by index */
};

/*
 * correlate - pair the atoms of two objects that were split: set twin (and ambiguous) in the atoms
 * of both.  pairing_deinit() also takes a pairing of zeroes.
 */
void correlate(struct object *orig, struct object *patched, struct pairing *ret);
void pairing_deinit(struct pairing *pairing);

/*
 * atom_same - whether two atoms, a of orig and b of patched, mean the same: equal bytes, and
 * relocations that lead to the same things; blind to line numbers in bug tables, to
 * compiler-made numbers in names, and to where strings lie.  Results are kept
 * in the pairing.
 */
bool atom_same(struct pairing *pairing, const struct atom *a, const struct atom *b);

/* atom_first_difference - offset from the start of b of the first byte that differs. */
uint64_t atom_first_difference(struct pairing *pairing, const struct atom *a,
			       const struct atom *b);

/* atom_changed - whether an atom of the patched object differs from its twin, or counts as that. */
static inline bool atom_changed(const struct pairing *pairing, const struct atom *atom)
{
	return pairing->verdicts[atom->index].state == STATE_CHANGED;
}

/* atom_set_state - overrule the comparison. */
static inline void atom_set_state(struct pairing *pairing, const struct atom *atom,
				  enum atom_state state)
{
	pairing->verdicts[atom->index].state = state;
}

#endif /* POKEPATCH_COMPARE_H */
