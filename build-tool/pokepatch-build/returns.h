/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The phases of --return, in place of those that read diffs and compile units.  They make a unit of
 * the functions that each source file of the kernel has, and from then on the phases are the same.
 */
#ifndef POKEPATCH_RETURNS_H
#define POKEPATCH_RETURNS_H

#include "pokepatch-build/build.h"

/* read_returns - build->patches: one for each --return, in their order. */
struct error *read_returns(struct build *build);
/*
 * prepare_kernel - in tree.c: find machine and tools, and check that all is of one kernel, without
 * its source.
 */
struct error *prepare_kernel(struct build *build);
/* make_returns - build->units, with the three objects that a compiler would have made. */
struct error *make_returns(struct build *build);
/* compare_returns - compare_units(); then say where in the source the functions are. */
struct error *compare_returns(struct build *build);

/* Where the functions are: there are no compiled objects that could tell. */
struct places {
	struct map by_name; /* "fs/proc/version.c:9", by "INDEX OF UNIT:FUNCTION" */
	VEC(char *) strings;
};
void places_destroy(struct places *places); /* NULL is allowed */

#endif /* POKEPATCH_RETURNS_H */
