// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding the commits behind a refusal; see blame.h. */
#include "pokepatch-build/blame_lines.h"

#include <stdlib.h>
#include <string.h>

#include "common/search.h"
#include "pokepatch-build/comparison.h"
#include "pokepatch-build/lines.h"
#include "pokepatch-build/shadow_tree.h"
#include "pokepatch-build/series.h"

void culprits_deinit(struct culprits *culprits)
{
	vec_deinit(&culprits->list);
	*culprits = (struct culprits){0};
}

void blame_destroy(struct blame *blame)
{
	if (!blame)
		return;
	for (size_t i = 0; i < blame->files.count; i++) {
		free(blame->files.list[i]->path);
		vec_deinit(&blame->files.list[i]->removals);
		free(blame->files.list[i]);
	}
	for (size_t i = 0; i < blame->failures.count; i++) {
		free(blame->failures.list[i].output);
		free(blame->failures.list[i].line);
	}
	blame_types_deinit(blame);
	blame_reached_deinit(blame);
	vec_deinit(&blame->failures);
	vec_deinit(&blame->files);
	vec_deinit(&blame->texts);
	map_deinit(&blame->by_path);
	free(blame);
}

static int order_texts(const void *a, const void *b)
{
	const struct diff_text *first = a, *second = b;

	return first->start < second->start ? -1 : first->start > second->start;
}

struct blame *blame_of(struct build *build)
{
	struct blame *blame = build->blame;

	if (blame)
		return blame;
	blame = build->blame = xcalloc(1, sizeof(*blame));
	for (size_t i = 0; i < build->nr_patches; i++) {
		const char *text = build->patches[i].patch.text;

		*vec_push(&blame->texts) = (struct diff_text){
			.start = text, .end = text + strlen(text), .patch = i};
	}
	qsort(blame->texts.list, blame->texts.count, sizeof(*blame->texts.list), order_texts);
	return blame;
}

static struct file_blame *file_of(struct blame *blame, const char *path)
{
	struct file_blame *file = map_get(&blame->by_path, path);

	if (file)
		return file;
	file = xcalloc(1, sizeof(*file));
	file->path = xstrdup(path);
	*vec_push(&blame->files) = file;
	*map_slot(&blame->by_path, file->path) = file;
	return file;
}

bool blame_line_author(const struct blame *blame, const struct text_line *line, size_t *ret)
{
	const size_t behind =
		first_index(i, blame->texts.count, blame->texts.list[i].start > line->text);
	const struct diff_text *text = behind ? &blame->texts.list[behind - 1] : NULL;

	if (!text || line->text >= text->end)
		return false;
	*ret = text->patch;
	return true;
}

/* ---- sets of commits -------------------------------------------------------- */

static int order_numbers(const void *a, const void *b)
{
	const size_t first = *(const size_t *)a, second = *(const size_t *)b;

	return first < second ? -1 : first > second;
}

void culprits_add(struct culprits *culprits, size_t patch)
{
	*vec_push(&culprits->list) = patch;
}

bool culprits_settle(struct culprits *culprits, enum blame_kind kind)
{
	size_t kept = 0;

	if (!culprits->list.count)
		return false;
	qsort(culprits->list.list, culprits->list.count, sizeof(size_t), order_numbers);
	for (size_t i = 1; i < culprits->list.count; i++)
		if (culprits->list.list[i] != culprits->list.list[kept])
			culprits->list.list[++kept] = culprits->list.list[i];
	culprits->list.count = kept + 1;
	culprits->kind = kind;
	return true;
}

/* ---- applying --------------------------------------------------------------- */

