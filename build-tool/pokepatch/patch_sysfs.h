/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The core module's folder in sysfs, /sys/kernel/pokepatch.  The environment's POKEPATCH_SYSFS
 * stands for /sys, so that tests can make a folder of their own.
 */
#ifndef POKEPATCH_CLI_SYSFS_H
#define POKEPATCH_CLI_SYSFS_H

#include <json-c/json.h>

#include "common/args.h"
#include "common/util.h"

/* sysfs_path - the path of a printf-style name below /sys.  Owned by the caller. */
char *sysfs_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* sysfs_read - a file's text without its last newline, owned by the caller; or NULL. */
char *sysfs_read(const char *path);
/* sysfs_write - write to a file. */
struct error *sysfs_write(const char *path, const char *text);
/* sysfs_folders - the names of a folder's folders, sorted; free them with strings_free(). */
struct error *sysfs_folders(const char *path, char ***ret, size_t *ret_count);

/* sysfs_core_loaded - is the core module loaded? */
bool sysfs_core_loaded(void);
/* sysfs_core_version - its version, owned by the caller; NULL: it is not loaded. */
char *sysfs_core_version(void);

/* sysfs_running_build_id - the running kernel's build id in hexadecimal.  Owned by the caller. */
struct error *sysfs_running_build_id(char **ret);

/* sysfs_module_build_id - a loaded module's build id, owned by the caller; NULL: it has none. */
char *sysfs_module_build_id(const char *module);

/* sysfs_module_loaded - is the module loaded? */
bool sysfs_module_loaded(const char *module);

/*
 * sysfs_find_patch - the core's form of a patch's name, underscored(), owned by the caller.
 * Errors: no patch of that name is loaded.
 */
struct error *sysfs_find_patch(const char *name, char **ret);

bool sysfs_patch_exists(const char *name);
bool sysfs_patch_enabled(const char *name);

/* sysfs_patch_state - "enabled", "blocked" and the like, of the caller; NULL: it is not loaded. */
char *sysfs_patch_state(const char *name);
/*
 * sysfs_patch_level - the level of a loaded patch, which is cumulative; 0: it is not, or the patch
 * is not loaded.
 */
unsigned int sysfs_patch_level(const char *name);
/*
 * sysfs_other_levels - add the names of other patches than @name that have a level.
 * @on: those that are on, or else those that are off and that the core tries to switch on
 */
struct error *sysfs_other_levels(const char *name, bool on, struct args *ret);

/* sysfs_check_time - Errors: this is not a decimal number of milliseconds. */
struct error *sysfs_check_time(const char *milliseconds);
/*
 * sysfs_set_time - set a time of a patch, a decimal number of milliseconds: "timeout_ms", how long
 * the core may try to switch it; or "retry_ms", when it tries again if tasks were in the way.
 */
struct error *sysfs_set_time(const char *name, const char *attribute, const char *milliseconds);

/*
 * sysfs_set_evict - set what the core does about tasks in the way of a patch: 0, it asks them to
 * leave after a while; 1, at once; 2, it kills those that do not leave then.
 */
struct error *sysfs_set_evict(const char *name, int level);

/* sysfs_patch_retries - were tasks in the way of a switch, which the core tries again? */
bool sysfs_patch_retries(const char *name);
/* sysfs_patch_pending - is the core switching the patch, or will it try that again? */
bool sysfs_patch_pending(const char *name);

/*
 * sysfs_set_mode - set how calls to the functions of a disabled patch are rerouted when it is
 * switched on: a name that the core knows ("auto", "entry", ...).
 */
struct error *sysfs_set_mode(const char *name, const char *mode);

/*
 * sysfs_set_replace - set which patches a disabled patch replaces when it is switched on next:
 * names with commas between them, "*" for all, "" for none.
 */
struct error *sysfs_set_replace(const char *name, const char *names);

/*
 * sysfs_switch - switch a patch on or off, and wait until the core has done it or given up.
 * STATUS_REFUSED: tasks are in the way, which the text names, or the code in memory is not the one
 * for which the patch was made.  If a signal interrupts us, the core goes on: the patch is pending.
 */
struct error *sysfs_switch(const char *name, bool on);

/* sysfs_patches - an array with an object for each patch, by name.  Owned by the caller. */
struct error *sysfs_patches(json_object **ret);
/*
 * sysfs_patch - all attributes of a patch, owned by the caller.  Member "functions" is an array of
 * objects.  Attributes that we may not read are null.
 */
struct error *sysfs_patch(const char *name, json_object **ret);

#endif /* POKEPATCH_CLI_SYSFS_H */
