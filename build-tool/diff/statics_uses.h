/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What uses the static variables of functions, and the code around their uses. */
#ifndef POKEPATCH_STATICS_USES_H
#define POKEPATCH_STATICS_USES_H

#include "object/debuginfo.h"
#include "object/split.h"

/* A numbered variable, with the facts that distinguish it from others of its key. */
struct variable {
	struct atom *atom;
	VEC(struct atom *) users; /* what refers to it; foo, foo.isra.0 and foo.cold are one */
	VEC(uint64_t) contexts;	  /* a hash of the code around each use, sorted */
	const struct debuginfo_static *declared;
	bool unsure;	/* its twin is only likely to be right */
	bool left_over; /* its twin is the only one left, and has other code around its uses */
};

/* One of the two objects. */
struct side {
	struct object *object;
	struct variable *variables; /* by index of the atom; NULL: none is numbered */
};

#define HASH_START 0xcbf29ce484222325
/* The hash of bytes that follow those of @hash, or of the first bytes if that is HASH_START. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length);
/* The order of two hashes, for qsort() and bsearch(). */
int by_hash(const void *left, const void *right);
/* Is it a variable with a compiler's number? */
bool statics_is_numbered(const struct atom *atom);
/*
 * statics_note_uses - find the users of the numbered variables of side->object.  Fills
 * side->variables; statics_side_deinit() frees that.
 */
void statics_note_uses(struct side *side);
void statics_side_deinit(struct side *side);
/* The order of two variables by the functions that use them; 0: the same. */
int statics_users_compare(const struct variable *a, const struct variable *b);
/* Is there a function that uses both? */
bool statics_share_user(const struct variable *a, const struct variable *b);
/* Is there a use of each with the same code around? */
bool statics_share_context(const struct variable *a, const struct variable *b);

#endif /* POKEPATCH_STATICS_USES_H */
