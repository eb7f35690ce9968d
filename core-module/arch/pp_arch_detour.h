/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The group of struct pp_arch for functions without an entry site, whose first instructions the
 * jump overwrites: detour.c.
 */
#ifndef POKEPATCH_ARCH_PP_ARCH_DETOUR_H
#define POKEPATCH_ARCH_PP_ARCH_DETOUR_H

#include <linux/types.h>

struct pp_site;

/* The longest detour, in bytes, and the most of them. */
#define PP_DETOUR_MAX 32
#define PP_DETOURS_MAX 256

/* All 0 and NULL on a machine where the core cannot do that. */
struct pp_arch_detour {
	unsigned int size;	/* of one detour, in bytes: a multiple of PP_TEXT_WORD_MAX */
	unsigned int nr;	/* the number of detours in the core's text */
	unsigned int pad;	/* bytes of the landing pad with which a function may begin */

	/* The address of detour number @nr.  Any context. */
	unsigned long (*at)(unsigned int nr);

	/*
	 * The code of the detour at @at, @size bytes: the instructions of @site, which are at
	 * @insns, and a jump to the one behind those.
	 * Return: 0, -EINVAL if the first instruction may not be moved, -ERANGE.
	 */
	int (*code)(unsigned long at, const struct pp_site *site, const u8 *insns, u8 *code);
};

#endif /* POKEPATCH_ARCH_PP_ARCH_DETOUR_H */
