/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The units that a changed header matters to.  The graph of #include lines has the files that may
 * include it, and the plan those of them that are units.  Those that mention no name that the
 * change changes are left out (name_filter.h).  The others are preprocessed in the tree and in its
 * shadow, which takes a tenth of the time of compiling them; units whose texts are equal, or differ
 * in declarations that no code leads to, are left out.  Last, both sides of the rest are compiled,
 * and units whose objects are equal but for debug information and the numbers in unique names are
 * left out, too, unless they export symbols.
 */
#ifndef POKEPATCH_HEADERS_H
#define POKEPATCH_HEADERS_H

#include "pokepatch-build/units.h"

/*
 * headers_add_candidates - add the units that changed headers matter to, if any header changed.
 * Refuses headers that assembly, the vDSO, or constants for assembly (asm-offsets.h) depend on, if
 * these would change.
 */
struct error *headers_add_candidates(struct build *build, const struct source_index *index,
				     struct candidates *candidates);

#endif /* POKEPATCH_HEADERS_H */
