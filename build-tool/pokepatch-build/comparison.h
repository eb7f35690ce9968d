/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comparing the units gave; read by link.c, check.c and report.c. */
#ifndef POKEPATCH_COMPARISON_H
#define POKEPATCH_COMPARISON_H

#include "pokepatch-build/build.h"
#include "diff/diff.h"

struct comparison {
	struct symvers symvers; /* the kernel's */
	struct parent *vmlinux;
	VEC(struct parent *) modules;
	struct map modules_by_name;
	struct externals externals;
	size_t count;		     /* units */
	struct diff_result *results; /* one for each unit */
	char **carried;		     /* object that holds what the unit carries, or NULL */
	struct buffer *texts; /* of each external that is replaced: its code, as runs; verify.c */
	size_t nr_texts;
};

/*
 * symvers_provide - does the module loader find a symbol of that name in vmlinux
 * or in the core?  What other modules export, it does not look for: a patch does
 * not depend on them.
 */
bool symvers_provide(const struct symvers *kernel, const struct symvers *core, const char *name);

void comparison_destroy(struct comparison *comparison);

#endif /* POKEPATCH_COMPARISON_H */
