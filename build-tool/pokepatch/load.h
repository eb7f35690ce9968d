/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What loading knows of the core module's file, for those who look before. */
#ifndef POKEPATCH_CLI_LOAD_H
#define POKEPATCH_CLI_LOAD_H

#include "common/util.h"

struct kmod_ctx;

/* open_kmod - libkmod, without a word of its own; kmod_unref() it. */
struct error *open_kmod(struct kmod_ctx **ret);

/*
 * find_core - the file of the core module that a load of the file @patch would take:
 * @given if that is not NULL, or else the first that there is.  @modules: the folder of
 * the release's modules.  @kmod: to ask where modprobe would find it, or NULL.
 */
struct error *find_core(struct kmod_ctx *kmod, const char *given, const char *patch,
			const char *modules, char **ret);

/* check_core - is the file a core module for the release? */
struct error *check_core(struct kmod_ctx *kmod, const char *path, const char *release);

/* check_same_build - a patch of that name is loaded: is it this one? */
struct patch_file;
struct error *check_same_build(const struct patch_file *file);

/* A patch that was brought in for a while, and how far it had to be. */
struct brought {
	char *name;   /* of the patch, as in sysfs */
	bool core;    /* the core was inserted for it */
	bool module;  /* so was the patch */
	bool enabled; /* and switched on: by the caller, with sysfs_switch() */
};

/*
 * patch_bring - make sure that a patch is loaded, without switching it on: what names a
 * loaded patch, or a file as in `pokepatch load`.  After an error nothing has changed.
 * @core: the core's file, or NULL.
 */
struct error *patch_bring(const char *what, const char *core, struct brought *ret);
/* patch_take_away - undo that, and the switch. */
struct error *patch_take_away(struct brought *brought);
void brought_deinit(struct brought *brought);

struct error *need_root(const char *command);
struct error *running_release(char **ret);

#endif /* POKEPATCH_CLI_LOAD_H */
