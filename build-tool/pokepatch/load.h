/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loading patches and the core module: the parts of load.c that other subcommands use.
 */
#ifndef POKEPATCH_CLI_LOAD_H
#define POKEPATCH_CLI_LOAD_H

#include "common/util.h"

#define MODULE_PREFIX "pokepatch_" /* of the name of a patch's module */

struct kmod_ctx;

/* quiet_kmod_new - kmod_new() of a context that prints nothing. */
struct error *quiet_kmod_new(struct kmod_ctx **ret);

/* core_check - Errors: the file is not a core module for the release. */
struct error *core_check(struct kmod_ctx *kmod, const char *path, const char *release);

/* patch_check_loaded - Errors: the loaded patch of that name is another build than the file. */
struct patch_file;
struct error *patch_check_loaded(const struct patch_file *file);

/* A patch that is loaded for a while, and what has to be undone at the end. */
struct temporary_patch {
	char *name;   /* of the patch, as in sysfs */
	char *livepatch; /* the module's name if it is for the kernel's livepatch core, else NULL */
	bool core;    /* we inserted the core */
	bool module;  /* we inserted the patch's module */
	bool enabled; /* the caller switched the patch on, with sysfs_switch() */
};

/*
 * temporary_patch_load - load a patch unless it is loaded, without switching it on; but livepatch
 * switches a patch on when it is loaded.  After an error nothing has changed, or the error says
 * what has.
 * @what: the name of a loaded patch, or a file or name as for `pokepatch load`
 * @core: the core's file, or NULL
 */
struct error *temporary_patch_load(const char *what, const char *core, struct temporary_patch *ret);
/* temporary_patch_unload - undo the load, and the switch. */
struct error *temporary_patch_unload(struct temporary_patch *patch);
void temporary_patch_deinit(struct temporary_patch *patch);

/* load_insert - insert a module, with the options that modprobe would give. */
struct error *load_insert(struct kmod_ctx *kmod, const char *path);
/* load_stays - the error that a disabled patch's module cannot go before the next boot. */
struct error *load_stays(const char *name);
/* load_remove - remove a module, which may be in use for a moment. */
struct error *load_remove(struct kmod_ctx *kmod, const char *name);

/* require_root - Errors: we are not root. */
struct error *require_root(const char *command);
/* running_release - the running kernel's release.  Owned by the caller. */
struct error *running_release(char **ret);

#endif /* POKEPATCH_CLI_LOAD_H */
