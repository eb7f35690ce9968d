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
	uint64_t stub;	    /* where that begins, in bytes from the atom's start */
};

struct debuginfo_static;

enum atom_state { STATE_UNKNOWN, STATE_BUSY, STATE_SAME, STATE_CHANGED };

struct atom {
	const char *name;	/* of the primary symbol, or of the section */
	struct symbol *symbol;	/* primary symbol, NULL where there is none */
	struct section *section;
	uint64_t start, end;	/* in the section */
	/*
	 * Bytes in front of a function that go with it: NOPs that the kernel may rewrite
	 * (-fpatchable-function-entry=16,16), the hash of its type (kCFI); the symbol of the latter.
	 */
	uint64_t prefix;
	struct symbol *prefix_symbol;
	struct reloc *relocs;	/* the section's, those in [start, end) */
	size_t reloc_count;
	enum atom_class class;
	struct atom *parent;	/* of a .cold part: its function */
	struct atom *cold;	/* of a function: its .cold part */
	VEC(struct entry) entries;
	char *key;		/* name without a compiler's numbers, see correlate.c */
	struct atom *next;	/* of the same key */
	struct atom *twin;	/* the same thing in the other object */
	enum atom_state state;
	bool ambiguous;		/* could not be told apart from others of its key */
	bool unsure;		/* its twin is only likely, see statics.c */
	const struct atom *met;	/* what was last compared with it by content, and the result */
	bool met_same;
	/* While correlating, of a static local; see statics.c. */
	VEC(struct atom *) users;    /* what refers to it */
	VEC(uint64_t) contexts;	     /* a hash of the surroundings of each use */
	const struct debuginfo_static *declared;
	VEC(struct short_branch) short_branches;
	uint64_t stubs; /* of a carried one: their bytes, which follow its own */
	bool included;
	bool static_key; /* of a branch that is carried */
	bool ignored; /* its change, at the author's wish */
	bool global; /* it, or an alias: set where it matters, see carriers.c */
	bool entryless; /* replaced without being rerouted: its callers are, see carriers.c */
	VEC(struct atom *) carriers; /* of such: who calls it, by name */
	/* Where the emitter put it. */
	struct section *out;
	uint64_t out_offset; /* of its start, behind its prefix */
	struct symbol *out_symbol;
};

static inline void atoms_pair(struct atom *a, struct atom *b)
{
	a->twin = b;
	b->twin = a;
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
