/* SPDX-License-Identifier: GPL-2.0-only */
/* What an oops and a panic say of patches: crash.c. */
#ifndef POKEPATCH_CRASH_H
#define POKEPATCH_CRASH_H

int pp_crash_init(void);
void pp_crash_exit(void);

#endif /* POKEPATCH_CRASH_H */
