/* SPDX-License-Identifier: GPL-2.0-only */
/* The device that delivers the text history: history_device.c. */
#ifndef POKEPATCH_HISTORY_DEVICE_H
#define POKEPATCH_HISTORY_DEVICE_H

int pp_history_device_init(void);
/*
 * Wait until no task has the device open.  An open file holds the core, so this waits only if the
 * core is removed by force.
 */
void pp_history_device_exit(void);

#endif /* POKEPATCH_HISTORY_DEVICE_H */
