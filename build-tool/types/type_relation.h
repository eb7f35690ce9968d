/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How two types are related, one of each build. */
#ifndef POKEPATCH_TYPE_RELATION_H
#define POKEPATCH_TYPE_RELATION_H

#include <elfutils/libdw.h>

#include "common/util.h"

/* From best to worst: that of a type made of others is the worst of these. */
enum type_relation {
	RELATION_EQUAL, /* or both are structures, unions or enumerations of one name */
	/* Either build reads what the other wrote: int, unsigned int, a structure of one int. */
	RELATION_COMPATIBLE,
	RELATION_DIFFERENT,
};

/* The pairs of types that were compared, so that each is compared once. */
struct type_relations {
	struct related_pair *slots; /* open addressing */
	size_t count, room;
	unsigned int depth; /* of the comparison that runs */
};
void type_relations_deinit(struct type_relations *relations);

/*
 * type_relate - compare two types.  Structures, unions and enumerations with a name are compared by
 * that alone: types_compare() judges each by itself.  So pointers lead nowhere from here, and no
 * circle of types is followed.
 */
enum type_relation type_relate(struct type_relations *relations, const Dwarf_Die *orig,
			       const Dwarf_Die *patched);
/* type_relate_targets - the same for what two members, variables, pointers or arrays have. */
enum type_relation type_relate_targets(struct type_relations *relations, Dwarf_Die *orig,
				       Dwarf_Die *patched);
/*
 * type_relate_bits - the same for two bit-fields that have the same bits of their structures, and
 * integers as types.  The sizes of these do not count.
 */
enum type_relation type_relate_bits(struct type_relations *relations, const Dwarf_Die *orig,
				    const Dwarf_Die *patched, uint64_t bits);
/*
 * type_same_but_length - whether two types are arrays that differ, if at all, in their outermost
 * dimension and in their elements, which are returned.
 */
bool type_same_but_length(const Dwarf_Die *orig, const Dwarf_Die *patched, Dwarf_Die *ret_orig,
			  Dwarf_Die *ret_patched);
/*
 * type_relate_passed - the same for what is passed to a function, or returned.  Machines may pass a
 * structure in another way than its only member.
 */
enum type_relation type_relate_passed(struct type_relations *relations, const Dwarf_Die *orig,
				      const Dwarf_Die *patched);
/* type_relate_functions - the same for two functions, or types of functions. */
enum type_relation type_relate_functions(struct type_relations *relations, Dwarf_Die *orig,
					 Dwarf_Die *patched);
/*
 * type_same_members - whether two structures, unions or enumerations have the same members in the
 * same places, in the same order.
 */
bool type_same_members(struct type_relations *relations, Dwarf_Die *orig, Dwarf_Die *patched);

#endif /* POKEPATCH_TYPE_RELATION_H */
