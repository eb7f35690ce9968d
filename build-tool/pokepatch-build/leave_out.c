// SPDX-License-Identifier: GPL-2.0-or-later
/* Leaving commits of a series out, or naming those that are refused; see leave_out.h. */
#include "pokepatch-build/leave_out.h"

#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/blame.h"
#include "pokepatch-build/comparison.h"
#include "pokepatch-build/changes.h"
#include "pokepatch-build/series.h"

/* Why the phases did not make a module, and the commits that this is about. */
struct reason {
	char *text;
	struct culprits culprits;
	struct refusal *refusal; /* or NULL */
};

struct reasons {
	VEC(struct reason) list;
};

static void reasons_deinit(struct reasons *reasons)
{
	for (size_t i = 0; i < reasons->list.count; i++) {
		free(reasons->list.list[i].text);
		culprits_deinit(&reasons->list.list[i].culprits);
	}
	vec_deinit(&reasons->list);
}

static size_t count_left_out(const struct build *build)
{
	size_t count = 0;

	for (size_t i = 0; i < build->nr_patches; i++)
		count += build->patches[i].commit->left_out;
	return count;
}

/* A diff that does not apply: the commit is known. */
static void add_unapplied(const struct build *build, const struct error *error,
			  struct reasons *ret)
{
	struct reason *reason = vec_push(&ret->list);

	reason->text = xasprintf("%s%s",
				 count_left_out(build)
					 ? "does not apply without the commits that are left out: "
					 : "",
				 error->text);
	reason->culprits.kind = BLAME_LINES;
	*vec_push(&reason->culprits.list) = (size_t)(build->applying - build->patches);
}

static void find_reasons(struct build *build, const struct error *error, struct reasons *ret)
{
	size_t count;
	const struct compile_failure *failures = blame_failures(build, &count);

	if (build->applying && error->status == STATUS_FAILED)
		add_unapplied(build, error, ret);
	for (size_t i = 0; i < count; i++) {
		struct reason *reason = vec_push(&ret->list);

		reason->text = xasprintf("%s does not compile with it: %s",
					 failures[i].unit->source, failures[i].line);
		blame_compile(build, &failures[i], &reason->culprits);
	}
	for (size_t i = 0; error->status == STATUS_REFUSED && i < build->refusals.count; i++) {
		struct refusal *refusal = &build->refusals.list[i];
		struct reason *reason;

		if (refusal->warning)
			continue;
		reason = vec_push(&ret->list);
		reason->refusal = refusal;
		reason->text = xasprintf("%s: refused [%s]: %s",
					 refusal->location ?: refusal->subject, refusal->code,
					 refusal->text);
		blame_refusal(build, refusal, &reason->culprits);
	}
}

/* ---- without --leave-out: name the commits ---------------------------------- */

static char *culprit_labels(const struct build *build, const struct culprits *culprits)
{
	struct buffer out = {0};

	buffer_add_string(&out, culprits->list.count == 1 ? "commit " : "commits ");
	for (size_t i = 0; i < culprits->list.count; i++) {
		_free_ char *label =
			commit_label(build->patches[culprits->list.list[i]].commit);

		buffer_printf(&out, "%s%s", i ? ", " : "", label);
	}
	return out.text;
}

/* Add the commits to each refusal, or to the error if it is not about refusals. */
static void name_commits(struct build *build, struct error **error, const struct reasons *reasons)
{
	bool named = false;

	for (size_t i = 0; i < reasons->list.count; i++) {
		const struct reason *reason = &reasons->list.list[i];
		const struct culprits *culprits = &reason->culprits;

		for (size_t j = 0; j < culprits->list.count; j++)
			commit_add_reason(build->patches[culprits->list.list[j]].commit, "%s",
					  reason->text);
		if (!culprits->list.count)
			continue;
		_free_ char *labels = culprit_labels(build, culprits);
		if (reason->refusal) {
			char *text = xasprintf("%s (%s)", reason->refusal->text, labels);

			free(reason->refusal->text);
			reason->refusal->text = text;
		} else if (!named) {
			*error = error_prefix(*error, "%s", labels);
			named = true;
		}
	}
}

/* ---- with --leave-out ------------------------------------------------------- */

static void take_out(struct commit *commit, const char *reason)
{
	_free_ char *label = commit_label(commit);

	if (!commit->left_out || commit->reasons.count < 3)
		commit_add_reason(commit, "%s", reason);
	if (!commit->left_out)
		fprintf(stderr, "left out: %s: %s\n", label, reason);
	commit->left_out = true;
}

/* How the units use a changed file, as a value of a map. */
enum { DIFFERS = 1, UNIT = 2 }; /* one of its units differs; one for each unit that compiles it */

