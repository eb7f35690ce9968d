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
	SPACE_TYPEDEFS, /* of structures and unions */
	SPACE_VARIABLES,
	SPACE_FUNCTIONS,
	SPACE_ENUMERATORS, /* of enumerations: leads to the enumeration */
	SPACES
};

/* A named thing of a unit. */
struct thing {
	enum space space;
	const char *name; /* the key; in a function, "function:name" */
	Dwarf_Die die;    /* for a typedef, the type */
	bool declaration, external;
	bool several; /* there are more of this name, or the same one again */
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

	if (thing && (!thing->declaration || facts->declaration)) {
		thing->several = true;
		return;
	}
	if (!thing) {
		thing = xcalloc(1, sizeof(*thing));
		*vec_push(&things->list) = *slot = thing;
	}
	*thing = (struct thing){space, name, *die, facts->declaration, facts->external, false};
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

/* The name of a thing in a function, or as it is. */
static const char *name_inside(struct things *things, const char *function, const char *name)
{
	if (!function)
		return name;
	return *vec_push(&things->names) = xasprintf("%s:%s", function, name);
}

static void read_tagged(struct things *things, Dwarf_Die *die, const char *function)
{
	struct type_facts facts;

	type_facts_read(die, &facts);
	if (facts.declaration)
		return;
	if (facts.name)
		add_thing(things, SPACE_TAGS, name_inside(things, function, facts.name), die, &facts);
	/* An enumeration may get a tag, or lose it.  In a function, its variables count. */
	if (facts.tag == DW_TAG_enumeration_type && !function)
		add_enumerators(things, die, &facts);
}

/* The structure or union that a typedef names, or that it names pointers to or arrays of. */
static bool named_aggregate(const struct type_facts *facts, Dwarf_Die *ret)
{
	*ret = facts->type;
	for (int depth = 0; depth < 64; depth++) {
		switch (dwarf_tag(ret)) {
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
			return true;
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_pointer_type:
		case DW_TAG_array_type:
			if (type_follow(ret, ret))
				break;
			return false;
		default:
			return false;
		}
	}
	return false;
}

static void read_typedef(struct things *things, Dwarf_Die *die, const char *function)
{
	struct type_facts facts, type_facts;
	Dwarf_Die type;

	type_facts_read(die, &facts);
	if (!facts.name || !facts.has_type || !named_aggregate(&facts, &type))
		return;
	type_facts_read(&type, &type_facts);
	if (!type_facts.declaration)
		add_thing(things, SPACE_TYPEDEFS, name_inside(things, function, facts.name), &type,
			  &facts);
}

static void read_named(struct things *things, enum space space, Dwarf_Die *die,
		       const char *function)
{
	struct type_facts facts;

	type_facts_read(die, &facts);
	if (facts.name && !is_numbered(facts.name))
		add_thing(things, space, name_inside(things, function, facts.name), die, &facts);
}

/* No code writes a constant, and new code has a copy of its own type. */
static bool is_constant(Dwarf_Die *variable)
{
	Dwarf_Die type;

	for (int depth = 0; depth < 64 && type_follow(depth ? &type : variable, &type); depth++)
		switch (dwarf_tag(&type)) {
		case DW_TAG_const_type:
			return true;
		case DW_TAG_typedef:
		case DW_TAG_volatile_type:
		case DW_TAG_array_type:
			break;
		default:
			return false;
		}
	return false;
}

/*
 * A function's static variables, and the types that it declares, which may be theirs.  Where clang
 * has inlined all of a function, its static variables are in an entry without a name: these are not
 * compared.
 */
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
		case DW_TAG_typedef:
			read_typedef(things, &die, function);
			break;
		case DW_TAG_variable:
			if (type_is_static(&die) && !is_constant(&die))
				read_named(things, SPACE_VARIABLES, &die, function);
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
	read_named(things, SPACE_FUNCTIONS, die, NULL);
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
			read_typedef(things, &die, NULL);
			break;
		case DW_TAG_variable:
			read_named(things, SPACE_VARIABLES, &die, NULL);
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

/* Are both without a name, so that only their members or enumerators tell them apart? */
static bool are_unnamed(const Dwarf_Die *orig, const Dwarf_Die *patched, Dwarf_Die *ret_orig,
			Dwarf_Die *ret_patched)
{
	const char *name_orig, *name_patched;

	return type_peel(orig, ret_orig, &name_orig) &&
	       type_peel(patched, ret_patched, &name_patched) && !name_orig && !name_patched &&
	       !dwarf_diename(ret_orig) && !dwarf_diename(ret_patched);
}

/* An enumeration that only a function's own variables have is no thing of its own. */
static bool compare_inner_enumerators(const struct thing *orig, Dwarf_Die *type_orig,
				      Dwarf_Die *type_patched, struct type_change *change)
{
	Dwarf_Die a, b;

	if (!strchr(orig->name, ':') || !are_unnamed(type_orig, type_patched, &a, &b) ||
	    dwarf_tag(&a) != DW_TAG_enumeration_type || dwarf_tag(&b) != DW_TAG_enumeration_type)
		return false;
	enumerators_compare(&a, &b, change);
	return true;
}

/*
 * The differ pairs the static variables of functions, by types if there are several of one name,
 * and refuses those of another size.
 */
static bool is_left_to_differ(const struct thing *orig, const struct thing *patched,
			      const struct type_change *change)
{
	return strchr(orig->name, ':') && (orig->several || patched->several ||
					   change->old_size != change->new_size);
}

static void add_retyped(const struct thing *thing, enum type_relation relation, char *old_type,
			char *new_type, struct type_change *change)
{
	const char *inside = strchr(thing->name, ':');

	*vec_push(&change->members) = (struct type_member){
		.name = xstrdup(inside ? inside + 1 : thing->name),
		.change = MEMBER_RETYPED,
		.harmless = relation == RELATION_COMPATIBLE,
		.was = true,
		.is = true,
		.old_size = change->old_size * 8,
		.new_size = change->new_size * 8,
		.old_type = old_type,
		.new_type = new_type,
	};
	change->verdict = relation == RELATION_COMPATIBLE ? TYPE_HARMLESS : TYPE_MISREAD;
}

static void compare_variables(struct comparing *comparing, struct thing *orig,
			      struct thing *patched)
{
	struct type_facts a, b;
	Dwarf_Die element_a, element_b, type_a, type_b;
	struct type_change change = {0};
	const char *contained = NULL;

