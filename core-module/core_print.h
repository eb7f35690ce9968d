/* SPDX-License-Identifier: GPL-2.0-only */
/* How the core's messages begin, and a help for their wording. */
#ifndef POKEPATCH_CORE_PRINT_H
#define POKEPATCH_CORE_PRINT_H

#include <linux/printk.h>

#ifdef pr_fmt
#undef pr_fmt
#endif
#define pr_fmt(fmt) "pokepatch: " fmt

/* "1 function", "2 functions" */
static inline const char *pp_plural(unsigned int nr)
{
	return nr == 1 ? "" : "s";
}

#endif /* POKEPATCH_CORE_PRINT_H */
