// SPDX-License-Identifier: GPL-2.0-or-later
/* The cache of fetched kernels; see cache.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cache.h"
#include "common/proc.h"

#define LOCK_POLL_US 50000
#define LOCK_TELL_SECONDS 1.0

/* XDG Base Directory Specification: a relative path in the variable counts as unset. */
static struct error *cache_home(char **ret)
{
	const char *dir = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	const struct passwd *user;

	if (dir && dir[0] == '/') {
		*ret = xstrdup(dir);
		return NULL;
	}
	if (!home || home[0] != '/') {
		user = getpwuid(geteuid());
		home = user ? user->pw_dir : NULL;
	}
	if (!home || home[0] != '/')
		return error_new(STATUS_FAILED,
				 "no home folder for the cache; set HOME or XDG_CACHE_HOME");
	*ret = xasprintf("%s/.cache", home);
	return NULL;
}

struct error *cache_root(char **ret)
{
	_free_ char *home = NULL;
	_free_ char *root = NULL;

	TRY(cache_home(&home));
	root = xasprintf("%s/pokepatch", home);
	TRY(error_prefix(make_dirs(root), "cannot make the cache folder"));
	*ret = take_pointer(root);
	return NULL;
}

/*
 * A release becomes a part of paths and of package names, so it has only characters that a package
 * name may have (Debian Policy 5.6.1), and those of versions.
 */
bool cache_is_release(const char *release)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789+-._~";

	return release[0] >= '0' && release[0] <= '9' && strlen(release) < 128 &&
	       release[strspn(release, allowed)] == '\0';
}

struct error *cache_kernel_dir(const char *release, char **ret)
{
	_free_ char *root = NULL;

	if (!cache_is_release(release))
		return error_new(STATUS_FAILED,
				 "'%s' is not a kernel release; 'uname -r' prints the running one",
				 release);
	TRY(cache_root(&root));
	*ret = xasprintf("%s/kernels/%s", root, release);
	return NULL;
}

/*
 * Where the packages put each part, below .../kernels/RELEASE.  %R stands for the release.  A *
 * in the last name must match exactly one file or folder.  The first row of a part whose path
 * exists counts.  Since Debian 13 the packages put modules under /usr; since Linux 7.2 the
 * configuration and the boot image lie beside them.
 */
static const struct part {
	size_t field; /* in struct kernel_files */
	const char *pattern;
} parts[] = {
	{offsetof(struct kernel_files, config), "image/boot/config-%R"},
	{offsetof(struct kernel_files, config), "image/usr/lib/modules/%R/config"},
	{offsetof(struct kernel_files, vmlinuz), "image/boot/vmlinuz-%R"},
	{offsetof(struct kernel_files, vmlinuz), "image/usr/lib/modules/%R/vmlinuz"},
	{offsetof(struct kernel_files, vmlinuz), "image/boot/vmlinux-%R"}, /* MIPS */
	{offsetof(struct kernel_files, vmlinux), "dbg/usr/lib/debug/boot/vmlinux-%R"},
	{offsetof(struct kernel_files, modules), "image/lib/modules/%R"},
	{offsetof(struct kernel_files, modules), "image/usr/lib/modules/%R"},
	{offsetof(struct kernel_files, modules_dbg), "dbg/usr/lib/debug/lib/modules/%R"},
	{offsetof(struct kernel_files, modules_dbg), "dbg/usr/lib/debug/usr/lib/modules/%R"},
	{offsetof(struct kernel_files, dbg_package), "packages/linux-image-%R-dbg_*.deb"},
	{offsetof(struct kernel_files, kbuild), "headers/usr/src/linux-headers-%R"},
	{offsetof(struct kernel_files, compiler), "compiler"},
	{offsetof(struct kernel_files, source), "source/usr/src/linux-source-*.tar.xz"},
	{offsetof(struct kernel_files, patches), "patches/debian/patches-rt"},
};

/* The only path in a folder whose name matches, or NULL if none or several do. */
static char *find_matching(const char *folder, const char *pattern)
{
	DIR *list = opendir(folder);
	char *found = NULL;
	size_t count = 0;

	for (struct dirent *entry; list && (entry = readdir(list));) {
		if (fnmatch(pattern, entry->d_name, 0) != 0)
			continue;
		count++;
		free(found);
		found = xasprintf("%s/%s", folder, entry->d_name);
	}
	if (list)
		closedir(list);
	if (count == 1)
		return found;
	free(found);
	return NULL;
}

