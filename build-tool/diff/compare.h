/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pairs the atoms of the original and the patched object, and compares each pair. */
#ifndef POKEPATCH_COMPARE_H
#define POKEPATCH_COMPARE_H

#include "object/atoms.h"

struct statics;

enum atom_state { STATE_UNKNOWN, STATE_COMPARING, STATE_SAME, STATE_CHANGED };

/* What the comparison found for an atom of the patched object. */
struct atom_verdict {
	enum atom_state state; /* of the comparison with its twin */
	/* If it is compared by content: the atom of the original met last, and the result. */
	const struct atom *met;
	bool met_same;
};

/* The two objects of a unit, with the results of correlate() and atom_same(). */
struct pairing {
	struct object *orig, *patched;
	struct statics *statics;       /* statics.c */
	struct atom_verdict *verdicts; /* by index of the atom of patched */
	const struct authored_lines *authored; /* or NULL */
};

/*
 * correlate - pair the atoms of two objects that were split, by setting twin and ambiguous in the
 * atoms of both.  pairing_deinit() also takes a pairing of zeroes.
 */
void correlate(struct object *orig, struct object *patched, const struct authored_lines *authored,
	       struct pairing *ret);
void pairing_deinit(struct pairing *pairing);

/*
 * atom_same - whether two atoms mean the same: they have equal bytes, and relocations that lead to
 * the same things.  Line numbers that the code passes on, numbers that the compiler appends to
 * names, and offsets of strings may differ.  The pairing caches the results.
 * @a: atom of orig
 * @b: atom of patched
 */
bool atom_same(struct pairing *pairing, const struct atom *a, const struct atom *b);

/* atom_first_difference - offset of the first byte of b that differs, from the start of b. */
uint64_t atom_first_difference(struct pairing *pairing, const struct atom *a,
			       const struct atom *b);

/* atom_changed - whether an atom of patched differs from its twin, or was marked as changed. */
static inline bool atom_changed(const struct pairing *pairing, const struct atom *atom)
{
	return pairing->verdicts[atom->index].state == STATE_CHANGED;
}

/* atom_set_state - overrule the comparison for an atom of patched. */
static inline void atom_set_state(struct pairing *pairing, const struct atom *atom,
				  enum atom_state state)
{
	pairing->verdicts[atom->index].state = state;
}

#endif /* POKEPATCH_COMPARE_H */
