// SPDX-License-Identifier: GPL-2.0-or-later
/* Compares the members of two types, one of each build; see type_members.h. */
#include "types/type_members.h"

#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "types/type_facts.h"

/* Types without names within each other, and members of all: a damaged file may have circles. */
#define DEPTH_LIMIT 32
#define MEMBERS_LIMIT (1 << 20)

/*
 * A place of a structure or union that code can name.  The members of a member without a type of a
 * name of its own are places too: "lock.owner".
 */
struct place {
	char *name;
	struct type_facts facts;
	uint64_t offset, size; /* in bits */
	size_t parent;         /* index + 1 of the place that it is a member of; 0: of none */
	struct place *twin;
	bool same_type; /* as its twin has, though only one of the two types may have a tag */
	bool listed;    /* it is in the list of what changed */
};

struct places {
	VEC(struct place) list;
	struct map by_name; /* index + 1 */
	size_t members;     /* that were read, with and without names */
};

static void places_deinit(struct places *places)
{
	for (size_t i = 0; i < places->list.count; i++)
		free(places->list.list[i].name);
	vec_deinit(&places->list);
	map_deinit(&places->by_name);
}

/* The structure or union without a name and typedef that a member is of, if any. */
static bool unnamed_type(const struct type_facts *facts, Dwarf_Die *ret)
{
	const char *name;

	return facts->has_type && type_peel(&facts->type, ret, &name) && !name &&
	       type_is_aggregate(dwarf_tag(ret)) && !dwarf_diename(ret);
}

static void add_places(struct places *places, Dwarf_Die *type, const char *prefix, size_t parent,
		       uint64_t base, int depth)
{
	Dwarf_Die die, inner;

	if (depth > DEPTH_LIMIT || dwarf_child(type, &die))
		return;
	do {
		struct type_facts facts;

		type_facts_read(&die, &facts);
		if (facts.tag != DW_TAG_member || !facts.has_type)
			continue;
		if (++places->members > MEMBERS_LIMIT)
			return;
		bool unnamed = unnamed_type(&facts, &inner);
		if (facts.name) {
			char *name = xasprintf("%s%s", prefix, facts.name);

			*vec_push(&places->list) = (struct place){
				.name = name,
				.facts = facts,
				.offset = base + facts.bit_offset,
				.size = facts.bit_size ?: type_bits(&facts.type),
				.parent = parent,
			};
		}
		if (!unnamed)
			continue;
		_free_ char *inside =
			facts.name ? xasprintf("%s%s.", prefix, facts.name) : xstrdup(prefix);
		add_places(places, &inner, inside, facts.name ? places->list.count : parent,
			   base + facts.bit_offset, depth + 1);
	} while (!dwarf_siblingof(&die, &die));
}

static void places_read(Dwarf_Die *type, struct places *ret)
{
	add_places(ret, type, "", 0, 0, 0);
	for (size_t i = 0; i < ret->list.count; i++)
		*map_slot(&ret->by_name, ret->list.list[i].name) = (void *)(uintptr_t)(i + 1);
}

static struct place *place_named(const struct places *places, const char *name)
{
	size_t index = (uintptr_t)map_get(&places->by_name, name);

	return index ? &places->list.list[index - 1] : NULL;
}

/* ---- two places ------------------------------------------------------------------ */

/* A member whose own members are places says nothing more itself. */
static enum type_relation relate_places(struct type_relations *relations, const struct place *a,
					const struct place *b)
{
	Dwarf_Die type_a, type_b;

	if (unnamed_type(&a->facts, &type_a) && unnamed_type(&b->facts, &type_b))
		return dwarf_tag(&type_a) == dwarf_tag(&type_b) ? RELATION_EQUAL
								: RELATION_COMPATIBLE;
	return type_relate(relations, &a->facts.type, &b->facts.type);
}

static bool same_bits(const struct place *a, const struct place *b)
{
	return a->offset == b->offset && a->size == b->size;
}

