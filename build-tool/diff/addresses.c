// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Judges what included code and data do with addresses: whether an address escapes, and whether a
 * reference into a section with a name could mean either of two variables.
 */
#include "diff/addresses.h"

#include <stdlib.h>
#include <string.h>

#include "diff/constants.h"
#include "diff/externals.h"
#include "diff/pads.h"
#include "object/names.h"

/* How each field of an atom's code uses an address (OPERAND_*); a field of data holds its value. */
struct operands {
	const struct atom *atom;
	uint8_t *kinds; /* by offset in the atom; NULL for data */
};

static void operands_read(const struct selection *selection, const struct atom *atom,
			  struct operands *ret)
{
	*ret = (struct operands){.atom = atom};
	if (!section_is_text(atom->section) || atom->start == atom->end)
		return;
	ret->kinds = xcalloc(atom->end - atom->start, sizeof(*ret->kinds));
	selection->patched->arch->code.operand_kinds(selection->patched, atom->section, atom->start,
						 atom->end, ret->kinds);
}

static uint8_t operand_kind(const struct operands *operands, const struct reloc *reloc)
{
	return operands->kinds ? operands->kinds[reloc->offset - operands->atom->start]
			       : OPERAND_VALUE | OPERAND_STORED;
}

/* ---- escapes ------------------------------------------------------------------- */

/*
 * If included code stores or passes on the address of new code or data, a timer, a list or a table
 * of operations may refer to it after the patch was disabled.  Checking the tasks' stacks does not
 * find such a reference, so the module of such a patch stays loaded.
 */
static const char *unless_withdrawn(const struct selection *selection)
{
	return selection->options->withdraws ? ", unless a callback calls pokepatch_withdrawn()" : "";
}

static void note_escape(struct selection *selection, const char *name)
{
	selection->escapes = true;
	refusals_warn(selection->refusals, "address-escapes", select_location(selection, name),
		      name,
		      "the address of new '%s' is stored or passed on; the patch can be disabled "
		      "but its module stays loaded%s",
		      name, unless_withdrawn(selection));
}

static void note_escaping_constant(struct selection *selection, const struct atom *from)
{
	selection->escapes = true;
	refusals_warn(selection->refusals, "address-escapes",
		      select_location(selection, from->name), from->name,
		      "'%s' stores the address of a string or constant of the patch; the patch "
		      "can be disabled but its module stays loaded%s",
		      from->name, unless_withdrawn(selection));
}

/*
 * Code passes static keys and static calls (__SCK__name and its trampoline) to the functions that
 * switch them.  These addresses do not escape: the kernel reaches them only from the module's
 * tables of branches and call sites, and drops these with the module.
 */
static bool is_static_key_or_call(const struct selection *selection, const struct atom *atom)
{
	/* struct static_key.  A static_key_deferred is larger and has a timer in it. */
	const uint64_t key_size = 2 * arch_address_size(selection->patched->arch);

	return (selection->choices[atom->index].static_key &&
		atom->end - atom->start == key_size) ||
	       (atom->class == ATOM_DATA && has_prefix(atom->name, "__SCK__")) ||
	       (atom->class == ATOM_CODE && has_prefix(atom->name, "__SCT__"));
}

static bool is_new_thing(const struct selection *selection, const struct atom *atom)
{
	if (is_static_key_or_call(selection, atom))
		return false;
	if (atom->twin)
		return select_is_carried(selection, atom); /* references lead to the new copy */
	return (atom->class == ATOM_CODE && !atom->parent) || atom->class == ATOM_RODATA ||
	       /* The module loader registers descriptors and the like, and unregisters them. */
	       (atom->class == ATOM_DATA && !atom->section->rule->keep_name);
}

/* A place inside a function, such as jump tables hold; no other code can call it. */
static bool is_label(const struct reference *reference)
{
	return reference->atom->class == ATOM_CODE && reference->target != reference->atom->start;
}

static bool is_copied(const struct atom *atom)
{
	return atom->class == ATOM_STRINGS || atom->class == ATOM_CONST ||
	       (atom->class == ATOM_PRIVATE && !atom->section->rule->keep_name);
}

/*
 * A lock class key that has bytes: of a kernel with lockdep.  Lockdep identifies a lock by its
 * key's address and reads the key while the lock exists, so the patch's copy must stay loaded.
 */
static bool is_lock_class(const struct atom *atom)
{
	static const char *const names[] = {"__key", "__srcu_key"};
	const struct source_name name = source_name_of(atom->name);

	if (atom->class != ATOM_PRIVATE || atom->end <= atom->start)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strlen(names[i]) == name.length && !memcmp(names[i], name.text, name.length))
			return true;
	return false;
}

