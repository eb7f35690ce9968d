// SPDX-License-Identifier: GPL-2.0-or-later
/* Comparing the fields of linked code with the relocations that wrote them; see linked_fields.h. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "pokepatch-build/linked_fields.h"

/* ---- names -------------------------------------------------------------------------- */

static int place_order(const void *left, const void *right)
{
	const struct symbol *a = *(const struct symbol *const *)left;
	const struct symbol *b = *(const struct symbol *const *)right;

	if (a->section != b->section)
		return a->section->index < b->section->index ? -1 : 1;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

void exact_names_init(const struct object *object, struct exact_names *ret)
{
	*ret = (struct exact_names){.object = object};
	for (size_t i = 1; i < object->symbols.count; i++) {
		const struct symbol *symbol = object->symbols.list[i];

		/* Where another unit has a strong one, vmlinux's of a weak name is elsewhere. */
		if (symbol->section && symbol->size && *symbol->name && symbol->bind != STB_WEAK &&
		    (symbol->type == STT_FUNC || symbol->type == STT_OBJECT))
			*vec_push(&ret->by_place) = symbol;
	}
	if (ret->by_place.count)
		qsort(ret->by_place.list, ret->by_place.count, sizeof(*ret->by_place.list),
		      place_order);
}

void exact_names_deinit(struct exact_names *names)
{
	vec_deinit(&names->by_place);
}

/* The last symbol of the section at or before an offset, else its first one, or NULL. */
static const struct symbol *name_near(const struct exact_names *names,
				      const struct section *section, uint64_t offset)
{
	const struct symbol *const *list = names->by_place.list;
	size_t behind = first_index(i, names->by_place.count,
				    list[i]->section->index > section->index ||
					    (list[i]->section == section &&
					     list[i]->value > offset));

	if (behind && list[behind - 1]->section == section)
		return list[behind - 1];
	return behind < names->by_place.count && list[behind]->section == section ? list[behind]
										   : NULL;
}

/* ---- where a field leads ------------------------------------------------------------ */

/* One relocation of a function, and what the parent has there. */
struct field {
	const struct exact_names *names;
	const struct parent *parent;
	const struct reloc *reloc;
	const struct reloc_kind *kind;
	uint64_t place; /* its address in vmlinux; its offset in a module's section */
	uint64_t found; /* the integer of the kind's size there */
	uint64_t here;	/* the same in the object, its written bits cleared */
	const struct parent_reloc *theirs; /* a module's; NULL: vmlinux */
};

enum answer { LEADS_THERE, LEADS_ELSEWHERE, UNKNOWN };

static uint64_t read_field(const struct arch *arch, const unsigned char *bytes, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)bytes[i] << 8 * (arch_is_big(arch) ? size - 1 - i : i);
	return value;
}

static uint64_t field_bits(const struct field *field)
{
	uint64_t all = field->kind->size == 8 ? UINT64_MAX : (1ull << 8 * field->kind->size) - 1;

	return field->kind->mask ?: all;
}

/* Does vmlinux's field have what a relocation against a symbol at this address writes? */
static enum answer field_has(const struct field *field, uint64_t symbol)
{
	const struct arch *arch = field->names->object->arch;
	uint64_t value = symbol + (uint64_t)field->reloc->addend, bits = field_bits(field);
	uint64_t wanted;

	if (field->kind->mask) {
		if (!arch->relocs.encode ||
		    !arch->relocs.encode(field->reloc->type, value, field->place, &wanted))
			return UNKNOWN;
	} else {
		wanted = value - (field->kind->pc_relative ? field->place : 0);
	}
	return (field->found & bits) == (wanted & bits) ? LEADS_THERE : LEADS_ELSEWHERE;
}

/* Does it lead to a place that is so far from a symbol of the parent's? */
static enum answer leads_from(const struct field *field, const struct parent_symbol *symbol,
			      uint64_t distance)
{
	const struct parent_reloc *theirs = field->theirs;

	if (!theirs)
		return field_has(field, symbol->value + distance);
	return theirs->section == symbol->section_number &&
			       theirs->value + (uint64_t)theirs->addend ==
				       symbol->value + distance + (uint64_t)field->reloc->addend
		       ? LEADS_THERE
		       : LEADS_ELSEWHERE;
}

