/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changed functions without a patchable entry: who must be replaced in their place. */
#ifndef POKEPATCH_CARRIERS_H
#define POKEPATCH_CARRIERS_H

#include "object/atoms.h"

struct selection;

/* Of a function of the patched object. */
struct carrying {
	bool carried; /* replaced without being rerouted: its callers are */
	VEC(struct atom *) carriers; /* of such: the functions that call it, by name */
};

/*
 * carriers_find - for each changed function whose original has no patchable entry,
 * mark its callers in the unit as changed, as far up as needed; refuse those that
 * nobody can carry.  After the comparison of all atoms.
 */
void carriers_find(struct selection *selection);

/* function_has_entry - can calls of a function of the original be rerouted? */
bool function_has_entry(const struct selection *selection, const struct atom *old);

#endif /* POKEPATCH_CARRIERS_H */
