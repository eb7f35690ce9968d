// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pokepatch cache: list the kernels in the cache, and make room.
 *
 * Everything is removed under its exclusive lock, which is taken without waiting: a fetch holds a
 * kernel's lock exclusively, and a build holds it shared, with the locks of its tree and core.  A
 * removal that is interrupted leaves a kernel that is incomplete, which the next fetch repairs and
 * the next removal removes.
 */
#include <dirent.h>
#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/args.h"
#include "common/cache.h"
#include "common/proc.h"
#include "pokepatch/cli.h"
#include "pokepatch/fetched.h"
#include "pokepatch/stamp.h"
#include "pokepatch/kernel_packages.h"
#include "pokepatch/progress.h"
#include "pokepatch/table.h"

/* Folders of a kernel that pokepatch-build made, with the format that it makes now. */
static const struct made {
	const char *prefix;
	const char *ready; /* the file that is written last */
	int format;
} made_folders[] = {
	{"tree-", CACHE_TREE_READY, CACHE_TREE_FORMAT},
	{"core-", CACHE_CORE_READY, CACHE_CORE_FORMAT},
};

/* The row for a name in a kernel's folder; NULL: pokepatch-build did not make it. */
static const struct made *made_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(made_folders); i++) {
		if (has_prefix(name, made_folders[i].prefix) && !has_suffix(name, ".lock"))
			return &made_folders[i];
	}
	return NULL;
}

/* ---- folders ---------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* The names of the folders in a folder, and of links to some, sorted.  For strings_free(). */
static char **folders_in(const char *path)
{
	struct args names = {0};
	DIR *list = opendir(path);

	for (struct dirent *entry; list && (entry = readdir(list));) {
		_free_ char *inside = xasprintf("%s/%s", path, entry->d_name);
		struct stat st;

		if (entry->d_name[0] != '.' && stat(inside, &st) == 0 && S_ISDIR(st.st_mode))
			args_add(&names, entry->d_name);
	}
	if (list)
		closedir(list);
	if (names.count)
		qsort(names.list, names.count, sizeof(*names.list), compare_names);
	return names.list ?: xcalloc(1, sizeof(*names.list));
}

/* The releases in kernels/, where a file system may have a lost+found, too.  For strings_free(). */
static char **releases_in(const char *path)
{
	char **names = folders_in(path), **end = names;

	for (char **name = names; *name; name++) {
		if (cache_is_release(*name))
			*end++ = *name;
		else
			free(*name);
	}
	*end = NULL;
	return names;
}

/* The bytes that a file or folder takes up on disk; 0 if it does not exist. */
static uint64_t disk_usage(const char *path)
{
	char *const roots[] = {(char *)path, NULL};
	/* The cache, or a kernel's folder, may be a link to another disk. */
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL);
	uint64_t size = 0;

	for (FTSENT *entry; tree && (entry = fts_read(tree));) {
		/* st_blocks counts 512 bytes, whatever the file system's blocks are. */
		if (entry->fts_info != FTS_DP && entry->fts_info != FTS_NS)
			size += (uint64_t)entry->fts_statp->st_blocks * 512;
	}
	if (tree)
		fts_close(tree);
	return size;
}

static struct error *kernels_folder(char **ret)
{
	_free_ char *root = NULL;

	TRY(cache_root(&root));
	*ret = xasprintf("%s/kernels", root);
	return NULL;
}

/* ---- list ------------------------------------------------------------------- */

static bool was_fetched(const char *dir)
{
	struct apt_packages stamp;
	bool fetched;

	stamp_read(dir, &stamp);
	fetched = stamp.count > 0;
	apt_packages_deinit(&stamp);
	return fetched;
}

/*
 * "complete", "incomplete" (an interrupted or damaged fetch), or "local": a kernel whose parts the
 * user gives to pokepatch-build, so that the cache has only its tree and core.
 */
