/* SPDX-License-Identifier: GPL-2.0-only */
/* /sys/kernel/pokepatch: sysfs.c. */
#ifndef POKEPATCH_SYSFS_H
#define POKEPATCH_SYSFS_H

#include <linux/types.h>

#include "pp_patch.h"

struct bin_attribute;

int pp_sysfs_init(void);
void pp_sysfs_exit(void);
/* The patch's folder.  May sleep; without pp_mutex. */
int pp_sysfs_add(struct pp_patch *patch);
/* From now on it can be switched.  Takes op, and must not be called under pp_mutex. */
void pp_sysfs_ready(struct pp_patch *patch);
/* Also waits for everybody who is in one of its files. */
void pp_sysfs_remove(struct pp_patch *patch);
/* Set the state and wake those who poll for it. */
void pp_sysfs_state(struct pp_patch *patch, enum pp_state state);
/* A file beside the patches' folders; removing it waits for everybody who is in it. */
int pp_sysfs_add_file(const struct bin_attribute *file);
void pp_sysfs_remove_file(const struct bin_attribute *file);
/* True if the folder of a patch has a file of this name. */
bool pp_sysfs_reserved(const char *name);

#endif /* POKEPATCH_SYSFS_H */
