// SPDX-License-Identifier: GPL-2.0-or-later
/* Pairs the types of two builds of a unit by their names, and compares each pair; see types.h. */
#include "types/types.h"

#include <stdlib.h>
#include <string.h>

#include "object/debuginfo.h"
#include "types/type_facts.h"
#include "types/type_members.h"
#include "types/type_relation.h"

/* What a name of C leads to, by its name space. */
enum space {
	SPACE_TAGS,     /* of structures, unions and enumerations */
	SPACE_TYPEDEFS, /* of structures and unions that have no other name */
	SPACE_VARIABLES,
	SPACE_FUNCTIONS,
	SPACE_ENUMERATORS, /* of enumerations without a name: leads to the enumeration */
	SPACES
};

/* A named thing of a unit. */
struct thing {
	enum space space;
	const char *name; /* the key; in a function, "function:name" */
	Dwarf_Die die;    /* for a typedef, the type */
	bool declaration, external;
};

struct things {
	VEC(struct thing *) list; /* in the order of the debug information */
	struct map by_name[SPACES];
	VEC(char *) names; /* owned */
};

struct comparing {
	struct things orig, patched;
	struct type_relations relations;
	struct type_changes *changes;
	VEC(const char *) contained; /* by index in changes: see members_compare(); or NULL */
};

static void things_deinit(struct things *things)
{
	for (size_t i = 0; i < things->list.count; i++)
		free(things->list.list[i]);
	vec_deinit(&things->list);
	for (size_t i = 0; i < SPACES; i++)
		map_deinit(&things->by_name[i]);
	for (size_t i = 0; i < things->names.count; i++)
		free(things->names.list[i]);
	vec_deinit(&things->names);
}

/* ---- reading ------------------------------------------------------------------------ */

/*
 * The first thing of a name counts, but a definition takes the place of a declaration, such as
 * "extern int x;", that may come first.
 */
static void add_thing(struct things *things, enum space space, const char *name,
		      const Dwarf_Die *die, const struct type_facts *facts)
{
	void **slot = map_slot(&things->by_name[space], name);
	struct thing *thing = *slot;

	if (thing && (!thing->declaration || facts->declaration))
		return;
	if (!thing) {
		thing = xcalloc(1, sizeof(*thing));
		*vec_push(&things->list) = *slot = thing;
	}
	*thing = (struct thing){space, name, *die, facts->declaration, facts->external};
}

static void add_enumerators(struct things *things, Dwarf_Die *die, const struct type_facts *facts)
{
	struct enumerators enumerators = {0};

	enumerators_read(die, &enumerators);
	for (size_t i = 0; i < enumerators.list.count; i++)
		add_thing(things, SPACE_ENUMERATORS, enumerators.list.list[i].name, die, facts);
	vec_deinit(&enumerators.list);
}

/* "__UNIQUE_ID_license123": what number the preprocessor gives to which says nothing. */
static bool is_numbered(const char *name)
{
	return has_prefix(name, "__UNIQUE_ID_");
}

static void read_tagged(struct things *things, Dwarf_Die *die, const char *function)
{
	struct type_facts facts;

	type_facts_read(die, &facts);
	if (facts.declaration)
		return;
	if (facts.name && function) {
		char *name = *vec_push(&things->names) = xasprintf("%s:%s", function, facts.name);

		add_thing(things, SPACE_TAGS, name, die, &facts);
	} else if (facts.name) {
		add_thing(things, SPACE_TAGS, facts.name, die, &facts);
	} else if (facts.tag == DW_TAG_enumeration_type && !function) {
		add_enumerators(things, die, &facts);
	}
}

static void read_typedef(struct things *things, Dwarf_Die *die)
{
	struct type_facts facts;

	type_facts_read(die, &facts);
	if (facts.name && facts.has_type && type_is_aggregate(dwarf_tag(&facts.type)) &&
	    !dwarf_diename(&facts.type))
		add_thing(things, SPACE_TYPEDEFS, facts.name, &facts.type, &facts);
}

static void read_named(struct things *things, enum space space, Dwarf_Die *die)
{
	struct type_facts facts;

	type_facts_read(die, &facts);
	if (facts.name && !is_numbered(facts.name))
		add_thing(things, space, facts.name, die, &facts);
}

