/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a header's declaration declares, judged as it is written: macros in it are not expanded.
 */
#ifndef POKEPATCH_DECLARED_NAMES_H
#define POKEPATCH_DECLARED_NAMES_H

#include "pokepatch-build/item_index.h"

/*
 * item_understand - find the names that a text item declares, which is then understood; once.  Call
 * it when the index is finished.
 *
 * It is opaque if it may declare other names, as an expanded macro does, or emits code or data by
 * itself, or if the compiler may use it without a mention of it.
 */
void item_understand(struct item_index *index, uint32_t item);

#endif /* POKEPATCH_DECLARED_NAMES_H */
