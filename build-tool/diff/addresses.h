/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Judges the addresses that included code and data use: which escape, and which mean two things. */
#ifndef POKEPATCH_ADDRESSES_H
#define POKEPATCH_ADDRESSES_H

#include "diff/select.h"

/*
 * addresses_judge - check each reference from an included atom.  An address of new code or data
 * that escapes is a warning, and sets selection->escapes: the patch stays loaded.  A reference that
 * may mean either of two neighbours in a section is refused.  Errors: those of opening a module.
 */
struct error *addresses_judge(struct selection *selection, struct atom *from);

#endif /* POKEPATCH_ADDRESSES_H */
