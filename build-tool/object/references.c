// SPDX-License-Identifier: GPL-2.0-or-later
/* The relocations of split sections: looking them up, and finding the place that one means. */
#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "object/split.h"

static size_t first_reloc(const struct section *section, uint64_t offset)
{
	return first_index(i, section->relocs.count, section->relocs.list[i].offset >= offset);
}

struct reloc *section_relocs(const struct section *section, uint64_t start, uint64_t end,
			     size_t *ret_count)
{
	size_t first = first_reloc(section, start);

	*ret_count = first_reloc(section, end) - first;
	return section->relocs.list ? section->relocs.list + first : NULL;
}

/* How many begin at or before an offset. */
static size_t atoms_before(const struct section *section, uint64_t offset)
{
	return first_index(i, section->atoms.count, section->atoms.list[i]->start > offset);
}

struct atom *atom_behind(const struct section *section, uint64_t offset)
{
	size_t index = atoms_before(section, offset);

	return index < section->atoms.count &&
			       (!index || offset >= section->atoms.list[index - 1]->end)
		       ? section->atoms.list[index]
		       : NULL;
}

struct atom *atom_at(const struct section *section, uint64_t offset)
{
	/*
	 * An address beside the only thing in a section means that thing: gcc writes
	 * table[i - 3] and &table[N] that way.
	 */
	if (section->atoms.count == 1)
		return section->atoms.list[0];
	size_t index = atoms_before(section, offset);
	if (index < section->atoms.count &&
	    section->atoms.list[index]->start - offset <= section->atoms.list[index]->prefix)
		return section->atoms.list[index];
	if (!index)
		return NULL;
	struct atom *atom = section->atoms.list[index - 1];
	/*
	 * The end of an atom, where no other begins, belongs to it: a call that does not return
	 * may be its last instruction.
	 */
	return offset <= atom->end ? atom : NULL;
}

uint64_t reloc_target(const struct reloc *reloc)
{
	return reloc->symbol->value + reloc->addend + reloc->behind;
}

uint64_t content_size(const struct atom *atom, uint64_t offset)
{
	static const unsigned char zeroes[sizeof(uint64_t)];
	const struct section *section = atom->section;
	uint64_t unit = section->entsize ?: 1;

	if (offset > section->size || section->size - offset < unit)
		return 0;
	if (atom->class == ATOM_CONST)
		return unit;

	uint64_t size = unit;
	/* L"..." in EFI code has characters of two bytes; no character is larger than zeroes. */
	while (unit <= sizeof(zeroes) && section->size - offset - size >= unit &&
	       memcmp(section->data + offset + size - unit, zeroes, unit))
		size += unit;
	return size;
}

/*
 * The linker moves strings and constants one by one.  So the assembler refers to a place that is
 * not the start of one (&"text"[4], table[i - 1]) by a symbol at its start, ".LC0 + 4", and not by
 * the section's symbol.
 */
static void find_content(struct reference *reference, const struct reloc *reloc)
{
	const struct symbol *symbol = reloc->symbol;
	const struct section *section = symbol->section;

	reference->addend = 0;
	if (symbol->type != STT_SECTION) {
		reference->target = symbol->value;
		reference->addend = reloc->addend + reloc->behind;
	} else if (reference->atom->class == ATOM_CONST && section->entsize) {
		reference->addend = reference->target % section->entsize;
		reference->target -= reference->addend;
	}
}

struct reference reloc_reference(const struct object *object, const struct section *section,
				 const struct reloc *reloc)
{
	struct symbol *symbol = reloc->symbol;
	struct reference reference = {.symbol = symbol, .addend = reloc->addend};

	(void)object;
	(void)section;
	if (!symbol->section)
		return reference;
	reference.target = reloc_target(reloc);
	reference.atom = symbol->atom ?: atom_at(symbol->section, reference.target);
	if (!reference.atom)
		return reference;
	if (reference.atom->class == ATOM_STRINGS || reference.atom->class == ATOM_CONST)
		find_content(&reference, reloc);
	else
		reference.addend = symbol->value + reloc->addend - reference.atom->start;
	return reference;
}

