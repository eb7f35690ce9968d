/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The catalogue of fixes: patches/catalogue/, as patches/README.md describes it. */
#ifndef POKEPATCH_SCAN_CATALOGUE_H
#define POKEPATCH_SCAN_CATALOGUE_H

#include "common/args.h"
#include "common/error.h"

/*
 * catalogue_find - the paths of the diffs that a user names.
 * @what: a CVE, at least eight digits of a commit, an entry's name, or a diff's path, which has a
 *	slash in it or ends in .patch or .diff
 * @ret: the paths are added, sorted.
 * Errors: the catalogue has none, or cannot be read.
 */
struct error *catalogue_find(const char *what, struct args *ret) __attribute__((warn_unused_result));

#endif /* POKEPATCH_SCAN_CATALOGUE_H */
