/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether changes to makefiles change how this kernel is compiled.
 *
 * make -n prints every command that kbuild would run for a folder.  If it prints the same with the
 * old makefiles and with the new ones, the change adds and removes only what this kernel does not
 * have.
 */
#ifndef POKEPATCH_MAKEFILE_CHANGE_H
#define POKEPATCH_MAKEFILE_CHANGE_H

#include "pokepatch-build/build.h"

/* A changed makefile, in kbuild's sense: Makefile, Kbuild, Makefile.kvm. */
struct makefile_change {
	const char *path;     /* in the tree; borrowed, as the texts are */
	const char *old_text; /* NULL: the change adds the file */
	const char *new_text; /* NULL: the change removes it */
	const char *note;     /* why nothing follows from it; constant */
	char *reason;         /* the first thing that would change, owned; NULL: nothing does */
};

/*
 * makefiles_judge - set note or reason of each change, all of which are made together.  That a new
 * source file of the diffs is compiled and linked is no reason: its command is noted with it.
 *
 * Runs make in the work folder, in a shadow of the prepared tree.
 */
struct error *makefiles_judge(const struct build *build, struct makefile_change *changes,
			      size_t count);

/* The objects of source files that the diffs add. */
struct added_objects {
	VEC(char *) names;	/* "fs/new.o" */
	VEC(char *) commands;	/* of each, the line of make -n that compiles it; or NULL */
	struct map places;	/* from a name to 1 + the index in both */
};
/* added_objects_add - add an object, whose name it takes over. */
void added_objects_add(struct added_objects *added, char *name);
void added_objects_deinit(struct added_objects *added);

/*
 * makefile_first_difference - the first difference between two outputs of make -n, or NULL.
 * @added: get the commands that the new output has for them, which are no difference
 */
char *makefile_first_difference(const char *old_output, const char *new_output,
				struct added_objects *added);

#endif /* POKEPATCH_MAKEFILE_CHANGE_H */
