// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finds changed constants that a patch can carry.
 *
 * A fix adds an attribute to a "static const struct nla_policy foo_policy[]", or a line to a table
 * that one function looks things up in.  Nothing may write to the kernel's copy: unchanged code
 * uses it, and it has the old size.  But if only functions of the unit refer to it, the patch can
 * have a new copy, and replace these functions, all of them, whether they differ or not.  When the
 * patch is switched, old functions and old table go out of use together.
 *
 * This is right if nothing else has the address.  The original's relocations name everything that
 * was linked with it, so it must be a local symbol, and each reference must come from code that can
 * be replaced.  Data with the address is used by code that the unit need not have (genl_family and
 * its policies): that is refused, unless the data is a constant which can itself be carried.  So is
 * code that stores the address or compares with it, because memory then holds the old one.
 *
 * A callee that gets the address as an argument could keep it, too, and no relocation shows that.
 * Objects keep tables of functions (a file keeps its file_operations), and code tells objects apart
 * by them, so an address of such a table that is passed on is refused.  Of other tables, callees
 * rarely keep the address: nla_parse() reads a policy and returns.  There the author is told
 * ([constant-kept]).
 */
#include "diff/constants.h"

#include <stdlib.h>

#include "common/search.h"
#include "diff/author.h"
#include "diff/select.h"

/* A reference of the original to a constant. */
struct constant_use {
	const struct atom *constant;
	struct atom *from;
	bool stays;  /* what refers to it cannot be replaced */
	bool passed; /* code has the address in a register, for itself or for a callee */
};

struct constants {
	struct selection *selection;
	VEC(struct constant_use) uses; /* by constant */
	VEC(struct atom *) group; /* constants of the original that must be carried together */
	bool *in_group; /* by index of the atom of orig */
};

bool constants_is_carried(const struct selection *selection, const struct atom *atom)
{
	return atom->class == ATOM_RODATA && selection->carrying[atom->index].carried;
}

/* ---- uses -------------------------------------------------------------------------- */

/* A static constant in a section of its own kind, which the compiler chose. */
static bool is_static_constant(const struct atom *atom)
{
	return atom->class == ATOM_RODATA && atom->symbol && atom->symbol->bind == STB_LOCAL &&
	       atom->symbol->type == STT_OBJECT && !atom->ambiguous &&
	       !(atom->section->flags & SHF_WRITE) && !atom->section->rule->keep_name &&
	       atom->section->atoms.count == 1;
}

static bool can_be_carried(const struct atom *old)
{
	return is_static_constant(old) && old->twin && is_static_constant(old->twin);
}

static bool is_ignored(const struct selection *selection, const struct atom *atom)
{
	return atom && author_ignored(selection->author->patched_ignored, atom);
}

static void note_use(struct constants *constants, struct atom *from, const struct section *section,
		     const struct reloc *reloc, uint8_t **kinds)
{
	struct object *orig = constants->selection->orig;
	struct reference reference = reloc_reference(orig, section, reloc);

	if (!reference.atom || !is_static_constant(reference.atom) || reference.atom == from)
		return;
	struct constant_use use = {.constant = reference.atom, .from = from};
	if (from->class == ATOM_RODATA) {
		use.stays = !can_be_carried(from);
	} else if (from->class != ATOM_CODE || section != from->section ||
		   is_ignored(constants->selection, atom_function(from)->twin)) {
		use.stays = true;
	} else {
		if (!*kinds) {
			*kinds = xcalloc(from->end - from->start, sizeof(**kinds));
			orig->arch->code.operand_kinds(orig, section, from->start, from->end,
						       *kinds);
		}
		const uint8_t kind = (*kinds)[reloc->offset - from->start];
		use.stays = kind & (OPERAND_STORED | OPERAND_COMPARED);
		use.passed = kind & OPERAND_VALUE;
	}
	*vec_push(&constants->uses) = use;
}

static int by_constant(const void *left, const void *right)
{
	const struct constant_use *a = left, *b = right;
	size_t x = a->constant->index, y = b->constant->index;

	if (x == y) {
		x = a->from->index;
		y = b->from->index;
	}
	return x != y ? (x < y ? -1 : 1) : 0;
}

static void find_uses(struct constants *constants)
{
	const struct object *orig = constants->selection->orig;

	for (size_t i = 0; i < orig->atoms.count; i++) {
		struct atom *atom = orig->atoms.list[i];
		uint8_t *kinds _free_ = NULL;

		for (size_t j = 0; j < atom->reloc_count; j++)
			note_use(constants, atom, atom->section, &atom->relocs[j], &kinds);
		for (size_t j = 0; j < atom->entries.count; j++) {
			const struct entry *entry = &atom->entries.list[j];
			size_t count;
			const struct reloc *relocs =
				section_relocs(entry->section, entry->start,
					       entry->start + entry->size, &count);

			for (size_t k = 0; k < count; k++)
				note_use(constants, atom, entry->section, &relocs[k], &kinds);
		}
	}
	if (constants->uses.count)
		qsort(constants->uses.list, constants->uses.count, sizeof(struct constant_use),
		      by_constant);
}

