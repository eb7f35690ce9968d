/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The callbacks that the author of a patch names, by the macros of pokepatch_patch.h. */
#ifndef POKEPATCH_CALLBACKS_H
#define POKEPATCH_CALLBACKS_H

#include "diff/select.h"

/*
 * callbacks_select - read the patched object's notes and fill in selection->callbacks.
 * Refused: a second one of a kind, and functions that are not new and of this unit.
 */
void callbacks_select(struct selection *selection);

#endif /* POKEPATCH_CALLBACKS_H */
