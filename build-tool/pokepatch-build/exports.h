/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Refusing changes of the types of exported symbols. */
#ifndef POKEPATCH_EXPORTS_H
#define POKEPATCH_EXPORTS_H

#include "pokepatch-build/build.h"

/* exports_check - refuse those of all units; compare_units() calls it. */
struct error *exports_check(struct build *build);

/* What is known of a unit's exports before it is compiled. */
enum early_exports { EXPORTS_MAY_CHANGE, EXPORTS_AS_BEFORE, EXPORTS_REFUSED };

/*
 * exports_check_early - judge exports of units that are not compiled yet; what it finds out,
 * exports_check() does not find out again.
 * @units: the folders of their patched_object get files
 * @keys: for each unit, of all that its text follows from, or NULL; as unit->patched_key
 * @refuse: refuse changes of which the types are known
 * @ret: for each unit; if EXPORTS_REFUSED, it has to live as long as build->comparison, and its
 *	changed source is unit.i in that folder
 */
struct error *exports_check_early(struct build *build, struct unit *const *units,
				  const char *const *keys, size_t count, bool refuse,
				  enum early_exports *ret);

#endif /* POKEPATCH_EXPORTS_H */
