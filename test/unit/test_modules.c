// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of modules.c: modules that are extracted from the debug package when needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/deb.h"
#include "common/proc.h"
#include "folder.h"
#include "pokepatch-build/modules.h"

#define KO "lib/modules/1-x/kernel/net/nf-tables.ko"

static void put(const char *name, const char *text)
{
	_free_ char *path = xasprintf("%s/%s", folder, name);
	_free_ char *above = xstrndup(path, strrchr(path, '/') - path);

	assert_no_error(make_dirs(above));
	assert_no_error(file_write(path, text, strlen(text)));
}

/* A cache with an image, the folder of a debug package, and that package with one module. */
static void make_cache(struct build *build)
{
	_free_ char *tree = xasprintf("%s/tree", folder);
	_free_ char *deb = xasprintf("%s/cache/packages/d.deb", folder);
	const char *const argv[] = {"dpkg-deb", "-b", tree, deb, NULL};

	put("tree/DEBIAN/control", "Package: d\nVersion: 1\nArchitecture: all\n"
				   "Maintainer: x <x@example.org>\nDescription: x\n");
	put("tree/DEBIAN/md5sums", "22884db148f0ffb0d830ba431102b0b5  usr/lib/debug/" KO
				 "\n11  usr/lib/a b\n");
	put("tree/usr/lib/debug/" KO, "module");
	put("cache/image/" KO ".xz", "x");
	put("cache/packages/x", "");
	put("cache/dbg/usr/lib/debug/lib/modules/1-x/kernel/present.ko", "here");
	assert_no_error(proc_check(argv, NULL, NULL));
	*build = (struct build){.work = folder, .files = {
		.cache = xasprintf("%s/cache", folder),
		.modules = xasprintf("%s/cache/image/lib/modules/1-x", folder),
		.modules_dbg = xasprintf("%s/cache/dbg/usr/lib/debug/lib/modules/1-x", folder),
		.dbg_package = xstrdup(deb),
	}};
}

static void test_extract(void **state)
{
	_free_ char *path = NULL, *file_path = NULL, *again = NULL, *text = NULL, *gone = NULL;
	struct args files = {0};
	struct build build;

	(void)state;
	make_cache(&build);
	assert_no_error(deb_files(build.files.dbg_package, &files));
	assert_int_equal(files.count, 2);
	assert_string_equal(files.list[1], "usr/lib/a b");
	args_deinit(&files);
	assert_no_error(modules_find(&build, "nf_tables", &path));
	assert_string_equal(path, "kernel/net/nf-tables.ko");
	assert_no_error(modules_file(&build, path, &file_path));
	assert_no_error(file_read(file_path, &text, NULL));
	assert_string_equal(text, "module");
	assert_error(modules_file(&build, "kernel/gone.ko", &gone), STATUS_FAILED, "kernel/gone.ko");
	assert_true(file_exists(build.files.dbg_package));
	assert_no_error(remove_tree(build.files.dbg_package)); /* it is not needed twice */
	assert_no_error(modules_file(&build, path, &again));
	assert_string_equal(again, file_path);
	kernel_files_deinit(&build.files);
}

/* A folder that the user gave has all modules that there are. */
static void test_given(void **state)
{
	_free_ char *path = NULL, *found = NULL;
	struct build build;

	(void)state;
	make_cache(&build);
	free(build.files.modules_dbg);
	build.files.modules_dbg = xasprintf("%s/given", folder);
	put("given/kernel/other.ko", "");
	assert_no_error(modules_find(&build, "nf_tables", &path));
	assert_null(path);
	assert_no_error(modules_file(&build, "kernel/x.ko", &found));
	assert_false(file_exists(found));
	kernel_files_deinit(&build.files);
}

/* Packed modules, and debug information without a module. */
static void test_packed(void **state)
{
	_free_ char *unpacked = NULL, *text = NULL, *none = NULL;
	_free_ char *plain = xasprintf("%s/given/kernel/other.ko", folder);
	const char *const argv[] = {"gzip", plain, NULL};
	struct build build;

	(void)state;
	make_cache(&build);
	build.release = (char *)"1-x";
	free(build.files.modules_dbg);
	build.files.modules_dbg = xasprintf("%s/given", folder);
	put("given/kernel/other.ko", "packed");
	put("given/kernel/alone.ko.debug", "");
	assert_no_error(proc_check(argv, NULL, NULL));
	assert_no_error(modules_file(&build, "kernel/other.ko", &unpacked));
	assert_no_error(file_read(unpacked, &text, NULL));
	assert_string_equal(text, "packed");
	assert_error(modules_file(&build, "kernel/alone.ko", &none), STATUS_FAILED,
		     "no module kernel/alone.ko");
	put("given/kernel/bad.ko.xz", "not xz");
	assert_error(modules_file(&build, "kernel/bad.ko", &none), STATUS_FAILED, "cannot unpack");
	kernel_files_deinit(&build.files);
}

/* The module's bytes in the package, which is not compressed, are others than its md5sums say. */
static void test_damaged(void **state)
{
	_free_ char *tree = xasprintf("%s/tree", folder), *text = NULL, *path = NULL, *found = NULL;
	struct build build;
	size_t length;

	(void)state;
	make_cache(&build);
	build.release = (char *)"1-x";
	_free_ char *deb = xstrdup(build.files.dbg_package);
	const char *const argv[] = {"dpkg-deb", "-Znone", "-b", tree, deb, NULL};

	assert_no_error(proc_check(argv, NULL, NULL));
	assert_no_error(file_read(deb, &text, &length));
	char *bytes = memmem(text, length, "module\0", 7);

	assert_non_null(bytes);
	bytes[2] ^= 1;
	assert_no_error(file_write(deb, text, length));
	assert_no_error(modules_find(&build, "nf_tables", &path));
	assert_error(modules_file(&build, path, &found), STATUS_FAILED, "run 'pokepatch fetch 1-x'");
	assert_null(build.files.dbg_package);
	assert_false(file_exists(deb));
	assert_error(modules_file(&build, path, &found), STATUS_FAILED, "is not in the cache; run");

	/* Cut off. */
	build.files.dbg_package = xstrdup(deb);
	assert_no_error(file_write(deb, text, length - 8000));
	assert_error(modules_file(&build, path, &found), STATUS_FAILED, "was damaged");
	assert_false(file_exists(deb));
	kernel_files_deinit(&build.files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_extract, setup, teardown),
		cmocka_unit_test_setup_teardown(test_given, setup, teardown),
		cmocka_unit_test_setup_teardown(test_packed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
