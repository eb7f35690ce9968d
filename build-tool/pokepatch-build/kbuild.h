/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface to the kernel's build system: the .cmd files that kbuild leaves
 * (scripts/Kbuild.include, scripts/basic/fixdep.c), and running scripts/Makefile.build with the
 * environment that the kernel's top Makefile would give it.
 */
#ifndef POKEPATCH_KBUILD_H
#define POKEPATCH_KBUILD_H

#include "common/args.h"
#include "pokepatch-build/build.h"

/*
 * args_add_machine - add variables for make: ARCH= and CROSS_COMPILE=, if the kernel is for another
 * machine than this one, and the tools that built the kernel, if kbuild would choose others.
 */
void args_add_machine(struct args *args, const struct build *build);

/* The contents of a .FILE.cmd. */
struct cmd_file {
	char *command; /* as kbuild passed it to the shell */
	char **depends; /* files that the target was made from, the source first; ends with NULL */
};
/*
 * cmd_file_read - read a .cmd file; the caller frees *ret with cmd_file_deinit().
 * Errors: the file cannot be read, or it has another form.
 */
struct error *cmd_file_read(const char *path, struct cmd_file *ret);
void cmd_file_deinit(struct cmd_file *cmd);
/*
 * cmd_file_path - "dir/fs/proc/.x.o.cmd" for target "fs/proc/x.o"; dir may be NULL.  The caller
 * frees the string.
 */
char *cmd_file_path(const char *dir, const char *target);

/*
 * shell_split - split the first command of a shell line (up to an unquoted ; & | or the end) into
 * words, by the shell's rules for quotes.
 * @ret: the words are added to it, also before an error.
 * @ret_rest: the start of the next command, or NULL.
 * Errors: an unfinished quote, or an expansion ($ or `), which kbuild's commands do not have.
 */
struct error *shell_split(const char *line, struct args *ret, const char **ret_rest);

/*
 * kbuild_read_environment - read what the tree's top Makefile exports to scripts/Makefile.build.
 * @ret: "NAME=VALUE" strings, ends with NULL; the caller frees it with strings_free().
 * Errors: STATUS_FAILED if the Makefile does not run.
 */
struct error *kbuild_read_environment(const struct build *build, char ***ret);
/* kbuild_variable - the value of NAME in such an environment, or NULL; part of the environment. */
const char *kbuild_variable(char *const *environment, const char *name);

/*
 * kbuild_make - run scripts/Makefile.build in the tree for all targets (make -k).
 * @ret_ok: no target failed.
 * @ret_output: what make printed is appended.
 *
 * The caller must hold the lock that keeps other runs of kbuild out (see kbuild_units.c), or the
 * tree's lock exclusively.  Errors: make cannot be run.
 */
struct error *kbuild_make(const struct build *build, const char *directory, char *const *targets,
			  bool *ret_ok, struct buffer *ret_output);

enum side { SIDE_ORIGINAL, SIDE_PATCHED, SIDES };

/* side_folder - in compile.c: where the commands of a side run, and find their files. */
const char *side_folder(const struct build *build, enum side side);
/*
 * compile_add_options - in compile.c: add what each object is compiled with besides kbuild's flags:
 * a section for each function and object, and all debug information about types.
 */
void compile_add_options(const struct build *build, const char *object, struct args *ret);
/*
 * unit_add_command - in compile.c: add the command that compiles source to object, with one section
 * for each function and object.  argv holds compiler and flags as in struct unit.  The command runs
 * in folder: the tree, or a shadow of it, whose name stays out of the object.
 */
void unit_add_command(const struct build *build, char *const *argv, const char *source,
		      const char *folder, const char *object, struct args *ret);
/*
 * preprocess_add_option - in compile.c: have GCC's preprocessor take two thirds of the time.  Its
 * text is the same, but that __LINE__ in an argument of a macro may be another of its lines.
 */
void preprocess_add_option(const struct build *build, struct args *ret);

#endif /* POKEPATCH_KBUILD_H */
