/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Single files of a .deb, without unpacking the rest.  A package with debug information unpacks to
 * 1.7 GB, of which most builds read vmlinux alone.
 */
#ifndef POKEPATCH_DEB_H
#define POKEPATCH_DEB_H

#include "common/args.h"
#include "common/util.h"

/*
 * deb_files - the regular files in a package, by its md5sums (deb-md5sums(5)): paths without a
 * slash at the beginning.
 * @ret: the paths are added to it; none if the package has no md5sums.
 */
struct error *deb_files(const char *deb, struct args *ret);

/*
 * deb_extract_command - the command that extracts files of a package below the folder root, which
 * must exist, and ends as soon as it has all.
 * @files: paths as deb_files() gives them; ends with NULL.
 */
void deb_extract_command(const char *deb, char *const *files, const char *root, struct args *ret);

/*
 * deb_extract_files - extract files to their places below @root, each in one step: others may do
 * the same at the same time.  The package is read once.
 * @files: paths as deb_files() gives them, at least one
 * @above: a folder in the same file system, for a temporary one whose name ends in .tmp.
 * @ret_damaged: whether an error came from a package that is cut off or of which bytes changed
 * Errors: the package has not all of the files, one is not what the package's md5sums say, or the
 *	disk is full.  Then none is extracted, unless only a rename failed.
 */
struct error *deb_extract_files(const char *deb, const struct args *files, const char *root,
				const char *above, bool *ret_damaged);

#endif /* POKEPATCH_DEB_H */
