/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selects the atoms that the patch includes, beginning with those that changed, and decides for
 * each of their references what it leads to.
 */
#ifndef POKEPATCH_SELECT_H
#define POKEPATCH_SELECT_H

#include "diff/carriers.h"
#include "diff/compare.h"
#include "diff/diff.h"
#include "diff/stubs.h"

enum link_kind {
	LINK_INCLUDED,	/* to an included atom */
	LINK_CONTENT,	/* to a copy of a string or constant */
	LINK_EXTERNAL,	/* to a symbol of the parent, by an undefined symbol */
	LINK_INERT_KEY, /* to a static key that stays off; addend: the entry's flag bits */
	LINK_DROP,	/* nowhere: the reference was refused, so there will be no output */
};

struct link {
	enum link_kind kind;
	struct atom *atom;	/* LINK_INCLUDED */
	const char *name;	/* LINK_EXTERNAL: name of the undefined symbol */
	int64_t addend;		/* from the atom, symbol or content */
	uint64_t content;	/* LINK_CONTENT: its offset in the atom's section */
};

struct author;

/* A callback that the author named; the patch includes its function. */
struct callback {
	struct atom *atom;
	uint32_t kind; /* enum pokepatch_callback_kind */
};

/* The selection's state of an atom of the patched object. */
struct choice {
	bool included;	 /* is in the list of included atoms */
	bool static_key; /* it is the key of an included static branch */
	bool judged;	 /* refuse_old_table() has looked at it */
};

/* Whether all variables of a section are at the same offsets in original and patched object. */
enum neighbours { NEIGHBOURS_UNKNOWN, NEIGHBOURS_KEPT, NEIGHBOURS_MOVED };

struct selection {
	const struct diff_options *options;
	struct object *orig, *patched; /* as in the pairing */
	struct pairing pairing;
	struct refusals *refusals;
	struct author *author;
	struct diff_result *result;
	/* Arrays by index of the atom of patched, each with the file that fills it. */
	struct choice *choices;	   /* select.c */
	struct carrying *carrying; /* carriers.c */
	struct stubs *stubs;	   /* stubs.c */
	enum neighbours *neighbours; /* by index of the section of patched; addresses.c */
	VEC(struct atom *) included; /* of patched, in order of discovery */
	struct map touched; /* answers about inlined functions, by name; diff.c */
	VEC(struct callback) callbacks; /* in the order of the notes; at most one of a kind */
	bool escapes;	   /* an address of new code or data escapes */
	bool have_block;   /* block is valid */
	bool failed_block; /* the search for the block failed, and was refused */
	uint32_t block;	   /* the unit's local symbols in the parent: see parent_find_block() */
};

/*
 * select_init - allocate the arrays of the passes, once patched was split and paired.
 * select_deinit() also takes a selection for which this was not called.
 */
void select_init(struct selection *selection);
void select_deinit(struct selection *selection);

/*
 * select_changes - compare all atoms; include changed functions, new global functions and data,
 * callbacks, and whatever these need.  Refuse changes that a patch cannot make.
 */
struct error *select_changes(struct selection *selection);

/* select_source_name - an atom's name in the source; of a module's init_module(), an alias, too. */
const char *select_source_name(struct object *object, const struct atom *atom);

/*
 * select_is_touched - may the author have changed the source of a function?
 * @location: where the original defines it; NULL: not known, and the answer is yes
 */
bool select_is_touched(const struct selection *selection, const char *name, const char *location);

/* select_stub_bytes - bytes of the stubs behind an included atom. */
static inline uint64_t select_stub_bytes(const struct selection *selection, const struct atom *atom)
{
	return selection->stubs[atom->index].size;
}

/* select_is_carried - whether a function is a carried function: changed, without an entry. */
static inline bool select_is_carried(const struct selection *selection, const struct atom *atom)
{
	return selection->carrying[atom->index].carried;
}

/*
 * select_link - decide what a relocation of an included atom leads to in the output object, and
 * include the atom that it needs.
 * @entry: the relocation belongs to one of the atom's table entries
 */
struct error *select_link(struct selection *selection, const struct atom *from, bool entry,
			  const struct section *section, const struct reloc *reloc,
			  struct link *ret);

/* select_location - "file.c:120" of a symbol's declaration, else the unit; for messages. */
const char *select_location(struct selection *selection, const char *name);

#endif /* POKEPATCH_SELECT_H */
