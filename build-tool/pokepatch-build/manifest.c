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

struct error *manifest_open(const char *tree, struct manifest *ret)
{
	_free_ char *path = xasprintf("%s/.pokepatch/manifest", tree);
	size_t length;

	*ret = (struct manifest){.tree = tree};
	if (!file_exists(path))
		return NULL;
	TRY(file_read(path, &ret->text, &length));
	ret->sound = true;
	for (char *line = ret->text, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end || !line_path(line)) {
			ret->sound = false;
			break;
		}
		*end = '\0';
		*map_slot(&ret->lines, line_path(line)) = line;
		*vec_push(&ret->all) = line_path(line);
	}
	return NULL;
}

void manifest_close(struct manifest *manifest)
{
	map_deinit(&manifest->lines);
	vec_deinit(&manifest->all);
	free(manifest->text);
}

bool manifest_check(struct manifest *manifest, const char *file)
{
	const char *name = has_prefix(file, "./") ? file + 2 : file;
	void **line;

	/* Files that kbuild made later, or outside the tree, are not in the manifest. */
	if (!manifest->sound || !map_has(&manifest->lines, name))
		return manifest->sound;
	line = map_slot(&manifest->lines, name);
	if (*line)
		manifest->sound = line_is_sound(manifest->tree, *line);
	*line = NULL; /* once is enough */
	return manifest->sound;
}

bool manifest_check_files(struct manifest *manifest, char *const *files)
{
	while (*files && manifest_check(manifest, *files))
		files++;
	return manifest->sound;
}

bool manifest_check_all(struct manifest *manifest)
{
	for (size_t i = 0; i < manifest->all.count && manifest->sound; i++)
		manifest_check(manifest, manifest->all.list[i]);
	return manifest->sound;
}