/* Does it hold the address of a function? */
static bool holds_functions(const struct object *object, const struct atom *atom)
{
	for (size_t i = 0; i < atom->reloc_count; i++) {
		struct reference reference =
			reloc_reference(object, atom->section, &atom->relocs[i]);

		if (reference.atom ? atom_is_function(reference.atom)
				   : reference.symbol->type != STT_OBJECT)
			return true;
	}
	return false;
}

/* ---- groups ------------------------------------------------------------------------ */

static void add_to_group(struct constants *constants, struct atom *old)
{
	if (constants->in_group[old->index])
		return;
	constants->in_group[old->index] = true;
	*vec_push(&constants->group) = old;
}

static size_t first_use(const struct constants *constants, const struct atom *old)
{
	return first_index(i, constants->uses.count,
			   constants->uses.list[i].constant->index >= old->index);
}

/*
 * Collect the constants that have to be carried with the first one of the group.  Returns what
 * refers to one of them and stays; NULL if there is no such.
 */
static const struct atom *grow_group(struct constants *constants)
{
	for (size_t i = 0; i < constants->group.count; i++) {
		const struct atom *old = constants->group.list[i];
		const bool functions =
			holds_functions(constants->selection->orig, old) ||
			holds_functions(constants->selection->patched, old->twin);

		for (size_t j = first_use(constants, old);
		     j < constants->uses.count && constants->uses.list[j].constant == old; j++) {
			struct constant_use *use = &constants->uses.list[j];

			if (use->stays || (use->passed && functions))
				return use->from;
			if (use->from->class == ATOM_RODATA)
				add_to_group(constants, use->from);
		}
	}
	return NULL;
}

static void replace_user(struct selection *selection, struct atom *function)
{
	struct atom *new = function->twin;

	if (!new) /* it is gone from the patched object, and no new code calls it */
		return;
	atom_set_state(&selection->pairing, new, STATE_CHANGED);
	if (new->cold)
		atom_set_state(&selection->pairing, new->cold, STATE_CHANGED);
}

static void carry_constant(struct constants *constants, struct atom *old)
{
	struct selection *selection = constants->selection;
	const struct atom *passed_by = NULL;

	selection->carrying[old->twin->index].carried = true;
	for (size_t i = first_use(constants, old);
	     i < constants->uses.count && constants->uses.list[i].constant == old; i++) {
		const struct constant_use *use = &constants->uses.list[i];

		if (use->passed && !passed_by)
			passed_by = atom_function(use->from);
		if (use->from->class == ATOM_CODE)
			replace_user(selection, atom_function(use->from));
	}
	if (passed_by)
		refusals_warn(selection->refusals, "constant-kept",
			      select_location(selection, old->name), old->name,
			      "'%s' takes the address of constant '%s', which the patch replaces; "
			      "see that nothing keeps it: what has the old address goes on using "
			      "the old constant",
			      passed_by->name, old->name);
}

static void judge_constant(struct constants *constants, struct atom *new)
{
	struct selection *selection = constants->selection;

	constants->group.count = 0;
	add_to_group(constants, new->twin);
	const struct atom *stays = grow_group(constants);
	for (size_t i = 0; i < constants->group.count; i++) {
		constants->in_group[constants->group.list[i]->index] = false;
		if (!stays && !constants_is_carried(selection, constants->group.list[i]->twin))
			carry_constant(constants, constants->group.list[i]);
	}
	selection->carrying[new->index].kept_by = stays;
}

void constants_find(struct selection *selection)
{
	struct constants constants = {.selection = selection};
	const struct object *patched = selection->patched;

	for (size_t i = 0; i < patched->atoms.count; i++) {
		struct atom *atom = patched->atoms.list[i];

		if (!atom->twin || !can_be_carried(atom->twin) ||
		    is_ignored(selection, atom) ||
		    !atom_changed(&selection->pairing, atom))
			continue;
		if (!constants.in_group) {
			constants.in_group = xcalloc(selection->orig->atoms.count,
						     sizeof(*constants.in_group));
			find_uses(&constants);
		}
		judge_constant(&constants, atom);
	}
	free(constants.in_group);
	vec_deinit(&constants.group);
	vec_deinit(&constants.uses);
}
