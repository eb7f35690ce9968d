/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filling the cache with one kernel release; the subcommand is in fetch.c, too. */
#ifndef POKEPATCH_CLI_FETCH_H
#define POKEPATCH_CLI_FETCH_H

#include "pokepatch/apt.h"

/*
 * fetch_stamp_read - the packages that the stamp of a kernel's folder names
 * (only name, version and sha256 are set); none if there is no stamp or it is
 * damaged.
 */
void fetch_stamp_read(const char *dir, struct apt_packages *ret);

/*
 * fetch_is_complete - has the cache all of a release, as its stamp says?
 * Looks at every .deb's structure and every unpacked file's size, but reads no
 * contents, so it takes a fraction of a second.
 */
bool fetch_is_complete(const char *release);

/* fetch_newest_complete - the newest such release of a flavour; the caller's, NULL for none. */
char *fetch_newest_complete(const char *flavour);

#endif /* POKEPATCH_CLI_FETCH_H */
