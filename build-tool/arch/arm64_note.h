/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads whether an arm64 object's code is guarded. */
#ifndef POKEPATCH_ARM64_NOTE_H
#define POKEPATCH_ARM64_NOTE_H

#include <stdbool.h>

struct object;

/*
 * arm64_is_guarded - whether the object's code was compiled to be guarded
 * (CONFIG_ARM64_BTI_KERNEL), by its .note.gnu.property.  In guarded code a BR may reach only a BTI
 * or a PACIASP, and a function that is only called need not begin with one (gcc 12 gives it none).
 * False if the note is missing or malformed.
 */
bool arm64_is_guarded(const struct object *object);

#endif /* POKEPATCH_ARM64_NOTE_H */
