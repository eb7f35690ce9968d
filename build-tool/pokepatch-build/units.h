/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding the units that compile the changed files. */
#ifndef POKEPATCH_UNITS_H
#define POKEPATCH_UNITS_H

#include "pokepatch-build/kbuild.h"
#include "pokepatch-build/overlay.h"
#include "pokepatch-build/tree.h"

/* A .c file that may be a unit which compiles changed files. */
struct candidate {
	char *source;
	bool in_vmlinux;     /* vmlinux's DWARF has a unit of this name */
	bool included;	     /* others include it, so it may be no unit by itself */
	VEC(char *) changed; /* the changed files that it compiles; borrowed */
	struct overlay *overlay;
};

struct candidates {
	VEC(struct candidate) list; /* sorted by source */
};

/* candidates.c: the changed files, and every file that includes one, and so on. */
void candidates_find(const struct build *build, const struct source_index *index,
		     struct candidates *ret);
void candidates_deinit(struct candidates *candidates);

/* What kbuild said of a unit when it compiled it. */
struct answer {
	struct args argv; /* the compiler and its flags, as in struct unit */
	char **depends;	  /* every file that the compiler read; ends with NULL */
	char *modname;	  /* KBUILD_MODNAME */
	char *modfile;	  /* KBUILD_MODFILE, or NULL */
	bool module;	  /* compiled with -DMODULE */
};
void answer_deinit(struct answer *answer);

/*
 * kbuild_ask - have kbuild compile sources (ends with NULL) that it has not
 * compiled yet, each exactly as for the kernel.
 * @ret: one for each source, the caller's; argv.list is NULL where it was not
 * compiled.
 * @ret_output: what the build said, for the reader of an error.
 */
struct error *kbuild_ask(const struct build *build, char *const *sources, struct answer *ret,
			 struct buffer *ret_output);

/*
 * kbuild_plan - the commands of kbuild_ask, and nothing is compiled: what is
 * generated for a unit alone may be missing.  depends is NULL where it was not
 * compiled before.
 */
struct error *kbuild_plan(const struct build *build, char *const *sources, struct answer *ret);

/*
 * kbuild_is_module - would kbuild compile this file for a module?  Compiles
 * nothing: a file that is only ever included cannot be.
 */
struct error *kbuild_is_module(const struct build *build, const char *source, bool *ret);
/* output_says_module - does what kbuild printed say so? */
bool output_says_module(const char *output, const char *source);

char *object_name(const char *source); /* "fs/proc/version.o" */

#endif /* POKEPATCH_UNITS_H */
