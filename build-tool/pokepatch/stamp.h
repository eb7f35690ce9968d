/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stamp of a kernel in the cache: the file "fetched", which fetch writes last.  A line for each
 * package has its name, version and SHA-256, and the word "given" if the user brought it (--deb).
 */
#ifndef POKEPATCH_CLI_STAMP_H
#define POKEPATCH_CLI_STAMP_H

#include "pokepatch/apt.h"

/* stamp_path - the file's path below the kernel's folder; the caller frees it. */
char *stamp_path(const char *dir);
/* stamp_read - name, version and sha256 of each package; none if the file is missing or damaged. */
void stamp_read(const char *dir, struct apt_packages *ret);
struct error *stamp_write(const char *dir, const struct apt_packages *packages);

#endif /* POKEPATCH_CLI_STAMP_H */