static const char *kernel_state(const char *release, const char *dir)
{
	_free_ char *packages = xasprintf("%s/packages", dir);

	if (fetched_is_complete(release))
		return "complete";
	return file_exists(packages) || was_fetched(dir) ? "incomplete" : "local";
}

static json_object *kernel_row(const char *release, const char *dir)
{
	json_object *row = json_object_new_object();
	char **names = folders_in(dir);
	uint64_t packages = 0, trees = 0, all = disk_usage(dir);

	for (char **name = names; *name; name++) {
		_free_ char *path = xasprintf("%s/%s", dir, *name);

		if (!strcmp(*name, "packages"))
			packages = disk_usage(path);
		else if (made_find(*name))
			trees += disk_usage(path);
	}
	strings_free(names);
	json_add_text(row, "release", release);
	json_add_text(row, "state", kernel_state(release, dir));
	json_add_number(row, "packages", packages);
	json_add_number(row, "files", all - packages - trees);
	json_add_number(row, "trees", trees);
	json_add_number(row, "size", all);
	return row;
}

static int64_t get_number(json_object *object, const char *key)
{
	json_object *value = NULL;

	json_object_object_get_ex(object, key, &value);
	return json_object_get_int64(value);
}

/* The rows with sizes as text. */
static json_object *readable_rows(json_object *rows)
{
	static const char *const sizes[] = {"packages", "files", "trees", "size"};
	json_object *readable = json_object_new_array();

	for (size_t i = 0; i < json_object_array_length(rows); i++) {
		json_object *from = json_object_array_get_idx(rows, i);
		json_object *row = json_object_new_object();

		json_object_object_foreach(from, key, value)
			json_object_object_add(row, key, json_object_get(value));
		for (size_t j = 0; j < ARRAY_SIZE(sizes); j++) {
			_free_ char *text = size_text(get_number(from, sizes[j]));

			json_add_text(row, sizes[j], text);
		}
		json_object_array_add(readable, row);
	}
	return readable;
}

static struct error *list(struct cli_call *call)
{
	static const struct table_column columns[] = {{"release", "RELEASE"},
						      {"state", "STATE"},
						      {"packages", "PACKAGES"},
						      {"files", "FILES"},
						      {"trees", "TREES"},
						      {"size", "SIZE"},
						      {0}};
	_json_ json_object *record = json_object_new_object();
	json_object *rows = json_object_new_array();
	_free_ char *root = NULL, *lists_path = NULL;
	uint64_t lists, all, kernels = 0;
	char **names;

	json_object_object_add(record, "kernels", rows);
	TRY(cache_root(&root));
	lists_path = xasprintf("%s/apt", root);
	_free_ char *folder = xasprintf("%s/kernels", root);
	names = releases_in(folder);
	for (char **name = names; *name; name++) {
		_free_ char *dir = xasprintf("%s/%s", folder, *name);

		json_object_array_add(rows, kernel_row(*name, dir));
		kernels += get_number(json_object_array_get_idx(rows, name - names), "size");
	}
	strings_free(names);
	lists = disk_usage(lists_path);
	all = disk_usage(root);
	json_add_text(record, "cache", root);
	json_add_number(record, "lists", lists);
	json_add_number(record, "other", all > lists + kernels ? all - lists - kernels : 0);
	json_add_number(record, "size", all);
	if (cli_value(call, "json")) {
		json_print(&call->out, record);
		return NULL;
	}
	_json_ json_object *readable = readable_rows(rows);
	_free_ char *lists_text = size_text(lists);
	_free_ char *other_text = size_text(get_number(record, "other"));
	_free_ char *all_text = size_text(all);
	if (json_object_array_length(rows))
		table_print(&call->out, readable, columns);
	buffer_printf(&call->out, "%s: %s, with %s of package lists and %s of other files\n", root,
		      all_text, lists_text, other_text);
	return NULL;
}

/* ---- removing --------------------------------------------------------------- */

