/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Talking to the kernel's build system: the .cmd files that it leaves
 * (scripts/Kbuild.include, scripts/basic/fixdep.c), and running parts of it
 * with the environment that its top Makefile would give them.
 */
#ifndef POKEPATCH_KBUILD_H
#define POKEPATCH_KBUILD_H

#include "common/args.h"
#include "pokepatch-build/build.h"

/*
 * args_add_clean_environment - env -i and a few variables, in front of a
 * command: the user's environment reaches the kernel's Makefiles and the
 * compiler (CPATH, GCC_EXEC_PREFIX, ...) in many ways.  Temporary files go to
 * the work folder, which is removed whatever happens.
 */
void args_add_clean_environment(struct args *args, const char *work);
/* args_add_machine - to make: which machine the kernel is for, and by what, if it is not this one. */
void args_add_machine(struct args *args, const struct build *build);

/* What a .FILE.cmd says. */
struct cmd_file {
	char *command; /* as the shell got it */
	char **depends; /* files that it was made from, the source first; ends with NULL */
};
/* cmd_file_read - errors: it is not there, or not of that form. */
struct error *cmd_file_read(const char *path, struct cmd_file *ret);
void cmd_file_deinit(struct cmd_file *cmd);
/* cmd_file_path - "fs/proc/x.o" has "fs/proc/.x.o.cmd"; dir may be NULL. */
char *cmd_file_path(const char *dir, const char *target);

/*
 * shell_words - split the first command of a shell line (up to an unquoted
 * ; & | or the end) into words, with the shell's quotes.  *ret_rest: where the
 * next command starts, or NULL.  Errors: an unfinished quote, or expansions,
 * which kbuild's commands do not have.
 */
struct error *shell_words(const char *line, struct args *ret, const char **ret_rest);

/*
 * kbuild_environment - what the top Makefile of the tree exports to
 * scripts/Makefile.build, and the values of a few of its variables.
 */
struct error *kbuild_environment(const struct build *build, char ***ret);
/* kbuild_variable - the value of NAME in such an environment, or NULL. */
const char *kbuild_variable(char *const *environment, const char *name);

/*
 * kbuild_make - scripts/Makefile.build in the tree for the targets, all of
 * them even if some fail.  *ret_ok: none failed; ret_output is what make said.
 * The caller keeps other kbuilds out (ask.c), or the whole tree to itself.
 */
struct error *kbuild_make(const struct build *build, const char *directory, char *const *targets,
			  bool *ret_ok, struct buffer *ret_output);

/*
 * unit_command - compile.c: the compiler on folder/source, with the flags argv
 * as struct unit has them, to be run from the top of the tree: one section for
 * each function and object.
 */
void unit_command(const struct build *build, char *const *argv, const char *source,
		  const char *folder, const char *object, struct args *ret);

#endif /* POKEPATCH_KBUILD_H */
