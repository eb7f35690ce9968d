/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells what MIPS code does with an address in a register. */
#ifndef POKEPATCH_MIPS_USES_H
#define POKEPATCH_MIPS_USES_H

#include <stdbool.h>
#include <stdint.h>

struct object;
struct section;

/*
 * mips_only_accessed - whether the code uses the address that the instruction at offset @at puts
 * into a register ("daddiu v0,v0,%lo(x)") only as the base of loads and stores, or to call or jump
 * to it, on every path through the function at [start, end), until other values replace it.  False
 * when in doubt.
 */
bool mips_only_accessed(struct object *object, const struct section *section, uint64_t start,
			uint64_t end, uint64_t at);

#endif /* POKEPATCH_MIPS_USES_H */
