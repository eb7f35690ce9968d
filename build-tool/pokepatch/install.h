/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Installed patches, which are loaded at every boot.  /lib/modules/RELEASE/pokepatch has copies of
 * them and of the core.  The unit pokepatch.service loads them with 'pokepatch load --installed'.
 */
#ifndef POKEPATCH_CLI_INSTALL_H
#define POKEPATCH_CLI_INSTALL_H

#include "common/util.h"

/*
 * installed_name - the file name of a patch, "pokepatch-NAME.ko".  Underscores become dashes, since
 * both mean the same in a patch's name.  Owned by the caller.
 */
char *installed_name(const char *name);

/*
 * installed_files - the paths of the patches in a folder, in the order in which they were
 * installed: by the file's time, then by name.  The list ends with NULL; for strings_free().  A
 * missing folder has no patches.
 */
struct error *installed_files(const char *folder, char ***ret, size_t *ret_count);

/*
 * installed_for - the paths of all patches that are loaded when a release boots: of the package
 * linux-livepatch-RELEASE, in /lib/modules/RELEASE/livepatch, and then of installed_files().
 */
struct error *installed_for(const char *release, char ***ret, size_t *ret_count);

#endif /* POKEPATCH_CLI_INSTALL_H */
