/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What MIPS code does with an address that it has made. */
#ifndef POKEPATCH_MIPS_USES_H
#define POKEPATCH_MIPS_USES_H

#include <stdbool.h>
#include <stdint.h>

struct object;
struct section;

/*
 * The instruction at offset @at, in the function at [start, end), puts an address into a register
 * ("daddiu v0,v0,%lo(x)").  Is that, whichever way is taken from there, nothing but the base of
 * loads and stores, or called or jumped to, until other values replace it?  False when in doubt.
 */
bool mips_only_accessed(struct object *object, const struct section *section, uint64_t start,
			uint64_t end, uint64_t at);

#endif /* POKEPATCH_MIPS_USES_H */
