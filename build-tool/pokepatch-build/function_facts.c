// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading a function's type, its place in the source and its inlined copies; see function_facts.h.
 * A kernel that is not built with link-time optimisation has all inlined copies of a function of a
 * .c file in that file's unit.
 */
#include "pokepatch-build/function_facts.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "object/debuginfo.h"
#include "pokepatch-build/dwarf_units.h"

/* ---- the type ----------------------------------------------------------------------- */

static bool get_type(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, DW_AT_type, &attribute) &&
	       dwarf_formref_die(&attribute, ret);
}

/* A type as C writes it, as far as a message needs. */
static char *type_name(Dwarf_Die *type)
{
	const char *name = dwarf_diename(type) ?: "";
	Dwarf_Die below;

	switch (dwarf_tag(type)) {
	case DW_TAG_pointer_type: {
		char *to _free_ = get_type(type, &below) ? type_name(&below) : xstrdup("void");

		return xasprintf("%s%s*", to, has_suffix(to, "*") ? "" : " ");
	}
	case DW_TAG_const_type: {
		char *of _free_ = get_type(type, &below) ? type_name(&below) : xstrdup("void");

		return xasprintf("const %s", of);
	}
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
		return get_type(type, &below) ? type_name(&below) : xstrdup("void");
	case DW_TAG_structure_type:
		return xasprintf("struct %s", name);
	case DW_TAG_union_type:
		return xasprintf("union %s", name);
	case DW_TAG_enumeration_type:
		return xasprintf("enum %s", name);
	case DW_TAG_subroutine_type:
		return xstrdup("function");
	default:
		return xstrdup(*name ? name : "a type that pokepatch does not know");
	}
}

static enum return_class base_class(Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Word encoding = 0;

	dwarf_formudata(dwarf_attr(type, DW_AT_encoding, &attribute), &encoding);
	switch (encoding) {
	case DW_ATE_boolean:
		return RETURN_BOOL;
	case DW_ATE_signed:
	case DW_ATE_signed_char:
		return RETURN_SIGNED;
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
		return RETURN_UNSIGNED;
	default:
		return RETURN_OTHER;
	}
}

/* Without a type for its values, an enumeration may have negative ones. */
static enum return_class enum_class(Dwarf_Die *type)
{
	Dwarf_Die below;

	return get_type(type, &below) && !dwarf_peel_type(&below, &below) ? base_class(&below)
									  : RETURN_SIGNED;
}

static void read_type(Dwarf_Die *function, struct return_type *ret)
{
	Dwarf_Die type;
	Dwarf_Word size = 0;

	if (!get_type(function, &type)) {
		*ret = (struct return_type){RETURN_VOID, 0, xstrdup("void")};
		return;
	}
	ret->name = type_name(&type);
	ret->class = RETURN_OTHER;
	if (dwarf_peel_type(&type, &type) || dwarf_aggregate_size(&type, &size))
		return;
	ret->size = size;
	switch (dwarf_tag(&type)) {
	case DW_TAG_pointer_type:
		ret->class = RETURN_POINTER;
		break;
	case DW_TAG_base_type:
		ret->class = base_class(&type);
		break;
	case DW_TAG_enumeration_type:
		ret->class = enum_class(&type);
		break;
	}
}

/* ---- inlined copies ----------------------------------------------------------------- */

/* The entry from which inlined copies and clones of a function come, or its own. */
static Dwarf_Off origin_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	Dwarf_Die origin = *die;

	if (dwarf_attr(die, DW_AT_abstract_origin, &attribute) &&
	    !dwarf_formref_die(&attribute, &origin))
		origin = *die;
	return dwarf_dieoffset(&origin);
}

struct copies {
	Dwarf_Off origin;
	const char *name; /* of the function itself */
	struct args *into;
	struct map seen;
};

static void note_copy(struct copies *copies, const char *function)
{
	if (!function || !strcmp(function, copies->name) || map_has(&copies->seen, function))
		return;
	args_add(copies->into, function);
	map_slot(&copies->seen, copies->into->list[copies->into->count - 1]);
}

static bool has_code(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

/* Walk the unit; function is the one whose code the walk is in, or NULL. */
static void find_copies(struct copies *copies, Dwarf_Die *parent, const char *function)
{
	Dwarf_Die die;

	if (dwarf_child(parent, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			if (has_code(&die))
				find_copies(copies, &die, dwarf_diename(&die));
			break;
		case DW_TAG_inlined_subroutine:
			if (origin_of(&die) == copies->origin)
				note_copy(copies, function);
			find_copies(copies, &die, function);
			break;
		case DW_TAG_lexical_block:
			find_copies(copies, &die, function);
			break;
		}
	} while (!dwarf_siblingof(&die, &die));
}

/* ---- finding ------------------------------------------------------------------------ */

/* The unit that has code at an address. */
static bool find_unit(Dwarf *dwarf, uint64_t address, Dwarf_Die *ret)
{
	struct dwarf_units units = {.dwarf = dwarf};

	while (dwarf_units_next(&units, ret))
		if (dwarf_haspc(ret, address) > 0)
			return true;
	return false;
}

/* Assembly: its functions have no types. */
static bool is_assembly(Dwarf_Die *unit)
{
	return dwarf_srclang(unit) == DW_LANG_Mips_Assembler;
}

static char *unit_source(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;
	const char *name = dwarf_diename(unit) ?: "";
	const char *top = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	const size_t length = top ? strlen(top) : 0;

	if (length && !strncmp(name, top, length) && name[length] == '/')
		name += length + 1;
	return xstrdup(has_prefix(name, "./") ? name + 2 : name);
}

char *function_source(Dwarf *dwarf, uint64_t address)
{
	Dwarf_Die unit;

	return dwarf && find_unit(dwarf, address, &unit) ? unit_source(&unit) : NULL;
}

bool function_facts_read(Dwarf *dwarf, uint64_t address, struct function_facts *ret)
{
	Dwarf_Die unit, die;

	*ret = (struct function_facts){0};
	if (!dwarf || !find_unit(dwarf, address, &unit))
		return false;
	ret->source = unit_source(&unit);
	if (is_assembly(&unit) || dwarf_child(&unit, &die))
		return false;
	do {
		if (dwarf_tag(&die) != DW_TAG_subprogram || dwarf_haspc(&die, address) <= 0)
			continue;
		struct copies copies = {
			.origin = origin_of(&die),
			.name = dwarf_diename(&die) ?: "",
			.into = &ret->inlined_into,
		};
		ret->location = debuginfo_die_location(&die);
		ret->returns = !dwarf_hasattr_integrate(&die, DW_AT_noreturn);
		read_type(&die, &ret->type);
		find_copies(&copies, &unit, NULL);
		map_deinit(&copies.seen);
		return true;
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

void function_facts_deinit(struct function_facts *facts)
{
	free(facts->source);
	free(facts->location);
	free(facts->type.name);
	args_deinit(&facts->inlined_into);
}