static void add_member(struct type_change *change, enum member_change kind, struct place *a,
		       struct place *b, bool harmless)
{
	struct type_member *member = vec_push(&change->members);
	bool renamed = kind == MEMBER_RENAMED;

	*member = (struct type_member){
		.name = xstrdup(b ? b->name : a->name),
		.old_name = renamed ? xstrdup(a->name) : NULL,
		.change = kind,
		.harmless = harmless,
		.bit_field = (a && a->facts.bit_size) || (b && b->facts.bit_size),
		.was = a,
		.is = b,
	};
	if (a) {
		a->listed = true;
		member->old_offset = a->offset;
		member->old_size = a->size;
		member->old_type = type_text(&a->facts.type);
	}
	if (b) {
		b->listed = true;
		member->new_offset = b->offset;
		member->new_size = b->size;
		member->new_type = type_text(&b->facts.type);
	}
	if (!harmless)
		change->verdict = TYPE_MISREAD;
}

static void compare_twins(struct type_relations *relations, struct place *a, struct place *b,
			  struct type_change *change)
{
	enum type_relation relation =
		a->facts.bit_size && b->facts.bit_size && same_bits(a, b)
			? type_relate_bits(relations, &a->facts.type, &b->facts.type, a->size)
			: relate_places(relations, a, b);

	if (a->offset != b->offset)
		add_member(change, MEMBER_MOVED, a, b, false);
	else if (relation == RELATION_DIFFERENT)
		add_member(change, MEMBER_RETYPED, a, b, false);
	else if (a->size != b->size || !a->facts.bit_size != !b->facts.bit_size)
		add_member(change, MEMBER_RESIZED, a, b, a->size == b->size);
	else if (relation == RELATION_COMPATIBLE)
		add_member(change, MEMBER_RETYPED, a, b, true);
}

/* ---- places that only one build has ------------------------------------------------- */

/* The places of one build by their offsets, to find those that have a place's bits. */
struct by_offset {
	VEC(struct place *) list;
	VEC(uint64_t) ends; /* the largest end up to each */
};

static int offset_order(const void *left, const void *right)
{
	const struct place *a = *(struct place *const *)left, *b = *(struct place *const *)right;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->size < b->size ? -1 : a->size > b->size;
}

static void by_offset_init(const struct places *places, struct by_offset *ret)
{
	uint64_t end = 0;

	for (size_t i = 0; i < places->list.count; i++)
		*vec_push(&ret->list) = &places->list.list[i];
	if (ret->list.count)
		qsort(ret->list.list, ret->list.count, sizeof(*ret->list.list), offset_order);
	for (size_t i = 0; i < ret->list.count; i++) {
		const struct place *place = ret->list.list[i];

		if (place->offset + place->size > end)
			end = place->offset + place->size;
		*vec_push(&ret->ends) = end;
	}
}

static void by_offset_deinit(struct by_offset *places)
{
	vec_deinit(&places->list);
	vec_deinit(&places->ends);
}

/* Does a place of the original have some of a new one's bits? */
static bool is_shared(const struct by_offset *orig, const struct place *place)
{
	size_t behind = first_index(i, orig->list.count,
				    orig->list.list[i]->offset >= place->offset + place->size);

	return behind && orig->ends.list[behind - 1] > place->offset;
}

/*
 * The place of the original that has just a place's bits, and is of a type that fits; one that the
 * patched type does not have is preferred, as the old name of this one.
 */
static struct place *find_alike(struct type_relations *relations, const struct by_offset *orig,
				const struct place *place)
{
	size_t at = first_index(i, orig->list.count,
				orig->list.list[i]->offset > place->offset ||
					(orig->list.list[i]->offset == place->offset &&
					 orig->list.list[i]->size >= place->size));
	struct place *found = NULL;

	for (; at < orig->list.count && same_bits(orig->list.list[at], place); at++) {
		struct place *old = orig->list.list[at];

		if (relate_places(relations, old, place) == RELATION_DIFFERENT)
			continue;
		if (!old->twin)
			return old;
		found = old;
	}
	return found;
}

