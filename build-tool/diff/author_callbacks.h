/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The callbacks that the author of a patch names with the macros of pokepatch_patch.h. */
#ifndef POKEPATCH_AUTHOR_CALLBACKS_H
#define POKEPATCH_AUTHOR_CALLBACKS_H

#include "diff/select.h"

/*
 * callbacks_select - read the patched object's notes and fill in selection->callbacks.  Refuse a
 * second callback of one kind, and functions that are not new or not in this unit.
 */
void callbacks_select(struct selection *selection);

#endif /* POKEPATCH_AUTHOR_CALLBACKS_H */
