/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions in which tasks may sleep for long: sleepers.c. */
#ifndef POKEPATCH_SLEEPERS_H
#define POKEPATCH_SLEEPERS_H

#include "diff/select.h"

/*
 * sleepers_warn - warn of each changed function that puts its task to sleep for an unbounded time:
 * such a task keeps the patch from being switched.  For a selection whose changes are selected.
 */
void sleepers_warn(struct selection *selection);

#endif /* POKEPATCH_SLEEPERS_H */