/*
 * Whether a place that only one build has is within one that both have, of the same type: one that
 * got a tag, or lost it.
 */
static bool is_told_by_parent(const struct places *places, const struct place *place)
{
	size_t parent = place->parent;

	while (parent && !places->list.list[parent - 1].twin)
		parent = places->list.list[parent - 1].parent;
	return parent && places->list.list[parent - 1].same_type;
}

/* A new member that is only a name for others, as struct_group() makes: they are places. */
static bool is_group(const struct place *place)
{
	Dwarf_Die type;

	return unnamed_type(&place->facts, &type);
}

static void judge_new(struct type_relations *relations, const struct by_offset *orig,
		      struct place *place, struct type_change *change)
{
	struct place *old = find_alike(relations, orig, place);

	if (old && !old->twin) {
		old->twin = place;
		place->twin = old;
		add_member(change, MEMBER_RENAMED, old, place, true);
	} else if (old) {
		add_member(change, MEMBER_SHARED, NULL, place, true);
	} else if (!is_group(place)) {
		bool shared = is_shared(orig, place);

		add_member(change, shared ? MEMBER_SHARED : MEMBER_NEW, NULL, place, false);
	}
}

/* ---- a type that only follows another ------------------------------------------------- */

/* The name of a structure or union that a place is of, or is an array of. */
static const char *contained_type(const struct place *place)
{
	Dwarf_Die type = place->facts.type;
	const char *name;

	for (int depth = 0; depth < DEPTH_LIMIT; depth++) {
		if (!type_peel(&type, &type, &name))
			return NULL;
		if (type_is_aggregate(dwarf_tag(&type)))
			return dwarf_diename(&type) ?: name;
		if (dwarf_tag(&type) != DW_TAG_array_type || !type_follow(&type, &type))
			return NULL;
	}
	return NULL;
}

static bool same_order(const struct places *orig, const struct places *patched)
{
	if (orig->list.count != patched->list.count)
		return false;
	for (size_t i = 0; i < orig->list.count; i++)
		if (orig->list.list[i].twin != &patched->list.list[i])
			return false;
	return true;
}

/* Members are where they were but for the growth of one whose type is judged by itself. */
static const char *find_contained(const struct type_change *change, const struct places *orig,
				  const struct places *patched)
{
	const char *contained = NULL;

	if (!same_order(orig, patched))
		return NULL;
	for (size_t i = 0; i < change->members.count; i++) {
		enum member_change kind = change->members.list[i].change;

		if (kind != MEMBER_MOVED && kind != MEMBER_RESIZED)
			return NULL;
	}
	for (size_t i = 0; i < orig->list.count; i++) {
		const struct place *place = &orig->list.list[i];

		if (place->size == patched->list.list[i].size)
			continue;
		const char *name = contained_type(place);
		const char *now = contained_type(&patched->list.list[i]);
		if (!name || !now || strcmp(name, now)) {
			/* A member without a type of its own grows with what it has. */
			if (is_group(place))
				continue;
			return NULL;
		}
		contained = contained ?: name;
	}
	return contained;
}

void members_compare(struct type_relations *relations, Dwarf_Die *orig, Dwarf_Die *patched,
		     struct type_change *change, const char **ret_contained)
{
	struct places a = {0}, b = {0};
	struct by_offset by_offset = {0};

