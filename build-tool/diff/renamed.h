/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables that take the place of others. */
#ifndef POKEPATCH_RENAMED_H
#define POKEPATCH_RENAMED_H

#include "diff/select.h"

/*
 * renamed_refuse - once the included atoms are known: refuse each new variable that a function uses
 * which used a variable before that is gone.  It may be the same one, renamed, made static or
 * global, or moved out of the function.  As a new one it begins with its initial value, and what
 * the kernel has counted or noted in the old one would be lost.  Not found: one whose only user is
 * a new function, too, and one of another unit.
 */
void renamed_refuse(struct selection *selection);

#endif /* POKEPATCH_RENAMED_H */
