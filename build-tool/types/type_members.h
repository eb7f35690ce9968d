/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares the members of two types, one of each build, that are known to differ. */
#ifndef POKEPATCH_TYPE_MEMBERS_H
#define POKEPATCH_TYPE_MEMBERS_H

#include "types/type_relation.h"
#include "types/types.h"

/*
 * members_compare - for a structure or union: add what changed to change->members, set the sizes
 * and the verdict.
 * @ret_contained: if all that changed follows from the size of a member's type, the name of the
 *	first such type; else left alone
 */
void members_compare(struct type_relations *relations, Dwarf_Die *orig, Dwarf_Die *patched,
		     struct type_change *change, const char **ret_contained);

/* A name that an enumeration gives to a value. */
struct enumerator {
	const char *name;
	int64_t value;
};
struct enumerators {
	VEC(struct enumerator) list;
};
void enumerators_read(Dwarf_Die *enumeration, struct enumerators *ret);
/* enumerators_compare - the same for two enumerations. */
void enumerators_compare(Dwarf_Die *orig, Dwarf_Die *patched, struct type_change *change);

/* parameters_compare - the same for the results and parameters of two functions. */
void parameters_compare(struct type_relations *relations, Dwarf_Die *orig, Dwarf_Die *patched,
			struct type_change *change);

#endif /* POKEPATCH_TYPE_MEMBERS_H */
