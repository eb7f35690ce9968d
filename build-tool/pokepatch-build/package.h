/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * linux-livepatch-RELEASE: a Debian package with the cumulative patch of a kernel and the core
 * module for it, so that a machine needs no compiler.  The package's version is the level; level 0
 * has the core alone, and is there to be upgraded.
 */
#ifndef POKEPATCH_PACKAGE_H
#define POKEPATCH_PACKAGE_H

#include "common/util.h"

struct build;

/* package_file_name - "linux-livepatch-RELEASE_LEVEL_ARCH.deb", of the caller; @arch: Debian's. */
char *package_file_name(const char *release, unsigned int level, const char *arch);

/*
 * package_write - make the package of build->ko, which is NULL for level 0, and of the core, and
 * write it to build->output.  The same modules give the same bytes: files have the time of
 * SOURCE_DATE_EPOCH, or else the time of the kernel's image.  Errors: dpkg-deb fails, or a file
 * cannot be written; then there is no output.
 */
struct error *package_write(struct build *build);

#endif /* POKEPATCH_PACKAGE_H */
