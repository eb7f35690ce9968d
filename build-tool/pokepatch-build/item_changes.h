/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which items of a header a diff changes. */
#ifndef POKEPATCH_ITEM_CHANGES_H
#define POKEPATCH_ITEM_CHANGES_H

#include "pokepatch-build/item_index.h"
#include "pokepatch-build/patch.h"

typedef VEC(uint32_t) item_list;

/*
 * item_changes_find - append the items of two versions of a file in which they differ, those that
 * have new line numbers, and those that are in a group of #if whose conditions differ.
 * @old, @new: files of the index
 * @old_lines: of the old version, if that is changed, too, so that its lines have numbers of their
 *	own; or NULL
 * @lines: of the new version
 */
void item_changes_find(const struct item_index *index, uint32_t old, uint32_t new,
		       const struct text_lines *old_lines, const struct text_lines *lines,
		       item_list *ret);

/*
 * item_changes_count - may the changed items of a header count __COUNTER__ otherwise, in units that
 * include it?  The names of what follows depend on it.  The header's old version is at an even
 * place of the index, and its new one follows.  The index is finished.
 */
bool item_changes_count(const struct item_index *index, const uint32_t *changed, size_t count);

#endif /* POKEPATCH_ITEM_CHANGES_H */
