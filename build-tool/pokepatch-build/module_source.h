/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patching out-of-tree modules, whose source and build are in the folder of --module-source.  Each
 * unit is compiled by the command that kbuild has left beside its object (.foo.o.cmd).  Nothing is
 * written to the folder.
 *
 * A changed file of the folder has its path in it, so "main.c" may be DIR/main.c.  A file that both
 * the folder and the kernel's source have is the folder's.
 */
#ifndef POKEPATCH_MODULE_SOURCE_H
#define POKEPATCH_MODULE_SOURCE_H

#include "common/args.h"
#include "pokepatch-build/build.h"

/*
 * module_source_open - set build->module_source, if --module-source is given.
 * Errors: STATUS_FAILED if the folder is missing or no folder, or has no Kbuild or Makefile, or no
 *	module.
 */
struct error *module_source_open(struct build *build);

/*
 * module_source_find - the path of a file of the folder, given its path in it; the caller frees it.
 * NULL: the folder has no such file, or there is no --module-source.
 */
char *module_source_find(const struct build *build, const char *path);
bool module_source_has(const struct build *build, const char *path);

/* module_source_has_place - does the folder have the one that a new file would be in? */
bool module_source_has_place(const struct build *build, const char *path);

/* module_source_refuse_uncompiled - refuse a changed file from which no module was compiled. */
void module_source_refuse_uncompiled(struct build *build, const char *path);

/*
 * module_source_add_units - add the units that are compiled from changed files of the folder to
 * build->units, one for each module that has the object, and compile their exact objects.
 * Errors: STATUS_FAILED if a unit does not compile unchanged, or its module is of another kernel.
 */
struct error *module_source_add_units(struct build *build);

/*
 * module_source_write - write the shadow: a folder in which the changed files have their new text,
 * and all others are links to --module-source.
 */
struct error *module_source_write(struct build *build);

/*
 * module_source_add_command - add the command that compiles a unit of the folder to object, with
 * one section for each function and object.  It runs in the folder module_source_cwd().
 * @patched: from the shadow, else from --module-source
 */
void module_source_add_command(const struct build *build, const struct unit *unit, bool patched,
			       const char *object, struct args *ret);
/*
 * module_source_check_read - Errors: for the patched side of a unit, the compiler has read a file
 * that the diff changes in the folder itself, and so as it was.
 */
struct error *module_source_check_read(const struct build *build, const struct unit *unit,
				       const char *file);
/* module_source_name - a file as the compiler names it: its path in the folder, or all of file. */
const char *module_source_name(const struct build *build, const char *file);
/* module_source_cwd - where the compiler runs: as kbuild ran it, in the kernel's build folder. */
const char *module_source_cwd(const struct build *build);

/* module_unit_destroy - free unit->outside; NULL is allowed. */
void module_unit_destroy(struct module_unit *unit);

#endif /* POKEPATCH_MODULE_SOURCE_H */
