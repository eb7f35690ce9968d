/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs unpacked from packages of a Debian whose libraries this machine may not have. */
#ifndef POKEPATCH_CLI_PROGRAMS_H
#define POKEPATCH_CLI_PROGRAMS_H

#include "common/util.h"

/* Increment this when programs that an earlier version wrapped cannot be used any more. */
#define PROGRAMS_FORMAT 1

/* A folder that is being filled, and its path when it is complete. */
struct programs_folder {
	const char *now, *later;
};

/*
 * programs_wrap - make this machine's programs below a folder run with the libraries below another
 * one: each program P becomes P.real, and P a script that runs it by the loader there.  Both
 * folders may be moved together.
 * @programs: is searched in usr/bin, usr/lib and usr/libexec.
 * @libraries: has the loader and libc; programs whose loader it lacks are left alone.
 */
struct error *programs_wrap(const struct programs_folder *programs,
			    const struct programs_folder *libraries);

/*
 * programs_trim - remove from an unpacked compiler what compiling a kernel does not need, and make
 * the links /lib and /lib64 that packages since Debian 13 expect, and those by which the compiler
 * finds its own as and ld.
 */
struct error *programs_trim(const char *root);

#endif /* POKEPATCH_CLI_PROGRAMS_H */