/* Whether only another unit of this patch can define an undefined symbol. */
static struct error *is_new_elsewhere(struct selection *selection, const struct symbol *symbol,
				      bool *ret)
{
	const struct diff_options *options = selection->options;
	const struct external *external;
	const char *link_name;

	*ret = false;
	if (!options->symvers || !options->vmlinux || symbol->special != SHN_UNDEF ||
	    symvers_find(options->symvers, symbol->name))
		return NULL;
	TRY(externals_find_name(selection, symbol->name, &link_name, &external));
	*ret = !external;
	return NULL;
}

static struct error *judge_escape(struct selection *selection, const struct atom *from,
				  const struct reference *reference, uint8_t kind)
{
	const struct atom *atom = reference->atom;
	bool new_elsewhere;

	if (!(kind & OPERAND_VALUE))
		return NULL;
	if (!atom) {
		TRY(is_new_elsewhere(selection, reference->symbol, &new_elsewhere));
		if (new_elsewhere)
			note_escape(selection, reference->symbol->name);
		return NULL;
	}
	if ((is_new_thing(selection, atom) || is_lock_class(atom)) && atom != from &&
	    !is_static_key_or_call(selection, from) && !is_label(reference))
		note_escape(selection, atom->name);
	/*
	 * Code often passes literals on, to be printed or compared.  So a literal escapes
	 * only if this code stores its address.  For data that holds a literal, the address of
	 * the data counts.  But all users of a carried constant are there, and what they take from
	 * it may have been kept for long: a device's name.
	 */
	else if (is_copied(atom) && kind & OPERAND_STORED &&
		 (from->class == ATOM_CODE || constants_is_carried(selection, from)))
		note_escaping_constant(selection, from);
	return NULL;
}

/* ---- neighbours -------------------------------------------------------------------- */

static bool same_places(const struct section *section)
{
	const struct section *other = NULL;

	for (size_t i = 0; i < section->atoms.count; i++) {
		const struct atom *atom = section->atoms.list[i], *twin = atom->twin;

		if (!twin || (other && twin->section != other) || twin->start != atom->start ||
		    twin->end != atom->end)
			return false;
		other = twin->section;
	}
	return other && other->atoms.count == section->atoms.count;
}

static bool neighbours_moved(struct selection *selection, const struct section *section)
{
	enum neighbours *known = &selection->neighbours[section->index];

	if (*known == NEIGHBOURS_UNKNOWN)
		*known = same_places(section) ? NEIGHBOURS_KEPT : NEIGHBOURS_MOVED;
	return *known == NEIGHBOURS_MOVED;
}

/*
 * The assembler writes a reference to a static variable as section and offset.  In a section that
 * the source names, such as .data..read_mostly, the end of one variable is the start of the next,
 * and table[i - 3] may refer to an offset in the variable before.  While all variables of the
 * section are where the original has them, either reading gives the same address.  Otherwise only
 * an offset that the code reads or writes directly is sure to be in the variable at that offset: an
 * address that it computes or compares with may be the end of a loop, &table[-1] even.
 */
static void judge_neighbours(struct selection *selection, const struct reloc *reloc,
			     const struct reference *reference, uint8_t kind)
{
	const struct atom *atom = reference->atom;

	if (!atom || reloc->symbol->atom || atom->section->atoms.count < 2 ||
	    (atom->class != ATOM_DATA && atom->class != ATOM_RODATA) ||
	    !neighbours_moved(selection, atom->section))
		return;
	if (!(kind & (OPERAND_INDEXED | OPERAND_VALUE | OPERAND_COMPARED)))
		return;
	refusals_add(selection->refusals, "static-ambiguous",
		     select_location(selection, atom->name), atom->name,
		     "a reference to '%s' may mean its neighbour in section '%s', where variables "
		     "were added or moved; declare the new ones without a section (no "
		     "__read_mostly, no DEFINE_PER_CPU)",
		     atom->name, atom->section->name);
}

struct error *addresses_judge(struct selection *selection, struct atom *from)
{
	struct error *error = NULL;
	struct operands operands;

	if (!from->reloc_count || from->class == ATOM_PARTNER)
		return NULL;
	operands_read(selection, from, &operands);
	for (size_t i = 0; i < from->reloc_count && !error; i++) {
		const struct reloc *reloc = &from->relocs[i];
		struct reference reference =
			reloc_reference(selection->patched, from->section, reloc);
		uint8_t kind = operand_kind(&operands, reloc);

		judge_neighbours(selection, reloc, &reference, kind);
		error = judge_escape(selection, from, &reference, kind);
		if (!error && (kind & OPERAND_VALUE))
			error = pads_judge(selection, from, &reference);
	}
	free(operands.kinds);
	return error;
}