/* ---- code ------------------------------------------------------------------- */

struct reference_search {
	struct object *object;
	struct atom *atom;
	VEC(struct reloc) found;
};

/*
 * The assembler itself resolves a jump or call to a local function of the same section (two statics
 * in .sched.text).  Make a relocation of it again, so that the differ compares it by its target and
 * can include what it leads to.
 */
static void found_local(void *context, const struct local_reference *reference)
{
	struct reference_search *search = context;
	struct atom *atom = search->atom;
	struct section *section = atom->section;
	const struct reloc_kind *kind = arch_reloc(search->object->arch, reference->type);
	uint64_t field = reference->offset, target = reference->target;
	size_t count;

	if (target >= atom->start && target < atom->end)
		return;
	section_relocs(section, field, field + 1, &count);
	if (count || target > section->size)
		return;
	if (!reference->type || !kind) {
		const struct veneer *veneer = search->object->arch->veneers.call;
		int64_t origin = veneer ? -veneer->addend : 0;

		memset(section->data + field, 0, reference->size);
		*vec_push(&atom->short_branches) = (struct short_branch){
			.field = field,
			.target = target,
			.reloc = {
				.offset = field,
				.type = veneer ? veneer->reloc_type : 0,
				.symbol = object_section_symbol(search->object, section),
				.addend = (int64_t)target - origin,
				.behind = origin,
			},
		};
		return;
	}
	reloc_clear(search->object, section, field, kind);
	*vec_push(&search->found) = (struct reloc){
		.offset = field,
		.type = reference->type,
		.symbol = object_section_symbol(search->object, section),
		.addend = (int64_t)target - kind->origin,
		.behind = kind->origin,
		.upper = reference->upper,
	};
}

static void restore_references(struct object *object, struct section *section)
{
	struct reference_search search = {.object = object};

	for (size_t i = 0; i < section->atoms.count; i++) {
		search.atom = section->atoms.list[i];
		object->arch->code.local_references(object, section, search.atom->start,
					       search.atom->end, found_local, &search);
	}
	for (size_t i = 0; i < search.found.count; i++)
		*vec_push(&section->relocs) = search.found.list[i];
	vec_deinit(&search.found);
	section_sort_relocs(section);
	for (size_t i = 0; i < section->atoms.count; i++) {
		struct atom *atom = section->atoms.list[i];

		atom->relocs =
			section_relocs(section, atom->start, atom->end, &atom->reloc_count);
	}
}

/*
 * Whether only the exact place tells the thing that a relocation means, because it names a section
 * of several things.  With -fdata-sections most sections hold one thing, which is meant whatever
 * the place, so the function need not be decoded.  (References to code in such a section are calls
 * and "lea", with no immediate value behind the field.)
 */
static bool needs_target(const struct reloc *reloc)
{
	const struct symbol *symbol = reloc->symbol;
	const struct section *section = symbol->section;

	if (!section || symbol->atom || !section->rule)
		return false;
	if (section->atoms.count != 1)
		return true;
	const enum atom_class class = section->atoms.list[0]->class;
	return class == ATOM_STRINGS || class == ATOM_CONST || class == ATOM_PARTNER;
}

static void measure_relocs(struct object *object, struct atom *atom)
{
	bool needed = false;

	for (size_t i = 0; i < atom->reloc_count; i++) {
		struct reloc *reloc = &atom->relocs[i];
		const struct reloc_kind *kind = arch_reloc(object->arch, reloc->type);

		if (!kind || !kind->pc_relative || !kind->origin)
			continue;
		reloc->behind = kind->origin;
		needed |= needs_target(reloc) && !kind->branch;
	}
	if (needed && object->arch->code.measure_relocs)
		object->arch->code.measure_relocs(object, atom->section, atom->start, atom->end,
					     atom->relocs, atom->reloc_count);
}

void prepare_code(struct object *object, struct section *section)
{
	if (!section_is_text(section))
		return;
	if (section->atoms.count > 1)
		restore_references(object, section);
	for (size_t i = 0; i < section->atoms.count; i++)
		measure_relocs(object, section->atoms.list[i]);
}
