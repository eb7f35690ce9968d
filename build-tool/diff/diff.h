/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparing the two objects of a unit and making a third that holds what a
 * patch must carry.  A library: it prints nothing and keeps no state of its own.
 */
#ifndef POKEPATCH_DIFF_H
#define POKEPATCH_DIFF_H

#include "object/parent.h"
#include "object/symvers.h"
#include "pokepatch_format.h"
#include "common/util.h"

/*
 * Symbols that the patch refers to and the module loader cannot resolve.  One
 * list serves all units of a build; rows of carried objects (diff_rows.h) name
 * an entry by its index.
 */
struct external {
	char *link_name; /* undefined symbol in the carried objects */
	char *name;	 /* in the parent */
	const struct parent *parent;	    /* NULL: no symbol table was given */
	const struct parent_symbol *symbol; /* NULL likewise */
};
struct externals {
	VEC(struct external *) list;
	VEC(const struct parent *) parents; /* of callbacks */
	struct map by_link_name; /* index + 1 */
	struct map by_place;	 /* "parent:order", index + 1 */
	VEC(char *) keys;
};
void externals_deinit(struct externals *externals);

/* diff_callback_name - "pre-patch"; enum pokepatch_callback_kind. */
const char *diff_callback_name(uint32_t kind);

/* Opens the module called name (as in symvers: its path or name); may fail with NULL. */
typedef struct error *(*open_module_fn)(void *context, const char *name, struct parent **ret);

struct diff_options {
	/* Source file, for messages: "net/ipv4/tcp.c"; NULL: what the original says. */
	const char *unit;
	const char *orig, *patched;    /* compiler output, split sections, before objtool */
	const char *out;	       /* written if anything changed; NULL: compare only */
	struct parent *parent;	       /* what the unit is part of; NULL: only the pair is known */
	struct parent *vmlinux;	       /* NULL likewise */
	const struct symvers *symvers; /* NULL likewise */
	open_module_fn open_module;    /* for symbols that other modules export; or NULL */
	void *context;
	struct externals *externals;
	uint32_t mode;		       /* enum pokepatch_mode of the functions */
};

enum diff_change { DIFF_CHANGED, DIFF_NEW, DIFF_REMOVED };

/* Is the original, as compiled, what the parent has? */
enum diff_verified { DIFF_UNVERIFIED, DIFF_EQUAL, DIFF_UNEQUAL };

struct diff_function {
	char *name;
	enum diff_change change;
	uint64_t old_size, new_size; /* bytes, without the cold part */
	uint64_t first_change;	     /* offset in the new function; changed ones only */
	char *source;		     /* "file.c:120" of first_change, or NULL */
	VEC(char *) inlined_into;    /* functions that hold an inlined copy */
	bool has_entry;		     /* changed ones: calls are rerouted at the old one */
	VEC(char *) carried_by;	     /* without: who calls it, and is replaced for that */
	uint32_t old;		     /* changed ones: index of the external, or POKEPATCH_NONE */
	uint32_t old_cold;	     /* likewise, of the old .cold part */
	enum diff_verified verified; /* left to the caller */
};

struct diff_datum {
	char *name;
	enum diff_change change;
};

struct diff_callback {
	char *function;
	char *location; /* "file.c:120", or the unit */
	uint32_t kind; /* enum pokepatch_callback_kind */
};

struct diff_result {
	VEC(struct diff_function) functions; /* sorted by name */
	VEC(struct diff_datum) data;
	VEC(struct diff_callback) callbacks;
	bool has_output; /* the output object was written */
	bool escapes; /* addresses of new code or data are stored or passed on */
};
void diff_result_deinit(struct diff_result *result);

/*
 * diff_run - compare one pair.  Refusals are collected, all of them; with any
 * that is not a warning no output is written.  Errors: unreadable or malformed
 * input, unwritable output.
 */
struct error *diff_run(const struct diff_options *options, struct refusals *refusals,
		       struct diff_result *ret);

#endif /* POKEPATCH_DIFF_H */
