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
 * Verdicts of earlier runs of the phases, before commits were left out (leave_out.h).  They hold
 * for units that mention nothing of what has become different.  Of the others, a verdict is most
 * often the same without these commits, and judging all units takes longer than the other phases.
 * So they are taken as guesses until nothing is refused; then these units are judged again.
 */
struct earlier_verdict {
	char *source; /* owned */
	bool known;   /* a diff changes the unit itself: the verdict tells only of ways */
	bool holds;   /* for the changes of the last run that judged units */
	bool final;   /* or else only the texts were compared */
	bool likely;  /* it may be taken as a guess */
	struct verdict verdict;
};

/*
 * verdict_remember - copy a verdict on a source's unit, for later runs; of *entry all but source.
 * verdict_earlier - the remembered one, which the build owns; or NULL.
 * verdict_copy - the caller deinits ret->ways.
 * verdict_guess - copy the remembered verdict on a unit, if that may be taken as a guess.  The
 *	caller deinits ret->ways.  Return: false: there is none.
 */
void verdict_remember(struct build *build, const char *source,
		      const struct earlier_verdict *entry);
struct earlier_verdict *verdict_earlier(const struct build *build, const char *source);
void verdict_copy(const struct verdict *verdict, struct verdict *ret);
bool verdict_guess(const struct build *build, const char *source, bool known, struct verdict *ret);

/*
 * verdicts_hold_none - note that no remembered verdict holds for this run's changes.  The caller
 *	then notes of some that they do.
 * verdicts_changes - the changes for which remembered verdicts hold, of an earlier run; or NULL.
 * verdicts_take_changes - at the end of a run: own the changes, as those for which verdicts hold,
 *	if this run has noted that some do; or else free them.
 */
void verdicts_hold_none(struct build *build);
const struct changes *verdicts_changes(const struct build *build);
void verdicts_take_changes(struct build *build, struct changes *changes);

/* earlier_verdicts_destroy - free; NULL is allowed. */
void earlier_verdicts_destroy(struct earlier_verdicts *earlier);

#endif /* POKEPATCH_HEADER_VERDICTS_H */
