/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The differ's interface: compare the original and the patched object of a unit, and write a third
 * object with what a patch must include.  The differ is a library: it prints nothing and keeps no
 * state between calls.
 */
#ifndef POKEPATCH_DIFF_H
#define POKEPATCH_DIFF_H

#include "diff/listing.h"
#include "object/parent.h"
#include "object/symvers.h"
#include "pokepatch_format.h"
#include "common/util.h"
#include "types/types.h"

/*
 * Symbols that the patch refers to and that the module loader cannot resolve.  All units of a build
 * share one list.  Rows of output objects (diff_rows.h) name an entry by its index.
 */
struct external {
	char *link_name; /* name of the undefined symbol in output objects */
	char *name;	 /* its name in the parent */
	const struct parent *parent;	    /* NULL: no symbol table was given */
	const struct parent_symbol *symbol; /* NULL: likewise */
};
/* A static function or variable of the kernel that the patch makes global (promoted.h). */
struct promoted {
	char *name; /* in the patched object */
	struct parent *parent;
	const struct parent_symbol *symbol;
	struct diff_result *lender; /* of the unit that defines it */
};
struct externals {
	VEC(struct external *) list;
	VEC(const struct parent *) parents; /* those with callbacks */
	struct map by_link_name; /* index + 1 */
	struct map by_place;	 /* "parent:order", index + 1 */
	VEC(struct promoted *) promoted_list;
	struct map promoted;	 /* struct promoted *, by "parent:name" and by name */
	VEC(char *) keys;
};
void externals_deinit(struct externals *externals);

/* diff_callback_name - word for an enum pokepatch_callback_kind, such as "pre-patch". */
const char *diff_callback_name(uint32_t kind);

/*
 * Opens a module.
 * @name: path or name of the module, as Module.symvers has it
 * @ret: NULL if there is no such module
 */
typedef struct error *(*open_module_fn)(void *context, const char *name, struct parent **ret);

struct authored_lines;

struct diff_options {
	/* Source file, for messages: "net/ipv4/tcp.c"; NULL: use the original's FILE symbol. */
	const char *unit;
	const char *orig, *patched;    /* compiler output, split sections, before objtool */
	const char *out;	       /* written if anything changed; NULL: compare only */
	struct parent *parent;	       /* NULL: resolve no symbols */
	struct parent *vmlinux;	       /* NULL: likewise */
	const struct symvers *symvers; /* NULL: likewise */
	open_module_fn open_module;    /* opens modules that export a symbol; or NULL */
	void *context;		       /* of open_module and is_touched */
	/* Has the author changed the source of this function (touched.h)?  NULL: not known. */
	bool (*is_touched)(void *context, const char *location, const char *name);
	struct externals *externals;
	uint32_t mode;		       /* enum pokepatch_mode of the functions */
	bool live;		       /* the patch is switched while its functions run */
	bool explain;		       /* find out why functions differ */
	bool withdraws;		       /* the core has pokepatch_withdrawn() */
	bool livepatch;		       /* the kernel's own core switches the patch */
	bool list_code;		       /* disassemble changed and new functions (listing.h) */
	/* Lines of patched that the author wrote (line_numbers.h); NULL: not known. */
	const struct authored_lines *authored;
};

enum diff_change { DIFF_CHANGED, DIFF_NEW, DIFF_REMOVED };

/* Does the parent hold the same code as the compiled original? */
enum diff_verified { DIFF_UNVERIFIED, DIFF_EQUAL, DIFF_UNEQUAL };

/* A function of the original, and where that defines it. */
struct diff_place {
	char *name;
	char *location; /* "file.c:118" */
};

struct diff_function {
	char *name;
	enum diff_change change;
	uint64_t old_size, new_size; /* bytes, without the .cold part */
	uint64_t first_change;	     /* offset in the new function; DIFF_CHANGED only */
	char *source;		     /* "file.c:120" of first_change, or NULL */
	/* With diff_options.explain, and only of those that are DIFF_CHANGED. */
	char *location;		     /* "file.c:118" where the original defines it, or NULL */
	VEC(struct diff_place) touched_inlined; /* what is_touched() says yes to, inlined into it */
	char *inlined_from;	     /* whose inlined copy has first_change, or NULL */
	struct listing old_code, new_code; /* with diff_options.list_code; else empty */
	VEC(char *) inlined_into;    /* functions that hold an inlined copy */
	bool was_global;	     /* DIFF_REMOVED: other units could use it */
	bool has_entry;		     /* DIFF_CHANGED: calls are rerouted at a patchable entry */
	uint8_t overwrites;	     /* bytes of instructions that the core overwrites, or 0 */
	bool only_carries;	     /* DIFF_CHANGED: a carrier that has not changed itself */
	VEC(char *) carried_by;	     /* its carriers, if it is a carried function */
	VEC(char *) carries;	     /* the functions for which it is replaced, as a carrier */
	/* DIFF_CHANGED: index of the external for the old function, or POKEPATCH_NONE. */
	uint32_t old;
	uint32_t old_cold;	     /* the same for its .cold part */
	enum diff_verified verified; /* set by the caller of diff_run() */
};

struct diff_datum {
	char *name;
	enum diff_change change;
};

struct diff_callback {
	char *function;
	char *location; /* "file.c:120", or the unit */
	uint32_t kind;	/* enum pokepatch_callback_kind */
};

struct diff_result {
	VEC(struct diff_function) functions; /* sorted by name */
	VEC(struct diff_datum) data;
	VEC(struct diff_callback) callbacks;
	VEC(char *) missing; /* names that it found in no unit of its parent; may repeat */
	bool lends; /* another unit uses one of its statics, which is global now */
	struct type_changes types; /* sorted by name; empty without debug information */
	bool has_output; /* the output object was written */
	bool escapes; /* included code stores or passes on the address of new code or data */
};
void diff_result_deinit(struct diff_result *result);

/*
 * diff_is_late - whether a unit that was compared later makes a symbol global that this one needs,
 * so that this one must be compared again.
 */
bool diff_is_late(const struct diff_options *options, const struct diff_result *result);

/*
 * diff_run - compare one pair of objects, and write the output object if they differ.  It collects
 * all refusals and goes on; if any of them is not a warning, it writes no output.  Errors:
 * unreadable or malformed input, unwritable output.
 */
struct error *diff_run(const struct diff_options *options, struct refusals *refusals,
		       struct diff_result *ret);

#endif /* POKEPATCH_DIFF_H */
