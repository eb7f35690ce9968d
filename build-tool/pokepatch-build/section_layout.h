/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The position of code in the module: some relocations are only allowed at some offsets within a
 * page if the core makes them (struct late_limit in object/arch.h; section_layout.c says why).
 */
#ifndef POKEPATCH_LAYOUT_H
#define POKEPATCH_LAYOUT_H

#include "pokepatch-build/build.h"

/* late_limit_applies - does the limit apply to relocations of this type?  limit may be NULL. */
bool late_limit_applies(const struct late_limit *limit, uint32_t type);
/*
 * late_limit_allows - may the core make a relocation of this type at this offset of a section that
 * has the limit's alignment?
 */
bool late_limit_allows(const struct late_limit *limit, uint32_t type, uint64_t offset);

/*
 * layout_find_padding - find the smallest multiple of step, below the limit's alignment, that moves
 * all these offsets to allowed places.  Return: false if there is none.
 */
bool layout_find_padding(const struct late_limit *limit, const uint64_t *places, size_t count,
			 uint64_t step, uint64_t *ret);

/*
 * layout_choose_padding - choose how many bytes to insert before the code.
 * @path: the linked object, before finalize_object().
 * @ret: 0 if the machine has no such limit, or if no padding helps.
 */
struct error *layout_choose_padding(const struct build *build, const char *path, uint64_t *ret);

#endif /* POKEPATCH_LAYOUT_H */
