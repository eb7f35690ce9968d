/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions and variables that were static and that the patch makes global, so that its other units
 * can use them: one map from their names to the kernel's local symbols, for the whole patch.
 */
#ifndef POKEPATCH_PROMOTED_H
#define POKEPATCH_PROMOTED_H

#include "diff/select.h"

/*
 * promoted_add - add those of the unit, once original and patched object are paired.  Refuses a
 * name that the kernel has already.
 */
struct error *promoted_add(struct selection *selection, struct diff_result *lender);

/* promoted_own - the one that a unit of the selection's parent makes global, or NULL. */
const struct promoted *promoted_own(struct selection *selection, const char *name);

/* promoted_other - the one that a unit of any other parent makes global, or NULL. */
const struct promoted *promoted_other(struct selection *selection, const char *name);

/* promoted_exists - whether there is one or the other. */
bool promoted_exists(const struct diff_options *options, const char *name);

#endif /* POKEPATCH_PROMOTED_H */