/* Record what a hunk removed from the old text, and which commits' lines it needed to be there. */
static void record_hunk(struct blame *blame, struct file_blame *file, size_t patch,
			struct commit *commit, const struct text_lines *old,
			const struct patch_hunk *hunk, const struct hunk_place *place)
{
	size_t at = place->line - 1, author;

	for (size_t i = 0; i < hunk->nr_lines; i++) {
		const struct text_line *line;

		if (hunk->lines[i].kind == '+')
			continue;
		line = &old->list[at++];
		if (blame_line_author(blame, line, &author) && author != patch)
			*vec_push(&commit->needs) = author;
		if (hunk->lines[i].kind == '-')
			*vec_push(&file->removals) = (struct removal){
				.patch = patch,
				.origin = line->origin,
				.before = text_lines_origin_before(old, at - 1),
				.text = line->text,
				.length = line->length,
			};
	}
}

/*
 * The place of a hunk, which must stay the same when fewer commits are applied: a line of the
 * tree's text, or 0 for a hunk among lines that commits added.
 */
static size_t hunk_anchor(const struct text_lines *old, const struct patch_hunk *hunk,
			  const struct hunk_place *place)
{
	const size_t count = hunk->old_count ?: 1;

	for (size_t i = place->line - 1; i < place->line - 1 + count && i < old->count; i++)
		if (old->list[i].origin)
			return old->list[i].origin;
	return 0;
}

/* Is the hunk where it was when all commits were applied? */
static bool keeps_place(struct patch_hunk *hunk, size_t anchor)
{
	if (!hunk->anchor)
		hunk->anchor = anchor + 1;
	return hunk->anchor == anchor + 1;
}

struct error *blame_apply(struct build *build, const struct patch_file *patch,
			  const struct patch_entry *entry, const char *path,
			  struct text_lines *lines, struct hunk_place **ret)
{
	struct commit *commit = patch->commit;
	struct text_lines old = {0};
	struct error *error;

	if (!commit)
		return patch_apply(patch->path, entry, lines, build->options.fuzz, ret);

	struct blame *blame = blame_of(build);
	struct file_blame *file = file_of(blame, path);
	for (size_t i = 0; i < lines->count; i++)
		*vec_push(&old) = lines->list[i];
	error = patch_apply(patch->path, entry, lines, build->options.fuzz, ret);
	for (size_t i = 0; !error && i < entry->nr_hunks; i++) {
		struct patch_hunk *hunk = &entry->hunks[i];

		if (!keeps_place(hunk, hunk_anchor(&old, hunk, &(*ret)[i])))
			error = error_new(STATUS_FAILED,
					  "%s:%zu: hunk %zu would be put at another place of %s "
					  "than with all commits",
					  patch->path, hunk->diff_line, i + 1, path);
		else
			record_hunk(blame, file, (size_t)(patch - build->patches), commit, &old,
				    hunk, &(*ret)[i]);
	}
	if (!error)
		commit_note_functions(commit, path, lines, entry, *ret);
	vec_deinit(&old);
	return error;
}

/* ---- from lines to commits -------------------------------------------------- */

/* Where lines of a range of the new text were in the tree's text, which tells where others were. */
struct origins {
	size_t low, high;
};

static struct origins range_origins(const struct changed_file *file, struct line_range range)
{
	struct origins origins = {SIZE_MAX, 0};

	for (size_t i = range.first; i <= range.last && i < file->new_lines.count; i++) {
		const size_t origin = file->new_lines.list[i].origin;

		if (!origin)
			continue;
		origins.low = origin < origins.low ? origin : origins.low;
		origins.high = origin > origins.high ? origin : origins.high;
	}
	return origins;
}

/* The commits that removed lines among those, with the word, or all if it is NULL. */
static void blame_removals(const struct build *build, const struct changed_file *file,
			   struct line_range range, const char *word, struct culprits *ret)
{
	const struct file_blame *blame = map_get(&build->blame->by_path, file->path);
	const struct origins origins = range_origins(file, range);

	for (size_t i = 0; blame && i < blame->removals.count; i++) {
		const struct removal *removal = &blame->removals.list[i];
		const struct text_line line = {removal->text, removal->length, 0};

		if (removal->before >= origins.low && removal->before < origins.high &&
		    (!word || line_has_word(&line, word)))
			culprits_add(ret, removal->patch);
	}
}

