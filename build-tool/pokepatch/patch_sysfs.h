/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core module's folder in sysfs, /sys/kernel/pokepatch; POKEPATCH_SYSFS in
 * the environment stands for /sys, so that tests can lay out their own.
 */
#ifndef POKEPATCH_CLI_SYSFS_H
#define POKEPATCH_CLI_SYSFS_H

#include <json-c/json.h>

#include "common/util.h"

/* sysfs_path - the path of a printf-style name below /sys; the caller's. */
char *sysfs_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* sysfs_core_loaded - is the core there? */
bool sysfs_core_loaded(void);
/* sysfs_core_version - its version, or NULL; the caller's. */
char *sysfs_core_version(void);

/* sysfs_running_build_id - of the running kernel, in hexadecimal; the caller's. */
struct error *sysfs_running_build_id(char **ret);

/* sysfs_module_build_id - of a loaded module, likewise; NULL: it has none.  The caller's. */
char *sysfs_module_build_id(const char *module);

/* sysfs_module_loaded - is there such a module? */
bool sysfs_module_loaded(const char *module);

/* sysfs_patch_name - NAME as the core has it: dashes become underscores; the caller's. */
char *sysfs_patch_name(const char *name);
/* sysfs_find_patch - that name, or an error if there is no such patch. */
struct error *sysfs_find_patch(const char *name, char **ret);

bool sysfs_patch_exists(const char *name);
bool sysfs_patch_enabled(const char *name);

/*
 * sysfs_set_timeout - how long the core may try to switch a patch, as text:
 * milliseconds, in decimal; refused here if it is anything else.
 */
struct error *sysfs_set_timeout(const char *name, const char *milliseconds);

/*
 * sysfs_set_mode - how calls of each of a disabled patch's functions shall be rerouted
 * when it is switched on: a name that the core knows ("auto", "entry", ...).
 */
struct error *sysfs_set_mode(const char *name, const char *mode);

/*
 * sysfs_set_replace - which patches a disabled one shall replace the next time that it is
 * switched on: names with commas between them, "*" for all, "" for none.
 */
struct error *sysfs_set_replace(const char *name, const char *names);

/*
 * sysfs_switch - write 1 or 0 to a patch's enabled and wait for what comes of
 * it.  Refused (STATUS_REFUSED) when tasks are in the way, who are named, or
 * when live code is not what the patch was made for.
 */
struct error *sysfs_switch(const char *name, bool on);

/* sysfs_patches - an array of objects, one for each patch, by name; the caller's. */
struct error *sysfs_patches(json_object **ret);
/*
 * sysfs_patch - everything about one patch; its member "functions" is an array
 * of objects.  What only root may read is null for others.
 */
struct error *sysfs_patch(const char *name, json_object **ret);

#endif /* POKEPATCH_CLI_SYSFS_H */