/* The path that the pattern of a row stands for, or NULL if it does not exist.  Owned. */
static char *find_part(const char *cache, const char *release, const char *pattern)
{
	const char *mark = strstr(pattern, "%R");
	_free_ char *path = NULL;
	char *slash;

	if (mark)
		path = xasprintf("%s/%.*s%s%s", cache, (int)(mark - pattern), pattern, release,
				 mark + 2);
	else
		path = xasprintf("%s/%s", cache, pattern);
	if (!strchr(pattern, '*'))
		return file_exists(path) ? take_pointer(path) : NULL;
	slash = strrchr(path, '/');
	*slash = '\0';
	return find_matching(path, slash + 1);
}

struct error *kernel_files_find(const char *release, struct kernel_files *ret)
{
	struct kernel_files files = {0};

	*ret = files;
	TRY(cache_kernel_dir(release, &files.cache));
	files.release = xstrdup(release);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		char **field = (char **)((char *)&files + parts[i].field);

		if (!*field)
			*field = find_part(files.cache, release, parts[i].pattern);
	}
	*ret = files;
	return NULL;
}

void kernel_files_deinit(struct kernel_files *files)
{
	free(files->release);
	free(files->cache);
	free(files->config);
	free(files->vmlinuz);
	free(files->vmlinux);
	free(files->modules);
	free(files->modules_dbg);
	free(files->dbg_package);
	free(files->kbuild);
	free(files->source);
	free(files->patches);
	free(files->compiler);
	*files = (struct kernel_files){0};
}

static int open_lock(const char *file, bool shared)
{
	int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

	/* A reader of another user's cache can neither make nor write the file; it need not. */
	if (fd < 0 && shared && (errno == EACCES || errno == EROFS))
		fd = open(file, O_RDONLY | O_CLOEXEC);
	return fd;
}

/* Does the name still lead to fd?  The cache may have been removed while we waited. */
static bool is_current(int fd, const char *file)
{
	struct stat ours, named;

	return fstat(fd, &ours) == 0 && stat(file, &named) == 0 && ours.st_dev == named.st_dev &&
	       ours.st_ino == named.st_ino;
}

struct error *cache_lock(const char *path, bool shared, int *ret_fd)
{
	_free_ char *file = xasprintf("%s.lock", path);
	double start = now_seconds();
	bool told = false;

	/* Poll: a signal that comes just before a flock() that blocks would not end it. */
	for (;;) {
		_close_ int fd = open_lock(file, shared);

		if (fd < 0)
			return error_errno("cannot open the lock '%s'", file);
		while (flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) < 0) {
			if (errno != EWOULDBLOCK && errno != EINTR)
				return error_errno("cannot lock '%s'", file);
			TRY(proc_check_interrupted());
			if (!told && now_seconds() - start > LOCK_TELL_SECONDS) {
				told = true;
				fprintf(stderr, "waiting for another pokepatch that uses '%s'\n",
					path);
			}
			usleep(LOCK_POLL_US);
		}
		if (is_current(fd, file)) {
			*ret_fd = fd;
			fd = -1;
			return NULL;
		}
	}
}

struct error *cache_try_lock(const char *path, int *ret_fd)
{
	_free_ char *file = xasprintf("%s.lock", path);
	_close_ int fd = open_lock(file, false);

	*ret_fd = -1;
	if (fd < 0)
		return error_errno("cannot open the lock '%s'", file);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? NULL : error_errno("cannot lock '%s'", file);
	if (!is_current(fd, file))
		return NULL; /* another process has just removed it, so it is at work there */
	*ret_fd = fd;
	fd = -1;
	return NULL;
}

void cache_drop(const char *path)
{
	_free_ char *file = xasprintf("%s.lock", path);
	_close_ int fd = -1;
	struct error *error = cache_try_lock(path, &fd);

	if (!error && fd >= 0) {
		error = remove_tree(path);
		if (!error)
			unlink(file); /* those that wait for it take a new one: is_current() */
	}
	error_destroy(error);
}

bool cache_source_is_gone(const char *line)
{
	static const char mark[] = "source ";
	_free_ char *path = NULL;

	if (!has_prefix(line, mark) || !strchr(line + strlen(mark), ' '))
		return false;
	path = xstrndup(line + strlen(mark), strrchr(line, ' ') - line - strlen(mark));
	return access(path, F_OK) && errno == ENOENT;
}

int compare_used_files(const void *left, const void *right)
{
	const struct timespec *a = &((const struct used_file *)left)->used;
	const struct timespec *b = &((const struct used_file *)right)->used;

	if (a->tv_sec != b->tv_sec)
		return a->tv_sec > b->tv_sec ? -1 : 1;
	return a->tv_nsec > b->tv_nsec ? -1 : a->tv_nsec < b->tv_nsec;
}
