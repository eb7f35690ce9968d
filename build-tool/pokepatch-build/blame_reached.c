// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finding the commits behind a refused function or variable that none of them changes itself: it
 * may have changed by what it uses, as a function by another that is inlined into it, or a table by
 * the macro that is its initial value.  The names in its text lead to their definitions in the
 * unit's source and in the changed files, and the names in these to further ones.  A commit that
 * fewer steps lead to is the likelier cause.
 */
#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/blame_lines.h"
#include "pokepatch-build/lines.h"
#include "pokepatch-build/shadow_tree.h"

/* Where a name is defined. */
struct reached_place {
	const struct changed_file *file;
	struct line_range range;
};

struct reached_name {
	char *name;
	size_t query; /* the last that came by it */
	VEC(struct reached_place) places;
};

/* The definitions in the source of a unit and in the changed files that it compiles. */
struct reach {
	const struct unit *unit;
	size_t query; /* counts them */
	struct map by_name;
	VEC(struct reached_name *) names;
	struct changed_file source; /* with the tree's text, if no commit changes it */
	struct map units;           /* from a file to the first unit that compiles it */
};

typedef VEC(struct reached_name *) reached_names;

/* ---- the definitions of a unit ----------------------------------------------- */

/* Free what is about one unit. */
static void reach_forget(struct reach *reach)
{
	for (size_t i = 0; i < reach->names.count; i++) {
		vec_deinit(&reach->names.list[i]->places);
		free(reach->names.list[i]->name);
		free(reach->names.list[i]);
	}
	vec_deinit(&reach->names);
	map_deinit(&reach->by_name);
	reach->by_name = (struct map){};
	text_lines_deinit(&reach->source.new_lines);
	free(reach->source.text);
	free(reach->source.path);
	reach->source = (struct changed_file){};
}

void blame_reached_deinit(struct blame *blame)
{
	if (!blame->reach)
		return;
	reach_forget(blame->reach);
	map_deinit(&blame->reach->units);
	free(blame->reach);
	blame->reach = NULL;
}

static struct reached_name *reach_name(struct reach *reach, const struct word *word)
{
	char *name = xstrndup(word->text, word->length);
	struct reached_name *found = map_get(&reach->by_name, name);

	if (found) {
		free(name);
		return found;
	}
	found = xcalloc(1, sizeof(*found));
	found->name = name;
	*vec_push(&reach->names) = found;
	*map_slot(&reach->by_name, name) = found;
	return found;
}

static void read_definitions(struct reach *reach, const struct changed_file *file)
{
	struct line_range range;
	struct word word;

	for (size_t i = 0; i < file->new_lines.count; i++)
		if (definition_at(&file->new_lines, i, &range, &word)) {
			struct reached_name *name = reach_name(reach, &word);

			*vec_push(&name->places) = (struct reached_place){file, range};
		}
}

/* A source that no commit changes leads to the headers that they change. */
static void read_source(struct reach *reach, const struct build *build)
{
	_free_ char *path = xasprintf("%s/%s", build->tree, reach->unit->source);
	size_t length;
	struct error *error = file_read(path, &reach->source.text, &length);

	if (error) { /* then the commits are guessed by their files */
		error_destroy(error);
		return;
	}
	reach->source.path = xstrdup(reach->unit->source);
	text_lines_split(reach->source.text, length, &reach->source.new_lines);
	read_definitions(reach, &reach->source);
}

/* Most refusals are about the unit of the one before. */
static void reach_read(struct reach *reach, const struct build *build, const struct unit *unit)
{
	if (reach->unit == unit)
		return;
	reach_forget(reach);
	reach->unit = unit;
	for (size_t i = 0; i < unit->nr_changed_files; i++) {
		const struct changed_file *file =
			changes_find(build->changes, unit->changed_files[i]);

		if (file)
			read_definitions(reach, file);
	}
	if (!changes_find(build->changes, unit->source))
		read_source(reach, build);
}

static void note_unit(struct reach *reach, const char *path, struct unit *unit)
{
	void **slot = map_slot(&reach->units, path);

	if (!*slot)
		*slot = unit;
}

/* A file belongs to the unit of which it is the source, or else to the first that compiles it. */
static struct reach *reach_of(const struct build *build)
{
	struct reach *reach = build->blame->reach;

	if (reach)
		return reach;
	reach = build->blame->reach = xcalloc(1, sizeof(*reach));
	for (size_t i = 0; i < build->nr_units; i++)
		note_unit(reach, build->units[i].source, &build->units[i]);
	for (size_t i = 0; i < build->nr_units; i++)
		for (size_t j = 0; j < build->units[i].nr_changed_files; j++)
			note_unit(reach, build->units[i].changed_files[j], &build->units[i]);
	return reach;
}