void blame_range(const struct build *build, const struct changed_file *file,
		 struct line_range range, struct culprits *ret)
{
	size_t author;

	for (size_t i = range.first; i <= range.last && i < file->new_lines.count; i++)
		if (blame_line_author(build->blame, &file->new_lines.list[i], &author))
			culprits_add(ret, author);
	blame_removals(build, file, range, NULL, ret);
}

void blame_old_range(const struct build *build, const struct changed_file *file,
		     struct line_range range, struct culprits *ret)
{
	const struct file_blame *blame = map_get(&build->blame->by_path, file->path);

	for (size_t i = 0; blame && i < blame->removals.count; i++) {
		const struct removal *removal = &blame->removals.list[i];

		if (removal->origin > range.first && removal->origin <= range.last + 1)
			culprits_add(ret, removal->patch);
	}
}

void blame_number(const struct build *build, const struct changed_file *file, size_t number,
		  bool around, struct culprits *ret)
{
	_free_ size_t *numbers = xcalloc(file->new_lines.count + 1, sizeof(*numbers));

	text_lines_numbers(&file->new_lines, numbers);
	for (int added = 1; added >= 0 && !ret->list.count; added--)
		for (size_t i = 0; i < file->new_lines.count; i++) {
			const bool is_added = !file->new_lines.list[i].origin;
			struct line_range range = {i, i};

			if (numbers[i] != number || is_added != added)
				continue;
			if (around)
				range = definition_around(&file->new_lines, i);
			blame_range(build, file, range, ret);
		}
}

void blame_removed_around(const struct build *build, const struct changed_file *file, size_t number,
			  const char *word, struct culprits *ret)
{
	_free_ size_t *numbers = xcalloc(file->new_lines.count + 1, sizeof(*numbers));

	text_lines_numbers(&file->new_lines, numbers);
	for (size_t i = 0; i < file->new_lines.count; i++)
		if (numbers[i] == number)
			blame_removals(build, file, definition_around(&file->new_lines, i), word,
				       ret);
}

/* The commits that change a definition of name, or another line in the first column about it. */
static void blame_definitions(const struct build *build, const struct changed_file *file,
			      const char *name, const char *also, struct culprits *ret)
{
	const struct text_lines *texts[] = {&file->new_lines, &file->old_lines};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct line_range range;

		for (size_t at = 0; definition_next(texts[i], name, at, &range);
		     at = range.last + 1) {
			const char *text = texts[i]->list[range.first].text;

			if (also && memcmp(text, also, strlen(also)))
				continue;
			if (i)
				blame_old_range(build, file, range, ret);
			else
				blame_range(build, file, range, ret);
		}
	}
}

/* Does the line begin the definition of a type, a table or a macro of this name? */
static bool defines_word(struct text_line line, const char *name)
{
	const struct text_lines lines = {.list = &line, .count = 1};
	struct line_range range;
	struct word word;

	return definition_at(&lines, 0, &range, &word) && word_is(&word, name);
}

static bool in_first_column(const struct text_line *line)
{
	return line->length && line->text[0] != ' ' && line->text[0] != '\t';
}

/* Could code outside the function that the line is in see what the line declares? */
static bool is_visible(const struct file_blame *file, const struct text_line *line)
{
	return has_suffix(file->path, ".h") || in_first_column(line);
}

void blame_removed_word(const struct build *build, const struct unit *unit, const char *word,
			bool defined, struct culprits *ret)
{
	for (size_t i = 0; i < unit->nr_changed_files; i++) {
		const struct file_blame *file =
			map_get(&build->blame->by_path, unit->changed_files[i]);

		for (size_t j = 0; file && j < file->removals.count; j++) {
			const struct removal *removal = &file->removals.list[j];
			const struct text_line line = {removal->text, removal->length, 0};

			if (defined ? defines_word(line, word)
				    : is_visible(file, &line) && line_has_word(&line, word))
				culprits_add(ret, removal->patch);
		}
	}
}

