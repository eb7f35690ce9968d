// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads what an entry of the debug information says about a type; see type_facts.h. */
#include "types/type_facts.h"

#include <dwarf.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * Steps from a type to what it is made of, and bytes of a list of parameters.  C has no such
 * limits, but damaged files have circles.
 */
#define DEPTH_LIMIT 64
#define DEPTH_OF_PARAMETERS 16 /* steps that a function's parameters count as */
#define TEXT_LIMIT 300

/* ---- attributes --------------------------------------------------------------- */

/* DWARF 2 to 4 count a bit-field's place from the most significant bit of its word. */
struct old_bit_field {
	bool present;
	uint64_t offset;
};

struct reading {
	struct type_facts *facts;
	uint64_t member_offset; /* bytes */
	bool counts_bits;       /* data_bits is the place of a bit-field */
	uint64_t data_bits;
	struct old_bit_field old;
};

static bool is_big_endian(Dwarf_Die *die)
{
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(die->cu));
	const char *ident = elf ? elf_getident(elf, NULL) : NULL;

	return ident && ident[EI_DATA] == ELFDATA2MSB;
}

static uint64_t number(Dwarf_Attribute *attribute)
{
	Dwarf_Word value;

	return dwarf_formudata(attribute, &value) ? 0 : value;
}

/*
 * An array of 0 elements has no upper bound in some versions of gcc, and -1 in others.  The forms
 * of one and two bytes do not tell whether they have a sign (DWARF 5, 7.5.5); gcc has 255 in one
 * byte.
 */
static uint64_t count_of_bound(Dwarf_Attribute *attribute)
{
	const unsigned int form = dwarf_whatform(attribute);
	Dwarf_Sword bound;

	if (form == DW_FORM_data1 || form == DW_FORM_data2)
		return number(attribute) + 1;
	return dwarf_formsdata(attribute, &bound) || bound == -1 ? 0 : number(attribute) + 1;
}

static int read_attribute(Dwarf_Attribute *attribute, void *context)
{
	struct reading *reading = context;
	struct type_facts *facts = reading->facts;
	bool flag;

	switch (dwarf_whatattr(attribute)) {
	case DW_AT_name:
		facts->name = dwarf_formstring(attribute);
		break;
	case DW_AT_type:
		facts->has_type = dwarf_formref_die(attribute, &facts->type);
		break;
	case DW_AT_declaration:
		facts->declaration = !dwarf_formflag(attribute, &flag) && flag;
		break;
	case DW_AT_external:
		facts->external = !dwarf_formflag(attribute, &flag) && flag;
		break;
	case DW_AT_byte_size:
		facts->byte_size = number(attribute);
		facts->sized = true;
		break;
	case DW_AT_bit_size:
		facts->bit_size = number(attribute);
		break;
	case DW_AT_data_member_location:
		reading->member_offset = number(attribute);
		break;
	case DW_AT_data_bit_offset:
		reading->counts_bits = true;
		reading->data_bits = number(attribute);
		break;
	case DW_AT_bit_offset:
		reading->old = (struct old_bit_field){true, number(attribute)};
		break;
	case DW_AT_encoding:
		facts->encoding = number(attribute);
		break;
	case DW_AT_count:
		facts->count = number(attribute);
		break;
	case DW_AT_upper_bound:
		facts->count = count_of_bound(attribute);
		break;
	case DW_AT_const_value:
		facts->value = (int64_t)number(attribute);
		break;
	}
	return DWARF_CB_OK;
}

void type_facts_read(Dwarf_Die *die, struct type_facts *ret)
{
	struct reading reading = {.facts = ret};

	*ret = (struct type_facts){.tag = dwarf_tag(die)};
	dwarf_getattrs(die, read_attribute, &reading, 0);
	if (ret->tag != DW_TAG_member)
		return;
	ret->bit_offset = reading.counts_bits ? reading.data_bits : reading.member_offset * 8;
	if (!reading.old.present || reading.counts_bits)
		return;
	uint64_t word = ret->byte_size ?: type_bits(&ret->type) / 8;
	ret->bit_offset += is_big_endian(die) ? reading.old.offset
					      : word * 8 - reading.old.offset - ret->bit_size;
}

