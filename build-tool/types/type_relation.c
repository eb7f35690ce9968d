// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares two types, one of each build; see type_relation.h. */
#include "types/type_relation.h"

#include <stdlib.h>
#include <string.h>

#include "types/type_facts.h"

/* Types within types: in C's own types far fewer, but a damaged file may have any number. */
#define DEPTH_LIMIT 256

/* A pair of types by their offsets in .debug_info; both 0: the slot is free. */
struct related_pair {
	uint64_t orig, patched;
	enum type_relation relation;
};

void type_relations_deinit(struct type_relations *relations)
{
	free(relations->slots);
	*relations = (struct type_relations){0};
}

static struct related_pair *find_slot(const struct type_relations *relations, uint64_t orig,
				      uint64_t patched)
{
	uint64_t hash = (orig * 0x9e3779b97f4a7c15 ^ patched) * 0xff51afd7ed558ccd;
	size_t at = (hash >> 32) & (relations->room - 1);

	for (;; at = (at + 1) & (relations->room - 1)) {
		struct related_pair *slot = &relations->slots[at];

		if ((slot->orig == orig && slot->patched == patched) ||
		    (!slot->orig && !slot->patched))
			return slot;
	}
}

static void make_room(struct type_relations *relations)
{
	struct type_relations larger = {.room = relations->room ? relations->room * 2 : 1024};

	if (relations->count * 2 < relations->room)
		return;
	larger.slots = xcalloc(larger.room, sizeof(*larger.slots));
	larger.count = relations->count;
	larger.depth = relations->depth;
	for (size_t i = 0; i < relations->room; i++) {
		const struct related_pair *pair = &relations->slots[i];

		if (pair->orig || pair->patched)
			*find_slot(&larger, pair->orig, pair->patched) = *pair;
	}
	free(relations->slots);
	*relations = larger;
}

static enum type_relation worse(enum type_relation a, enum type_relation b)
{
	return a > b ? a : b;
}

/* Compare the types of two entries by @relate.  An entry without one is of type "void". */
static enum type_relation
relate_followed(struct type_relations *relations, Dwarf_Die *orig, Dwarf_Die *patched,
		enum type_relation (*relate)(struct type_relations *relations,
					     const Dwarf_Die *orig, const Dwarf_Die *patched))
{
	Dwarf_Die a, b;
	bool has_a = type_follow(orig, &a), has_b = type_follow(patched, &b);

	if (has_a && has_b)
		return relate(relations, &a, &b);
	return has_a == has_b ? RELATION_EQUAL : RELATION_COMPATIBLE;
}

enum type_relation type_relate_targets(struct type_relations *relations, Dwarf_Die *orig,
				       Dwarf_Die *patched)
{
	return relate_followed(relations, orig, patched, type_relate);
}

/* ---- integers ------------------------------------------------------------------- */

static bool is_boolean(const struct type_facts *facts)
{
	return facts->tag == DW_TAG_base_type && facts->encoding == DW_ATE_boolean;
}

static bool is_integer(const struct type_facts *facts)
{
	return facts->tag == DW_TAG_enumeration_type ||
	       (facts->tag == DW_TAG_base_type && facts->encoding != DW_ATE_float &&
		facts->encoding != DW_ATE_complex_float && facts->encoding != DW_ATE_decimal_float);
}

/* A compiler takes a bool for 0 or 1, so other integers must not become one. */
static enum type_relation relate_integers(const struct type_facts *a, const struct type_facts *b)
{
	if (a->tag == b->tag && a->byte_size == b->byte_size && a->encoding == b->encoding)
		return RELATION_EQUAL;
	return is_integer(a) && is_integer(b) && a->byte_size == b->byte_size &&
			       is_boolean(a) == is_boolean(b)
		       ? RELATION_COMPATIBLE
		       : RELATION_DIFFERENT;
}

