/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The programs of the package linux-kbuild (modpost, objtool, genksyms, ...), for kernels whose own
 * version of it has gone from the archive.  They are built from the kernel's source, and lie where
 * the headers package expects them.
 */
#ifndef POKEPATCH_CLI_KBUILD_PROGRAMS_H
#define POKEPATCH_CLI_KBUILD_PROGRAMS_H

#include "common/util.h"

/* Increment this when programs that an earlier version built cannot be used any more. */
#define KBUILD_PROGRAMS_FORMAT 2

/* Approximate bytes that the source takes up. */
#define KBUILD_PROGRAMS_ROOM 800000000

struct kbuild_programs {
	const char *release;
	const char *source; /* linux-source-V.tar.xz of the kernel's version */
	const char *dir;    /* the kernel's folder in the cache, locked; the source stays there */
	const char *work;   /* a folder to make and to remove, in the same file system */
};

/*
 * kbuild_programs_check - can the programs for a release be built on this machine?
 * Errors: tools are missing; the text has the command that installs them.
 */
struct error *kbuild_programs_check(const char *release);

/*
 * kbuild_programs_build - build the programs into the unpacked headers, with the headers'
 * configuration.  Removes the work folder after an error too.  The unpacked source stays for
 * the first build of a patch (source_unpack_ahead()).
 * @headers: the folder that has usr/src/linux-headers-RELEASE
 */
struct error *kbuild_programs_build(const struct kbuild_programs *programs, const char *headers);

#endif /* POKEPATCH_CLI_KBUILD_PROGRAMS_H */
