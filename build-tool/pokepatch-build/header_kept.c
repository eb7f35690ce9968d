// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Verdicts on users that earlier builds kept, or earlier runs of the phases found; see
 * header_verdicts.h.
 */
#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/header_search.h"
#include "pokepatch-build/shadow_tree.h"

/* ---- what differs from the run before ------------------------------------------ */

/*
 * The lines are borrowed: free it by differences_deinit().  A file that the diffs remove counts as
 * created, too.
 */
static void add_difference(struct changes *differences, const struct changed_file *file,
			   const struct text_lines *before, const struct text_lines *now)
{
	struct changed_file *added = changes_add(differences, file->path);

	added->outside = file->outside;
	added->created = file->created || file->deleted;
	added->old_lines = *before;
	added->new_lines = *now;
}

static void differences_deinit(struct changes *differences)
{
	for (size_t i = 0; i < differences->files.count; i++)
		free(differences->files.list[i].path);
	vec_deinit(&differences->files);
	map_deinit(&differences->by_path);
}

/* Is it the same text, with the same numbers of lines? */
static bool is_same(const struct changed_file *before, const struct changed_file *now)
{
	return before->sum && now->sum && !strcmp(before->sum, now->sum);
}

/* Find the files that an earlier run and this one do not change in the same way. */
static void find_differences(const struct changes *before, const struct changes *now,
			     struct changes *ret)
{
	for (size_t i = 0; i < before->files.count; i++) {
		const struct changed_file *file = &before->files.list[i];
		const struct changed_file *other = changes_find(now, file->path);

		if (!other)
			add_difference(ret, file, &file->new_lines, &file->old_lines);
		else if (!is_same(file, other))
			add_difference(ret, file, &file->new_lines, &other->new_lines);
	}
	for (size_t i = 0; i < now->files.count; i++) {
		const struct changed_file *file = &now->files.list[i];

		if (!changes_find(before, file->path))
			add_difference(ret, file, &file->old_lines, &file->new_lines);
	}
}

/* Does a user have the same text for the compiler, but for what its code does not mention? */
static bool is_as_before(struct search *search, struct name_filter *filter, const struct user *user)
{
	struct args paths = {};
	path_list different = {};
	bool same, others = false;

	same = search_user_paths(search, user, &paths) &&
	       name_filter_changed(filter, (const char *const *)paths.list, paths.count,
				   &different);
	/* Where a header comes or goes, its name may lead to another. */
	for (size_t i = 0; i < different.count; i++)
		others |= !has_suffix(different.list[i], ".h") ||
			  changes_find(filter->changes, different.list[i])->created;
	same = same && !others &&
	       (!different.count ||
		!name_filter_keeps(filter, (const char *const *)paths.list, paths.count));
	vec_deinit(&different);
	args_deinit(&paths);
	return same;
}

/* The verdict of an earlier run that the changes between that and this one may leave as it is. */
static struct earlier_verdict *holding(const struct search *search, const struct user *user)
{
	struct earlier_verdict *earlier = verdict_earlier(search->build, user->source);

	return user->key && earlier && earlier->holds && earlier->known == user->known ? earlier
										       : NULL;
}

/* Read what the users may include of which verdicts may hold. */
static struct error *load_users(struct search *search, struct name_filter *filter)
{
	for (size_t i = 0; i < search->users.count; i++)
		if (holding(search, &search->users.list[i]))
			TRY(search_load_user(search, filter, &search->users.list[i]));
	name_filter_decide(filter);
	return NULL;
}

static struct error *judge_verdicts(struct search *search, const struct changes *differences)
{
	struct build *build = search->build;
	_free_ bool *still = xcalloc(search->users.count + 1, sizeof(*still));
	struct name_filter filter;
	struct error *error;

	/* The graph has been asked all that depends on this run's changes alone. */
	for (size_t i = 0; i < differences->files.count; i++)
		include_graph_change(&search->graph, differences->files.list[i].path,
				     &differences->files.list[i].old_lines);
	error = name_filter_init(&filter, build->tree, differences, build->changes, &search->graph);
	if (!error)
		error = load_users(search, &filter);
	for (size_t i = 0; !error && i < search->users.count; i++) {
		const struct user *user = &search->users.list[i];

		still[i] = holding(search, user) && is_as_before(search, &filter, user);
	}
	verdicts_hold_none(build);
	for (size_t i = 0; i < search->users.count; i++)
		if (still[i])
			verdict_earlier(build, search->users.list[i].source)->holds = true;
	name_filter_deinit(&filter);
	return error;
}

/*
 * Find out which verdicts of the run before hold in this one, in which headers have lost what
 * commits did to them: those on units that mention none of this.
 */
static struct error *hold_verdicts(struct search *search)
{
	const struct changes *before = verdicts_changes(search->build);
	struct changes differences = {};
	struct error *error = NULL;

