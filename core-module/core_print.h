/* SPDX-License-Identifier: GPL-2.0-only */
/* The prefix of the core's messages, and a helper for their wording. */
#ifndef POKEPATCH_CORE_PRINT_H
#define POKEPATCH_CORE_PRINT_H

#include <linux/printk.h>

#ifdef pr_fmt
#undef pr_fmt
#endif
#define pr_fmt(fmt) "pokepatch: " fmt

/* The ending of a noun: "1 function", "2 functions". */
static inline const char *pp_plural(unsigned int nr)
{
	return nr == 1 ? "" : "s";
}

#endif /* POKEPATCH_CORE_PRINT_H */
