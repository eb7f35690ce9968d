/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which files an argument of `pokepatch load` and its like stands for: a patch, and its core. */
#ifndef POKEPATCH_CLI_FIND_MODULES_H
#define POKEPATCH_CLI_FIND_MODULES_H

#include "common/error.h"

#define CORE_FILE "pokepatch.ko"

struct kmod_ctx;

/* Is an argument the path of a patch file, and not a patch's name? */
bool patch_is_path(const char *what);
/*
 * The path of the patch file that @what names for the kernel @release: as a path; or as a name, of
 * a file in the current folder or among those that are installed.  The caller frees *@ret, also
 * after an error.  Errors: there is no such file; or the one in the current folder belongs to a
 * user other than root and the caller.
 */
struct error *patch_find_file(const char *what, const char *release, char **ret);

/*
 * core_find - the file of the core module that a load of a patch takes.  The caller frees *@ret,
 * also after an error.  Errors: there is none; or the one beside the patch belongs neither to the
 * owner of the patch nor to root nor to the caller.
 * @kmod: to look where modprobe would find it, after all other places; NULL: do not
 * @given: the user's choice, or NULL
 * @patch: the patch's file: the core is looked for beside it first
 * @modules: the folder of the release's modules
 */
struct error *core_find(struct kmod_ctx *kmod, const char *given, const char *patch,
			const char *modules, char **ret);

#endif /* POKEPATCH_CLI_FIND_MODULES_H */
