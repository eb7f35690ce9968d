/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Atoms: the pieces of an object that are compared and carried as a whole: a
 * function, its cold part, a variable, a constant.
 */
#ifndef POKEPATCH_ATOMS_H
#define POKEPATCH_ATOMS_H

#include "object/object.h"
#include "object/sections.h"

enum atom_class {
	ATOM_CODE,
	ATOM_DATA,    /* the parent's own is used as long as the symbol is known there */
	ATOM_RODATA,
	/*
	 * One per use, and no use cares which: __func__, CSWTCH, lockdep keys,
	 * "once" flags, dynamic-debug descriptors.  Compared by content, and
	 * carried code gets copies of its own.
	 */
	ATOM_PRIVATE,
	ATOM_STRINGS, /* a whole section of them */
	ATOM_CONST,
	ATOM_PARTNER, /* a piece of .altinstr_replacement and the like */
	ATOM_PARENT,
	ATOM_INIT,
	ATOM_EXPORT,
};

/* A table's entry that belongs to an atom. */
struct entry {
	struct section *section;
	uint64_t start;
	const struct entry_layout *layout;
	uint8_t size; /* bytes present */
};

/* A jump to a neighbour in the section that has no room for a relocation; see stubs.c. */
struct short_branch {
	uint64_t field;	 /* where its displacement stands; zeroed when read */
	uint64_t target; /* in the section */
	struct reloc reloc; /* what a stub of its own would have, or one of no type */
};

/*
 * What the object itself says of an atom, and how the differ has paired it.  All else that a pass
 * of the differ finds out is in arrays of that pass, by index.
 */
struct atom {
	/* Identity. */
	size_t index;		/* in the object's list of atoms; set by object_split() */
	const char *name;	/* of the primary symbol, or of the section */
	struct symbol *symbol;	/* primary symbol, NULL where there is none */
	char *key;		/* the name without what a compiler adds: equal in both objects */
	enum atom_class class;

	/* Place. */
	struct section *section;
	uint64_t start, end;	/* in the section */
	/*
	 * Bytes in front of a function that go with it: NOPs that the kernel may rewrite
	 * (-fpatchable-function-entry=16,16), the hash of its type (kCFI); the symbol of the latter.
	 */
	uint64_t prefix;
	struct symbol *prefix_symbol;

	/* What it refers to. */
	struct reloc *relocs;	/* the section's, those in [start, end) */
	size_t reloc_count;
	VEC(struct short_branch) short_branches; /* by field */
	VEC(struct entry) entries; /* of tables; by name of the section, then by start */

	/* Parts of one function. */
	struct atom *parent;	/* of a .cold part: its function */
	struct atom *cold;	/* of a function: its .cold part */

	/* The pairing; diff/correlate.c. */
	struct atom *twin;	/* the same thing in the other object */
	bool ambiguous;		/* could not be told apart from others of its key */
};

static inline void atoms_pair(struct atom *a, struct atom *b)
{
	a->twin = b;
	b->twin = a;
}

/* A function, of any section policy: also one that runs at boot only. */
static inline bool atom_is_function(const struct atom *atom)
{
	return atom->class == ATOM_CODE || (atom->symbol && atom->symbol->type == STT_FUNC);
}

/* What a relocation refers to. */
struct reference {
	struct atom *atom;	/* NULL: undefined, absolute or common symbol */
	struct symbol *symbol;	/* as in the relocation */
	/*
	 * Counted from the atom's start; from the symbol if no atom.  Into strings and
	 * constants: distance from the piece at target to the place that is meant.
	 */
	int64_t addend;
	/* Offset in the section that the processor will reach or read, or of the piece. */
	uint64_t target;
};

/*
 * object_split - give every section its rule and split it into atoms; attach
 * the tables' entries.  Unknown sections, symbols and relocation types are
 * collected as refusals; unit names the object in them.
 */
struct error *object_split(struct object *object, const char *unit, struct refusals *refusals);

/* object_unsplit - free what object_split() made. */
void object_unsplit(struct object *object);

/* reloc_reference - where a relocation of a section that was split leads to. */
struct reference reloc_reference(const struct object *object, const struct section *section,
				 const struct reloc *reloc);

/* atom_at - the atom of a section at an offset, or NULL. */
struct atom *atom_at(const struct section *section, uint64_t offset);

/* atom_behind - the first one that begins behind an offset, if nothing is in between; or NULL. */
struct atom *atom_behind(const struct section *section, uint64_t offset);

/* section_relocs - those in [start, end); count may be 0. */
struct reloc *section_relocs(const struct section *section, uint64_t start, uint64_t end,
			     size_t *ret_count);

/*
 * content_size - bytes of the string (with its end) or constant at an offset of a
 * section of those; 0 if there is none.
 */
uint64_t content_size(const struct atom *atom, uint64_t offset);

/* Is the relocation the address of a partner piece of no bytes, which means nothing? */
bool entry_partner_is_empty(const struct object *object, const struct entry *entry,
			    const struct reloc *reloc);

/* The function that a piece of code belongs to: itself, or that of a .cold part. */
static inline struct atom *atom_function(struct atom *atom)
{
	return atom->parent ?: atom;
}

#endif /* POKEPATCH_ATOMS_H */
