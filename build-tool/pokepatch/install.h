/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patches that are loaded at every boot: /lib/modules/RELEASE/pokepatch has a copy of
 * each, and of the core.  'pokepatch load --installed', which the unit pokepatch.service
 * runs, loads them.
 */
#ifndef POKEPATCH_CLI_INSTALL_H
#define POKEPATCH_CLI_INSTALL_H

#include "common/util.h"

/*
 * installed_name - the name of the file of patch NAME: "pokepatch-NAME.ko", with dashes,
 * since underscores and dashes are the same in a patch's name.  The caller's.
 */
char *installed_name(const char *name);

/*
 * installed_files - the paths of a folder's patches, in the order in which they were
 * installed (by the time of the file, then by name), NULL at the end; the caller's, each
 * and the list.  A folder that is not there has none.
 */
struct error *installed_files(const char *folder, char ***ret, size_t *ret_count);

#endif /* POKEPATCH_CLI_INSTALL_H */
