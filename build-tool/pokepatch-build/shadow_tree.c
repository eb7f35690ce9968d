// SPDX-License-Identifier: GPL-2.0-or-later
/* A shadow of the tree; see shadow_tree.h. */
#include "pokepatch-build/shadow_tree.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/args.h"

char *path_normalise(const char *path)
{
	char *out, *end;

	if (*path == '/')
		return NULL;
	out = end = xmalloc(strlen(path) + 2);
	while (*path) {
		size_t length = strcspn(path, "/");

		if (length == 2 && !memcmp(path, "..", 2)) {
			if (end == out) {
				free(out);
				return NULL;
			}
			end--; /* the slash */
			while (end > out && end[-1] != '/')
				end--;
		} else if (length && !(length == 1 && *path == '.')) {
			memcpy(end, path, length);
			end += length;
			*end++ = '/';
		}
		path += length + (path[length] == '/');
	}
	if (end > out)
		end--;
	*end = '\0';
	return out;
}

/*
 * Is this in the shadow, too?  What is compiled already is not, so that make -n says how it would
 * be.  Flags of the compiler name programs in .pokepatch/ (entries.c).
 */
static bool is_linked(const char *name)
{
	static const char *const compiled[] = {".o", ".a", ".ko", ".mod"};

	for (size_t i = 0; i < ARRAY_SIZE(compiled); i++)
		if (has_suffix(name, compiled[i]))
			return false;
	return name[0] != '.' || !strcmp(name, ".pokepatch");
}

/* What to link to for an entry of the tree: where the tree itself has a link, its end's shadow. */
static char *link_target(const struct shadow *shadow, const char *entry, bool is_link)
{
	_free_ char *end = is_link ? realpath(entry, NULL) : NULL;
	size_t length = strlen(shadow->real_tree);

	if (end && !strncmp(end, shadow->real_tree, length) && end[length] == '/')
		return xasprintf("%s%s", shadow->folder, end + length);
	return xstrdup(entry);
}

/* The entry's type; some file systems do not give it with the name. */
static unsigned char entry_type(const struct dirent *entry, const char *path)
{
	struct stat status;

	if (entry->d_type != DT_UNKNOWN || lstat(path, &status))
		return entry->d_type;
	return IFTODT(status.st_mode);
}

/*
 * Link everything that the tree has in the folder and the shadow has not.
 * @ret_folders: the folders among it, if not NULL; the caller frees the names
 */
static struct error *link_entries(const struct shadow *shadow, const char *folder,
				  struct args *ret_folders)
{
	_free_ char *from = xasprintf("%s/%s", shadow->tree, folder);
	DIR *entries = opendir(from);
	struct error *error = NULL;
	struct dirent *entry;

	if (!entries)
		return errno == ENOENT ? NULL : error_errno("cannot read %s", from);
	while (!error && (entry = readdir(entries))) {
		if (!is_linked(entry->d_name))
			continue;
		_free_ char *path = xasprintf("%s/%s", from, entry->d_name);
		unsigned char type = entry_type(entry, path);
		_free_ char *target = link_target(shadow, path, type == DT_LNK);
		_free_ char *link = xasprintf("%s/%s/%s", shadow->folder, folder, entry->d_name);

		if (symlink(target, link) && errno != EEXIST)
			error = error_errno("cannot make the link %s", link);
		if (ret_folders && type == DT_DIR && entry->d_name[0] != '.')
			args_addf(ret_folders, "%s%s%s", folder, *folder ? "/" : "", entry->d_name);
	}
	closedir(entries);
	return error;
}

/* Make the folder, and those that it is in, real folders. */
static struct error *make_real(struct shadow *shadow, const char *folder)
{
	const char *slash = strrchr(folder, '/');
	_free_ char *above = xstrndup(folder, slash ? (size_t)(slash - folder) : 0);
	_free_ char *path = xasprintf("%s/%s", shadow->folder, folder);
	char *name;

	if (map_has(&shadow->real, folder))
		return NULL;
	if (*folder)
		TRY(make_real(shadow, above));
	if (unlink(path) && errno != ENOENT)
		return error_errno("cannot replace the link %s", path);
	if (mkdir(path, 0777))
		return error_errno("cannot make the folder %s", path);
	name = *vec_push(&shadow->names) = xstrdup(folder);
	map_slot(&shadow->real, name);
	return link_entries(shadow, folder, NULL);
}

struct error *shadow_init(struct shadow *shadow, const char *tree, const char *folder)
{
	*shadow = (struct shadow){.tree = xstrdup(tree), .folder = xstrdup(folder),
				  .real_tree = realpath(tree, NULL)};
	if (!shadow->real_tree)
		return error_errno("cannot read %s", tree);
	return make_real(shadow, "");
}

struct error *shadow_open(struct shadow *shadow, const char *folder)
{
	struct args folders = {};
	struct error *error = make_real(shadow, folder);

	if (!error)
		error = link_entries(shadow, folder, &folders);
	for (size_t i = 0; !error && i < folders.count; i++)
		error = shadow_open(shadow, folders.list[i]);
	args_deinit(&folders);
	return error;
}

struct error *shadow_refresh(struct shadow *shadow)
{
	for (size_t i = 0; i < shadow->names.count; i++)
		TRY(link_entries(shadow, shadow->names.list[i], NULL));
	return NULL;
}

struct error *shadow_take(struct shadow *shadow, const char *path)
{
	const char *slash = strrchr(path, '/');
	_free_ char *folder = xstrndup(path, slash ? (size_t)(slash - path) : 0);
	_free_ char *full = xasprintf("%s/%s", shadow->folder, path);

	TRY(make_real(shadow, folder));
	if (unlink(full) && errno != ENOENT)
		return error_errno("cannot remove %s", full);
	return NULL;
}

struct error *shadow_put(struct shadow *shadow, const char *path, const void *text, size_t length)
{
	_free_ char *full = xasprintf("%s/%s", shadow->folder, path);

	TRY(shadow_take(shadow, path));
	return file_write_scratch(full, text, length);
}

struct error *shadow_follow(struct shadow *shadow, const char *path)
{
	for (const char *up = path; (up = strstr(up, "..")); up += 2) {
		_free_ char *before = NULL, *folder = NULL, *full = NULL;
		struct stat status;

		if (up == path || up[-1] != '/' || (up[2] && up[2] != '/'))
			continue;
		before = xstrndup(path, (size_t)(up - path));
		folder = path_normalise(before);
		full = folder ? xasprintf("%s/%s", shadow->tree, folder) : NULL;
		if (full && !stat(full, &status) && S_ISDIR(status.st_mode))
			TRY(make_real(shadow, folder));
	}
	return NULL;
}

void shadow_deinit(struct shadow *shadow)
{
	for (size_t i = 0; i < shadow->names.count; i++)
		free(shadow->names.list[i]);
	vec_deinit(&shadow->names);
	map_deinit(&shadow->real);
	free(shadow->tree);
	free(shadow->real_tree);
	free(shadow->folder);
	*shadow = (struct shadow){};
}
