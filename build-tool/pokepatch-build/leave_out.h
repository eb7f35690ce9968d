/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commits of a series that cannot be live.  The phases judge all commits together.  If they refuse,
 * each reason leads to the commits that caused it (blame.h).  These are named, or with --leave-out
 * left out as a whole, together with the commits that need them; then the phases run again.
 */
#ifndef POKEPATCH_LEAVE_OUT_H
#define POKEPATCH_LEAVE_OUT_H

#include "pokepatch-build/build.h"

/*
 * leave_out - after the phases from apply_patches() on: what follows from their result?
 * @error: of the phases, or NULL; replaced by one that names the commits, or set to NULL if the
 *	phases are to run again
 * Return: true if the phases are to run again, because commits were left out, or because units were
 *	found by guesses (header_verdicts.h); build_forget() was called.
 */
bool leave_out(struct build *build, struct error **error);

/*
 * confirm_units - end the phases if units were found by guesses (header_verdicts.h); leave_out()
 * then has them run again.  compare_units() calls it when nothing is refused.
 */
struct error *confirm_units(struct build *build);

/*
 * commits_judge - tell the commits that make no difference to any code from those that are live.
 * compare_units() calls it, because the module has a list of them.
 */
void commits_judge(struct build *build);

#endif /* POKEPATCH_LEAVE_OUT_H */
