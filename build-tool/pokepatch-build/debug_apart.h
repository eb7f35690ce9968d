/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A module whose debug information is in a file of its own. */
#ifndef POKEPATCH_BUILD_DEBUG_APART_H
#define POKEPATCH_BUILD_DEBUG_APART_H

#include "common/util.h"

/*
 * debug_join - write a module that has all that two files have.
 * @debug: the file with debug information and all symbols, in which the sections of the loaded
 *	module are there without contents (SHT_NOBITS), as "objcopy --only-keep-debug" and elfutils'
 *	strip -f make it.
 * @module: the module as it is installed, with few symbols, or none but those of relocations.
 * @output: the path to write.
 * Errors: one of the files cannot be read, or they are not of one build.
 */
struct error *debug_join(const char *debug, const char *module, const char *output);

/*
 * debug_is_apart - whether a file of a module has debug information and no code.  False if it
 * cannot be read.
 */
bool debug_is_apart(const char *path);

#endif /* POKEPATCH_BUILD_DEBUG_APART_H */
