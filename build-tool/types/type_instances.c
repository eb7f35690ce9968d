// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Looks for the objects of a type.  A context on the stack, such as struct scan_control of
 * mm/vmscan.c, is a variable of a function, and others get it as a parameter.
 */
#include "types/type_instances.h"

#include <stdlib.h>
#include <string.h>

#include "types/type_facts.h"

#define DEPTH_LIMIT 64

struct instance_search {
	const char *tag;
	struct type_instances *found;
};

/* How a type leads to the one that is looked for. */
enum mention { MENTION_NONE, MENTION_VALUE, MENTION_POINTER };

static enum mention mention(const struct instance_search *search, Dwarf_Die *die)
{
	bool pointer = false;
	Dwarf_Attribute attribute;
	Dwarf_Die type;
	const char *name;

	/* A copy of an inlined function's variable has its type by way of the origin. */
	if (!dwarf_formref_die(dwarf_attr_integrate(die, DW_AT_type, &attribute), &type))
		return MENTION_NONE;
	for (int depth = 0; depth < DEPTH_LIMIT && type_peel(&type, &type, &name); depth++) {
		int tag = dwarf_tag(&type);

		if (type_is_aggregate(tag)) {
			const char *found = dwarf_diename(&type);

			if (!found || strcmp(found, search->tag))
				return MENTION_NONE;
			return pointer ? MENTION_POINTER : MENTION_VALUE;
		}
		if (tag != DW_TAG_pointer_type && tag != DW_TAG_array_type)
			return MENTION_NONE;
		pointer |= tag == DW_TAG_pointer_type;
		if (!type_follow(&type, &type))
			return MENTION_NONE;
	}
	return MENTION_NONE;
}

static void judge_members(struct instance_search *search, Dwarf_Die *type, int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_LIMIT || dwarf_child(type, &die))
		return;
	do {
		if (dwarf_tag(&die) == DW_TAG_member && mention(search, &die))
			search->found->elsewhere = true;
		if (type_is_aggregate(dwarf_tag(&die)))
			judge_members(search, &die, depth + 1);
	} while (!dwarf_siblingof(&die, &die));
}

/*
 * Is a pointer that an inlined copy gets NULL in all of it?  One without a place is not used there,
 * as behind "if (!memcg)".
 */
static bool is_null(Dwarf_Die *parameter)
{
	Dwarf_Attribute attribute;
	Dwarf_Addr base, start, end;
	Dwarf_Op *ops;
	size_t count;
	ptrdiff_t next = 0;

	if (dwarf_hasattr(parameter, DW_AT_const_value) ||
	    !dwarf_attr(parameter, DW_AT_location, &attribute))
		return true;
	while ((next = dwarf_getlocations(&attribute, next, &base, &start, &end, &ops, &count)) > 0)
		if (count != 2 || ops[0].atom != DW_OP_lit0 || ops[1].atom != DW_OP_stack_value)
			return false;
	return !next;
}

/* A parameter that is a pointer: of a function with code, or of a copy that is inlined into it. */
static void add_taker(struct instance_search *search, const char *function, bool inlined)
{
	if (function && inlined)
		*vec_push(&search->found->inlined) = function;
	else if (function)
		*vec_push(&search->found->takers) = function;
}

/*
 * @function: whose code this is part of; NULL: of none
 * @inlined: it is an inlined copy of another function
 */
static void judge_inside(struct instance_search *search, Dwarf_Die *parent, const char *function,
			 bool inlined, int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_LIMIT || dwarf_child(parent, &die))
		return;
	do {
		enum mention how;

		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
		case DW_TAG_formal_parameter:
			how = mention(search, &die);
			if (how == MENTION_VALUE && function && !type_is_static(&die))
				*vec_push(&search->found->functions) = function;
			else if (how == MENTION_VALUE)
				search->found->elsewhere |= type_is_static(&die);
			else if (how && dwarf_tag(&die) == DW_TAG_variable)
				search->found->elsewhere = true;
			else if (how && !(inlined && is_null(&die)))
				add_taker(search, function, inlined);
			break;
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
			judge_members(search, &die, depth + 1);
			break;
		case DW_TAG_inlined_subroutine:
			judge_inside(search, &die, function, true, depth + 1);
			break;
		case DW_TAG_lexical_block:
			judge_inside(search, &die, function, inlined, depth + 1);
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
}

static void judge_function(struct instance_search *search, Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	bool has_code = dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);

	if (mention(search, die)) /* what it returns */
		search->found->elsewhere = true;
	judge_inside(search, die,
		     has_code ? dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute))
			      : NULL,
		     false, 0);
}

static void judge_unit(struct instance_search *search, Dwarf_Die *unit)
{
	Dwarf_Die die;

	if (dwarf_child(unit, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
			if (mention(search, &die))
				search->found->elsewhere = true;
			break;
		case DW_TAG_subprogram:
			judge_function(search, &die);
			break;
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
			judge_members(search, &die, 0);
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
}

void type_instances_find(Dwarf *dwarf, const char *tag, struct type_instances *ret)
{
	struct instance_search search = {.tag = tag, .found = ret};
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;

	*ret = (struct type_instances){0};
	while (!dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL))
		judge_unit(&search, &die);
}

void type_instances_deinit(struct type_instances *instances)
{
	vec_deinit(&instances->functions);
	vec_deinit(&instances->takers);
	vec_deinit(&instances->inlined);
}
