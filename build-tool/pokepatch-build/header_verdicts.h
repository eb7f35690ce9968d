/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was found out of units that changed headers may matter to, kept for the next build and for
 * the next round of --leave-out, beside the objects of the tree (object_cache.h).
 */
#ifndef POKEPATCH_HEADER_VERDICTS_H
#define POKEPATCH_HEADER_VERDICTS_H

#include "common/args.h"
#include "pokepatch-build/build.h"

struct verdict {
	bool differs; /* the unit must be compiled for the patch */
	bool exports; /* it has exported symbols, of which types may change though no code does */
	struct args ways; /* with "..", by which the compiler goes to what it includes */
};

/*
 * verdict_key - what a verdict on a unit follows from.
 * @command: what compiles its original
 * @known: a diff changes the unit itself
 * @texts: the sums of the changed files among those that it may include (struct changed_file)
 */
void verdict_key(const struct build *build, const struct args *command, bool known,
		 const struct buffer *texts, char ret[65]);

/* verdict_load - false: none is kept, or a damaged one.  The caller deinits ret->ways. */
bool verdict_load(const struct build *build, const char *key, struct verdict *ret);
/* verdict_store - keep a verdict; on a full disk it is not kept. */
void verdict_store(const struct build *build, const char *key, const struct verdict *verdict);

/*
 * Verdicts of an earlier run of the phases, before commits were left out (leave_out.h).  A verdict
 * is most often the same without these commits, and judging all units takes longer than the other
 * phases.  So they take it as a guess until nothing is refused; then all units are judged again.
 *
 * verdict_remember - copy a verdict, for later runs.
 * @known: a diff changes the unit itself: the verdict tells only of ways
 * verdict_recall - copy the remembered verdict on a unit; the caller deinits ret->ways.
 * Return: false: there is none.
 */
void verdict_remember(struct build *build, const char *source, bool known,
		      const struct verdict *verdict);
bool verdict_recall(const struct build *build, const char *source, bool known,
		    struct verdict *ret);
/* earlier_verdicts_destroy - free; NULL is allowed. */
void earlier_verdicts_destroy(struct earlier_verdicts *earlier);

#endif /* POKEPATCH_HEADER_VERDICTS_H */
