/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tells what arm64 code does with an address in a register. */
#ifndef POKEPATCH_ARM64_USES_H
#define POKEPATCH_ARM64_USES_H

#include <stdbool.h>
#include <stdint.h>

struct object;
struct section;

/*
 * arm64_only_accessed - whether the address that the instruction at offset @at puts into a register
 * is only the base of loads and stores, on every path through the function at [start, end), until
 * another value replaces it.  False when in doubt.
 */
bool arm64_only_accessed(struct object *object, const struct section *section, uint64_t start,
			 uint64_t end, uint64_t at);

#endif /* POKEPATCH_ARM64_USES_H */
