/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is unpacked of the package linux-image-R-dbg at first; builds extract the rest. */
#ifndef POKEPATCH_CLI_DBG_PACKAGE_H
#define POKEPATCH_CLI_DBG_PACKAGE_H

#include "common/util.h"

/*
 * dbg_package_first - the file of the package to unpack at first, vmlinux; for strings_free().
 * NULL: the package does not say what is in it, so all of it has to be unpacked.
 */
struct error *dbg_package_first(const char *deb, const char *release, char ***ret);

/*
 * dbg_package_complete - after that, make the link to vmlinux below @root, and the folder of the
 * modules, which is empty.
 */
struct error *dbg_package_complete(const char *root, const char *release);

#endif /* POKEPATCH_CLI_DBG_PACKAGE_H */
