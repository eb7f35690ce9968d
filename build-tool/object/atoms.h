/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Atoms: the pieces of an object that are compared and included as a whole: a
 * function, its cold part, a variable, a constant.
 */
#ifndef POKEPATCH_ATOMS_H
#define POKEPATCH_ATOMS_H

#include "object/object.h"
#include "object/sections.h"

enum atom_class {
	ATOM_CODE,
	ATOM_DATA,    /* new code uses the parent's own, if the parent has that symbol */
	ATOM_RODATA,
	/*
	 * Data that belongs to one use and works as well as a copy: __func__, CSWTCH, lockdep
	 * keys, "once" flags, dynamic-debug descriptors.  It is compared by content, and
	 * included code gets copies of its own.
	 */
	ATOM_PRIVATE,
	ATOM_STRINGS, /* a whole section of strings */
	ATOM_CONST,   /* a whole section of constants, or one that clang has labelled */
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

/* A jump to a neighbour in the section that has no room for a relocation; see diff/stubs.c. */
struct short_branch {
	uint64_t field;	 /* offset of its displacement, which is zeroed when the object is split */
	uint64_t target; /* offset in the section */
	struct reloc reloc; /* for a stub that reaches the target; of type 0: there are no stubs */
};

/*
 * What the object itself says about an atom, and how the differ has paired it.  A pass of the
 * differ keeps its other results in arrays of its own, by index.
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
	 * (-fpatchable-function-entry=16,16), or the hash of its type (kCFI), whose symbol is
	 * prefix_symbol.
	 */
	uint64_t prefix;
	struct symbol *prefix_symbol;

	VEC(struct symbol *) spanned; /* what its label spans (struct section_rule), by place */

	/* References from it. */
	struct reloc *relocs;	/* the section's, those in [start, end) */
	size_t reloc_count;
	VEC(struct short_branch) short_branches; /* by field */
	VEC(struct entry) entries; /* of tables; by name of the section, then by start */

	/* Parts of one function. */
	struct atom *parent;	/* of a .cold part: its function */
	struct atom *cold;	/* of a function: its .cold part */

	/* The pairing; diff/correlate.c. */
	struct atom *twin;	/* the same thing in the other object */
	bool ambiguous;		/* the differ could not tell it from others of its key */
};

static inline void atoms_pair(struct atom *a, struct atom *b)
{
	a->twin = b;
	b->twin = a;
}

/* atom_is_function - whether an atom is a function, be it one that runs at boot only. */
static inline bool atom_is_function(const struct atom *atom)
{
	return atom->class == ATOM_CODE || (atom->symbol && atom->symbol->type == STT_FUNC);
}

/* The place that a relocation refers to. */
struct reference {
	struct atom *atom;	/* NULL: undefined, absolute or common symbol */
	struct symbol *symbol;	/* as in the relocation */
	/*
	 * Counted from the atom's start, or from the symbol where atom is NULL.  Into strings and
	 * constants: the distance from the piece at target to the place that is meant.
	 */
	int64_t addend;
	/* Offset in the section that the processor will reach or read; of strings: the piece's. */
	uint64_t target;
};

/*
 * object_split - give every section its rule, split it into atoms, and attach the tables' entries
 * to them.  Unknown sections, symbols and relocation types are collected as refusals, in which
 * unit names the object.
 */
struct error *object_split(struct object *object, const char *unit, struct refusals *refusals);

/* object_unsplit - free the atoms. */
void object_unsplit(struct object *object);

/* reloc_reference - the place that a relocation refers to, once the object was split. */
struct reference reloc_reference(const struct object *object, const struct section *section,
				 const struct reloc *reloc);

/* atom_at - the atom of a section at an offset, or NULL. */
struct atom *atom_at(const struct section *section, uint64_t offset);

/* atom_behind - the next atom after an offset that lies in no atom itself; or NULL. */
struct atom *atom_behind(const struct section *section, uint64_t offset);

/* section_relocs - the relocations in [start, end) of a section; there may be none. */
struct reloc *section_relocs(const struct section *section, uint64_t start, uint64_t end,
			     size_t *ret_count);

/*
 * content_size - bytes of the string (with its terminator) or constant at an offset of an
 * atom's section; 0 if there is none.
 */
uint64_t content_size(const struct atom *atom, uint64_t offset);

/*
 * entry_partner_is_empty - whether a relocation of an entry is the address of a partner piece
 * without bytes; such an address means nothing.
 */
bool entry_partner_is_empty(const struct object *object, const struct entry *entry,
			    const struct reloc *reloc);

/* atom_function - the function that a piece of code belongs to; of a .cold part, its parent. */
static inline struct atom *atom_function(struct atom *atom)
{
	return atom->parent ?: atom;
}

#endif /* POKEPATCH_ATOMS_H */
