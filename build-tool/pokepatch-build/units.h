/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The units that compile the changed files, and the compiler commands that kbuild has for them. */
#ifndef POKEPATCH_UNITS_H
#define POKEPATCH_UNITS_H

#include "pokepatch-build/kbuild.h"
#include "pokepatch-build/changes.h"
#include "pokepatch-build/tree.h"

/* A .c file that may be a unit that compiles changed files. */
struct candidate {
	char *source;
	bool in_vmlinux;     /* vmlinux's DWARF has a unit of this name */
	bool included;	     /* other files include it, so it may not be a unit itself */
	bool planned;	     /* the plan has it: it is a unit (plan.h) */
	bool unplanned;	     /* the plan is known, and does not have it */
	bool is_new;	     /* the diffs add it */
	bool taken;	     /* a unit was made of it */
	VEC(char *) changed; /* the changed files that it compiles; borrowed */
};

struct candidates {
	VEC(struct candidate) list; /* sorted by source */
	struct map by_source;	    /* 1 + the index, while they are being found */
};

/*
 * candidates_find - in candidates.c: find the changed files, the files that include them, and so on
 * up.  The caller frees *ret with candidates_deinit(), after errors, too.
 */
struct error *candidates_find(struct build *build, const struct source_index *index,
			      struct candidates *ret);
/*
 * candidates_find_upward - find the units that kbuild calls by a way with "..", as in
 * arch/x86/kvm/../../../virt/kvm/eventfd.c: another folder's makefile has them.
 * @lost: keys: changed source files that were found nowhere
 */
struct error *candidates_find_upward(const struct build *build, const struct source_index *index,
				     const struct map *lost, struct candidates *ret);
void candidates_deinit(struct candidates *candidates);

/*
 * file_find_newer - the file that was changed last, of a list that ends with NULL, of paths in a
 * folder, if that was after the file @than was; the caller frees it.  NULL: there is none.
 */
char *file_find_newer(const char *folder, char *const *files, const char *than);
/*
 * unit_find_edited - the file that the user changed last, of those that a unit is compiled from
 * (depends, which ends with NULL), if that was after vmlinux was linked; the caller frees it.
 * NULL: there is none, or the kernel was not built here, so that times of files mean nothing.
 */
char *unit_find_edited(const struct build *build, char *const *depends);

/* unit_refuse_edited - refuse a unit that does not fit the kernel, for its file unit->edited. */
void unit_refuse_edited(struct refusals *refusals, const struct unit *unit);

/* How kbuild compiles a unit; the functions that fill it in are in kbuild_units.c. */
struct kbuild_unit {
	struct args argv; /* the compiler and its flags, as in struct unit */
	char **depends;	  /* every file that the compiler read; ends with NULL */
	char *modname;	  /* KBUILD_MODNAME: a module, or several with colons between */
	bool module;	  /* compiled with -DMODULE */
	bool objtool;	  /* kbuild ran objtool on it */
};
void kbuild_unit_deinit(struct kbuild_unit *compiled);

/*
 * kbuild_parse_command - read argv, modname and module from the shell's line that compiles source.
 * The caller frees *ret, after errors too.
 */
struct error *kbuild_parse_command(const char *command, const char *source,
				   struct kbuild_unit *ret);

/*
 * kbuild_cut_command - cut the compiler's command out of what make prints.
 * @output: one line or more
 * @found: " -c -o OBJECT SOURCE" in it
 * @ret_source: the source; the caller frees it and the result.
 * Return: NULL if it compiles no .c or .S file.
 */
char *kbuild_cut_command(const char *output, const char *found, char **ret_source);

/*
 * kbuild_compile_units - let kbuild compile those sources that it has not compiled in this tree
 * yet, exactly as for the kernel, and read the commands that it used.
 * @sources: ends with NULL.
 * @ret: one for each source, which the caller frees; argv.list is NULL where kbuild failed.
 * @ret_output: what kbuild printed, for an error message.
 * kbuild_compile_objects - only let it compile them; they may be assembly, too.
 */
struct error *kbuild_compile_objects(struct build *build, char *const *sources,
				     struct buffer *ret_output);
struct error *kbuild_compile_units(struct build *build, char *const *sources,
				   struct kbuild_unit *ret, struct buffer *ret_output);

/*
 * kbuild_plan_units - like kbuild_compile_units(), but compile nothing (make -n).  Files that
 * kbuild generates for one unit may be missing.  depends is NULL for a unit that kbuild has not
 * compiled yet.
 */
struct error *kbuild_plan_units(const struct build *build, char *const *sources,
				struct kbuild_unit *ret);

/*
 * kbuild_is_module - would kbuild compile this file for a module?  Compiles nothing, because a file
 * that is only ever included cannot be compiled alone.
 */
struct error *kbuild_is_module(const struct build *build, const char *source, bool *ret);
/* kbuild_has_other_name - has kbuild made its object by a name with "..", and is source another? */
bool kbuild_has_other_name(const struct build *build, const char *source);
/* kbuild_output_has_module - does kbuild's output, which may be NULL, show that it would? */
bool kbuild_output_has_module(const char *output, const char *source);

/*
 * kbuild_unit_read - read how kbuild compiled a unit from a .cmd file.
 * @source: as the command calls it
 * @ret_objtool: the command of objtool, with NULL if there is none; the caller frees it.  May be
 *	NULL.
 */
struct error *kbuild_unit_read(const char *path, const char *source, struct kbuild_unit *ret,
			       char **ret_objtool);

/* unit_object_name - "fs/proc/version.o" for "fs/proc/version.c"; the caller frees it. */
char *unit_object_name(const char *source);

#endif /* POKEPATCH_UNITS_H */