enum type_relation type_relate_bits(struct type_relations *relations, const Dwarf_Die *orig,
				    const Dwarf_Die *patched, uint64_t bits)
{
	enum type_relation relation = type_relate(relations, orig, patched);
	struct type_facts a, b;
	Dwarf_Die type_a, type_b;
	const char *name;

	if (relation != RELATION_DIFFERENT || !type_peel(orig, &type_a, &name) ||
	    !type_peel(patched, &type_b, &name))
		return relation;
	type_facts_read(&type_a, &a);
	type_facts_read(&type_b, &b);
	return is_integer(&a) && is_integer(&b) && (bits == 1 || is_boolean(&a) == is_boolean(&b))
		       ? RELATION_COMPATIBLE
		       : relation;
}

/* ---- types of functions ----------------------------------------------------------- */

static bool next_parameter(Dwarf_Die *die, bool *started, Dwarf_Die *function)
{
	int none = *started ? dwarf_siblingof(die, die) : dwarf_child(function, die);

	*started = true;
	for (; !none; none = dwarf_siblingof(die, die))
		if (dwarf_tag(die) == DW_TAG_formal_parameter ||
		    dwarf_tag(die) == DW_TAG_unspecified_parameters)
			return true;
	return false;
}

enum type_relation type_relate_passed(struct type_relations *relations, const Dwarf_Die *orig,
				      const Dwarf_Die *patched)
{
	Dwarf_Die a, b;
	const char *name;

	if (type_peel(orig, &a, &name) && type_peel(patched, &b, &name) &&
	    type_is_aggregate(dwarf_tag(&a)) != type_is_aggregate(dwarf_tag(&b)))
		return RELATION_DIFFERENT;
	return type_relate(relations, orig, patched);
}

enum type_relation type_relate_functions(struct type_relations *relations, Dwarf_Die *orig,
					 Dwarf_Die *patched)
{
	enum type_relation relation = relate_followed(relations, orig, patched, type_relate_passed);
	bool started_a = false, started_b = false;
	Dwarf_Die a, b, result;

	/* A function that gets a result, or loses it. */
	if (type_follow(orig, &result) != type_follow(patched, &result))
		relation = RELATION_DIFFERENT;
	for (;;) {
		bool has_a = next_parameter(&a, &started_a, orig);
		bool has_b = next_parameter(&b, &started_b, patched);

		if (has_a != has_b || (has_a && dwarf_tag(&a) != dwarf_tag(&b)))
			return RELATION_DIFFERENT;
		if (!has_a)
			return relation;
		relation = worse(relation, relate_followed(relations, &a, &b, type_relate_passed));
	}
}

/* ---- members --------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_member(struct type_relations *relations, Dwarf_Die *orig, Dwarf_Die *patched)
{
	struct type_facts a, b;

	type_facts_read(orig, &a);
	type_facts_read(patched, &b);
	return a.tag == b.tag && same_text(a.name, b.name) && a.bit_offset == b.bit_offset &&
	       a.bit_size == b.bit_size && a.value == b.value && a.has_type == b.has_type &&
	       (!a.has_type || type_relate(relations, &a.type, &b.type) == RELATION_EQUAL);
}

bool type_same_members(struct type_relations *relations, Dwarf_Die *orig, Dwarf_Die *patched)
{
	struct type_facts facts_a, facts_b;
	Dwarf_Die a, b;

	type_facts_read(orig, &facts_a);
	type_facts_read(patched, &facts_b);
	if (facts_a.tag != facts_b.tag || facts_a.byte_size != facts_b.byte_size)
		return false;
	int none_a = dwarf_child(orig, &a), none_b = dwarf_child(patched, &b);
	while (!none_a && !none_b) {
		if (!same_member(relations, &a, &b))
			return false;
		none_a = dwarf_siblingof(&a, &a);
		none_b = dwarf_siblingof(&b, &b);
	}
	return !!none_a == !!none_b;
}

/* ---- any types -------------------------------------------------------------------- */

static bool is_tagged(Dwarf_Die *die)
{
	return type_is_aggregate(dwarf_tag(die)) || dwarf_tag(die) == DW_TAG_enumeration_type;
}

