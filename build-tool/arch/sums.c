// SPDX-License-Identifier: GPL-2.0-or-later
/* Folds pairs of relocations that express a distance, and unfolds them. */
#include "arch/sums.h"

#include <elf.h>
#include <string.h>

#include "object/arch.h"
#include "arch/fixed.h"

static uint64_t get_field(const unsigned char *at, unsigned int size)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < size; i++)
		value |= (uint64_t)at[i] << 8 * i;
	return value;
}

static void put_field(unsigned char *at, unsigned int size, uint64_t value)
{
	for (unsigned int i = 0; i < size; i++)
		at[i] = value >> 8 * i;
}

/*
 * "1b - ." is ADD32 of 1b and SUB32 of a label at the field itself; ".L5 - .L3" in a switch's table
 * is ADD32 of .L5 and SUB32 of the table's start.  Both become one PC-relative relocation.
 * "889f - 888f", the length of a piece of code, becomes a constant.
 */
static bool fold_sum(struct section *section, const struct sum_types *types,
		     const struct reloc *pair, struct reloc *ret, bool *ret_constant)
{
	const struct reloc *add = &pair[0], *sub = &pair[1];
	const struct symbol *from = sub->symbol, *to = add->symbol;

	for (; types->size; types++) {
		unsigned int size = types->size;

		if (add->type != types->add || sub->type != types->sub || !section->data ||
		    !from->section)
			continue;
		unsigned char *field = section->data + add->offset;
		uint64_t value = get_field(field, size);

		*ret_constant = from->section == to->section && from->section != section;
		if (*ret_constant) {
			put_field(field, size,
				  value + to->value + add->addend - from->value - sub->addend);
			return true;
		}
		if (from->section != section || !types->both)
			return false;
		*ret = *add;
		ret->type = types->both;
		ret->behind = from->value + sub->addend - add->offset;
		ret->addend = add->addend + sign_extend(value, 8 * size) - ret->behind;
		put_field(field, size, 0);
		return true;
	}
	return false;
}

void fold_sums(struct section *section, const struct sum_types *types)
{
	struct reloc *list = section->relocs.list;
	size_t kept = 0;

	for (size_t i = 0; i < section->relocs.count; i++) {
		struct reloc folded;
		bool constant;

		if (i + 1 < section->relocs.count && list[i].offset == list[i + 1].offset &&
		    fold_sum(section, types, &list[i], &folded, &constant)) {
			if (!constant)
				list[kept++] = folded;
			i++;
		} else {
			list[kept++] = list[i];
		}
	}
	section->relocs.count = kept;
}

void sum_add_reloc(struct section *section, struct reloc reloc, uint32_t type,
		   struct symbol *symbol, int64_t addend)
{
	reloc.type = type;
	reloc.symbol = symbol;
	reloc.addend = addend;
	reloc.upper = 0;
	reloc.order = section->relocs.count;
	*vec_push(&section->relocs) = reloc;
}

struct symbol *sum_label(struct object *object, struct section *section, uint64_t place)
{
	return object_add_symbol(object, ".L0 ", section, place, 0, STT_NOTYPE, STB_LOCAL);
}

bool unfold_sum(struct object *object, struct section *section, const struct sum_types *types,
		const struct reloc *reloc)
{
	while (types->size && !(types->split && types->both == reloc->type))
		types++;
	if (!types->size)
		return false;
	sum_add_reloc(section, *reloc, types->add, reloc->symbol, reloc->addend);
	/* GNU ld gives an addend of this one the wrong sign. */
	sum_add_reloc(section, *reloc, types->sub, sum_label(object, section, reloc->offset), 0);
	return true;
}
