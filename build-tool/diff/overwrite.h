/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions without a patchable entry whose first instructions the core overwrites with the jump to
 * the new function (core-module/detour.c).
 */
#ifndef POKEPATCH_OVERWRITE_H
#define POKEPATCH_OVERWRITE_H

#include <stdint.h>

#include "object/arch_code.h"

struct diff_options;
struct selection;

/*
 * overwrite_judge - the first instructions of a function's original, if the core may overwrite
 * them; else of length 0.
 * @function: of the patched object
 * @nearest: the smallest offset in the original to which anything but a call or an address of its
 *	     beginning is known to lead, by relocations and names
 */
struct first_insns overwrite_judge(struct selection *selection, const struct atom *function,
				   uint64_t nearest);

/* overwrite_advice - how else to build a patch that overwrites instructions; NULL: it may do so. */
const char *overwrite_advice(const struct diff_options *options);

/* overwrite_flags - the flags of such a function's row (pokepatch_format.h); 0 for length 0. */
uint32_t overwrite_flags(const struct first_insns *first);

#endif /* POKEPATCH_OVERWRITE_H */
