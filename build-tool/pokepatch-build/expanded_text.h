/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What macros make of a header's text, where that is the same in all units because each macro has
 * one definition: DEFINE_FREE(), DECLARE_STATIC_KEY_FALSE().
 */
#ifndef POKEPATCH_EXPANDED_TEXT_H
#define POKEPATCH_EXPANDED_TEXT_H

#include "pokepatch-build/item_index.h"

/*
 * expand_text - append an item's text with the macros expanded that are outside of brackets.  Those
 * within stay, and so do those that make specifiers only.  Tokens are apart by blanks, and each
 * declaration ends with a newline.
 * @number: an item that is text; the index is finished
 * Return: false if a macro has several definitions, or if the text is not understood
 */
bool expand_text(const struct item_index *index, uint32_t number, struct buffer *ret);

#endif /* POKEPATCH_EXPANDED_TEXT_H */