static enum type_relation relate_tagged(struct type_relations *relations, Dwarf_Die *orig,
					const char *orig_typedef, Dwarf_Die *patched,
					const char *patched_typedef)
{
	const char *a = dwarf_diename(orig) ?: orig_typedef;
	const char *b = dwarf_diename(patched) ?: patched_typedef;
	bool same;

	if (a && b && !dwarf_diename(orig) == !dwarf_diename(patched))
		same = !strcmp(a, b);
	else if (dwarf_tag(orig) == DW_TAG_enumeration_type)
		same = !a && !b; /* enumerators are judged by themselves */
	else /* one that has no name, or that gets a tag or loses it, is what its members are */
		same = type_same_members(relations, orig, patched);
	return same ? RELATION_EQUAL : RELATION_DIFFERENT;
}

/* void * may lead to anything. */
static enum type_relation relate_pointers(struct type_relations *relations, Dwarf_Die *orig,
					  Dwarf_Die *patched)
{
	Dwarf_Die a, b;
	const char *name;
	bool has_a = type_follow(orig, &a) && type_peel(&a, &a, &name);
	bool has_b = type_follow(patched, &b) && type_peel(&b, &b, &name);

	if (!has_a || !has_b)
		return has_a == has_b ? RELATION_EQUAL : RELATION_COMPATIBLE;
	return type_relate_targets(relations, orig, patched);
}

/* Of as many elements in all, [2][8] and [8][2] have each in another place. */
static bool same_dimensions(const struct type_dimensions *a, const struct type_dimensions *b,
			    size_t from)
{
	if (a->list.count != b->list.count)
		return false;
	for (size_t i = from; i < a->list.count; i++)
		if (a->list.list[i] != b->list.list[i])
			return false;
	return true;
}

static enum type_relation relate_arrays(struct type_relations *relations, Dwarf_Die *orig,
					Dwarf_Die *patched)
{
	enum type_relation relation = RELATION_DIFFERENT;
	struct type_dimensions a, b;
	bool known_a = type_dimensions_read(orig, &a), known_b = type_dimensions_read(patched, &b);

	if (known_a && known_b && same_dimensions(&a, &b, 0))
		relation = type_relate(relations, &a.element, &b.element);
	type_dimensions_deinit(&a);
	type_dimensions_deinit(&b);
	return relation;
}

bool type_same_but_length(const Dwarf_Die *orig, const Dwarf_Die *patched, Dwarf_Die *ret_orig,
			  Dwarf_Die *ret_patched)
{
	struct type_dimensions a, b;
	bool known_a = type_dimensions_read(orig, &a), known_b = type_dimensions_read(patched, &b);
	bool same = known_a && known_b && a.list.count && same_dimensions(&a, &b, 1);

	*ret_orig = a.element;
	*ret_patched = b.element;
	type_dimensions_deinit(&a);
	type_dimensions_deinit(&b);
	return same;
}

static enum type_relation relate_as_they_are(struct type_relations *relations, Dwarf_Die *orig,
					     const char *orig_typedef, Dwarf_Die *patched,
					     const char *patched_typedef)
{
	struct type_facts a, b;

	/* A tag is a name of one thing, whether that is a structure, a union or an enumeration. */
	if (is_tagged(orig) && is_tagged(patched) && dwarf_diename(orig) &&
	    same_text(dwarf_diename(orig), dwarf_diename(patched)))
		return RELATION_EQUAL;
	if (dwarf_tag(orig) == dwarf_tag(patched))
		switch (dwarf_tag(orig)) {
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
			return relate_tagged(relations, orig, orig_typedef, patched,
					     patched_typedef);
		case DW_TAG_enumeration_type:
			if (relate_tagged(relations, orig, orig_typedef, patched,
					  patched_typedef) == RELATION_EQUAL)
				return RELATION_EQUAL;
			break;
		case DW_TAG_pointer_type:
			return relate_pointers(relations, orig, patched);
		case DW_TAG_array_type:
			return relate_arrays(relations, orig, patched);
		case DW_TAG_subroutine_type:
			return type_relate_functions(relations, orig, patched);
		}
	type_facts_read(orig, &a);
	type_facts_read(patched, &b);
	/* Two enumerations of different names are not equal, whatever their sizes. */
	return a.tag == DW_TAG_enumeration_type && b.tag == DW_TAG_enumeration_type
		       ? worse(RELATION_COMPATIBLE, relate_integers(&a, &b))
		       : relate_integers(&a, &b);
}

