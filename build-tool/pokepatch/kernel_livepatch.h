/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patches for the kernel's own livepatch core (pokepatch-build --format livepatch), which shows
 * them, and those of other tools, in /sys/kernel/livepatch/MODULE.  The core switches a patch on
 * while its module is loaded.  A patch that was switched off has no folder there any more, and
 * cannot be switched on again.
 */
#ifndef POKEPATCH_CLI_KERNEL_LIVEPATCH_H
#define POKEPATCH_CLI_KERNEL_LIVEPATCH_H

#include <json-c/json.h>

#include "pokepatch/cli.h"
#include "pokepatch/patch_file.h"

/*
 * livepatch_find - the name of a loaded module for livepatch, by the patch's name or the module's;
 * NULL: there is none.  Owned by the caller.
 */
char *livepatch_find(const char *name);

/* livepatch_add_rows - add a row for each patch that livepatch shows, as sysfs_patches() has. */
struct error *livepatch_add_rows(json_object *rows);
/* livepatch_info - what livepatch shows of a module's patch.  Owned by the caller. */
struct error *livepatch_info(const char *module, json_object **ret);

/* livepatch_refuse_file - Errors: the file is such a module, which the command does not take. */
struct error *livepatch_refuse_file(const struct patch_file *file, const char *command);

/*
 * livepatch_load, livepatch_unload, livepatch_disable, livepatch_enable - what the commands do for
 * such a module.  Errors: STATUS_REFUSED: some tasks have used the old functions, or the new ones,
 * until the time was over; then the switch is taken back.
 */
struct error *livepatch_load(struct cli_call *call, const struct patch_file *file);
struct error *livepatch_unload(struct cli_call *call, const char *module);
struct error *livepatch_disable(struct cli_call *call, const char *module);
struct error *livepatch_enable(const char *module);

/*
 * livepatch_load_once, livepatch_remove - likewise, without a command's options.
 * @loaded: false if the patch was there before
 * Errors: as above; and the patch would replace others, which livepatch_remove() cannot bring back.
 */
struct error *livepatch_load_once(const struct patch_file *file, bool *loaded);
struct error *livepatch_remove(const char *module);
/* livepatch_require_on - Errors: the patch of a loaded module is switched off. */
struct error *livepatch_require_on(const char *module);

#endif /* POKEPATCH_CLI_KERNEL_LIVEPATCH_H */
