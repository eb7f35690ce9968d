// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The manifest of a prepared tree: the sizes and times of its files.  It lets a build notice damage
 * (the disk was full, a user edited a file) with one stat() for each file that matters, without
 * reading any.
 */
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/proc.h"
#include "pokepatch-build/tree.h"

/* The file's time of modification in nanoseconds. */
static unsigned long long modified(const struct stat *status)
{
	return (unsigned long long)status->st_mtim.tv_sec * 1000000000ULL +
	       (unsigned long long)status->st_mtim.tv_nsec;
}

struct error *manifest_write(const char *tree)
{
	_free_ char *path = xasprintf("%s/.pokepatch/manifest", tree);
	char *roots[] = {(char *)tree, NULL};
	size_t skip = strlen(tree) + 1;
	struct error *error = NULL;
	struct buffer text = {};
	FTSENT *entry;
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

	if (!walk)
		return error_errno("cannot read %s", tree);
	while (!error && (errno = 0, entry = fts_read(walk))) {
		if (entry->fts_info == FTS_D && !strcmp(entry->fts_name, ".pokepatch"))
			fts_set(walk, entry, FTS_SKIP);
		else if (entry->fts_info == FTS_F)
			buffer_printf(&text, "%lld %llu %s\n", (long long)entry->fts_statp->st_size,
				      modified(entry->fts_statp), entry->fts_path + skip);
		else if (entry->fts_info == FTS_ERR || entry->fts_info == FTS_DNR)
			error = error_errno("cannot read %s", entry->fts_path);
		if (proc_interrupted())
			error = error_new(STATUS_FAILED, "interrupted");
	}
	if (!error && errno)
		error = error_errno("cannot read %s", tree);
	fts_close(walk);
	if (!error)
		error = file_write(path, text.text ? text.text : "", text.length);
	buffer_deinit(&text);
	return error;
}

/* Does the file still match the manifest's line "SIZE MTIME PATH"? */
static bool line_is_sound(const char *tree, const char *line)
{
	struct stat status;
	long long size;
	unsigned long long mtime;
	int length = 0;

	if (sscanf(line, "%lld %llu %n", &size, &mtime, &length) < 2 || !length)
		return false;
	_free_ char *path = xasprintf("%s/%s", tree, line + length);

	return !stat(path, &status) && status.st_size == size && modified(&status) == mtime;
}

/* The path in a manifest's line; NULL if the line is damaged. */
static const char *line_path(const char *line)
{
	const char *space = strchr(line, ' ');

	space = space ? strchr(space + 1, ' ') : NULL;
	return space ? space + 1 : NULL;
}

struct error *manifest_check(const char *tree, char *const *files, bool *ret_sound)
{
	_free_ char *path = xasprintf("%s/.pokepatch/manifest", tree);
	_free_ char *text = NULL;
	struct map lines = {};
	bool sound = true;
	size_t length;

	*ret_sound = false;
	if (!file_exists(path))
		return NULL;
	TRY(file_read(path, &text, &length));
	for (char *line = text, *end; sound && *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end || !line_path(line)) {
			sound = false;
			break;
		}
		*end = '\0';
		if (files)
			*map_slot(&lines, line_path(line)) = line;
		else
			sound = line_is_sound(tree, line);
	}
	for (; sound && files && *files; files++) {
		const char *name = has_prefix(*files, "./") ? *files + 2 : *files;
		const char *line = map_get(&lines, name);

		/* Files that kbuild made later, or outside the tree, are not in the manifest. */
		if (line)
			sound = line_is_sound(tree, line);
	}
	map_deinit(&lines);
	*ret_sound = sound;
	return NULL;
}