/* ---- from files to commits -------------------------------------------------- */

bool blame_changes_path(const struct patch *patch, const char *path)
{
	for (size_t i = 0; i < patch->nr_entries; i++) {
		const struct patch_entry *entry = &patch->entries[i];

		if ((entry->old_path && !strcmp(entry->old_path, path)) ||
		    (entry->new_path && !strcmp(entry->new_path, path)))
			return true;
	}
	return false;
}

void blame_path(const struct build *build, const char *path, struct culprits *ret)
{
	for (size_t i = 0; i < build->nr_patches; i++) {
		const struct patch_file *patch = &build->patches[i];

		if (patch->commit && !patch->commit->left_out &&
		    blame_changes_path(&patch->patch, path))
			culprits_add(ret, i);
	}
}

/* The commits that change a file which the units of a source, or all units of it, compile. */
static void blame_source(const struct build *build, const char *source, struct culprits *ret)
{
	blame_path(build, source, ret);
	if (ret->list.count)
		return;
	for (size_t i = 0; i < build->nr_units; i++)
		for (size_t j = 0; j < build->units[i].nr_changed_files; j++)
			if (!strcmp(build->units[i].source, source))
				blame_path(build, build->units[i].changed_files[j], ret);
}

/* ---- refusals --------------------------------------------------------------- */

/* "fs/file.c:120" or "fs/file.c" */
struct place {
	char *path;
	size_t line; /* 0: not known */
};

static struct place place_parse(const char *location)
{
	const char *colon = strrchr(location, ':');
	bool numbered = colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1);
	_free_ char *path =
		xstrndup(location, numbered ? (size_t)(colon - location) : strlen(location));

	/* A trace header is "fs/smb/client/./trace.h" where trace/define_trace.h includes it. */
	return (struct place){
		.path = path_normalise(path) ?: xstrdup(path),
		.line = numbered ? strtoul(colon + 1, NULL, 10) : 0,
	};
}

/* Where a unit's new code begins to differ, if the refusal is about a changed function. */
static const char *first_difference(const struct build *build, const char *subject)
{
	for (size_t i = 0; build->comparison && i < build->comparison->count; i++) {
		const struct diff_result *result = &build->comparison->results[i];

		for (size_t j = 0; j < result->functions.count; j++)
			if (!strcmp(result->functions.list[j].name, subject))
				return result->functions.list[j].source;
	}
	return NULL;
}

static void blame_location(const struct build *build, const char *location, struct culprits *ret)
{
	struct place place = place_parse(location);
	const struct changed_file *file = changes_find(build->changes, place.path);

	if (file && place.line)
		blame_number(build, file, place.line, true, ret);
	free(place.path);
}

/* What a refusal with this code is about besides the function that it names. */
static const struct code_hint {
	const char *code;
	const char *begins; /* of a line in the first column, which has the subject too */
} code_hints[] = {
	{"export-changed", "EXPORT_"},
};

static void blame_subject(const struct build *build, const struct refusal *refusal,
			  const char *also, struct culprits *ret)
{
	/* "f.cold" and "table.12" are f's and table's; ".init.text" is no name. */
	_free_ char *name = xstrndup(refusal->subject, strcspn(refusal->subject, "."));
	struct place place = place_parse(refusal->location ?: "");

	for (size_t i = 0; *name && i < build->changes->files.count; i++) {
		const struct changed_file *file = &build->changes->files.list[i];

		if (!changes_find(build->changes, place.path) || !strcmp(file->path, place.path))
			blame_definitions(build, file, name, also, ret);
	}
	free(place.path);
}

/*
 * The commits that added lines with the word.  A header that declares a function needs none, so its
 * lines count only if no others use the word.
 */
