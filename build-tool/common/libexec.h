/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where our programs find each other.  Some have a folder of their own, because other programs run
 * them and users do not: a compiler looks for its assembler there (gcc -B).
 */
#ifndef POKEPATCH_LIBEXEC_H
#define POKEPATCH_LIBEXEC_H

#include "common/error.h"

/*
 * libexec_find - the folder that holds the program @name: an absolute path with a slash at its
 * end.  The folder lies beside the one of this program, as built or as installed.
 * Errors: no such folder has the program.
 */
struct error *libexec_find(const char *name, char **ret) __attribute__((warn_unused_result));

/*
 * program_find - the path of the program @name for users and administrators (bin, sbin), beside
 * this program, as built or as installed.
 * Errors: it is in neither folder.
 */
struct error *program_find(const char *name, char **ret) __attribute__((warn_unused_result));

#endif /* POKEPATCH_LIBEXEC_H */
