/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carried constants: tables that changed and that code of the unit alone uses, so that the patch
 * can have a new one and replace all their users.
 */
#ifndef POKEPATCH_CONSTANTS_H
#define POKEPATCH_CONSTANTS_H

#include <stdbool.h>

struct atom;
struct selection;

/*
 * constants_find - for each changed constant that can be carried, mark it as carried and all its
 * users as changed; for another constant with its address, likewise.  Call it after the comparison
 * of all atoms and before carriers_find(), which finds the callers of users without an entry.
 */
void constants_find(struct selection *selection);

/* constants_is_carried - whether an atom of the patched object is such a constant. */
bool constants_is_carried(const struct selection *selection, const struct atom *atom);

#endif /* POKEPATCH_CONSTANTS_H */