/* Go to the type of a structure's or union's only member, if that is as large as the whole. */
static bool unwrap(Dwarf_Die *die, const char **ret_typedef)
{
	struct type_facts whole, member, type;
	Dwarf_Die child;
	int members = 0;

	if (!type_is_aggregate(dwarf_tag(die)))
		return false;
	type_facts_read(die, &whole);
	for (int none = dwarf_child(die, &child); !none; none = dwarf_siblingof(&child, &child))
		if (dwarf_tag(&child) == DW_TAG_member && !members++)
			type_facts_read(&child, &member);
	if (members != 1 || member.bit_size || member.bit_offset || !member.has_type ||
	    !type_peel(&member.type, die, ret_typedef))
		return false;
	type_facts_read(die, &type);
	return whole.byte_size && whole.byte_size == type.byte_size;
}

static enum type_relation relate_peeled(struct type_relations *relations, Dwarf_Die *orig,
					const char *orig_typedef, Dwarf_Die *patched,
					const char *patched_typedef)
{
	enum type_relation relation =
		relate_as_they_are(relations, orig, orig_typedef, patched, patched_typedef);
	Dwarf_Die a = *orig, b = *patched;
	const char *name;
	int depth;

	/*
	 * One of them may be the other with nothing but a structure around it.  Then each build
	 * reads what the other wrote: atomic_t is an int, and a spinlock_t, where lockdep is off, a
	 * raw_spinlock_t.
	 */
	for (depth = 0; relation == RELATION_DIFFERENT && depth < DEPTH_LIMIT && unwrap(&a, &name);
	     depth++)
		relation = worse(RELATION_COMPATIBLE, relate_as_they_are(relations, &a, name, patched,
									 patched_typedef));
	for (depth = 0; relation == RELATION_DIFFERENT && depth < DEPTH_LIMIT && unwrap(&b, &name);
	     depth++)
		relation = worse(RELATION_COMPATIBLE, relate_as_they_are(relations, orig, orig_typedef,
									 &b, name));
	return relation;
}

enum type_relation type_relate(struct type_relations *relations, const Dwarf_Die *orig,
			       const Dwarf_Die *patched)
{
	uint64_t orig_offset = dwarf_dieoffset((Dwarf_Die *)orig);
	uint64_t patched_offset = dwarf_dieoffset((Dwarf_Die *)patched);
	const char *orig_typedef, *patched_typedef;
	Dwarf_Die a, b;

	make_room(relations);
	struct related_pair *slot = find_slot(relations, orig_offset, patched_offset);
	if (slot->orig || slot->patched)
		return slot->relation;
	/* A damaged file may lead back here. */
	*slot = (struct related_pair){orig_offset, patched_offset, RELATION_EQUAL};
	relations->count++;
	if (relations->depth >= DEPTH_LIMIT)
		return RELATION_EQUAL;
	relations->depth++;
	bool has_a = type_peel(orig, &a, &orig_typedef);
	bool has_b = type_peel(patched, &b, &patched_typedef);
	enum type_relation relation =
		has_a && has_b   ? relate_peeled(relations, &a, orig_typedef, &b, patched_typedef)
		: has_a == has_b ? RELATION_EQUAL
				 : RELATION_COMPATIBLE;
	relations->depth--;
	find_slot(relations, orig_offset, patched_offset)->relation = relation;
	return relation;
}