static void add_use(struct map *uses, const char *path, bool differs)
{
	void **slot = map_slot(uses, path);

	*slot = (void *)(((uintptr_t)*slot + UNIT) | (differs ? DIFFERS : 0));
}

/* Were exports refused, so that the run ended before units were judged? */
static bool ended_early(const struct build *build)
{
	const struct comparison *comparison = build->comparison;

	return comparison && comparison->early.count && !comparison->outputs;
}

/* If exports were refused before units were found, what each may include is known. */
static void find_early_uses(const struct build *build, struct map *ret)
{
	for (size_t i = 0; i < build->changes->reached_lists.count; i++) {
		const struct changed_paths *paths = build->changes->reached_lists.list[i];

		for (size_t j = 0; j < paths->list.count; j++)
			add_use(ret, paths->list.list[j], false);
	}
}

/* Find out for each changed file how the units use it. */
static void find_uses(const struct build *build, struct map *ret)
{
	if (ended_early(build))
		find_early_uses(build, ret);
	for (size_t i = 0; i < build->nr_units; i++) {
		const struct unit *unit = &build->units[i];
		const bool differs = build->comparison && build->comparison->outputs &&
				     build->comparison->outputs[i];

		for (size_t j = 0; j < unit->nr_changed_files; j++)
			add_use(ret, unit->changed_files[j], differs);
	}
}

/* The use of the file that most units compile of those that a patch changes; DIFFERS of any. */
static uintptr_t patch_use(const struct patch *patch, const struct map *uses)
{
	uintptr_t most = 0, differs = 0;

	for (size_t i = 0; i < patch->nr_entries; i++) {
		const char *const paths[] = {patch->entries[i].old_path,
					     patch->entries[i].new_path};

		for (size_t j = 0; j < ARRAY_SIZE(paths); j++) {
			const uintptr_t use =
				paths[j] ? (uintptr_t)map_get(uses, paths[j]) : 0;

			most = use > most ? use : most;
			differs |= use & DIFFERS;
		}
	}
	return most | differs;
}

/*
 * The likeliest of several commits of which only the files are known: what is wrong with one unit
 * comes from a file that few others compile, and hardly from <linux/sched.h>.  Of equal ones it is
 * the last, on which no other can depend.
 */
static size_t likeliest(const struct build *build, const struct culprits *culprits,
			const struct map *uses)
{
	size_t best = culprits->list.list[0];
	uintptr_t least = UINTPTR_MAX;

	for (size_t i = 0; i < culprits->list.count; i++) {
		const size_t patch = culprits->list.list[i];
		const uintptr_t count = patch_use(&build->patches[patch].patch, uses) / UNIT;

		if (count > least)
			continue;
		least = count;
		best = patch;
	}
	return best;
}

/* Leave out all commits behind a reason. */
static void take_out_culprits(struct build *build, const struct reason *reason)
{
	for (size_t i = 0; i < reason->culprits.list.count; i++)
		take_out(build->patches[reason->culprits.list.list[i]].commit, reason->text);
}

/* Is one of the commits left out? */
static bool any_left_out(const struct build *build, const struct culprits *culprits)
{
	for (size_t i = 0; i < culprits->list.count; i++)
		if (build->patches[culprits->list.list[i]].commit->left_out)
			return true;
	return false;
}

/* Are a single commit's lines behind it? */
static bool is_sure(const struct reason *reason)
{
	return reason->culprits.kind != BLAME_FILE && reason->culprits.list.count == 1;
}

/*
 * Of the commits behind a reason, of which only the files are known, one may be the cause and the
 * others sound: leave out one, and look again.  If another reason has had one left out, that may
 * have been the one.
 */
static void take_out_likeliest(struct build *build, const struct reason *reason,
			       const struct map *uses)
{
	const struct culprits *culprits = &reason->culprits;

	if (culprits->list.count && !any_left_out(build, culprits))
		take_out(build->patches[likeliest(build, culprits, uses)].commit, reason->text);
}

/* Leave out the commits that need one that is left out, which comes before them. */
static void take_out_dependents(struct build *build)
{
	for (size_t i = 0; i < build->nr_patches; i++) {
		struct commit *commit = build->patches[i].commit;

		for (size_t j = 0; j < commit->needs.count && !commit->left_out; j++) {
			const struct commit *needed =
				build->patches[commit->needs.list[j]].commit;
			_free_ char *label = commit_label(needed);
			_free_ char *text = NULL;

			if (!needed->left_out)
				continue;
			text = xasprintf("changes lines of commit %s, which is left out", label);
			take_out(commit, text);
		}
	}
}

