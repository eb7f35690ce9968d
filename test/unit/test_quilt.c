// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of quilt series: what each kind of change does to a tree, and series that are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "folder.h"
#include "pokepatch-build/quilt.h"

static char *tree_path(const char *name)
{
	return xasprintf("%s/tree/%s", folder, name);
}

static void put(const char *name, const char *text)
{
	_free_ char *path = xasprintf("%s/%s", folder, name);
	_free_ char *parent = xstrdup(path);

	*strrchr(parent, '/') = '\0';
	assert_no_error(make_dirs(parent));
	assert_no_error(file_write(path, text, strlen(text)));
}

/* The file of the tree has this text; NULL: there is none. */
static void holds(const char *name, const char *wanted)
{
	_free_ char *path = tree_path(name);
	_free_ char *text = NULL;

	if (!wanted) {
		assert_false(file_exists(path));
		return;
	}
	assert_no_error(file_read(path, &text, NULL));
	assert_string_equal(text, wanted);
}

static struct error *apply(void)
{
	static char *left_out[] = {"Documentation", "arch/arm", NULL};
	_free_ char *patches = xasprintf("%s/patches", folder);
	_free_ char *tree = tree_path("");

	return quilt_apply(patches, tree, left_out);
}

static void apply_fails(const char *part)
{
	assert_error(apply(), STATUS_FAILED, part);
}

#define CHANGE(file, old, new)                                                                     \
	"--- a/" file "\n+++ b/" file "\n@@ -1 +1 @@\n-" old "\n+" new "\n"

static void test_kinds(void **state)
{
	_free_ char *script = tree_path("scripts/run");
	struct stat status;

	(void)state;
	put("tree/mm/a.c", "one\n");
	put("tree/mm/gone.c", "old\n");
	put("tree/mm/named.c", "text\n");
	put("tree/scripts/run", "one\n");
	assert_int_equal(chmod(script, 0755), 0);
	put("patches/series", "# the first\n\nfirst.patch\nsub/second.patch -p1 # why\n");
	put("patches/first.patch", "From: someone\n\nProse.\n---\n" CHANGE("mm/a.c", "one", "two")
	    CHANGE("scripts/run", "one", "two"));
	put("patches/sub/second.patch",
	    CHANGE("mm/a.c", "two", "three")
	    "--- /dev/null\n+++ b/kernel/new/b.c\n@@ -0,0 +1,2 @@\n+int b;\n+int c;\n"
	    "--- a/mm/gone.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"
	    "diff --git a/mm/named.c b/mm/other.c\nsimilarity index 100%\n"
	    "rename from mm/named.c\nrename to mm/other.c\n"
	    "diff --git a/mm/a.c b/mm/z.c\nsimilarity index 90%\ncopy from mm/a.c\ncopy to mm/z.c\n");
	put("patches/third.patch", CHANGE("mm/a.c", "three", "four")); /* the series lacks it */
	assert_no_error(apply());
	holds("mm/a.c", "three\n");
	holds("mm/z.c", "two\n"); /* as it was before the diff */
	holds("kernel/new/b.c", "int b;\nint c;\n");
	holds("mm/gone.c", NULL);
	holds("mm/named.c", NULL);
	holds("mm/other.c", "text\n");
	holds("scripts/run", "two\n");
	assert_int_equal(stat(script, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0755);
}

static void test_left_out(void **state)
{
	(void)state;
	put("tree/mm/a.c", "one\n");
	put("patches/series", "a.patch\n");
	put("patches/a.patch", CHANGE("Documentation/x.rst", "1", "2") CHANGE("arch/arm/y.c", "1", "2")
	    CHANGE("mm/a.c", "one", "two"));
	assert_no_error(apply());
	holds("mm/a.c", "two\n");
	holds("Documentation/x.rst", NULL);
	/* A folder whose name only begins so is not left out. */
	put("patches/a.patch", CHANGE("arch/arm64/y.c", "1", "2"));
	apply_fails("a.patch:1: the source has no file arch/arm64/y.c");
}

static void test_errors(void **state)
{
	(void)state;
	put("tree/mm/a.c", "one\n");
	apply_fails("series");
	put("patches/series", "missing.patch\n");
	apply_fails("missing.patch");
	put("patches/series", "a.patch -R\n");
	apply_fails("series:1: option -R of patch a.patch");
	put("patches/series", "a.patch\n");
	put("patches/a.patch", CHANGE("mm/a.c", "other", "two"));
	apply_fails("a.patch:3: hunk 1 does not apply to mm/a.c");
	holds("mm/a.c", "one\n");
	put("outside", "one\n");
	put("patches/a.patch", CHANGE("../outside", "one", "two"));
	apply_fails("no path in a source tree");
	put("patches/a.patch", CHANGE("mm/../../outside", "one", "two"));
	apply_fails("no path in a source tree");
	holds("../outside", "one\n");
	put("patches/a.patch", "prose alone\n");
	apply_fails("a.patch");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_kinds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
