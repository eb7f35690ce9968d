/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guard against crash loops.  Before a patch with a level is switched on, /var/lib/pokepatch gets
 * a file `pending-NAME` that names the boot and the patch.  It is removed when the machine has
 * lived for a minute with the patch, is shut down, or has switched another level on.  If a later
 * boot finds it, the machine went down: the file `crashed` names the patch of the newest such file
 * from then on, and that build of it is not loaded again.  The environment's
 * POKEPATCH_STATE stands for /var/lib/pokepatch, for tests.
 */
#ifndef POKEPATCH_CLI_CRASH_GUARD_H
#define POKEPATCH_CLI_CRASH_GUARD_H

#include "common/util.h"

struct patch_file;

/*
 * crash_guard_begin - note that the patch is about to be loaded.  Errors: STATUS_REFUSED, the
 * machine went down with it; STATUS_FAILED, the note cannot be written.
 */
struct error *crash_guard_begin(const struct patch_file *file);
/* crash_guard_failed - the patch @name was not switched on after all. */
void crash_guard_failed(const char *name);
/*
 * crash_guard_succeeded - the patch @name is on, or the core goes on trying: a process of its own
 * removes the note when it has been on for a minute.
 */
void crash_guard_succeeded(const char *name);

/* crash_guard_is_crashed - did the machine go down with this build of the patch? */
bool crash_guard_is_crashed(const struct patch_file *file);

#endif /* POKEPATCH_CLI_CRASH_GUARD_H */
