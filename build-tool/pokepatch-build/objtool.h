/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Running the kernel's objtool on objects, with the flags that the kernel's own build uses. */
#ifndef POKEPATCH_OBJTOOL_H
#define POKEPATCH_OBJTOOL_H

#include "common/args.h"
#include "pokepatch-build/build.h"

/* What an object is to objtool. */
enum objtool_kind {
	OBJTOOL_MODULE,  /* code that the module loader will load */
	OBJTOOL_BUILTIN, /* code of vmlinux */
};

/*
 * objtool_add_command - add the command that runs objtool; the caller adds the object, which
 * objtool rewrites.  The command runs in build->core.dir.  build->core.objtool must not be NULL.
 */
void objtool_add_command(const struct build *build, enum objtool_kind kind, struct args *ret);

struct objtool_job {
	enum objtool_kind kind;
	bool link; /* the object has several units */
	const char *object;
	struct buffer said; /* gets what objtool printed; the caller frees it, after errors, too */
};

/*
 * objtool_run_jobs - run objtool on each of the objects, side by side.  Warnings are no error.
 * Errors: objtool fails.
 */
struct error *objtool_run_jobs(const struct build *build, struct objtool_job *jobs, size_t count);

/*
 * unwound_object - where link.c puts a copy of the patched object of a unit, for the proof, over
 * which objtool has run; of the glue for unit build->nr_units.  NULL: the proof needs none.  The
 * caller frees it.
 */
char *unwound_object(const struct build *build, size_t unit);

/*
 * objtool_finish_exact - for a kernel whose objtool ran late (build->objtool_late): run objtool
 * over a copy of each unit's exact object, and have the unit name the copy.
 */
struct error *objtool_finish_exact(struct build *build);

#endif /* POKEPATCH_OBJTOOL_H */
