// SPDX-License-Identifier: GPL-2.0-or-later
/* Changed files, and writing them where the compiler reads them; see overlay.h. */
#include "pokepatch-build/overlay.h"

#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/lines.h"

void changed_file_deinit(struct changed_file *file)
{
	text_lines_deinit(&file->old_lines);
	text_lines_deinit(&file->new_lines);
	for (size_t i = 0; i < file->added.count; i++)
		free(file->added.list[i]);
	vec_deinit(&file->added);
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
	map_deinit(&changes->refused);
	free(changes);
}

struct changed_file *changes_find(struct changes *changes, const char *path)
{
	for (size_t i = 0; i < changes->files.count; i++)
		if (!strcmp(changes->files.list[i].path, path))
			return &changes->files.list[i];
	return NULL;
}

void overlay_destroy(struct overlay *overlay)
{
	if (!overlay)
		return;
	for (size_t i = 0; i < overlay->files.count; i++) {
		free(overlay->files.list[i].path);
		free(overlay->files.list[i].label);
	}
	vec_deinit(&overlay->files);
	free(overlay);
}

static struct error *write_file(const struct build *build, const struct overlay_file *file,
				bool patched, const char *folder)
{
	struct changed_file *changed = changes_find(build->changes, file->path);
	_free_ char *to = xasprintf("%s/%s", folder, file->path);
	_free_ char *to_folder = xstrdup(to);
	_free_ char *text = NULL;
	struct buffer out = {};
	struct error *error;
	size_t length;

	*strrchr(to_folder, '/') = '\0';
	TRY(make_dirs(to_folder));
	if (!changed) {
		_free_ char *from = xasprintf("%s/%s", build->tree, file->path);

		TRY(file_read(from, &text, &length));
	}
	buffer_printf(&out, "# 1 \"%s\"\n", file->label);
	if (!changed)
		buffer_add(&out, text, length);
	else if (patched)
		text_lines_join_numbered(&changed->new_lines, &out);
	else
		text_lines_join(&changed->old_lines, &out);
	error = file_write_scratch(to, out.text, out.length);
	buffer_deinit(&out);
	return error;
}

struct error *overlay_write(const struct build *build, const struct unit *unit, bool patched,
			    const char *folder)
{
	for (size_t i = 0; i < unit->overlay->files.count; i++)
		TRY(write_file(build, &unit->overlay->files.list[i], patched, folder));
	return NULL;
}
