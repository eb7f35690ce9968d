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
 * makefiles_judge - set note or reason of each change, all of which are made together.
 *
 * Runs make in the work folder, in a shadow of the prepared tree.
 */
struct error *makefiles_judge(const struct build *build, struct makefile_change *changes,
			      size_t count);

/* makefile_first_difference - the first difference between two outputs of make -n, or NULL. */
char *makefile_first_difference(const char *old_output, const char *new_output);

#endif /* POKEPATCH_MAKEFILE_CHANGE_H */