/* What was removed: an array of {"path", "size"}. */
struct removal {
	json_object *rows;
	uint64_t size;
};

/* Remove a file or folder; the caller holds its lock. */
static struct error *remove_path(struct removal *removal, const char *path)
{
	json_object *row;
	uint64_t size;

	TRY(proc_check_interrupted());
	if (!file_exists(path))
		return NULL;
	size = disk_usage(path);
	TRY(remove_tree(path));
	row = json_object_new_object();
	json_add_text(row, "path", path);
	json_add_number(row, "size", size);
	json_object_array_add(removal->rows, row);
	removal->size += size;
	return NULL;
}

/* Remove PATH.lock, which the caller holds: others that wait for it take a new one. */
static void remove_lock(const char *path)
{
	_free_ char *lock = xasprintf("%s.lock", path);

	unlink(lock);
}

static struct error *report(struct cli_call *call, const struct removal *removal)
{
	_free_ char *total = size_text(removal->size);

	if (cli_value(call, "json")) {
		json_print(&call->out, removal->rows);
		return NULL;
	}
	for (size_t i = 0; i < json_object_array_length(removal->rows); i++) {
		json_object *row = json_object_array_get_idx(removal->rows, i), *path = NULL;
		_free_ char *size = size_text(get_number(row, "size"));

		json_object_object_get_ex(row, "path", &path);
		buffer_printf(&call->out, "removed %s (%s)\n", json_object_get_string(path), size);
	}
	if (json_object_array_length(removal->rows))
		buffer_printf(&call->out, "%s freed\n", total);
	else
		buffer_add_string(&call->out, "nothing to remove\n");
	return NULL;
}

/* ---- prune ------------------------------------------------------------------ */

/*
 * Is this line of a file ready "PATH SIZE SECONDS.NANOSECONDS", or that behind "unpacked"
 * (source.c), and has the file changed?
 */
static bool is_changed_file(const char *line)
{
	static const char unpacked[] = "unpacked ";
	_free_ char *path = xstrdup(line + (has_prefix(line, unpacked) ? strlen(unpacked) : 0));
	char *time = strrchr(path, ' '), *size;
	_free_ char *now = NULL;
	struct stat st;

	if (path[0] != '/' || !time)
		return false;
	*time = '\0';
	size = strrchr(path, ' ');
	if (!size)
		return false;
	*size = '\0';
	if (stat(path, &st) < 0)
		return true;
	now = xasprintf("%lld %lld.%09ld", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
			st.st_mtim.tv_nsec);
	*time = ' ';
	return strcmp(now, size + 1) != 0;
}

/*
 * Will no build use this tree or core again?  That is so if it is not finished, if another version
 * of pokepatch-build made it in another format, or if one of the files that it was made from has
 * changed: the next build makes a new one.
 */
static bool is_useless(const struct made *made, const char *path)
{
	_free_ char *ready = xasprintf("%s/%s", path, made->ready);
	_free_ char *format = xasprintf("format %d\n", made->format);
	_free_ char *text = NULL;
	bool useless;

	error_destroy(file_read(ready, &text, NULL));
	useless = !text || !has_prefix(text, format);
	for (char *line = text, *end; !useless && line && *line; line = end + 1) {
		end = line + strcspn(line, "\n");
		if (!*end)
			break;
		*end = '\0';
		useless = is_changed_file(line) || cache_source_is_gone(line);
	}
	return useless;
}

/* Remove useless trees and cores, or all of them, unless a build is using them. */
static struct error *prune_made(struct removal *removal, const char *dir, bool all)
{
	char **names = folders_in(dir);
	struct error *error = NULL;

	for (char **name = names; !error && *name; name++) {
		_free_ char *path = xasprintf("%s/%s", dir, *name);
		const struct made *made = made_find(*name);
		_close_ int lock = -1;

		if (!made || !(all || is_useless(made, path)))
			continue;
		error = cache_try_lock(path, &lock);
		if (error || lock < 0)
			continue;
		error = remove_path(removal, path);
		if (!error)
			remove_lock(path);
	}
	strings_free(names);
	return error;
}