/* ---- following names --------------------------------------------------------- */

/* Add a name that this query has not come by, if it is defined. */
static void reach_add_name(struct reach *reach, const char *name, reached_names *ret)
{
	struct reached_name *found = map_get(&reach->by_name, name);

	if (!found || found->query == reach->query)
		return;
	found->query = reach->query;
	*vec_push(ret) = found;
}

/* An #include within a definition, as of "features.h": each commit that changes the file counts. */
static void blame_included(const struct build *build, const char *path,
			   const struct text_line *line, struct culprits *ret)
{
	const char *quote = memchr(line->text, '"', line->length);
	const size_t left = quote ? line->length - (size_t)(quote + 1 - line->text) : 0;
	const char *end = left ? memchr(quote + 1, '"', left) : NULL;
	const char *slash = strrchr(path, '/');
	_free_ char *included = NULL, *name = NULL;

	if (!end || *line->text != '#')
		return;
	name = xasprintf("%.*s%.*s", slash ? (int)(slash + 1 - path) : 0, path,
			 (int)(end - quote - 1), quote + 1);
	included = path_normalise(name);
	if (included && changes_find(build->changes, included))
		blame_path(build, included, ret);
}

static bool is_comment(const struct text_line *line)
{
	static const char *const beginnings[] = {"/*", "//", "* "};
	const char *at = line->text, *end = line->text + line->length;

	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (end - at >= 2 && !memcmp(at, beginnings[i], 2))
			return true;
	return false;
}

/* Add the names that a definition uses. */
static void reach_add_uses(struct reach *reach, const struct build *build,
			   const struct reached_place *place, reached_names *ret_names,
			   struct culprits *ret)
{
	const struct text_lines *lines = &place->file->new_lines;

	for (size_t i = place->range.first; i <= place->range.last; i++) {
		const struct text_line *line = &lines->list[i];
		const char *at = line->text, *seen = at;
		bool in_string = false;
		struct word word;

		if (is_comment(line))
			continue;
		blame_included(build, place->file->path, line, ret);
		while (next_word(&at, line->text + line->length, &word)) {
			_free_ char *name = xstrndup(word.text, word.length);

			for (; seen < word.text; seen++)
				in_string ^= *seen == '"';
			if (!in_string)
				reach_add_name(reach, name, ret_names);
		}
	}
}

/* Begin with the names used in the definition around the line with a number. */
static void reach_start(struct reach *reach, const struct build *build, const char *path,
			size_t number, reached_names *ret_names, struct culprits *ret)
{
	const struct changed_file *file = changes_find(build->changes, path);
	_free_ size_t *numbers = NULL;

	if (!file && reach->source.path && !strcmp(path, reach->source.path))
		file = &reach->source;
	if (!file || !number)
		return;
	numbers = xcalloc(file->new_lines.count + 1, sizeof(*numbers));
	text_lines_numbers(&file->new_lines, numbers);
	for (size_t i = 0; i < file->new_lines.count; i++)
		if (numbers[i] == number) {
			const struct reached_place place = {
				file, definition_around(&file->new_lines, i)};

			reach_add_uses(reach, build, &place, ret_names, ret);
		}
}

/*
 * Follow the names, step by step, until commits are found that change their definitions.  A few
 * steps lead almost anywhere, so that the files tell no less then.
 */
static void reach_follow(struct reach *reach, const struct build *build, reached_names *names,
			 struct culprits *ret)
{
	enum { STEPS = 4 }; /* as from a function to its callee, an inline of a header, a macro */
	reached_names next = {};

	for (int step = 0; step < STEPS && names->count && !ret->list.count; step++) {
		for (size_t i = 0; i < names->count; i++)
			for (size_t j = 0; j < names->list[i]->places.count; j++) {
				const struct reached_place *place =
					&names->list[i]->places.list[j];

				blame_range(build, place->file, place->range, ret);
				reach_add_uses(reach, build, place, &next, ret);
			}
		vec_deinit(names);
		*names = next;
		next = (reached_names){};
	}
}

void blame_reached(const struct build *build, const char *subject, const char *path, size_t number,
		   struct culprits *ret)
{
	/* "f.cold" and "table.12" are f's and table's. */
	_free_ char *name = xstrndup(subject, strcspn(subject, "."));
	struct reach *reach = reach_of(build);
	const struct unit *unit = map_get(&reach->units, path);
	reached_names names = {};

	if (!unit)
		return;
	reach_read(reach, build, unit);
	reach->query++;
	reach_add_name(reach, name, &names);
	reach_start(reach, build, path, number, &names, ret);
	reach_follow(reach, build, &names, ret);
	vec_deinit(&names);
}
