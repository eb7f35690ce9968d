/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carried functions, which changed and have no patchable entry, and their carriers: the callers
 * that are replaced so that they call the new copy.
 */
#ifndef POKEPATCH_CARRIERS_H
#define POKEPATCH_CARRIERS_H

#include "diff/overwrite.h"
#include "object/atoms.h"

struct selection;

/* State of a function or constant of the patched object. */
struct carrying {
	bool carried; /* it is a carried function, or a carried constant (constants.h) */
	VEC(struct atom *) carriers; /* of a carried function: its callers, sorted by name */
	bool only_carries; /* a carrier that has not changed itself */
	const struct atom *kept_by; /* of a changed constant: why it cannot be carried; or NULL */
	struct first_insns overwrites; /* what the core overwrites of a function; or of length 0 */
};

/*
 * carriers_find - for each changed function whose original has no patchable entry, mark its callers
 * in the unit as changed; for a caller without an entry, its callers in turn.  Functions whose
 * callers cannot all be replaced have their first instructions overwritten, or are refused.  Call
 * it after the comparison of all atoms.
 */
void carriers_find(struct selection *selection);

/*
 * function_has_entry - whether a function of the original has a patchable entry, where its calls
 * can be rerouted.
 */
bool function_has_entry(const struct selection *selection, const struct atom *old);

#endif /* POKEPATCH_CARRIERS_H */