/*
 * Does the field lead to a symbol of the parent's with this name, or to the place that is as far
 * from it as the relocation's symbol is in the object?  Several may have the name of a static.
 */
static enum answer leads_to(const struct field *field, const char *name, bool local,
			    uint64_t distance)
{
	enum answer answer = UNKNOWN;
	char *full _free_ = NULL;

	if (field->names->prefix)
		name = full = xasprintf("%s%s", field->names->prefix, name);
	/* What another module or vmlinux has is undefined in a module. */
	if (field->theirs && field->theirs->section == SHN_UNDEF)
		return !local && !distance && !strcmp(field->theirs->name, name) &&
				       field->theirs->addend == field->reloc->addend
			       ? LEADS_THERE
			       : LEADS_ELSEWHERE;
	for (const struct parent_symbol *there = map_get(&field->parent->by_name, name);
	     there && answer != LEADS_THERE; there = there->next)
		if (there->global != local)
			answer = leads_from(field, there, distance);
	return answer;
}

/*
 * The bytes where the field leads.  How far behind the field an instruction ends is not known here,
 * but none with an address of a string has an immediate value, too.
 */
static const unsigned char *bytes_there(const struct field *field, uint64_t *ret_room)
{
	uint64_t value = field->found;

	if (field->theirs)
		return parent_contents(field->parent, field->theirs->section,
				       field->theirs->value + (uint64_t)field->theirs->addend +
					       (uint64_t)field->kind->origin,
				       ret_room);
	if (field->kind->size == 4)
		value = (uint64_t)(int64_t)(int32_t)value;
	if (field->kind->pc_relative)
		value += field->place + (uint64_t)field->kind->origin;
	return parent_contents(field->parent, 0, value, ret_room);
}

/*
 * The linker keeps one of equal strings and constants.  Is it one, where the field leads?  A place
 * within one may be counted from its neighbour ("xyz"[n - 2]), of which nothing is known then.
 */
static enum answer leads_to_equal(const struct field *field)
{
	const struct section *section = field->reloc->symbol->section;
	uint64_t offset = field->reloc->symbol->value + (uint64_t)field->reloc->addend +
			  (uint64_t)field->kind->origin;
	uint64_t room, size = section->entsize;
	const unsigned char *bytes;
	bool at_start;

	if (!section->data || offset >= section->size || section->entsize == 0 ||
	    (!field->theirs && (field->kind->mask || field->kind->size < 4)))
		return UNKNOWN;
	if (section->flags & SHF_STRINGS) {
		if (section->entsize > 1)
			return UNKNOWN;
		size = strnlen((const char *)section->data + offset, section->size - offset) + 1;
		at_start = !offset || !section->data[offset - 1];
	} else {
		at_start = offset % section->entsize == 0;
	}
	if (size > section->size - offset)
		return UNKNOWN;
	bytes = bytes_there(field, &room);
	if (bytes && size <= room && !memcmp(bytes, section->data + offset, size))
		return LEADS_THERE;
	return at_start ? LEADS_ELSEWHERE : UNKNOWN;
}

/* ---- checking ----------------------------------------------------------------------- */

static enum answer check_target(const struct field *field, const char **ret_target)
{
	const struct symbol *symbol = field->reloc->symbol;
	const struct symbol *near;

	*ret_target = symbol->name;
	if (!symbol->section)
		return symbol->special == SHN_UNDEF ? leads_to(field, symbol->name, false, 0)
						    : UNKNOWN;
	if (symbol->bind != STB_LOCAL)
		return leads_to(field, symbol->name, false, 0);
	if (symbol->section->flags & SHF_MERGE) {
		*ret_target = symbol->section->name;
		return leads_to_equal(field);
	}
	near = name_near(field->names, symbol->section,
			 symbol->value + (uint64_t)field->reloc->addend +
				 (uint64_t)field->kind->origin);
	if (!near)
		return UNKNOWN;
	*ret_target = near->name;
	return leads_to(field, near->name, near->bind == STB_LOCAL, symbol->value - near->value);
}