	if (before)
		find_differences(before, search->build->changes, &differences);
	if (differences.files.count)
		error = judge_verdicts(search, &differences);
	differences_deinit(&differences);
	return error;
}

/* ---- taking them --------------------------------------------------------------- */

/*
 * Make the key of a user's verdict, and note the changed files that the user may include, if all is
 * known that they follow from.
 */
static void make_key(struct search *search, struct user *user)
{
	struct changes *changes = search->build->changes;
	struct args paths = {}, command = {};
	path_list found = {};
	struct buffer texts = {};
	char key[65];

	search_user_paths(search, user, &paths);
	if (name_filter_changed(&search->filter, (const char *const *)paths.list, paths.count,
				&found)) {
		struct changed_paths *reached = changes_reached(changes, user->source);

		for (size_t i = 0; i < found.count; i++) {
			*vec_push(&reached->list) = changes_find(changes, found.list[i])->path;
			changes_add_sum(changes, found.list[i], &texts);
		}
		search_add_command(search, user, 0, SIDE_ORIGINAL, &command);
		verdict_key(search->build, &command, user->known, &texts, key);
		user->key = xstrdup(key);
	}
	vec_deinit(&found);
	args_deinit(&paths);
	args_deinit(&command);
	buffer_deinit(&texts);
}

static bool is_keepable(const struct search *search, const struct user *user)
{
	_free_ char *source = path_normalise(user->source);

	return user->kind == KIND_UNIT && user->named && !search->build->options.instrument &&
	       source && map_has(&search->graph.files, source);
}

/* A verdict is final once nothing more is to be done for it. */
void search_keep_verdict(const struct search *search, const struct user *user)
{
	if (user->key && !user->failed)
		verdict_store(search->build, user->key, &user->verdict);
}

/*
 * Take the verdict that an earlier build kept, or one of a run before commits were left out: if it
 * holds, or else as a guess.
 */
static void take_verdict(struct search *search, struct user *user)
{
	struct build *build = search->build;
	const struct earlier_verdict *earlier;

	if (!user->key)
		return;
	user->settled = verdict_load(build, user->key, &user->verdict);
	if (user->settled)
		return;
	earlier = holding(search, user);
	if (earlier) {
		verdict_copy(&earlier->verdict, &user->verdict);
		user->compared = true;
		user->settled = earlier->final;
		if (user->settled)
			search_keep_verdict(search, user);
		return;
	}
	if (build->again && !build->exact &&
	    verdict_guess(build, user->source, user->known, &user->verdict))
		user->settled = user->guessed = build->guessed = true;
}

/*
 * Whether the user's code differed with all commits: then it most likely does without some, too, so
 * both sides are compiled at once.  Only if they are alike, its texts are needed.
 */
static bool is_expected(const struct search *search, struct user *user)
{
	if (user->settled || user->compared || !user->key || user->known || !search->build->exact ||
	    !verdict_guess(search->build, user->source, false, &user->verdict))
		return false;
	if (user->verdict.differs && !user->verdict.exports)
		return true;
	search_forget_verdict(user);
	return false;
}

void search_forget_verdict(struct user *user)
{
	args_deinit(&user->verdict.ways);
	user->verdict = (struct verdict){};
}

struct error *search_take_verdicts(struct search *search)
{
	if (!name_filter_any(&search->filter))
		return NULL;
	for (size_t i = 0; i < search->users.count; i++)
		if (is_keepable(search, &search->users.list[i]))
			make_key(search, &search->users.list[i]);
	TRY(hold_verdicts(search));
	for (size_t i = 0; i < search->users.count; i++) {
		struct user *user = &search->users.list[i];

		take_verdict(search, user);
		user->expected = is_expected(search, user);
		for (size_t j = 0; j < user->verdict.ways.count; j++)
			TRY(shadow_follow(search->build->shadow, user->verdict.ways.list[j]));
	}
	return NULL;
}

/* ---- remembering them ---------------------------------------------------------- */

/*
 * Many units differ only by the headers of refused commits, so before they are compiled, that they
 * do is no good guess.
 */
void search_remember_verdicts(struct search *search, bool compiled)
{
	if (!search->build->options.leave_out)
		return;
	for (size_t i = 0; i < search->users.count; i++) {
		const struct user *user = &search->users.list[i];
		const struct earlier_verdict *was = holding(search, user);
		const struct earlier_verdict entry = {
			.known = user->known,
			.holds = true,
			.final = compiled || !search_is_to_compile(search, user),
			.likely = compiled || user->known || !user->verdict.differs ||
				  (was && was->likely),
			.verdict = user->verdict,
		};

		if (user->key && !user->failed && !user->guessed &&
		    (user->compared || user->settled))
			verdict_remember(search->build, user->source, &entry);
	}
}