/* Remove the locks of trees and cores that do not exist, as a refused build leaves them. */
static struct error *prune_locks(const char *dir)
{
	DIR *list = opendir(dir);
	struct error *error = NULL;

	for (struct dirent *entry; !error && list && (entry = readdir(list));) {
		_free_ char *path = xasprintf("%s/%s", dir, entry->d_name);
		char *end = path + strlen(path) - strlen(".lock");
		_close_ int lock = -1;

		if (!has_suffix(path, ".lock"))
			continue;
		*end = '\0';
		if (!made_find(strrchr(path, '/') + 1) || file_exists(path))
			continue;
		error = cache_try_lock(path, &lock);
		if (!error && lock >= 0 && !file_exists(path))
			remove_lock(path);
	}
	if (list)
		closedir(list);
	return error;
}

/* Remove what an interrupted fetch left: FOLDER.tmp, and packages that are half downloaded. */
static struct error *prune_leftovers(struct removal *removal, const char *dir)
{
	_free_ char *partial = xasprintf("%s/packages/partial", dir);
	char **names = folders_in(dir);
	struct error *error = remove_path(removal, partial);

	for (char **name = names; !error && *name; name++) {
		_free_ char *path = xasprintf("%s/%s", dir, *name);

		if (has_suffix(*name, ".tmp"))
			error = remove_path(removal, path);
	}
	strings_free(names);
	return error;
}

/* Is the kernel not running, and has the cache a complete release that replaces it? */
static bool is_superseded(const char *release, char *const *releases)
{
	struct utsname uts;

	if (uname(&uts) < 0 || !strcmp(uts.release, release))
		return false;
	for (; *releases; releases++) {
		if (kernel_replaces(*releases, release) && fetched_is_complete(*releases))
			return true;
	}
	return false;
}

/* Remove the packages, but keep the one that builds unpack more of later. */
static struct error *prune_packages(struct removal *removal, const char *release,
				    const char *packages)
{
	struct kernel_files files = {0};
	struct error *error = NULL;
	DIR *list;

	if (fetched_has_modules(release))
		return remove_path(removal, packages);
	list = opendir(packages);
	if (!list)
		return NULL;
	error = kernel_files_find(release, &files);
	for (struct dirent *entry; !error && (entry = readdir(list));) {
		_free_ char *path = xasprintf("%s/%s", packages, entry->d_name);

		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
		    !(files.dbg_package && !strcmp(path, files.dbg_package)))
			error = remove_path(removal, path);
	}
	closedir(list);
	kernel_files_deinit(&files);
	return error;
}

static struct error *prune_kernel(struct removal *removal, const char *release,
				  char *const *releases)
{
	_free_ char *dir = NULL;
	_free_ char *packages = NULL;
	_close_ int lock = -1;

	TRY(cache_kernel_dir(release, &dir));
	TRY(cache_try_lock(dir, &lock));
	if (lock < 0) {
		progress_note("%s is in use, and left as it is", release);
		return NULL;
	}
	TRY(prune_leftovers(removal, dir));
	packages = xasprintf("%s/packages", dir);
	if (fetched_is_complete(release))
		TRY(prune_packages(removal, release, packages));
	TRY(prune_made(removal, dir, is_superseded(release, releases)));
	return prune_locks(dir);
}

/* Remove package lists that the next fetch would update anyway. */
static struct error *prune_lists(struct removal *removal)
{
	struct error *error = NULL;
	_free_ char *root = NULL;
	_free_ char *folder = NULL;
	char **names;

	TRY(cache_root(&root));
	folder = xasprintf("%s/apt", root);
	names = folders_in(folder);
	for (char **name = names; !error && *name; name++) {
		_free_ char *dir = xasprintf("%s/%s", folder, *name);
		_close_ int lock = -1;

		error = cache_try_lock(dir, &lock);
		if (!error && lock >= 0 && apt_folder_is_stale(dir))
			error = remove_path(removal, dir);
	}
	strings_free(names);
	return error;
}

