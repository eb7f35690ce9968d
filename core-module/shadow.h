/* SPDX-License-Identifier: GPL-2.0-only */
/* Data that patches attach to objects of the kernel: shadow.c. */
#ifndef POKEPATCH_SHADOW_H
#define POKEPATCH_SHADOW_H

/* Free the variables that patches left behind.  No patch is loaded. */
void pp_shadow_exit(void);

#endif /* POKEPATCH_SHADOW_H */
