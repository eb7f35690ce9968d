/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the output object: all included atoms, their relocations and their table entries. */
#ifndef POKEPATCH_EMIT_H
#define POKEPATCH_EMIT_H

#include "diff/select.h"

/*
 * emit_object - write a relocatable object with the included atoms of a selection, the tables of
 * diff_rows.h, and an undefined symbol for each external.  Errors: an unwritable file, and those of
 * opening a module.
 */
struct error *emit_object(struct selection *selection, const char *path);

#endif /* POKEPATCH_EMIT_H */