bool type_follow(Dwarf_Die *die, Dwarf_Die *ret)
{
	Dwarf_Attribute attribute;

	return dwarf_formref_die(dwarf_attr(die, DW_AT_type, &attribute), ret) != NULL;
}

bool type_peel(const Dwarf_Die *die, Dwarf_Die *ret, const char **ret_typedef)
{
	*ret = *die;
	*ret_typedef = NULL;
	for (int depth = 0; depth < DEPTH_LIMIT; depth++) {
		switch (dwarf_tag(ret)) {
		case DW_TAG_typedef:
			*ret_typedef = dwarf_diename(ret);
			break;
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			break;
		default:
			return true;
		}
		if (!type_follow(ret, ret))
			return false;
	}
	return false;
}

static void add_dimensions(Dwarf_Die *array, struct type_dimensions *ret)
{
	Dwarf_Die die;

	if (dwarf_child(array, &die))
		return;
	do {
		struct type_facts facts;

		type_facts_read(&die, &facts);
		if (facts.tag == DW_TAG_subrange_type)
			*vec_push(&ret->list) = facts.count;
	} while (!dwarf_siblingof(&die, &die));
}

bool type_dimensions_read(const Dwarf_Die *die, struct type_dimensions *ret)
{
	Dwarf_Die peeled;
	const char *name;

	*ret = (struct type_dimensions){.element = *die};
	for (int depth = 0; depth < DEPTH_LIMIT; depth++) {
		if (!type_peel(&ret->element, &peeled, &name))
			return false;
		if (dwarf_tag(&peeled) != DW_TAG_array_type)
			return true;
		add_dimensions(&peeled, ret);
		if (!type_follow(&peeled, &ret->element))
			return false;
	}
	return false;
}

void type_dimensions_deinit(struct type_dimensions *dimensions)
{
	vec_deinit(&dimensions->list);
}

uint64_t type_bits(const Dwarf_Die *die)
{
	struct type_dimensions dimensions;
	uint64_t bits = 0;
	Dwarf_Word size;
	const char *name;

	if (type_dimensions_read(die, &dimensions) &&
	    type_peel(&dimensions.element, &dimensions.element, &name) &&
	    !dwarf_aggregate_size(&dimensions.element, &size))
		bits = size * 8;
	for (size_t i = 0; i < dimensions.list.count; i++)
		bits *= dimensions.list.list[i];
	type_dimensions_deinit(&dimensions);
	return bits;
}

bool type_is_static(Dwarf_Die *variable)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t count;

	return dwarf_attr_integrate(variable, DW_AT_location, &attribute) &&
	       !dwarf_getlocation(&attribute, &ops, &count) && count &&
	       (ops[0].atom == DW_OP_addr || ops[0].atom == DW_OP_addrx);
}

/* ---- text --------------------------------------------------------------------- */

static char *text_around(const Dwarf_Die *die, char *inner, int depth);

/* The type that a type is made of, around what is already there; takes inner over. */
static char *text_within(Dwarf_Die *die, char *inner, int depth)
{
	Dwarf_Die type;

	if (type_follow(die, &type) && depth < DEPTH_LIMIT)
		return text_around(&type, inner, depth + 1);
	char *text = xasprintf("void%s%s", *inner ? " " : "", inner);
	free(inner);
	return text;
}