/*
 * Forget what the phases found, so that they can run again.
 * @exact: judge all units (header_verdicts.h)
 */
static void start_again(struct build *build, bool exact)
{
	build->noted_all |= build->nr_units && !build->cut_short && !ended_early(build);
	build_forget(build);
	refusals_deinit(&build->refusals);
	/* compare_units() has dropped the allowances; build_init() has accepted them once. */
	for (size_t i = 0; i < build->options.allow.count; i++)
		error_destroy(refusals_allow(&build->refusals, build->options.allow.list[i]));
	for (size_t i = 0; i < build->nr_patches; i++) {
		struct commit *commit = build->patches[i].commit;

		vec_deinit(&commit->needs);
		if (!commit->idle)
			continue;
		commit->idle = false;
		for (size_t j = 0; j < commit->reasons.count; j++)
			free(commit->reasons.list[j]);
		vec_deinit(&commit->reasons);
	}
	build->again |= !build->cut_short;
	build->cut_short = false;
	build->guessed = false;
	build->exact = exact;
}

static struct error *nothing_left(const struct build *build)
{
	return error_new(STATUS_REFUSED,
			 "refused: of %zu commits, none that changes code can be live; no module was "
			 "made",
			 build->nr_patches);
}

static bool take_out_all(struct build *build, struct error **error, const struct reasons *reasons)
{
	const size_t before = count_left_out(build);
	struct map uses = {0};
	size_t after;

	find_uses(build, &uses);
	for (size_t i = 0; i < reasons->list.count; i++)
		if (is_sure(&reasons->list.list[i]))
			take_out_culprits(build, &reasons->list.list[i]);
	/* Of several commits, the one that has to go anyway may have been the cause alone. */
	for (size_t i = 0; i < reasons->list.count; i++)
		if (reasons->list.list[i].culprits.kind != BLAME_FILE &&
		    !is_sure(&reasons->list.list[i]) &&
		    !any_left_out(build, &reasons->list.list[i].culprits))
			take_out_culprits(build, &reasons->list.list[i]);
	for (size_t i = 0; i < reasons->list.count; i++)
		if (reasons->list.list[i].culprits.kind == BLAME_FILE)
			take_out_likeliest(build, &reasons->list.list[i], &uses);
	map_deinit(&uses);
	take_out_dependents(build);
	after = count_left_out(build);
	if (after == before)
		return false;
	if (after == build->nr_patches) {
		error_destroy(*error);
		*error = nothing_left(build);
		return false;
	}
	error_destroy(*error);
	*error = NULL;
	start_again(build, false);
	return true;
}

/*
 * With guesses, only that commits are left out counts.  If the phases end otherwise, they run once
 * more with all units judged: there may be others, in which something is refused, and a unit that
 * was found by a guess may not compile for it.  Verify, link and proof come after that.
 */
struct error *confirm_units(struct build *build)
{
	if (!build->guessed)
		return NULL;
	/* leave_out() takes it. */
	return error_new(STATUS_NOTHING, "the units were found by guesses");
}

static bool confirm(struct build *build, struct error **error)
{
	error_destroy(*error);
	*error = NULL;
	if (!build->options.quiet)
		fprintf(stderr, "judge all units again, without the commits that are left out\n");
	start_again(build, true);
	return true;
}

bool leave_out(struct build *build, struct error **error)
{
	struct reasons reasons = {0};
	bool again = false;

	if (!build->options.series || !*error)
		return false;
	if ((*error)->status == STATUS_NOTHING && build->guessed)
		return confirm(build, error);
	if ((*error)->status == STATUS_NOTHING) {
		commits_judge(build);
		if (count_left_out(build)) {
			error_destroy(*error);
			*error = nothing_left(build);
		}
		return false;
	}
	find_reasons(build, *error, &reasons);
	if (build->options.leave_out)
		again = take_out_all(build, error, &reasons);
	if (!again && build->guessed && count_left_out(build) < build->nr_patches)
		again = confirm(build, error);
	if (!again)
		name_commits(build, error, &reasons);
	reasons_deinit(&reasons);
	return again;
}

/* ---- commits that make no difference ---------------------------------------- */

void commits_judge(struct build *build)
{
	struct map uses = {0};

	find_uses(build, &uses);
	for (size_t i = 0; i < build->nr_patches; i++) {
		struct patch_file *patch = &build->patches[i];
		const uintptr_t use = patch_use(&patch->patch, &uses);

		if (!patch->commit || patch->commit->left_out || use & DIFFERS)
			continue;
		patch->commit->idle = true;
		commit_add_reason(patch->commit,
				  use
					  ? "changes no code: its files compile to the same"
					  : "changes nothing that this kernel compiles");
	}
	map_deinit(&uses);
}
