/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of a module that modpost writes (NAME.mod.c): struct module, the versions of the symbols
 * that the module needs, and modinfo.
 */
#ifndef POKEPATCH_MODULE_PART_H
#define POKEPATCH_MODULE_PART_H

#include "pokepatch-build/build.h"

/*
 * module_part_make - make that part's object.
 * @module: "pokepatch-fix"
 * @source: modpost's output
 * @object: the new file
 *
 * Only the name and the versions differ between the patches for a kernel.  They are put into an
 * object that is compiled once, without them, and kept beside the core.
 * Errors: the compiler fails, or files cannot be read or written.
 */
struct error *module_part_make(const struct build *build, const char *module, const char *source,
			       const char *object);

/* module_parts_folder - where objects are kept that many modules of a kernel have; owned. */
char *module_parts_folder(const struct build *build);

#endif /* POKEPATCH_MODULE_PART_H */