/* Types that a function declares: they may be those of its static variables. */
static void read_inside(struct things *things, Dwarf_Die *parent, const char *function, int depth)
{
	Dwarf_Die die;

	if (depth > 64 || dwarf_child(parent, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_enumeration_type:
			read_tagged(things, &die, function);
			break;
		case DW_TAG_lexical_block:
			read_inside(things, &die, function, depth + 1);
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
}

static void read_function(struct things *things, Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	if (!name)
		return;
	read_named(things, SPACE_FUNCTIONS, die);
	read_inside(things, die, name, 0);
}

static void read_unit(struct things *things, Dwarf_Die *unit)
{
	Dwarf_Die die;

	if (dwarf_child(unit, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_enumeration_type:
			read_tagged(things, &die, NULL);
			break;
		case DW_TAG_typedef:
			read_typedef(things, &die);
			break;
		case DW_TAG_variable:
			read_named(things, SPACE_VARIABLES, &die);
			break;
		case DW_TAG_subprogram:
			read_function(things, &die);
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
}

static void things_read(Dwarf *dwarf, struct things *ret)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	while (!dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL))
		read_unit(ret, &die);
}

/* ---- comparing ---------------------------------------------------------------------- */

static enum type_kind kind_of(const struct thing *thing)
{
	int tag = dwarf_tag((Dwarf_Die *)&thing->die);

	return thing->space == SPACE_VARIABLES   ? TYPE_VARIABLE
	       : thing->space == SPACE_FUNCTIONS ? TYPE_FUNCTION
	       : tag == DW_TAG_enumeration_type  ? TYPE_ENUM
	       : tag == DW_TAG_union_type        ? TYPE_UNION
						 : TYPE_STRUCT;
}

static void add_change(struct comparing *comparing, const struct thing *orig,
		       const struct thing *patched, struct type_change *change,
		       const char *contained)
{
	const char *inside = strchr(patched->name, ':');

	if (!change->members.count && change->verdict == TYPE_HARMLESS)
		return;
	change->kind = kind_of(patched);
	change->name = xstrdup(inside ? inside + 1 : patched->name);
	change->location = debuginfo_die_location((Dwarf_Die *)&patched->die);
	change->defined = !orig->declaration && !patched->declaration;
	change->global = orig->external;
	*vec_push(&comparing->changes->list) = *change;
	*vec_push(&comparing->contained) = contained;
}

static void compare_tagged(struct comparing *comparing, struct thing *orig, struct thing *patched)
{
	struct type_change change = {0};
	const char *contained = NULL;
	int tag = dwarf_tag(&orig->die);

	if (type_same_members(&comparing->relations, &orig->die, &patched->die))
		return;
	if (tag == DW_TAG_enumeration_type && dwarf_tag(&patched->die) == tag)
		enumerators_compare(&orig->die, &patched->die, &change);
	else
		members_compare(&comparing->relations, &orig->die, &patched->die, &change,
				&contained);
	if (tag != dwarf_tag(&patched->die))
		change.verdict = TYPE_MISREAD;
	add_change(comparing, orig, patched, &change, contained);
}

/* The differ compares the sizes of variables; "extern struct foo table[];" has none. */
static bool array_element(const Dwarf_Die *type, Dwarf_Die *ret)
{
	const char *name;

	return type_peel(type, ret, &name) && dwarf_tag(ret) == DW_TAG_array_type &&
	       type_follow(ret, ret);
}

static void compare_variables(struct comparing *comparing, struct thing *orig,
			      struct thing *patched)
{
	struct type_facts a, b;
	Dwarf_Die element_a, element_b, type_a, type_b;
	struct type_change change = {0};
	const char *contained = NULL, *name_a, *name_b;

	type_facts_read(&orig->die, &a);
	type_facts_read(&patched->die, &b);
	if (!a.has_type || !b.has_type)
		return;
	change.old_size = type_bits(&a.type) / 8;
	change.new_size = type_bits(&b.type) / 8;
	char *old_type = type_text(&a.type), *new_type = type_text(&b.type);
	if (array_element(&a.type, &element_a) && array_element(&b.type, &element_b)) {
		a.type = element_a;
		b.type = element_b;
	}
	enum type_relation relation = type_relate(&comparing->relations, &a.type, &b.type);
	if (relation == RELATION_EQUAL) {
		free(old_type);
		free(new_type);
		return;
	}
	if (relation == RELATION_DIFFERENT && type_peel(&a.type, &type_a, &name_a) &&
	    type_peel(&b.type, &type_b, &name_b) && !name_a && !name_b &&
	    type_is_aggregate(dwarf_tag(&type_a)) && type_is_aggregate(dwarf_tag(&type_b)) &&
	    !dwarf_diename(&type_a) && !dwarf_diename(&type_b)) {
		members_compare(&comparing->relations, &type_a, &type_b, &change, &contained);
		free(old_type);
		free(new_type);
	} else {
		*vec_push(&change.members) = (struct type_member){
			.name = xstrdup(patched->name),
			.change = MEMBER_RETYPED,
			.harmless = relation == RELATION_COMPATIBLE,
			.was = true,
			.is = true,
			.old_size = change.old_size * 8,
			.new_size = change.new_size * 8,
			.old_type = old_type,
			.new_type = new_type,
		};
		change.verdict = relation == RELATION_COMPATIBLE ? TYPE_HARMLESS : TYPE_MISREAD;
	}
	add_change(comparing, orig, patched, &change, contained);
}

static void compare_functions(struct comparing *comparing, struct thing *orig,
			      struct thing *patched)
{
	struct type_change change = {0};

	if (type_relate_functions(&comparing->relations, &orig->die, &patched->die) ==
	    RELATION_EQUAL)
		return;
	parameters_compare(&comparing->relations, &orig->die, &patched->die, &change);
	add_change(comparing, orig, patched, &change, NULL);
}

static void compare_pair(struct comparing *comparing, struct thing *orig, struct thing *patched)
{
	switch (patched->space) {
	case SPACE_TAGS:
	case SPACE_TYPEDEFS:
	case SPACE_ENUMERATORS:
		compare_tagged(comparing, orig, patched);
		break;
	case SPACE_VARIABLES:
		compare_variables(comparing, orig, patched);
		break;
	case SPACE_FUNCTIONS:
		compare_functions(comparing, orig, patched);
		break;
	case SPACES:
		break;
	}
}

/* An enumeration is a thing once for each of its names. */
static bool is_next_enumerator(const struct things *things, size_t index)
{
	const struct thing *thing = things->list.list[index], *before;

	if (thing->space != SPACE_ENUMERATORS || !index)
		return false;
	before = things->list.list[index - 1];
	return before->space == SPACE_ENUMERATORS && before->die.addr == thing->die.addr;
}

static void compare_all(struct comparing *comparing)
{
	bool compared = false; /* the enumeration of this thing */

	for (size_t i = 0; i < comparing->patched.list.count; i++) {
		struct thing *patched = comparing->patched.list.list[i];
		struct thing *orig =
			map_get(&comparing->orig.by_name[patched->space], patched->name);

		if (!is_next_enumerator(&comparing->patched, i))
			compared = false;
		if (!orig || compared)
			continue;
		compared = true;
		compare_pair(comparing, orig, patched);
	}
}

/* ---- what follows from what ------------------------------------------------------------ */

/*
 * A type that only grew with a type within it is not refused itself: the author decides about that
 * one.  A member of a type of which the unit has no change does not explain anything.
 */
static void judge_following(struct comparing *comparing)
{
	struct map misread = {0};

	for (size_t i = 0; i < comparing->changes->list.count; i++) {
		struct type_change *change = &comparing->changes->list.list[i];

		if (change->verdict == TYPE_MISREAD && change->kind <= TYPE_UNION)
			*map_slot(&misread, change->name) = change;
	}
	for (size_t i = 0; i < comparing->changes->list.count; i++) {
		struct type_change *change = &comparing->changes->list.list[i];
		const char *contained = comparing->contained.list[i];

		if (!contained || !map_has(&misread, contained))
			continue;
		change->verdict = TYPE_FOLLOWS;
		change->cause = xstrdup(contained);
	}
	map_deinit(&misread);
}

static int change_order(const void *left, const void *right)
{
	const struct type_change *a = left, *b = right;

	return strcmp(a->name, b->name) ?: (int)a->kind - (int)b->kind;
}

void types_compare(Dwarf *orig, Dwarf *patched, struct type_changes *ret)
{
	struct comparing comparing = {.changes = ret};

	*ret = (struct type_changes){0};
	things_read(orig, &comparing.orig);
	things_read(patched, &comparing.patched);
	compare_all(&comparing);
	judge_following(&comparing);
	if (ret->list.count)
		qsort(ret->list.list, ret->list.count, sizeof(*ret->list.list), change_order);
	vec_deinit(&comparing.contained);
	type_relations_deinit(&comparing.relations);
	things_deinit(&comparing.orig);
	things_deinit(&comparing.patched);
}

void type_changes_deinit(struct type_changes *changes)
{
	for (size_t i = 0; i < changes->list.count; i++) {
		struct type_change *change = &changes->list.list[i];

		for (size_t j = 0; j < change->members.count; j++) {
			free(change->members.list[j].name);
			free(change->members.list[j].old_name);
			free(change->members.list[j].old_type);
			free(change->members.list[j].new_type);
		}
		vec_deinit(&change->members);
		free(change->name);
		free(change->location);
		free(change->cause);
	}
	vec_deinit(&changes->list);
}

const char *type_kind_name(enum type_kind kind)
{
	static const char *const names[] = {
		[TYPE_STRUCT] = "struct",     [TYPE_UNION] = "union",       [TYPE_ENUM] = "enum",
		[TYPE_VARIABLE] = "variable", [TYPE_FUNCTION] = "function",
	};

	return names[kind];
}

const char *member_change_name(enum member_change change)
{
	static const char *const names[] = {
		[MEMBER_MOVED] = "moved",           [MEMBER_RETYPED] = "retyped",
		[MEMBER_RESIZED] = "resized",       [MEMBER_NEW] = "new",
		[MEMBER_REMOVED] = "removed",       [MEMBER_SHARED] = "shared",
		[MEMBER_RENUMBERED] = "renumbered", [MEMBER_RENAMED] = "renamed",
	};

	return names[change];
}