/* The module's relocation of the same meaning at an offset, or NULL. */
static const struct parent_reloc *find_theirs(const struct parent_relocs *relocs,
					      const struct arch *arch, uint64_t offset,
					      uint32_t type)
{
	const struct parent_reloc *list = relocs->list.list;
	size_t first = first_index(i, relocs->list.count, list[i].offset >= offset);

	for (size_t i = first; i < relocs->list.count && list[i].offset == offset; i++)
		if (arch_reloc_meaning(arch, list[i].type) == arch_reloc_meaning(arch, type))
			return &list[i];
	return NULL;
}

static enum answer check_field(struct field *field, const struct parent_symbol *old,
			       uint64_t at, uint64_t room, const unsigned char *bytes,
			       const char **ret_target)
{
	const struct arch *arch = field->names->object->arch;
	const struct reloc *reloc = field->reloc;
	uint8_t size = field->kind->size;

	if (!size || size > room || field->kind->linker)
		return UNKNOWN;
	field->place = old->value + at;
	field->found = read_field(arch, bytes + at, size);
	bool same = !((field->found ^ field->here) & ~field_bits(field));
	*ret_target = reloc->symbol->name;
	if (!parent_is_vmlinux(field->parent)) {
		const struct parent_relocs *relocs =
			parent_relocs(field->parent, arch, old->section_number);

		field->theirs = find_theirs(relocs, arch, old->value + at, reloc->type);
		if (!relocs->list.count || (field->theirs && field->theirs->section >= SHN_LORESERVE))
			return UNKNOWN;
		return field->theirs && same ? check_target(field, ret_target) : LEADS_ELSEWHERE;
	}
	if (field->kind->adds)
		return UNKNOWN;
	if (!same)
		return arch->relocs.relaxed &&
				       arch->relocs.relaxed(reloc->type, field->here, field->found)
			       ? UNKNOWN
			       : LEADS_ELSEWHERE;
	return check_target(field, ret_target);
}

/* Does the module's function have relocations where the exact object has none? */
static bool has_others(const struct exact_names *names, const struct symbol *symbol,
		       const struct parent *parent, const struct parent_symbol *old,
		       struct linked_fields *ret)
{
	const struct arch *arch = names->object->arch;
	const struct section *section = symbol->section;
	const struct reloc *ours = section->relocs.list;
	const struct parent_relocs *relocs = parent_relocs(parent, arch, old->section_number);
	const struct parent_reloc *list = relocs->list.list;
	size_t first = first_index(i, relocs->list.count, list[i].offset >= old->value);

	for (size_t i = first; i < relocs->list.count; i++) {
		uint64_t at = list[i].offset - old->value;
		const struct reloc_kind *kind = arch_reloc(arch, list[i].type);

		if (at >= symbol->size)
			break;
		if (kind && kind->idle)
			continue;
		size_t same = first_index(j, section->relocs.count,
					  ours[j].offset >= symbol->value + at);
		if (same == section->relocs.count || ours[same].offset != symbol->value + at) {
			ret->at = at;
			ret->target = "nothing";
			return true;
		}
	}
	return false;
}

void linked_fields_check(const struct exact_names *names, const struct symbol *symbol,
			 const struct parent *parent, const struct parent_symbol *old,
			 const unsigned char *bytes, struct linked_fields *ret)
{
	const struct section *section = symbol->section;
	const struct arch *arch = names->object->arch;
	const struct reloc *list = section->relocs.list;
	size_t first = first_index(i, section->relocs.count, list[i].offset >= symbol->value);

	*ret = (struct linked_fields){0};
	if (!parent_is_vmlinux(parent) && has_others(names, symbol, parent, old, ret))
		return;
	for (size_t i = first; i < section->relocs.count && !ret->target; i++) {
		uint64_t at = list[i].offset - symbol->value;
		struct field field = {
			.names = names,
			.parent = parent,
			.reloc = &list[i],
			.kind = arch_reloc(arch, list[i].type),
		};
		const char *target;

		if (at >= symbol->size)
			break;
		if (!field.kind || field.kind->idle)
			continue;
		field.here = read_field(arch, section->data + list[i].offset, field.kind->size);
		enum answer answer = check_field(&field, old, at, symbol->size - at, bytes, &target);
		ret->checked += answer == LEADS_THERE;
		ret->unknown += answer == UNKNOWN;
		if (answer == LEADS_ELSEWHERE) {
			ret->at = at;
			ret->target = target;
		}
	}
}