	change->old_size = type_bits(orig) / 8;
	change->new_size = type_bits(patched) / 8;
	places_read(orig, &a);
	places_read(patched, &b);
	for (size_t i = 0; i < b.list.count; i++) {
		struct place *place = &b.list.list[i], *old = place_named(&a, place->name);

		place->twin = old;
		if (!old)
			continue;
		old->twin = place;
		old->same_type = place->same_type =
			type_relate(relations, &old->facts.type, &place->facts.type) ==
			RELATION_EQUAL;
	}
	by_offset_init(&a, &by_offset);
	for (size_t i = 0; i < b.list.count; i++) {
		struct place *place = &b.list.list[i];

		if (place->twin)
			compare_twins(relations, place->twin, place, change);
		else if (!is_told_by_parent(&b, place))
			judge_new(relations, &by_offset, place, change);
	}
	for (size_t i = 0; i < a.list.count; i++) {
		struct place *place = &a.list.list[i];

		if (!place->twin && !is_group(place) && !is_told_by_parent(&a, place))
			add_member(change, MEMBER_REMOVED, place, NULL, false);
	}
	if (change->old_size != change->new_size)
		change->verdict = TYPE_MISREAD;
	if (change->verdict == TYPE_MISREAD)
		*ret_contained = find_contained(change, &a, &b) ?: *ret_contained;
	by_offset_deinit(&by_offset);
	places_deinit(&a);
	places_deinit(&b);
}

/* ---- enumerations ---------------------------------------------------------------------- */

void enumerators_read(Dwarf_Die *enumeration, struct enumerators *ret)
{
	Dwarf_Die die;

	if (dwarf_child(enumeration, &die))
		return;
	do {
		struct type_facts facts;

		type_facts_read(&die, &facts);
		if (facts.tag == DW_TAG_enumerator && facts.name)
			*vec_push(&ret->list) = (struct enumerator){facts.name, facts.value};
	} while (!dwarf_siblingof(&die, &die));
}

static void add_enumerator(struct type_change *change, enum member_change kind,
			   const struct enumerator *a, const struct enumerator *b)
{
	bool harmless = kind == MEMBER_NEW || kind == MEMBER_RENAMED || kind == MEMBER_SHARED;

	*vec_push(&change->members) = (struct type_member){
		.name = xstrdup(b ? b->name : a->name),
		.old_name = kind == MEMBER_RENAMED ? xstrdup(a->name) : NULL,
		.change = kind,
		.harmless = harmless,
		.was = a,
		.is = b,
		.old_value = a ? a->value : 0,
		.new_value = b ? b->value : 0,
	};
	if (!harmless)
		change->verdict = TYPE_MISREAD;
}

static int value_order(const void *left, const void *right)
{
	const struct enumerator *a = *(const struct enumerator *const *)left;
	const struct enumerator *b = *(const struct enumerator *const *)right;

	return a->value < b->value ? -1 : a->value > b->value;
}

static int value_compare(const struct enumerator *const *element, int64_t value)
{
	return (*element)->value < value ? -1 : (*element)->value > value;
}

struct enumerators_by_value {
	VEC(const struct enumerator *) list;
};

/* Those that the other enumeration does not have, by value. */
static void find_alone(const struct enumerators *all, const struct map *others,
		       struct enumerators_by_value *ret)
{
	for (size_t i = 0; i < all->list.count; i++)
		if (!map_has(others, all->list.list[i].name))
			*vec_push(&ret->list) = &all->list.list[i];
	if (ret->list.count)
		qsort(ret->list.list, ret->list.count, sizeof(*ret->list.list), value_order);
}

static const struct enumerator *find_value(const struct enumerators_by_value *all, int64_t value)
{
	const struct enumerator **found =
		sorted_find(all->list.list, all->list.count, value, value_compare);

	return found ? *found : NULL;
}

static void map_names(const struct enumerators *enumerators, struct map *ret)
{
	for (size_t i = 0; i < enumerators->list.count; i++)
		*map_slot(ret, enumerators->list.list[i].name) = &enumerators->list.list[i];
}

