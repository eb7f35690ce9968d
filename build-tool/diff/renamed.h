/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Static variables that take the place of others. */
#ifndef POKEPATCH_RENAMED_H
#define POKEPATCH_RENAMED_H

#include "diff/select.h"

/*
 * renamed_refuse - once the included atoms are known: refuse each new static variable that a
 * function uses which no longer uses a variable that is gone.  It may be the same one, renamed or
 * moved out of the function; as a new one it begins with its initial value, and what the kernel has
 * counted or noted in the old one would be lost.
 */
void renamed_refuse(struct selection *selection);

#endif /* POKEPATCH_RENAMED_H */
