// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of finding the file that was changed after the kernel was built, and of the shadow. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "folder.h"
#include "pokepatch-build/shadow_tree.h"
#include "pokepatch-build/units.h"

static char *depends[] = {
	"fs/proc/version.c",
	"include/linux/fs.h",
	"include/generated/autoconf.h",
	"arch/x86/include/generated/asm/x.h",
	"include/config/HZ",
	"/usr/include/x.h",
	"fs/proc/gone.h",
	NULL,
};

/* A file of the folder that was changed at a time. */
static void put(const char *name, time_t time)
{
	const struct timespec times[2] = {{time, 0}, {time, 0}};
	_free_ char *path = xasprintf("%s/%s", folder, name);
	_free_ char *dir = xstrdup(path);

	*strrchr(dir, '/') = '\0';
	assert_no_error(make_dirs(dir));
	assert_no_error(file_write(path, "x", 1));
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void finds(const struct build *build, const char *name)
{
	_free_ char *found = unit_find_edited(build, depends);

	assert_string_equal(found ?: "none", name);
}

static void test_the_last_one_counts(void **state)
{
	struct build build = {.own = true, .files = {.source = folder}};
	_free_ char *vmlinux = xasprintf("%s/vmlinux", folder);

	(void)state;
	build.files.vmlinux = vmlinux;
	put("vmlinux", 1000);
	put("fs/proc/version.c", 999);
	put("include/linux/fs.h", 1000);
	put("include/generated/autoconf.h", 2000);
	put("arch/x86/include/generated/asm/x.h", 2000);
	put("include/config/HZ", 2000);
	finds(&build, "none");
	put("include/linux/fs.h", 1001);
	finds(&build, "include/linux/fs.h");
	put("fs/proc/version.c", 1002);
	finds(&build, "fs/proc/version.c");
	put("vmlinux", 1003);
	finds(&build, "none");
}

/* Files from packages have the times at which they were unpacked, or any. */
static void test_only_a_kernel_that_was_built_there(void **state)
{
	struct build build = {.files = {.source = folder}};
	_free_ char *vmlinux = xasprintf("%s/vmlinux", folder);

	(void)state;
	build.files.vmlinux = vmlinux;
	put("vmlinux", 1000);
	put("fs/proc/version.c", 2000);
	finds(&build, "none");
	build.own = true;
	finds(&build, "fs/proc/version.c");
	build.options.source = folder;
	finds(&build, "none");
}

/* ---- the shadow of a tree ---------------------------------------------------- */

static struct shadow shadow;

/* A file of the shadow has this text; NULL: there is none. */
static void shadow_has(const char *path, const char *wanted)
{
	_free_ char *full = xasprintf("%s/%s", shadow.folder, path);
	_free_ char *text = NULL;
	size_t length;

	assert_int_equal(file_exists(full), wanted != NULL);
	if (!wanted)
		return;
	assert_no_error(file_read(full, &text, &length));
	assert_string_equal(text, wanted);
}

static void test_shadow(void **state)
{
	_free_ char *tree = xasprintf("%s/tree", folder);
	_free_ char *path = xasprintf("%s/shadow", folder);
	_free_ char *link = xasprintf("%s/tree/b/link.h", folder);

	(void)state;
	put("tree/a/x.h", 1);
	put("tree/a/y.h", 1);
	put("tree/a/x.o", 1);
	put("tree/b/c/z.h", 1);
	assert_int_equal(symlink("../a/x.h", link), 0);
	assert_no_error(shadow_init(&shadow, tree, path));
	assert_no_error(shadow_put(&shadow, "a/x.h", "new", 3));
	shadow_has("a/x.h", "new");
	shadow_has("a/y.h", "x");
	shadow_has("a/x.o", NULL);
	/* ".." behind a link to the tree's folder leads into the tree, until it is followed. */
	shadow_has("b/c/../../a/x.h", "x");
	assert_no_error(shadow_follow(&shadow, "b/c/../../a/x.h"));
	shadow_has("b/c/../../a/x.h", "new");
	shadow_has("b/link.h", "new");
	put("tree/a/late.h", 1);
	shadow_has("a/late.h", NULL);
	assert_no_error(shadow_refresh(&shadow));
	shadow_has("a/late.h", "x");
	shadow_has("a/x.h", "new");
	assert_no_error(shadow_take(&shadow, "b/c/z.h"));
	shadow_has("b/c/z.h", NULL);
	shadow_deinit(&shadow);

	/* The tree is as it was. */
	assert_no_error(remove_tree(path));
	assert_no_error(shadow_init(&shadow, tree, path));
	assert_no_error(shadow_open(&shadow, ""));
	shadow_has("a/x.h", "x");
	shadow_has("b/c/z.h", "x");
	assert_no_error(shadow_put(&shadow, "a/x.h", "new", 3));
	shadow_has("b/c/../../a/x.h", "new");
	shadow_deinit(&shadow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_last_one_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_only_a_kernel_that_was_built_there, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_shadow, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
