// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of changed files; see changes.h. */
#include "pokepatch-build/changes.h"

#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/lines.h"
#include "pokepatch-build/shadow_tree.h"

static void changed_file_deinit(struct changed_file *file)
{
	text_lines_deinit(&file->old_lines);
	text_lines_deinit(&file->new_lines);
	for (size_t i = 0; i < file->added.count; i++)
		free(file->added.list[i]);
	vec_deinit(&file->added);
	free(file->command);
	free(file->sum);
	free(file->path);
	free(file->text);
}

void changes_destroy(struct changes *changes)
{
	if (!changes)
		return;
	for (size_t i = 0; i < changes->files.count; i++)
		changed_file_deinit(&changes->files.list[i]);
	for (size_t i = 0; i < changes->rules.count; i++)
		changed_file_deinit(&changes->rules.list[i]);
	vec_deinit(&changes->files);
	vec_deinit(&changes->rules);
	map_deinit(&changes->by_path);
	map_deinit(&changes->rules_by_path);
	map_deinit(&changes->refused);
	args_deinit(&changes->unused);
	for (size_t i = 0; i < changes->reached_lists.count; i++) {
		vec_deinit(&changes->reached_lists.list[i]->list);
		free(changes->reached_lists.list[i]->source);
		free(changes->reached_lists.list[i]);
	}
	vec_deinit(&changes->reached_lists);
	map_deinit(&changes->reached);
	free(changes);
}

struct changed_paths *changes_reached(struct changes *changes, const char *source)
{
	struct changed_paths *paths = map_get(&changes->reached, source);

	if (paths)
		return paths;
	paths = *vec_push(&changes->reached_lists) = xcalloc(1, sizeof(*paths));
	paths->source = xstrdup(source);
	*map_slot(&changes->reached, paths->source) = paths;
	return paths;
}

struct changed_file *changes_find(const struct changes *changes, const char *path)
{
	uintptr_t place = (uintptr_t)map_get(&changes->by_path, path);

	return place ? &changes->files.list[place - 1] : NULL;
}

void changes_add_sum(const struct changes *changes, const char *path, struct buffer *ret)
{
	const struct changed_file *file = changes_find(changes, path);

	if (file && file->sum)
		buffer_add_string(ret, file->sum);
}

static void set_place(struct changes *changes, size_t index)
{
	*map_slot(&changes->by_path, changes->files.list[index].path) = (void *)(index + 1);
}

struct changed_file *changes_add(struct changes *changes, const char *path)
{
	struct changed_file *file = vec_push(&changes->files);

	file->path = xstrdup(path);
	set_place(changes, changes->files.count - 1);
	return file;
}

static int compare_files(const void *a, const void *b)
{
	const struct changed_file *first = a, *second = b;

	return strcmp(first->path, second->path);
}

void changes_drop_unchanged(struct changes *changes)
{
	size_t kept = 0;

	map_deinit(&changes->by_path);
	for (size_t i = 0; i < changes->files.count; i++) {
		struct changed_file *file = &changes->files.list[i];

		bool same = file->created == file->deleted &&
			    text_lines_equal(&file->old_lines, &file->new_lines);

		if (file->instrument || !same)
			changes->files.list[kept++] = *file;
		else
			changed_file_deinit(file);
	}
	changes->files.count = kept;
	if (kept)
		qsort(changes->files.list, kept, sizeof(*changes->files.list), compare_files);
	for (size_t i = 0; i < kept; i++)
		set_place(changes, i);
}

/* ---- the shadow of the tree ------------------------------------------------- */

struct error *build_make_shadow(struct build *build)
{
	_free_ char *folder = xasprintf("%s/shadow", build->work);

	build_forget_shadow(build);
	TRY(remove_tree(folder));
	build->shadow = xcalloc(1, sizeof(*build->shadow));
	return shadow_init(build->shadow, build->tree, folder);
}

static void set_sum(struct changed_file *file, const struct buffer *text)
{
	char sum[65] = "none";

	if (!file->deleted)
		sha256_hex(text->text ?: "", text->length, sum);
	free(file->sum);
	file->sum = xasprintf("%s %s\n", file->path, sum);
}

struct error *build_put_changed(struct build *build, struct changed_file *file)
{
	struct buffer text = {};
	struct error *error;

	text_lines_join_numbered(&file->new_lines, &text);
	error = file->deleted
			? shadow_take(build->shadow, file->path)
			: shadow_put(build->shadow, file->path, text.text ?: "", text.length);
	set_sum(file, &text);
	buffer_deinit(&text);
	return error;
}

struct error *build_put_original(struct build *build, const struct changed_file *file)
{
	struct buffer text = {};
	struct error *error;

	if (file->created)
		return shadow_take(build->shadow, file->path);
	text_lines_join(&file->old_lines, &text);
	error = shadow_put(build->shadow, file->path, text.text ?: "", text.length);
	buffer_deinit(&text);
	return error;
}

struct error *build_fill_shadow(struct build *build)
{
	TRY(shadow_refresh(build->shadow));
	for (size_t i = 0; i < build->changes->files.count; i++)
		if (!build->changes->files.list[i].outside)
			TRY(build_put_changed(build, &build->changes->files.list[i]));
	return NULL;
}

void build_forget_shadow(struct build *build)
{
	if (!build->shadow)
		return;
	shadow_deinit(build->shadow);
	free(take_pointer(build->shadow));
}
