/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes to the files that decide what is compiled, and how: Kconfig files and makefiles.  A
 * change from which nothing follows for this kernel is noted, and any other refused.
 */
#ifndef POKEPATCH_BUILD_RULES_H
#define POKEPATCH_BUILD_RULES_H

#include "pokepatch-build/build.h"

/*
 * build_rules_unused - is the file in a folder that this kernel's configuration does not use, such
 * as another machine's?  Such a file may be missing from the tree.
 */
struct error *build_rules_unused(struct build *build, const char *path, bool *ret);

/*
 * build_rules_judge - judge the files in build->changes->rules, all diffs applied, and note or
 * refuse each.
 */
struct error *build_rules_judge(struct build *build);

#endif /* POKEPATCH_BUILD_RULES_H */
