/* SPDX-License-Identifier: GPL-2.0-only */
/* Modules that come and go, and the patches among them: module.c. */
#ifndef POKEPATCH_MODULE_H
#define POKEPATCH_MODULE_H

#include <linux/list.h>
#include <linux/mutex.h>

/* The pause between attempts to release what is in use, when a module is removed by force. */
#define PP_FORCED_PAUSE_MS 100

/* Guards all state of the core that no other lock guards.  See DESIGN.md, "Locks". */
extern struct mutex pp_mutex;
/* All patches; the enabled ones in the order in which they were enabled.  Under pp_mutex. */
extern struct list_head pp_patches;

/* The enabled patches, or their order, have changed: number them anew.  Under pp_mutex. */
void pp_patches_number(void);

int pp_modules_init(void);
void pp_modules_exit(void);

#endif /* POKEPATCH_MODULE_H */
