// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of the cache (common/cache.c): its path, its files, and its locks. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cache.h"
#include "errors.h"
#include "common/proc.h"
#include "pokepatch-build/object_cache.h"

/* Each test has a folder, which is also XDG_CACHE_HOME. */
static int make_home(void **state)
{
	char *dir;
	struct error *error = temp_dir(&dir);

	if (error)
		return -1;
	setenv("XDG_CACHE_HOME", dir, 1);
	*state = dir;
	return 0;
}

static int remove_home(void **state)
{
	struct error *error = remove_tree(*state);
	int result = error ? -1 : 0;

	free(*state);
	unsetenv("XDG_CACHE_HOME");
	error_destroy(error);
	return result;
}

static void make_file(const char *dir, const char *name)
{
	_free_ char *path = xasprintf("%s/%s", dir, name);
	_free_ char *folder = xstrdup(path);

	*strrchr(folder, '/') = '\0';
	assert_no_error(make_dirs(folder));
	assert_no_error(file_write(path, "x", 1));
}

static void test_root(void **state)
{
	_free_ char *home = xasprintf("%s/home", (const char *)*state);
	_free_ char *wanted = xasprintf("%s/pokepatch", (const char *)*state);
	_free_ char *wanted_home = xasprintf("%s/.cache/pokepatch", home);
	_free_ char *old_home = getenv("HOME") ? xstrdup(getenv("HOME")) : NULL;
	char *root;

	assert_no_error(cache_root(&root));
	assert_string_equal(root, wanted);
	assert_true(file_exists(root));
	free(root);

	/* The specification: a relative path counts as unset. */
	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("HOME", home, 1);
	assert_no_error(cache_root(&root));
	assert_string_equal(root, wanted_home);
	assert_true(file_exists(root));
	free(root);
	if (old_home)
		setenv("HOME", old_home, 1);
}

static void test_what_is_no_release(void **state)
{
	static const char *const wrong[] = {"",      ".",  "..",   "../x",  "6.1/..",
					    "6.1 0", "-k", "x6.1", "6.1\n", "6.1*"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct kernel_files files;
		struct error *error = kernel_files_find(wrong[i], &files);

		assert_non_null(error);
		assert_int_equal(error->status, STATUS_FAILED);
		assert_non_null(strstr(error->text, "is not a kernel release"));
		error_destroy(error);
	}
}

static void test_finds_what_there_is(void **state)
{
	static const char release[] = "6.1.0-5-tiny";
	_free_ char *dir = xasprintf("%s/pokepatch/kernels/%s", (const char *)*state, release);
	_free_ char *config = xasprintf("%s/image/boot/config-%s", dir, release);
	_free_ char *source = xasprintf("%s/source/usr/src/linux-source-6.1.tar.xz", dir);
	_free_ char *modules = xasprintf("%s/image/usr/lib/modules/%s", dir, release);
	struct kernel_files files;

	assert_no_error(kernel_files_find(release, &files));
	assert_string_equal(files.release, release);
	assert_string_equal(files.cache, dir);
	assert_null(files.config);
	assert_null(files.vmlinux);
	assert_null(files.source);
	kernel_files_deinit(&files);
	assert_null(files.release);

	make_file(dir, "image/boot/config-6.1.0-5-tiny");
	make_file(dir, "image/boot/vmlinuz-6.1.0-4-tiny"); /* of another release */
	make_file(dir, "image/usr/lib/modules/6.1.0-5-tiny/modules.order");
	make_file(dir, "source/usr/src/linux-source-6.1.tar.xz");
	assert_no_error(kernel_files_find(release, &files));
	assert_string_equal(files.config, config);
	assert_null(files.vmlinuz);
	assert_string_equal(files.modules, modules);
	assert_string_equal(files.source, source);
	kernel_files_deinit(&files);

	/* Two candidates: neither is taken. */
	make_file(dir, "source/usr/src/linux-source-6.2.tar.xz");
	assert_no_error(kernel_files_find(release, &files));
	assert_null(files.source);
	kernel_files_deinit(&files);
}

