/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Refuses changes of types by which live objects, or unchanged callers, would be misread. */
#ifndef POKEPATCH_JUDGE_TYPES_H
#define POKEPATCH_JUDGE_TYPES_H

#include "diff/select.h"
#include "types/types.h"

/*
 * types_judge - compare the types of a unit of which something is included, by the debug
 * information of both objects.  Without that, no type is found changed.  Callers in other units are
 * left to the caller of diff_run(), which knows what else is compiled.
 */
void types_judge(struct selection *selection, struct type_changes *ret);

#endif /* POKEPATCH_JUDGE_TYPES_H */
