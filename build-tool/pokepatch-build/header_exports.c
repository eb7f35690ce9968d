// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Judging what users export before they are compiled.  A header that many units include changes the
 * types of some that export: once its commit is left out, all of the units would be compiled again.
 * And a unit whose exports are as before needs not be in the patch if its code is.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pokepatch-build/comparison.h"
#include "pokepatch-build/compile_jobs.h"
#include "pokepatch-build/exports.h"
#include "pokepatch-build/header_search.h"
#include "pokepatch-build/units.h"

/* The users that may export what a diff changes, and their units. */
struct early {
	VEC(struct user *) users;
	VEC(struct unit *) units;
	VEC(const char *) keys;
};

void search_make_unit(const struct search *search, const struct user *user, struct unit *ret)
{
	struct args words = {};

	plan_add_command(&search->plan, user->planned, &words);
	*ret = (struct unit){
		.source = xstrdup(user->source),
		.object = unit_object_name(user->source),
		.argv = words.list, /* the unit's now */
	};
}

/*
 * Units that a diff changes itself are in the patch anyway: their exports are only of interest if
 * commits can be left out.
 */
static bool may_export(const struct search *search, const struct user *user)
{
	return user->kind == KIND_UNIT && user->verdict.differs && user->verdict.exports &&
	       !user->failed && !user->judged && (!user->known || search->build->options.leave_out);
}

/* Make the unit of a user, and a folder for its texts. */
static struct error *add_unit(const struct search *search, struct user *user, struct early *early)
{
	struct unit *unit = *vec_push(&early->units) = xcalloc(1, sizeof(*unit));
	_free_ char *folder =
		xasprintf("%s/exports/%zu", search->build->work, early->units.count);

	*vec_push(&early->users) = user;
	*vec_push(&early->keys) = user->key;
	search_make_unit(search, user, unit);
	unit->patched_object = xasprintf("%s/unit.o", folder);
	TRY(make_dirs(folder));
	return unit_follow_ways(search->build, unit);
}

/* Note the changed files that a unit's text was made from. */
static struct error *note_files(const struct search *search, struct unit *unit)
{
	const size_t length = strlen(unit->patched_object) - strlen("o");
	_free_ char *path = xasprintf("%.*si", (int)length, unit->patched_object);
	struct string_set files = {};
	struct text text = {};

	TRY(file_read(path, &text.text, &text.length));
	search_find_files(search, &text, &files);
	unit->nr_changed_files = files.strings.count;
	unit->changed_files = take_pointer(files.strings.list);
	files.strings.count = 0;
	string_set_deinit(&files);
	free(text.text);
	return NULL;
}

/* Remove what exports_check_early() has made for a unit. */
static struct error *remove_folder(const struct unit *unit)
{
	const char *name = strrchr(unit->patched_object, '/');
	_free_ char *folder = xstrndup(unit->patched_object, (size_t)(name - unit->patched_object));

	return remove_tree(folder);
}

/*
 * Units of refused exports are needed to find the commits behind that; free the others.  A unit
 * whose exports are as before is in the patch only if its object differs.  An earlier run may have
 * kept that its text differs, and ended before it compiled the unit.
 */
static struct error *take_verdicts(struct search *search, struct early *early,
				   const enum early_exports *verdicts)
{
	struct comparison *comparison = search->build->comparison;
	struct error *error = NULL;

	for (size_t i = 0; i < early->units.count; i++) {
		struct user *user = early->users.list[i];
		struct unit *unit = early->units.list[i];

		user->judged = true;
		if (verdicts[i] == EXPORTS_AS_BEFORE) {
			user->compared = true;
			user->verdict.exports = false;
			user->settled &= user->known;
		}
		if (verdicts[i] == EXPORTS_REFUSED)
			error = error ?: note_files(search, unit);
		error = error ?: remove_folder(unit);
		if (verdicts[i] == EXPORTS_REFUSED) {
			*vec_push(&comparison->early) = unit;
		} else {
			unit_deinit(unit);
			free(unit);
		}
	}
	return error;
}

struct error *search_judge_exports(struct search *search)
{
	struct early early = {};
	struct error *error = NULL, *last;
	_free_ enum early_exports *verdicts = xcalloc(search->users.count + 1, sizeof(*verdicts));

	for (size_t i = 0; !error && i < search->users.count; i++)
		if (may_export(search, &search->users.list[i]))
			error = add_unit(search, &search->users.list[i], &early);
	if (!error)
		error = exports_check_early(search->build, early.units.list, early.keys.list,
					    early.units.count, search->build->options.leave_out,
					    verdicts);
	last = take_verdicts(search, &early, verdicts);
	if (error)
		error_destroy(last);
	vec_deinit(&early.users);
	vec_deinit(&early.units);
	vec_deinit(&early.keys);
	return error ?: last;
}