/* Of two errors, or of none.  A kernel that belongs to another user does not keep the others. */
static struct error *first_error(struct error *first, struct error *second)
{
	if (!first)
		return second;
	error_destroy(second);
	return first;
}

static struct error *prune(struct removal *removal)
{
	_free_ char *folder = NULL;
	struct error *error = NULL;
	char **releases;

	TRY(kernels_folder(&folder));
	releases = releases_in(folder);
	for (char **release = releases; *release && !proc_interrupted(); release++)
		error = first_error(error, prune_kernel(removal, *release, releases));
	strings_free(releases);
	return first_error(error, prune_lists(removal));
}

/* ---- remove ----------------------------------------------------------------- */

static struct error *in_use(const char *release)
{
	return error_new(STATUS_FAILED,
			 "a running pokepatch uses '%s'; try again when it has finished", release);
}

/* Is a build using a tree or core?  One that began before the exclusive lock on dir may be. */
static struct error *check_made_unused(const char *release, const char *dir)
{
	char **names = folders_in(dir);
	struct error *error = NULL;

	for (char **name = names; !error && *name; name++) {
		_free_ char *path = xasprintf("%s/%s", dir, *name);
		_close_ int lock = -1;

		if (!made_find(*name))
			continue;
		error = cache_try_lock(path, &lock);
		if (!error && lock < 0)
			error = in_use(release);
	}
	strings_free(names);
	return error;
}

/* Is a kernel's folder a link, to another disk say? */
static bool is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

static struct error *remove_kernel(struct removal *removal, const char *release)
{
	_free_ char *dir = NULL;
	_free_ char *stamp = NULL;
	_close_ int lock = -1;

	TRY(cache_kernel_dir(release, &dir));
	if (!file_exists(dir))
		return error_new(STATUS_NOTHING,
				 "'%s' is not in the cache; 'pokepatch cache list' shows what is",
				 release);
	TRY(cache_try_lock(dir, &lock));
	if (lock < 0)
		return in_use(release);
	TRY(check_made_unused(release, dir));
	stamp = xasprintf("%s/fetched", dir);
	if (unlink(stamp) < 0 && errno != ENOENT) /* first: it says that all the rest is there */
		return error_errno("cannot remove '%s'", stamp);
	_free_ char *target = is_link(dir) ? realpath(dir, NULL) : NULL;
	TRY(remove_path(removal, target ? target : dir));
	if (target && unlink(dir) < 0)
		return error_errno("cannot remove '%s'", dir);
	remove_lock(dir);
	return NULL;
}

/* ---- the command ------------------------------------------------------------ */

struct error *cli_cache(struct cli_call *call)
{
	const char *what = call->count ? call->arguments[0] : "list";
	_json_ json_object *rows = json_object_new_array();
	struct removal removal = {.rows = rows};
	struct error *error, *printed;
	bool removes = !strcmp(what, "remove");

	if (call->count > 1 && !removes)
		return error_new(STATUS_FAILED, "'pokepatch cache %s' takes no argument", what);
	if (call->count < 2 && removes)
		return error_new(STATUS_FAILED,
				 "give the release to remove; 'pokepatch cache list' shows them");
	if (!strcmp(what, "list"))
		return list(call);
	if (!removes && strcmp(what, "prune") != 0)
		return error_new(STATUS_FAILED,
				 "unknown command 'cache %s'; there are list, prune and remove",
				 what);
	error = removes ? remove_kernel(&removal, call->arguments[1]) : prune(&removal);
	if (error && !removal.size)
		return error;
	printed = report(call, &removal); /* what was removed before an error, too */
	if (!error)
		return printed;
	error_destroy(printed);
	return error;
}
