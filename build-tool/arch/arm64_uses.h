/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What arm64 code does with an address that it has made. */
#ifndef POKEPATCH_ARM64_USES_H
#define POKEPATCH_ARM64_USES_H

#include <stdbool.h>
#include <stdint.h>

struct object;
struct section;

/*
 * The instruction at offset @at, in the function at [start, end), puts an address into a
 * register.  Is that, whichever way is taken from there, nothing but the base of loads and
 * stores until another value replaces it?  False when in doubt.
 */
bool arm64_only_accessed(struct object *object, const struct section *section, uint64_t start,
			 uint64_t end, uint64_t at);

#endif /* POKEPATCH_ARM64_USES_H */
