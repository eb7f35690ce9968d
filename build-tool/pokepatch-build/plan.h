/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How kbuild would compile every unit of the kernel: vmlinux's, the modules', and those of the vDSO
 * and the boot code.  One make -n of the whole tree tells it in seconds; the answer is kept in the
 * tree (.pokepatch/commands), in which it is made when it is first needed.
 */
#ifndef POKEPATCH_PLAN_H
#define POKEPATCH_PLAN_H

#include "pokepatch-build/build.h"

struct planned {
	const char *source; /* "fs/proc/version.c", or a .S file */
	const char *modname; /* KBUILD_MODNAME; "" for assembly */
	bool module;	    /* compiled with -DMODULE */
	size_t flags;	    /* the flags that it shares with others: index in plan.flags */
	const char *own;    /* its other flags, which follow; a tab in front of each */
};

struct plan {
	char *text; /* holds the strings */
	VEC(struct planned) units;
	VEC(const char *) flags; /* compiler and flags, a tab in front of each */
	struct map by_source;	 /* from a source to its struct planned */
};

/*
 * plan_load - read a tree's plan, made first if it must be.  Deinit it after errors, too.
 * Locking: takes the lock of kbuild in the tree while the plan is made.
 */
struct error *plan_load(const struct build *build, struct plan *ret);
void plan_deinit(struct plan *plan);
/* plan_add_command - add compiler and flags of a unit, as struct unit has them. */
void plan_add_command(const struct plan *plan, const struct planned *unit, struct args *ret);

#endif /* POKEPATCH_PLAN_H */
