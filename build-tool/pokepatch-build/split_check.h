/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The comparison compiles the original with one section for each function and object, and the
 * kernel did not.  Did the compiler make the same functions, and inline the same ones?
 */
#ifndef POKEPATCH_SPLIT_CHECK_H
#define POKEPATCH_SPLIT_CHECK_H

#include "diff/diff.h"
#include "object/object.h"
#include "pokepatch-build/build.h"

/*
 * split_check - refuse a unit whose original as split has other functions than its exact object, or
 * has a changed function inlined into other ones: the kernel may have old code where the
 * comparison has seen none.
 * @exact: the unit's exact object; result: what the comparison found in the unit
 * Return: an error only if the original's object cannot be read.
 */
struct error *split_check(const struct unit *unit, struct object *exact,
			  const struct diff_result *result, struct refusals *refusals);

#endif /* POKEPATCH_SPLIT_CHECK_H */
