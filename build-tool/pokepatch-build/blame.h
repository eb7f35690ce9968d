/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which commits of a series wrote or removed the lines that a refusal or a compiler's error is
 * about.  Each added line points into the diff that added it, so a text tells its authors by
 * itself.  Only what is removed has to be recorded.
 */
#ifndef POKEPATCH_BLAME_H
#define POKEPATCH_BLAME_H

#include "pokepatch-build/build.h"

/* How a reason leads to its commits, the surest first. */
enum blame_kind {
	BLAME_NOTHING, /* no commit has to do with it, as far as we can tell */
	BLAME_LINES,   /* they change the lines in question */
	BLAME_FILE,    /* they change the file, or one that the unit compiles */
};

/* The commits behind a reason, as indexes of build->patches, in the order of the series. */
struct culprits {
	enum blame_kind kind;
	VEC(size_t) list;
};
void culprits_deinit(struct culprits *culprits);

/*
 * blame_apply - patch_apply() for an entry of a patch of the build, with a record of what it
 * removes and of the commits whose lines it needs.  If the patch is of no series, just apply it.
 * @path: the file's path in the tree
 * Errors: those of patch_apply(); STATUS_FAILED if a hunk that had another place while more commits
 * were applied would now be put elsewhere.
 */
struct error *blame_apply(struct build *build, const struct patch_file *patch,
			  const struct patch_entry *entry, const char *path,
			  struct text_lines *lines, struct hunk_place **ret);

/* blame_failure - remember that a unit does not compile with the change: the compiler's words. */
void blame_failure(struct build *build, const struct unit *unit, const char *output);

/* blame_refusal - find the commits behind a refusal. */
void blame_refusal(const struct build *build, const struct refusal *refusal, struct culprits *ret);

/* What the compiler said of a unit. */
struct compile_failure {
	const struct unit *unit;
	char *output;
	char *line; /* the first line with an error, or the first line */
};
/* blame_compile - find the commits behind a unit's errors. */
void blame_compile(const struct build *build, const struct compile_failure *failure,
		   struct culprits *ret);
/* blame_failures - the units that do not compile with the change. */
const struct compile_failure *blame_failures(const struct build *build, size_t *ret_count);

/* blame_changes_path - does the patch change the file at path? */
bool blame_changes_path(const struct patch *patch, const char *path);

/* blame_destroy - free; NULL is allowed. */
void blame_destroy(struct blame *blame);

#endif /* POKEPATCH_BLAME_H */
