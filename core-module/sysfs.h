/* SPDX-License-Identifier: GPL-2.0-only */
/* The files in /sys/kernel/pokepatch: sysfs.c. */
#ifndef POKEPATCH_SYSFS_H
#define POKEPATCH_SYSFS_H

#include <linux/types.h>

#include "pp_patch.h"

struct bin_attribute;

int pp_sysfs_init(void);
void pp_sysfs_exit(void);
/*
 * Add the folder of @patch, with all its files. May sleep; must not be called under pp_mutex.
 * Return: 0 or an error (logged).
 */
int pp_sysfs_add(struct pp_patch *patch);
/* From now on @patch can be switched.  Takes op; must not be called under pp_mutex. */
void pp_sysfs_ready(struct pp_patch *patch);
/* Remove the folder of @patch, and wait for all tasks that use one of its files. */
void pp_sysfs_remove(struct pp_patch *patch);
/* Set the state of @patch, and wake the tasks that poll its file. */
void pp_sysfs_state(struct pp_patch *patch, enum pp_state state);
/* pp_sysfs_give_up - a switch that failed is not tried again. The caller holds op. */
void pp_sysfs_give_up(struct pp_patch *patch);
/* Add a file beside the patches' folders.  Removing it waits for all tasks that use it. */
int pp_sysfs_add_file(const struct bin_attribute *file);
void pp_sysfs_remove_file(const struct bin_attribute *file);
/* Does the folder of every patch have a file called @name? */
bool pp_sysfs_reserved(const char *name);

#endif /* POKEPATCH_SYSFS_H */
