/* SPDX-License-Identifier: GPL-2.0-only */
/* Modules that come and go, and the patches among them: module.c. */
#ifndef POKEPATCH_MODULE_H
#define POKEPATCH_MODULE_H

#include <linux/list.h>
#include <linux/mutex.h>

/* Between tries to let go of what is in use, when a module is removed by force. */
#define PP_FORCED_PAUSE_MS 100

extern struct mutex pp_mutex;		/* everything but what says otherwise */
extern struct list_head pp_patches;	/* all; those enabled in the order of enabling */

/* Who is on top of whom has changed: number the enabled patches anew.  Under pp_mutex. */
void pp_patches_number(void);

int pp_modules_init(void);
void pp_modules_exit(void);

#endif /* POKEPATCH_MODULE_H */