static void blame_added_word(const struct build *build, const char *word, struct culprits *ret)
{
	size_t author;

	for (int headers = 0; headers <= 1 && !ret->list.count; headers++)
		for (size_t i = 0; i < build->changes->files.count; i++) {
			const struct changed_file *file = &build->changes->files.list[i];
			const struct text_lines *lines = &file->new_lines;

			if (has_suffix(file->path, ".h") != headers)
				continue;
			for (size_t j = 0; j < lines->count; j++)
				if (line_has_word(&lines->list[j], word) &&
				    blame_line_author(build->blame, &lines->list[j], &author))
					culprits_add(ret, author);
		}
}

/* The commits that change headers of the unit that exports a symbol. */
static void blame_headers(const struct build *build, const struct refusal *refusal,
			  struct culprits *ret)
{
	const struct changed_export *export =
		map_get(&build->comparison->changed_exports_by_name, refusal->subject);

	for (size_t i = 0; i < export->unit->nr_changed_files; i++)
		if (has_suffix(export->unit->changed_files[i], ".h"))
			blame_path(build, export->unit->changed_files[i], ret);
}

/* Refusals of a file as a whole, of which one of the commits that change it may be the cause. */
static bool is_of_one(const struct refusal *refusal)
{
	return !strcmp(refusal->code, "makefile-changed") || !strcmp(refusal->code, "kconfig-changed");
}

/* The commits that take a file away. */
static void blame_removers(const struct build *build, const char *path, struct culprits *ret)
{
	for (size_t i = 0; i < build->nr_patches; i++) {
		const struct patch *patch = &build->patches[i].patch;

		for (size_t j = 0; j < patch->nr_entries; j++) {
			const struct patch_entry *entry = &patch->entries[j];

			if ((entry->change == PATCH_DELETE || entry->change == PATCH_RENAME) &&
			    !strcmp(entry->old_path, path))
				culprits_add(ret, i);
		}
	}
}

void blame_refusal(const struct build *build, const struct refusal *refusal, struct culprits *ret)
{
	const char *difference = first_difference(build, refusal->subject);
	struct place place;

	*ret = (struct culprits){0};
	if (build->changes && build->blame) {
		const bool types = !strcmp(refusal->code, "export-changed") &&
				   blame_types(build, refusal, ret);

		for (size_t i = 0; !types && i < ARRAY_SIZE(code_hints); i++)
			if (!strcmp(code_hints[i].code, refusal->code))
				blame_subject(build, refusal, code_hints[i].begins, ret);
		/* What defined it is left out, or was never there; its users are in any unit. */
		if (!strcmp(refusal->code, "symbol-missing"))
			blame_added_word(build, refusal->subject, ret);
		/* A macro or an #include may be behind it, in any header of the unit. */
		if (types && !ret->list.count) {
			blame_headers(build, refusal, ret);
			if (culprits_settle(ret, BLAME_FILE))
				return;
		}
		if (!ret->list.count && refusal->location)
			blame_location(build, refusal->location, ret);
		if (!ret->list.count && difference)
			blame_location(build, difference, ret);
		if (!ret->list.count)
			blame_subject(build, refusal, NULL, ret);
		if (culprits_settle(ret, BLAME_LINES))
			return;
	}
	place = place_parse(refusal->location ?: refusal->subject);
	if (build->changes && build->blame)
		blame_reached(build, refusal->subject, place.path, place.line, ret);
	if (!strcmp(refusal->code, "file-deleted") || !strcmp(refusal->code, "file-renamed"))
		blame_removers(build, place.path, ret);
	if (!ret->list.count)
		blame_source(build, place.path, ret);
	/* The file itself may not change: each of these commits would be refused alone. */
	culprits_settle(ret, strcmp(place.path, refusal->subject) || is_of_one(refusal) ? BLAME_FILE
											: BLAME_LINES);
	free(place.path);
}
