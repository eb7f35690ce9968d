/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's modules with debug information. */
#ifndef POKEPATCH_MODULES_H
#define POKEPATCH_MODULES_H

#include "pokepatch-build/build.h"

/*
 * modules_find - the path of a module by its name ("nf_tables"), below lib/modules/R, ending in .ko
 * ("kernel/net/netfilter/nf_tables.ko"); the caller frees it, NULL: there is no such module.
 */
struct error *modules_find(const struct build *build, const char *name, char **ret);

/*
 * modules_find_below - the same in a folder, a path in it; ending in .ko, also if it is packed.
 */
struct error *modules_find_below(const char *folder, const char *name, char **ret);

/*
 * modules_with_function - add the names of the modules that have a function of this name, or clones
 * of it, exported or not (module_search.c).  Packed modules are left out: to unpack all takes long.
 */
struct error *modules_with_function(const struct build *build, const char *function,
				    struct args *ret);

/* module_name_of_file - make a file's name without .ko, in place, the module's: "nf_tables". */
void module_name_of_file(char *name);
/*
 * module_names_add - add the names of the modules that have an object.
 * @modname: KBUILD_MODNAME: all that consist of several objects, with colons between
 * @alone: the one that consists of this object alone, which KBUILD_MODNAME lacks if there are
 *	others (modname-multi in scripts/Makefile.lib); or NULL
 */
void module_names_add(const char *modname, const char *alone, struct args *ret);

/*
 * modules_file - the file of a module with debug information, which is extracted from its package
 * when it is needed for the first time.  The caller frees it.  What is packed in a folder that the
 * user gave, or has its debug information apart, is in the work folder.
 * @path: as from modules_find(); an absolute one, of --module-source, is the file itself.
 * Errors: it cannot be extracted or unpacked; its package is not there or damaged, and --fetch was
 *	not given; there is debug information without the module.  The file may be missing in a
 *	folder that the user gave.
 */
struct error *modules_file(struct build *build, const char *path, char **ret);

/*
 * modules_read_ahead - extract all modules that the units need and that are not there, which takes
 * about as long as one of them: the package is read once.  What fails is left to modules_file(),
 * which tries again and has the error.
 */
void modules_read_ahead(struct build *build);

#endif /* POKEPATCH_MODULES_H */
