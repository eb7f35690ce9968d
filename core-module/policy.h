/* SPDX-License-Identifier: GPL-2.0-only */
/* Which modes `auto` may choose: policy.c. */
#ifndef POKEPATCH_POLICY_H
#define POKEPATCH_POLICY_H

#include <linux/types.h>

/* May `auto` choose the mode with number @mode, one of enum pokepatch_mode?  Any context. */
bool pp_policy_allows(u32 mode);

int pp_policy_init(void);
void pp_policy_exit(void);

#endif /* POKEPATCH_POLICY_H */