/* Is the lock free, as another process sees it? */
static bool can_lock(const char *path, bool shared)
{
	_free_ char *file = xasprintf("%s.lock", path);
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		FILE *lock = fopen(file, "r");

		_exit(!lock || flock(fileno(lock), (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) < 0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void test_locks_exclude(void **state)
{
	_free_ char *path = xasprintf("%s/thing", (const char *)*state);
	int fd, other;

	assert_no_error(cache_lock(path, false, &fd));
	assert_false(can_lock(path, false));
	assert_false(can_lock(path, true));
	close(fd);
	assert_true(can_lock(path, false));

	assert_no_error(cache_lock(path, true, &fd));
	assert_no_error(cache_lock(path, true, &other));
	assert_true(can_lock(path, true));
	assert_false(can_lock(path, false));
	close(fd);
	assert_false(can_lock(path, false));
	close(other);
	assert_true(can_lock(path, false));
}

static void test_lock_waits(void **state)
{
	_free_ char *path = xasprintf("%s/thing", (const char *)*state);
	_free_ char *ready = xasprintf("%s/ready", (const char *)*state);
	double start;
	int fd;
	pid_t pid = fork();

	if (pid == 0) {
		struct error *error = cache_lock(path, false, &fd);

		if (!error)
			error = file_write(ready, "", 0);
		if (error)
			_exit(1);
		usleep(500000);
		_exit(0); /* its death lets go */
	}
	for (int i = 0; i < 500 && !file_exists(ready); i++)
		usleep(10000);
	start = now_seconds();
	assert_no_error(cache_lock(path, false, &fd));
	assert_true(now_seconds() - start > 0.2);
	assert_true(now_seconds() - start < 10);
	close(fd);
	waitpid(pid, NULL, 0);
}

/* A child holds the lock for a minute; SIGTERM ends the waiting, not the minute. */
static void test_waiting_is_interrupted(void **state)
{
	_free_ char *path = xasprintf("%s/thing", (const char *)*state);
	double start = now_seconds();
	int fd, status, unused;
	pid_t pid;

	assert_no_error(cache_lock(path, false, &fd));
	pid = fork();
	if (pid == 0) {
		struct error *error;

		proc_catch_signals();
		alarm(30);
		error = cache_lock(path, false, &unused);
		_exit(error && strcmp(error->text, "interrupted") == 0 ? 0 : 1);
	}
	usleep(300000);
	kill(pid, SIGTERM);
	waitpid(pid, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_true(now_seconds() - start < 10);
	close(fd);
}

/*
 * The file is removed while the lock is held (the user emptied the cache).  The next process must
 * not rely on a lock of a file that no other process can open.
 */
static void test_removed_lock_file(void **state)
{
	_free_ char *path = xasprintf("%s/thing", (const char *)*state);
	_free_ char *file = xasprintf("%s.lock", path);
	int old, fd;

	assert_no_error(cache_lock(path, false, &old));
	assert_int_equal(unlink(file), 0);
	assert_no_error(cache_lock(path, false, &fd));
	assert_true(file_exists(file));
	assert_false(can_lock(path, false));
	close(fd);
	close(old);
}

static void test_lock_without_folder(void **state)
{
	_free_ char *path = xasprintf("%s/none/thing", (const char *)*state);
	struct error *error;
	int fd;

	error = cache_lock(path, false, &fd);
	assert_non_null(error);
	assert_non_null(strstr(error->text, "cannot open the lock"));
	error_destroy(error);
}

static void test_try_lock(void **state)
{
	_free_ char *path = xasprintf("%s/folder", (const char *)*state);
	int shared, tried;

	assert_no_error(cache_lock(path, true, &shared));
	assert_no_error(cache_try_lock(path, &tried));
	assert_int_equal(tried, -1);
	close(shared);
	assert_no_error(cache_try_lock(path, &tried));
	assert_true(tried >= 0);
	close(tried);
}

/* Make a kept object of 600 MB, which takes no room, that was used at a time. */
static void make_kept(const char *dir, const char *name, time_t used)
{
	_free_ char *path = xasprintf("%s/%s", dir, name);
	const struct timespec times[2] = {{.tv_sec = used}, {.tv_sec = used}};

	make_file(dir, name);
	assert_int_equal(truncate(path, 600 << 20), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void test_trim(void **state)
{
	const char *dir = *state;
	_free_ char *old = xasprintf("%s/old", dir), *older = xasprintf("%s/older", dir);
	_free_ char *oldest = xasprintf("%s/oldest", dir);
	struct build build = {.begun = 1000};

	make_kept(dir, "old", 3000);
	make_kept(dir, "oldest", 1000);
	make_kept(dir, "older", 2000);
	/* The running build has used all of them. */
	object_cache_trim(&build, dir);
	assert_true(file_exists(old) && file_exists(older) && file_exists(oldest));
	build.begun = 2000;
	object_cache_trim(&build, dir);
	assert_true(file_exists(old) && file_exists(older) && !file_exists(oldest));
	build.begun = 4000;
	object_cache_trim(&build, dir);
	assert_true(file_exists(old) && !file_exists(older));
	object_cache_trim(&build, dir);
	assert_true(file_exists(old));

	/* It looks again only when much was stored. */
	make_kept(dir, "older", 2000);
	object_cache_store(dir, "small", NULL, NULL);
	object_cache_trim(&build, dir);
	assert_true(file_exists(older));
}

/* As many bytes are stored as make it look. */
static void test_trim_after_growth(void **state)
{
	const char *dir = *state;
	_free_ char *old = xasprintf("%s/old", dir), *older = xasprintf("%s/older", dir);
	_free_ char *big = xasprintf("%s/big", dir), *kept = xasprintf("%s/key", dir);
	struct build build = {.begun = 4000};

	object_cache_trim(&build, dir);
	make_kept(dir, "old", 3000);
	make_kept(dir, "older", 2000);
	make_file(dir, "big");
	assert_int_equal(truncate(big, 40 << 20), 0);
	object_cache_store(dir, "key", big, NULL);
	object_cache_trim(&build, dir);
	assert_true(file_exists(older));
	object_cache_store(dir, "key", big, NULL);
	object_cache_trim(&build, dir);
	assert_true(file_exists(old) && file_exists(kept) && !file_exists(older));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_root, make_home, remove_home),
		cmocka_unit_test_setup_teardown(test_what_is_no_release, make_home, remove_home),
		cmocka_unit_test_setup_teardown(test_finds_what_there_is, make_home, remove_home),
		cmocka_unit_test_setup_teardown(test_locks_exclude, make_home, remove_home),
		cmocka_unit_test_setup_teardown(test_lock_waits, make_home, remove_home),
		cmocka_unit_test_setup_teardown(test_waiting_is_interrupted, make_home,
						remove_home),
		cmocka_unit_test_setup_teardown(test_try_lock, make_home, remove_home),
		cmocka_unit_test_setup_teardown(test_removed_lock_file, make_home, remove_home),
		cmocka_unit_test_setup_teardown(test_lock_without_folder, make_home, remove_home),
		cmocka_unit_test_setup_teardown(test_trim, make_home, remove_home),
		cmocka_unit_test_setup_teardown(test_trim_after_growth, make_home, remove_home),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
