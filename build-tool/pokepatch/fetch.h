/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which kernel releases are complete in the cache; fetch.c also has the subcommand. */
#ifndef POKEPATCH_CLI_FETCH_H
#define POKEPATCH_CLI_FETCH_H

#include "common/util.h"

/*
 * fetch_is_complete - does the cache have all files of all packages in a release's stamp?  Checks
 * the size of every unpacked file, and the structure of every .deb that is still there, but reads
 * no contents, so it takes a fraction of a second.
 */
bool fetch_is_complete(const char *release);

/*
 * fetch_has_modules - are all modules of the debug package unpacked?  If not, the package stays in
 * the cache, because a build may need one of them.
 */
bool fetch_has_modules(const char *release);

/* fetch_newest_complete - the newest complete release of a flavour, owned; NULL: none. */
char *fetch_newest_complete(const char *flavour);

#endif /* POKEPATCH_CLI_FETCH_H */