static char *text_of_parameters(Dwarf_Die *function, int depth)
{
	struct buffer text = {0};
	Dwarf_Die die;

	buffer_add_string(&text, "(");
	if (!dwarf_child(function, &die))
		do {
			const char *comma = text.length > 1 ? ", " : "";

			if (text.length > TEXT_LIMIT ||
			    dwarf_tag(&die) == DW_TAG_unspecified_parameters) {
				buffer_printf(&text, "%s...", comma);
				break;
			}
			if (dwarf_tag(&die) != DW_TAG_formal_parameter)
				continue;
			_free_ char *parameter = text_within(&die, xstrdup(""), depth);
			buffer_printf(&text, "%s%s", comma, parameter);
		} while (!dwarf_siblingof(&die, &die));
	buffer_add_string(&text, text.length > 1 ? ")" : "void)");
	return text.text;
}

static char *text_of_dimensions(Dwarf_Die *array)
{
	struct buffer text = {0};
	Dwarf_Die die;

	buffer_add_string(&text, "");
	if (dwarf_child(array, &die))
		return text.text ?: xstrdup("");
	do {
		struct type_facts facts;

		type_facts_read(&die, &facts);
		if (facts.tag == DW_TAG_subrange_type && facts.count)
			buffer_printf(&text, "[%" PRIu64 "]", facts.count);
		else if (facts.tag == DW_TAG_subrange_type)
			buffer_add_string(&text, "[]");
	} while (!dwarf_siblingof(&die, &die));
	return text.text ?: xstrdup("");
}

/* A name, or "{...}" for what has none. */
static char *text_of_name(const Dwarf_Die *die, const char *keyword, const char *inner)
{
	const char *name = dwarf_diename((Dwarf_Die *)die);

	return xasprintf("%s%s%s%s", keyword, name ?: "{...}", *inner ? " " : "", inner);
}

static char *text_around(const Dwarf_Die *die, char *inner_text, int depth)
{
	_free_ char *inner = inner_text;
	Dwarf_Die type = *die, target;
	const char *name;

	switch (dwarf_tag(&type)) {
	case DW_TAG_structure_type:
		return text_of_name(die, "struct ", inner);
	case DW_TAG_union_type:
		return text_of_name(die, "union ", inner);
	case DW_TAG_enumeration_type:
		return text_of_name(die, "enum ", inner);
	case DW_TAG_pointer_type: {
		bool around = type_follow(&type, &target) && type_peel(&target, &target, &name) &&
			      !name &&
			      (dwarf_tag(&target) == DW_TAG_array_type ||
			       dwarf_tag(&target) == DW_TAG_subroutine_type);

		return text_within(&type, xasprintf(around ? "(*%s)" : "*%s", inner), depth);
	}
	case DW_TAG_array_type: {
		_free_ char *dimensions = text_of_dimensions(&type);

		return text_within(&type, xasprintf("%s%s", inner, dimensions), depth);
	}
	case DW_TAG_subroutine_type:
	case DW_TAG_subprogram: {
		_free_ char *parameters = text_of_parameters(&type, depth + DEPTH_OF_PARAMETERS);

		return text_within(&type, xasprintf("%s%s", inner, parameters), depth);
	}
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type: {
		const char *word = dwarf_tag(&type) == DW_TAG_const_type      ? "const"
				   : dwarf_tag(&type) == DW_TAG_volatile_type ? "volatile"
				   : dwarf_tag(&type) == DW_TAG_atomic_type   ? "_Atomic"
									      : "restrict";

		if (type_follow(&type, &target) && dwarf_tag(&target) == DW_TAG_pointer_type)
			return text_within(
				&type, xasprintf("%s%s%s", word, *inner ? " " : "", inner), depth);
		_free_ char *rest = text_within(&type, take_pointer(inner), depth);
		return xasprintf("%s %s", word, rest);
	}
	default:
		return text_of_name(die, "", inner);
	}
}

char *type_text(const Dwarf_Die *die)
{
	return text_around(die, xstrdup(""), 0);
}

char *type_text_of(const struct type_facts *facts)
{
	return facts->has_type ? type_text(&facts->type) : xstrdup("void");
}
