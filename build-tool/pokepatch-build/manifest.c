// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The manifest of a prepared tree: the sizes and times of its files.  It lets a build notice damage
 * (the disk was full, a user edited a file) with one stat() for each file that matters, without
 * reading any.
 *
 * Behind a first line that names the form, its lines are sorted by path, so that a build finds the
 * line of a file without reading all 40,000.  Earlier versions wrote no first line and did not
 * sort.
 */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/proc.h"
#include "pokepatch-build/tree.h"

/* The file's time of modification in nanoseconds. */
static unsigned long long modified(const struct stat *status)
{
	return (unsigned long long)status->st_mtim.tv_sec * 1000000000ULL +
	       (unsigned long long)status->st_mtim.tv_nsec;
}

static const char header[] = "pokepatch manifest 2\n";

/* The path in a manifest's line, which ends with a newline before end; NULL if it is damaged. */
static const char *line_path(const char *line, const char *end)
{
	const char *newline = memchr(line, '\n', (size_t)(end - line));
	const char *space = newline ? memchr(line, ' ', (size_t)(newline - line)) : NULL;

	space = space ? memchr(space + 1, ' ', (size_t)(newline - space - 1)) : NULL;
	return space ? space + 1 : NULL;
}

/* ---- sorting ---------------------------------------------------------------- */

struct manifest_line {
	const char *line, *path; /* each up to the newline */
};

/* Compare two texts that end with a newline or a NUL. */
static int compare_paths(const char *a, const char *b)
{
	while (*a == *b && *a && *a != '\n') {
		a++;
		b++;
	}
	int left = *a == '\n' ? 0 : (unsigned char)*a, right = *b == '\n' ? 0 : (unsigned char)*b;

	return left - right;
}

static int line_order(const void *left, const void *right)
{
	const struct manifest_line *a = left, *b = right;

	return compare_paths(a->path, b->path);
}

/* Append the lines of a text, sorted.  False: a line is damaged. */
static bool sort_lines(const char *text, size_t length, struct buffer *ret)
{
	VEC(struct manifest_line) lines = {0};
	const char *end = text + length;
	bool sound = true;

	for (const char *line = text; sound && line < end;) {
		const char *path = line_path(line, end);

		sound = path != NULL;
		if (!sound)
			break;
		*vec_push(&lines) = (struct manifest_line){line, path};
		line = strchr(path, '\n') + 1;
	}
	if (lines.count)
		qsort(lines.list, lines.count, sizeof(*lines.list), line_order);
	for (size_t i = 0; i < lines.count; i++)
		buffer_add(ret, lines.list[i].line, strcspn(lines.list[i].line, "\n") + 1);
	vec_deinit(&lines);
	return sound;
}

/* ---- writing ---------------------------------------------------------------- */

static struct error *write_sorted(const char *path, const struct buffer *lines)
{
	struct buffer text = {};
	struct error *error;

	buffer_add_string(&text, header);
	sort_lines(lines->text ?: "", lines->length, &text);
	error = file_write(path, text.text, text.length);
	buffer_deinit(&text);
	return error;
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
		error = write_sorted(path, &text);
	buffer_deinit(&text);
	return error;
}

/* ---- reading ---------------------------------------------------------------- */

/* Does the file still match the manifest's line "SIZE MTIME PATH"? */
static bool line_is_sound(const char *tree, const char *line, const char *file)
{
	_free_ char *path = xasprintf("%s/%s", tree, file);
	struct stat status;
	char *end;
	long long size = strtoll(line, &end, 10);
	unsigned long long mtime = strtoull(end, NULL, 10);

	return !stat(path, &status) && status.st_size == size && modified(&status) == mtime;
}

/* The beginning of the line that has the byte at p. */
static const char *line_start(const struct manifest *manifest, const char *p)
{
	const char *before = memrchr(manifest->text, '\n', (size_t)(p - manifest->text));

	return before ? before + 1 : manifest->text;
}

/* Find a file's line by bisection.  NULL: there is none, or the manifest is damaged. */
static const char *find_line(struct manifest *manifest, const char *file)
{
	const char *low = manifest->text, *high = low + manifest->length;

	while (low < high) {
		const char *line = line_start(manifest, low + (high - low) / 2);
		const char *path = line_path(line, manifest->text + manifest->length);
		int order = path ? compare_paths(path, file) : 0;

		if (!path) {
			manifest->sound = false;
			return NULL;
		}
		if (!order)
			return line;
		if (order < 0)
			low = strchr(path, '\n') + 1;
		else
			high = line;
	}
	return NULL;
}

/* Map the file.  It is renamed into place, and never changed. */
static struct error *map_file(const char *path, struct manifest *ret)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status))
		return error_errno("cannot read %s", path);
	if (!status.st_size)
		return NULL;
	void *map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return error_errno("cannot read %s", path);
	ret->map = map;
	ret->text = map;
	ret->length = (size_t)status.st_size;
	return NULL;
}

struct error *manifest_open(const char *tree, struct manifest *ret)
{
	_free_ char *path = xasprintf("%s/.pokepatch/manifest", tree);
	size_t skip = strlen(header);
	struct buffer lines = {};

	*ret = (struct manifest){.tree = tree};
	if (!file_exists(path))
		return NULL;
	TRY(map_file(path, ret));
	ret->sound = ret->length && ret->text[ret->length - 1] == '\n';
	if (ret->length >= skip && !memcmp(ret->text, header, skip)) {
		ret->text += skip;
		ret->length -= skip;
		ret->sound &= ret->length != 0;
	} else if (ret->sound) {
		ret->sound = sort_lines(ret->text, ret->length, &lines);
		ret->sorted = lines.text;
		ret->text = lines.text;
		munmap(take_pointer(ret->map), ret->length);
		ret->length = lines.length;
	}
	return NULL;
}

void manifest_close(struct manifest *manifest)
{
	if (manifest->map)
		munmap(manifest->map, manifest->length + (size_t)(manifest->text -
								  (char *)manifest->map));
	free(manifest->sorted);
	map_deinit(&manifest->checked);
	for (size_t i = 0; i < manifest->names.count; i++)
		free(manifest->names.list[i]);
	vec_deinit(&manifest->names);
}

bool manifest_check(struct manifest *manifest, const char *file)
{
	const char *name = has_prefix(file, "./") ? file + 2 : file;
	const char *line;
	char *key;

	if (!manifest->sound || map_has(&manifest->checked, name))
		return manifest->sound;
	key = *vec_push(&manifest->names) = xstrdup(name);
	map_slot(&manifest->checked, key); /* once is enough */
	/* Files that kbuild made later, or outside the tree, are not in the manifest. */
	line = find_line(manifest, name);
	if (line)
		manifest->sound = line_is_sound(manifest->tree, line, name);
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
	const char *line = manifest->text, *end = line + manifest->length;

	while (manifest->sound && line < end) {
		const char *path = line_path(line, end);

		if (!path) {
			manifest->sound = false;
			break;
		}
		_free_ char *file = xstrndup(path, strcspn(path, "\n"));
		manifest_check(manifest, file);
		line = path + strlen(file) + 1;
	}
	return manifest->sound;
}
