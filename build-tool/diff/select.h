/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From "what has changed" to "what must be carried", and how each reference is made. */
#ifndef POKEPATCH_SELECT_H
#define POKEPATCH_SELECT_H

#include "diff/carriers.h"
#include "diff/compare.h"
#include "diff/diff.h"
#include "diff/stubs.h"

enum link_kind {
	LINK_INCLUDED,  /* to an atom that is included */
	LINK_CONTENT,  /* to a string or constant that is copied */
	LINK_EXTERNAL, /* to the parent's own, by an undefined symbol */
	LINK_INERT_KEY, /* to a static key that stays off; addend: the entry's flag bits */
	LINK_DROP,     /* refused: nothing will be emitted */
};

struct link {
	enum link_kind kind;
	struct atom *atom;	/* LINK_INCLUDED */
	const char *name;	/* LINK_EXTERNAL: name of the undefined symbol */
	int64_t addend;		/* from the atom, symbol or content */
	uint64_t content;	/* LINK_CONTENT: where it is in the atom's section */
};

struct author;

/* A callback that the author named; its function is carried. */
struct callback {
	struct atom *atom;
	uint32_t kind; /* enum pokepatch_callback_kind */
};

/* What the selection notes about an atom of the patched object. */
struct choice {
	bool included;	 /* is in the list of included atoms */
	bool static_key; /* a branch that is carried has it for its key */
};

/* Whether the variables of a section of the patched object lie where the original has them. */
enum neighbours { NEIGHBOURS_UNKNOWN, NEIGHBOURS_KEPT, NEIGHBOURS_MOVED };

struct selection {
	const struct diff_options *options;
	struct object *orig, *patched; /* the pairing's */
	struct pairing pairing;
	struct refusals *refusals;
	struct author *author;
	/* Of each atom of patched, by index. */
	struct choice *choices;	   /* select.c */
	struct carrying *carrying; /* carriers.c */
	struct stubs *stubs;	   /* stubs.c */
	enum neighbours *neighbours; /* of each section of patched, by index; addresses.c */
	VEC(struct atom *) included; /* of patched, in order of discovery */
	VEC(struct callback) callbacks; /* in the order of the notes, one of each kind */
	bool escapes;		    /* an address of new code or data leaves the patch */
	bool have_block;	    /* the unit's local symbols in the parent were found */
	bool failed_block;
	uint32_t block;
};

/*
 * select_init - make room for what the passes note about each atom of patched; after it was split
 * and paired.  select_deinit() also takes a selection that this was not called for.
 */
void select_init(struct selection *selection);
void select_deinit(struct selection *selection);

/* select_changes - carry all changed functions, new global functions and what they need. */
struct error *select_changes(struct selection *selection);

/* select_stub_bytes - bytes of the stubs that follow an atom's own. */
static inline uint64_t select_stub_bytes(const struct selection *selection, const struct atom *atom)
{
	return selection->stubs[atom->index].size;
}

/* select_is_carried - whether a function is carried by its callers, for want of an entry. */
static inline bool select_is_carried(const struct selection *selection, const struct atom *atom)
{
	return selection->carrying[atom->index].carried;
}

/* select_link - how a relocation of a carried atom (entry: of one of its entries) is made. */
struct error *select_link(struct selection *selection, const struct atom *from, bool entry,
			  const struct section *section, const struct reloc *reloc,
			  struct link *ret);

/* select_location - "file.c:120" of a symbol's declaration, else the unit. */
const char *select_location(struct selection *selection, const char *name);

#endif /* POKEPATCH_SELECT_H */
