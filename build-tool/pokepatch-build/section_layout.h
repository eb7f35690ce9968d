/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef POKEPATCH_LAYOUT_H
#define POKEPATCH_LAYOUT_H

#include "pokepatch-build/build.h"

/* late_limited - is a relocation of that type bound to its place, if the core makes it? */
bool late_limited(const struct late_limit *limit, uint32_t type);
/* late_allowed - may the core make it at that offset of a section, aligned as the limit says? */
bool late_allowed(const struct late_limit *limit, uint32_t type, uint64_t offset);

/*
 * layout_find - the least multiple of step, less than the limit's alignment, by which all these
 * places have to move so that each is allowed; false if there is none.
 */
bool layout_find(const struct late_limit *limit, const uint64_t *places, size_t count,
		 uint64_t step, uint64_t *ret);

/* layout_padding - of the linked but not finished object: bytes to put in front of its code. */
struct error *layout_padding(const struct build *build, const char *path, uint64_t *ret);

#endif /* POKEPATCH_LAYOUT_H */