void enumerators_compare(Dwarf_Die *orig, Dwarf_Die *patched, struct type_change *change)
{
	struct enumerators a = {0}, b = {0};
	struct map names_a = {0}, names_b = {0};
	struct enumerators_by_value gone = {0}, fresh = {0};

	change->old_size = type_bits(orig) / 8;
	change->new_size = type_bits(patched) / 8;
	if (change->old_size != change->new_size)
		change->verdict = TYPE_MISREAD;
	enumerators_read(orig, &a);
	enumerators_read(patched, &b);
	map_names(&a, &names_a);
	map_names(&b, &names_b);
	find_alone(&a, &names_b, &gone);
	find_alone(&b, &names_a, &fresh);
	for (size_t i = 0; i < b.list.count; i++) {
		const struct enumerator *enumerator = &b.list.list[i];
		const struct enumerator *old = map_get(&names_a, enumerator->name);
		const struct enumerator *renamed =
			old ? NULL : find_value(&gone, enumerator->value);

		if (old && old->value != enumerator->value)
			add_enumerator(change, MEMBER_RENUMBERED, old, enumerator);
		else if (renamed)
			add_enumerator(change, MEMBER_RENAMED, renamed, enumerator);
		else if (!old)
			add_enumerator(change, MEMBER_NEW, NULL, enumerator);
	}
	for (size_t i = 0; i < a.list.count; i++)
		if (!map_has(&names_b, a.list.list[i].name) &&
		    !find_value(&fresh, a.list.list[i].value))
			add_enumerator(change, MEMBER_REMOVED, &a.list.list[i], NULL);
	vec_deinit(&gone.list);
	vec_deinit(&fresh.list);
	map_deinit(&names_a);
	map_deinit(&names_b);
	vec_deinit(&a.list);
	vec_deinit(&b.list);
}

/* ---- functions ----------------------------------------------------------------------------- */

static void add_parameter(struct type_change *change, char *name, const struct type_facts *a,
			  const struct type_facts *b, bool harmless)
{
	*vec_push(&change->members) = (struct type_member){
		.name = name,
		.change = !a  ? MEMBER_NEW
			  : b ? MEMBER_RETYPED
			      : MEMBER_REMOVED,
		.harmless = harmless,
		.was = a,
		.is = b,
		.old_type = a ? type_text_of(a) : NULL,
		.new_type = b ? type_text_of(b) : NULL,
	};
	if (!harmless)
		change->verdict = TYPE_MISREAD;
}

struct parameters {
	VEC(struct type_facts) list;
};

static void parameters_read(Dwarf_Die *function, struct parameters *ret)
{
	Dwarf_Die die;

	if (dwarf_child(function, &die))
		return;
	do {
		if (dwarf_tag(&die) == DW_TAG_formal_parameter ||
		    dwarf_tag(&die) == DW_TAG_unspecified_parameters)
			type_facts_read(&die, vec_push(&ret->list));
	} while (!dwarf_siblingof(&die, &die));
}

static void compare_parameter(struct type_relations *relations, char *name,
			      const struct type_facts *a, const struct type_facts *b,
			      struct type_change *change)
{
	enum type_relation relation = RELATION_DIFFERENT;

	if (a->tag == b->tag && a->has_type && b->has_type)
		relation = type_relate_passed(relations, &a->type, &b->type);
	else if (a->tag == b->tag && a->has_type == b->has_type)
		relation = RELATION_EQUAL;
	if (relation == RELATION_EQUAL)
		free(name);
	else
		add_parameter(change, name, a, b, relation == RELATION_COMPATIBLE);
}

void parameters_compare(struct type_relations *relations, Dwarf_Die *orig, Dwarf_Die *patched,
			struct type_change *change)
{
	struct parameters a = {0}, b = {0};
	struct type_facts result_a, result_b;

	parameters_read(orig, &a);
	parameters_read(patched, &b);
	type_facts_read(orig, &result_a);
	type_facts_read(patched, &result_b);
	result_a.tag = result_b.tag;
	compare_parameter(relations, xstrdup("return"), &result_a, &result_b, change);
	for (size_t i = 0; i < a.list.count || i < b.list.count; i++) {
		char *name = xasprintf("#%zu", i + 1);

		if (i < a.list.count && i < b.list.count)
			compare_parameter(relations, name, &a.list.list[i], &b.list.list[i],
					  change);
		else if (i < a.list.count)
			add_parameter(change, name, &a.list.list[i], NULL, false);
		else
			add_parameter(change, name, NULL, &b.list.list[i], false);
	}
	vec_deinit(&a.list);
	vec_deinit(&b.list);
}
