/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef POKEPATCH_ARM64_NOTE_H
#define POKEPATCH_ARM64_NOTE_H

#include <stdbool.h>

struct object;

/*
 * arm64_is_guarded - is the object's code compiled to be guarded (CONFIG_ARM64_BTI_KERNEL), by its
 * .note.gnu.property?  Then a BR leads to BTI and PACIASP alone, and functions that are only called
 * need begin with neither (those of gcc 12 do not).  False if there is no such note, or one that makes
 * no sense.
 */
bool arm64_is_guarded(const struct object *object);

#endif /* POKEPATCH_ARM64_NOTE_H */
