// SPDX-License-Identifier: GPL-2.0-or-later
/* Follows an address in registers through a function. */
#include "arch/uses.h"

#include <stdlib.h>

#include "object/debuginfo.h"

struct walk_place {
	uint32_t seen;    /* registers that hold the address here on some path */
	uint32_t pending; /* those of them that the step has not been called for yet */
	bool special;	  /* a table names the instruction */
};

static struct walk_place *place_at(const struct walk *walk, uint64_t at)
{
	return &walk->places[(at - walk->start) / 4];
}

static bool is_inside(const struct walk *walk, int64_t at)
{
	return at >= (int64_t)walk->start && at + 4 <= (int64_t)walk->end &&
	       !((at - walk->start) & 3);
}

static void note_special(struct walk *walk, const struct entry *entry)
{
	size_t count;
	const struct reloc *relocs =
		section_relocs(entry->section, entry->start, entry->start + entry->size, &count);

	for (size_t i = 0; i < count; i++) {
		struct reference reference =
			reloc_reference(walk->object, entry->section, &relocs[i]);

		if (reference.atom && reference.atom->section == walk->section &&
		    reference.target >= walk->start && reference.target < walk->end)
			place_at(walk, reference.target)->special = true;
	}
}

void walk_init(struct walk *walk, struct object *object, const struct section *section,
	       uint64_t start, uint64_t end)
{
	const size_t count = (end - start) / 4 + 1;
	const struct atom *function = atom_at(section, start);

	*walk = (struct walk){
		.object = object,
		.section = section,
		.start = start,
		.end = end,
		.places = xcalloc(count, sizeof(*walk->places)),
		.todo = xcalloc(count, sizeof(*walk->todo)),
	};
	for (size_t i = 0; function && i < function->entries.count; i++)
		note_special(walk, &function->entries.list[i]);
}

void walk_deinit(struct walk *walk)
{
	free(walk->todo);
	free(walk->places);
}

bool walk_add(struct walk *walk, int64_t at, uint32_t held)
{
	if (!held)
		return true;
	if (!is_inside(walk, at))
		return false;
	struct walk_place *place = place_at(walk, at);

	held &= ~place->seen;
	if (held && !place->pending)
		walk->todo[walk->todo_count++] = at;
	place->seen |= held;
	place->pending |= held;
	return true;
}

bool walk_run(struct walk *walk, bool (*step)(struct walk *walk, uint64_t at, unsigned int reg))
{
	while (walk->todo_count) {
		const uint64_t at = walk->todo[--walk->todo_count];
		struct walk_place *place = place_at(walk, at);
		uint32_t held = place->pending;

		place->pending = 0;
		if (!walk_is_plain(walk, at))
			return false;
		for (; held; held &= held - 1)
			if (!step(walk, at, __builtin_ctz(held)))
				return false;
	}
	return true;
}

bool walk_is_plain(const struct walk *walk, uint64_t at)
{
	return is_inside(walk, at) && !place_at(walk, at)->special;
}

const struct reloc *walk_relocs(const struct walk *walk, uint64_t at, size_t *ret_count)
{
	return section_relocs(walk->section, at, at + 4, ret_count);
}

int64_t walk_target(const struct walk *walk, uint64_t at, int64_t displacement)
{
	size_t count;
	const struct reloc *relocs = walk_relocs(walk, at, &count);

	if (!count)
		return (int64_t)at + displacement;
	if (count > 1 || relocs->symbol->section != walk->section)
		return -1;
	return (int64_t)reloc_reference(walk->object, walk->section, relocs).target;
}

int64_t walk_result_size(const struct walk *walk, uint64_t at)
{
	return debuginfo_result_size(debuginfo_of(walk->object), walk->section->index, at);
}