	type_facts_read(&orig->die, &a);
	type_facts_read(&patched->die, &b);
	if (!a.has_type || !b.has_type)
		return;
	change.old_size = type_bits(&a.type) / 8;
	change.new_size = type_bits(&b.type) / 8;
	if (is_left_to_differ(orig, patched, &change))
		return;
	Dwarf_Die whole_a = a.type, whole_b = b.type;
	/* The differ compares the sizes of variables; "extern struct foo table[];" has none. */
	if (type_same_but_length(&a.type, &b.type, &element_a, &element_b)) {
		a.type = element_a;
		b.type = element_b;
	}
	enum type_relation relation = type_relate(&comparing->relations, &a.type, &b.type);
	if (relation == RELATION_EQUAL) {
		if (!compare_inner_enumerators(orig, &a.type, &b.type, &change))
			return;
	} else if (relation == RELATION_DIFFERENT && are_unnamed(&a.type, &b.type, &type_a, &type_b) &&
		   type_is_aggregate(dwarf_tag(&type_a)) && type_is_aggregate(dwarf_tag(&type_b))) {
		members_compare(&comparing->relations, &type_a, &type_b, &change, &contained);
	} else {
		add_retyped(patched, relation, type_text(&whole_a), type_text(&whole_b), &change);
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
	case SPACE_TYPEDEFS:
	case SPACE_ENUMERATORS:
		/* What has a tag in both builds is compared by it. */
		if (dwarf_diename(&orig->die) && dwarf_diename(&patched->die))
			break;
		compare_tagged(comparing, orig, patched);
		break;
	case SPACE_TAGS:
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
