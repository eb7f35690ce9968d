// SPDX-License-Identifier: GPL-2.0-or-later
/* Applying a quilt series to a source tree; see quilt.h. */
#include "pokepatch-build/quilt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/proc.h"
#include "pokepatch-build/patch.h"

/* Is path in a folder that the tree lacks? */
static bool is_left_out(const char *path, char *const *left_out)
{
	for (; *left_out; left_out++) {
		size_t length = strlen(*left_out);

		if (!strncmp(path, *left_out, length) && path[length] == '/')
			return true;
	}
	return false;
}

/* A file that exists keeps its mode.  No sync: the tree is not ready yet. */
static struct error *write_text(const char *path, const struct text_lines *lines)
{
	_free_ char *folder = xstrdup(path);
	struct buffer text = {0};
	bool failed;
	FILE *file;

	*strrchr(folder, '/') = '\0';
	TRY(make_dirs(folder));
	file = fopen(path, "we");
	if (!file)
		return error_errno("cannot write %s", path);
	text_lines_join(lines, &text);
	failed = text.length && fwrite(text.text, text.length, 1, file) != 1;
	failed |= fclose(file) != 0;
	buffer_deinit(&text);
	return failed ? error_errno("cannot write %s", path) : NULL;
}

/* Make the new text of an entry: of the file at from, or of none (NULL). */
static struct error *change_text(const char *name, const struct patch_entry *entry, const char *from,
				 const char *to)
{
	_free_ struct hunk_place *places = NULL;
	struct text_lines lines = {0};
	_free_ char *old = NULL;
	struct error *error;
	size_t length = 0;

	if (from)
		TRY(file_read(from, &old, &length));
	text_lines_split(old ?: "", length, &lines);
	error = patch_apply(name, entry, &lines, 0, &places);
	if (!error)
		error = write_text(to, &lines);
	text_lines_deinit(&lines);
	return error;
}

/* patch_parse() has refused paths that lead out of the tree. */
static struct error *apply_entry(const char *name, const struct patch_entry *entry, const char *tree)
{
	_free_ char *from = entry->old_path ? xasprintf("%s/%s", tree, entry->old_path) : NULL;
	_free_ char *to = entry->new_path ? xasprintf("%s/%s", tree, entry->new_path) : NULL;

	if (entry->binary)
		return error_new(STATUS_FAILED, "%s:%zu: a binary diff cannot be applied", name,
				 entry->diff_line);
	if (from && !file_exists(from))
		return error_new(STATUS_FAILED, "%s:%zu: the source has no file %s", name,
				 entry->diff_line, entry->old_path);
	if (to)
		TRY(change_text(name, entry, from, to));
	if (entry->change != PATCH_DELETE && entry->change != PATCH_RENAME)
		return NULL;
	return unlink(from) ? error_errno("cannot remove %s", from) : NULL;
}

static struct error *apply_patch(const char *path, unsigned int strip, const char *tree,
				 char *const *left_out)
{
	_free_ char *text = NULL;
	struct error *error;
	struct patch patch;
	size_t length;

	TRY(proc_check_interrupted());
	TRY(file_read(path, &text, &length));
	error = patch_parse_part(path, text, length, 1, strip, &patch);
	if (error && error->status == STATUS_NOTHING) {
		error_destroy(error);
		return NULL;
	}
	for (size_t i = 0; !error && i < patch.nr_entries; i++) {
		const struct patch_entry *entry = patch.in_order[i];

		if (!is_left_out(entry->new_path ?: entry->old_path, left_out))
			error = apply_entry(path, entry, tree);
	}
	patch_deinit(&patch);
	return error;
}

/* "-p1": a digit is enough, because no diff has more folders in front. */
static bool read_strip(const char *option, unsigned int *ret)
{
	if (strlen(option) != 3 || !has_prefix(option, "-p") || option[2] < '0' || option[2] > '9')
		return false;
	*ret = (unsigned int)(option[2] - '0');
	return true;
}

/* A line of the series: NAME [-pNUMBER] [# COMMENT]. */
static struct error *read_line(const char *path, size_t number, char *line,
			       struct quilt_series *ret)
{
	unsigned int strip = 1;
	char *save, *name, *option;

	line[strcspn(line, "#")] = '\0';
	name = strtok_r(line, " \t\r", &save);
	if (!name)
		return NULL;
	while ((option = strtok_r(NULL, " \t\r", &save)))
		if (!read_strip(option, &strip))
			return error_new(STATUS_FAILED,
					 "%s:%zu: option %s of patch %s is not supported; only -pN is",
					 path, number, option, name);
	*vec_push(&ret->list) = (struct quilt_patch){.name = xstrdup(name), .strip = strip};
	return NULL;
}

struct error *quilt_read(const char *path, struct quilt_series *ret)
{
	_free_ char *text = NULL;
	size_t length, number = 0;
	char *rest;

	*ret = (struct quilt_series){0};
	TRY(file_read(path, &text, &length));
	if (memchr(text, '\0', length))
		return error_new(STATUS_FAILED, "%s: not a series of patches: it has binary data in it",
				 path);
	rest = text;
	for (char *line; (line = strsep(&rest, "\n"));)
		TRY(read_line(path, ++number, line, ret));
	return NULL;
}

void quilt_deinit(struct quilt_series *series)
{
	for (size_t i = 0; i < series->list.count; i++)
		free(series->list.list[i].name);
	vec_deinit(&series->list);
}

struct error *quilt_apply(const char *folder, const char *tree, char *const *left_out)
{
	_free_ char *path = xasprintf("%s/series", folder);
	struct quilt_series series;
	struct error *error = quilt_read(path, &series);

	for (size_t i = 0; !error && i < series.list.count; i++) {
		const struct quilt_patch *patch = &series.list.list[i];
		_free_ char *file = xasprintf("%s/%s", folder, patch->name);

		error = apply_patch(file, patch->strip, tree, left_out);
	}
	quilt_deinit(&series);
	return error;
}
