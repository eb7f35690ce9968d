// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes of one relocation of a module. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mutate.h"

/*
 * Pick a type among those that the section has, then a relocation of that type, so that rare types
 * are changed as often as others.
 */
static struct reloc *pick_reloc(struct mutation *mutation)
{
	struct section *section = mutation->section;
	VEC(uint32_t) types = {0};
	VEC(struct reloc *) list = {0};
	struct reloc *picked = NULL;

	for (size_t i = 0; i < section->relocs.count; i++) {
		bool seen = false;

		for (size_t j = 0; !seen && j < types.count; j++)
			seen = types.list[j] == section->relocs.list[i].type;
		if (!seen)
			*vec_push(&types) = section->relocs.list[i].type;
	}
	uint32_t type = types.count ? types.list[random_below(types.count)] : 0;
	for (size_t i = 0; i < section->relocs.count; i++)
		if (section->relocs.list[i].type == type)
			*vec_push(&list) = &section->relocs.list[i];
	if (list.count)
		picked = list.list[random_below(list.count)];
	vec_deinit(&types);
	vec_deinit(&list);
	mutation->type = picked ? type : 0;
	return picked;
}

static bool is_pc32(const struct reloc_kind *kind)
{
	return kind && kind->pc_relative && kind->size == 4;
}

static bool change_type(struct mutation *mutation)
{
	const struct arch *arch = mutation->object->arch;
	struct reloc *reloc = pick_reloc(mutation);
	const struct reloc_kind *kind = &arch->relocs.kinds[random_below(arch->relocs.count)];

	if (!reloc || kind->type == reloc->type)
		return false;
	tell(mutation, "%s+%#" PRIx64 ": type %u becomes %u", mutation->section->name,
	     reloc->offset, reloc->type, kind->type);
	if (is_pc32(kind) && is_pc32(arch_reloc(arch, reloc->type)))
		mutation->same = "two types for which the loader does the same"; /* PC32, PLT32 */
	reloc->type = kind->type;
	return true;
}

/* Let it lead to another symbol. */
static bool change_symbol(struct mutation *mutation)
{
	struct object *object = mutation->object;
	struct reloc *reloc = pick_reloc(mutation);

	if (!reloc)
		return false;
	struct symbol *symbol =
		object->symbols.list[1 + random_below(object->symbols.count - 1)];
	if (symbol->type == STT_FILE || symbol->special == SHN_ABS || symbol == reloc->symbol)
		return false;
	tell(mutation, "%s+%#" PRIx64 ": '%s' becomes '%s'", mutation->section->name,
	     reloc->offset, reloc->symbol->name, symbol->name);
	if (same_place(symbol, reloc->symbol))
		mutation->same = "another symbol at the same place";
	reloc->symbol = symbol;
	return true;
}

static bool change_addend(struct mutation *mutation)
{
	static const int64_t by[] = {1, -1, 2, 4, -4, 8, -8, 16, 64, -64, 4096};
	struct reloc *reloc = pick_reloc(mutation);

	if (!reloc)
		return false;
	int64_t delta = by[random_below(ARRAY_SIZE(by))];
	tell(mutation, "%s+%#" PRIx64 ": addend %+" PRId64, mutation->section->name, reloc->offset,
	     delta);
	reloc->addend += delta;
	return true;
}

static bool change_offset(struct mutation *mutation)
{
	static const int64_t by[] = {1, -1, 2, -2, 4, -4, 8, 16};
	struct reloc *reloc = pick_reloc(mutation);

	if (!reloc)
		return false;
	int64_t at = reloc->offset + by[random_below(ARRAY_SIZE(by))];
	if (at < 0 || at + 8 > (int64_t)mutation->section->size)
		return false;
	tell(mutation, "%s+%#" PRIx64 ": offset becomes %#" PRIx64, mutation->section->name,
	     reloc->offset, (uint64_t)at);
	reloc->offset = at;
	return true;
}

static bool delete_reloc(struct mutation *mutation)
{
	struct section *section = mutation->section;
	struct reloc *reloc = pick_reloc(mutation);

	if (!reloc)
		return false;
	tell(mutation, "%s+%#" PRIx64 ": relocation deleted", section->name, reloc->offset);
	*reloc = section->relocs.list[--section->relocs.count];
	return true;
}

/* On x86-64 the loader refuses the second one, which finds a field that is not 0. */
static bool double_reloc(struct mutation *mutation)
{
	struct section *section = mutation->section;
	struct reloc *reloc = pick_reloc(mutation);

	if (!reloc)
		return false;
	struct reloc copy = *reloc;
	tell(mutation, "%s+%#" PRIx64 ": relocation doubled", section->name, reloc->offset);
	*vec_push(&section->relocs) = copy;
	return true;
}

/* The text that a relocation of data leads to, if it is one, and constant; or NULL. */
static const char *constant_text(const struct reloc *reloc)
{
	const struct section *section = reloc->symbol->section;
	const uint64_t at = reloc->symbol->value + (uint64_t)reloc->addend;
	size_t length = 0;

	if (!section || section->flags & (SHF_WRITE | SHF_EXECINSTR) || !section->data)
		return NULL;
	while (at + length < section->size && isprint(section->data[at + length]))
		length++;
	return length > 2 && at + length < section->size && !section->data[at + length]
		       ? (const char *)section->data + at
		       : NULL;
}

/* Whether data has the addresses of two copies of a text, as of one table in two units. */
static bool same_text(const struct mutation *mutation, const struct reloc *a, const struct reloc *b)
{
	const char *first = constant_text(a), *second = constant_text(b);

	return !(mutation->section->flags & SHF_EXECINSTR) && a->type == b->type && first &&
	       second && !strcmp(first, second);
}

static bool swap_relocs(struct mutation *mutation)
{
	struct reloc *a = pick_reloc(mutation), *b = pick_reloc(mutation);

	if (!a || a == b)
		return false;
	tell(mutation, "%s: targets of %#" PRIx64 " and %#" PRIx64 " swapped",
	     mutation->section->name, a->offset, b->offset);
	if (same_place(a->symbol, b->symbol) && a->addend == b->addend)
		mutation->same = "two relocations with the same target";
	else if (same_text(mutation, a, b))
		mutation->same = "two copies of a text";
	struct reloc copy = *a;
	a->symbol = b->symbol;
	a->addend = b->addend;
	b->symbol = copy.symbol;
	b->addend = copy.addend;
	return true;
}

const struct way reloc_ways[] = {
	{.name = "relocation type", .apply = change_type},
	{.name = "relocation symbol", .apply = change_symbol},
	{.name = "relocation addend", .apply = change_addend},
	{.name = "relocation offset", .apply = change_offset},
	{.name = "relocation deleted", .apply = delete_reloc},
	{.name = "relocation doubled", .apply = double_reloc},
	{.name = "relocations swapped", .apply = swap_relocs},
	{0},
};
