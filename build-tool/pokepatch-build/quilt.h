/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Series of patches as quilt(1) keeps them: a folder with the patches, and a file "series" that
 * names them in their order.  Debian's source packages have such folders (dpkg-source(1), format
 * 3.0).
 */
#ifndef POKEPATCH_QUILT_H
#define POKEPATCH_QUILT_H

#include "common/util.h"

struct quilt_patch {
	char *name;	    /* path from the folder of the series */
	unsigned int strip; /* -pN: folders in front of the names in the diff */
};

struct quilt_series {
	VEC(struct quilt_patch) list;
};

/*
 * quilt_read - read the names in a file "series".  The caller frees *ret, after errors, too.
 * Errors: STATUS_FAILED, with the line, for an option other than -pN.
 */
struct error *quilt_read(const char *path, struct quilt_series *ret);
void quilt_deinit(struct quilt_series *series);

/*
 * quilt_apply - apply all patches of a series to the files below tree.
 * @folder: has the patches and the file series
 * @left_out: folders that tree lacks, and whose files are passed over; ends with NULL
 * Errors: a patch does not apply; the text names patch, line and file.  tree is then half patched.
 */
struct error *quilt_apply(const char *folder, const char *tree, char *const *left_out);

#endif /* POKEPATCH_QUILT_H */
