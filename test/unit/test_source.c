// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of unpacking the source: what is left out, and what was unpacked ahead of a build. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/proc.h"
#include "common/source.h"
#include "folder.h"

static char *path_of(const char *name)
{
	return xasprintf("%s/%s", folder, name);
}

static bool exists(const char *name)
{
	_free_ char *path = path_of(name);

	return file_exists(path);
}

static void put(const char *name, const char *text)
{
	_free_ char *path = path_of(name);
	_free_ char *parent = xstrndup(path, strrchr(path, '/') - path);

	assert_no_error(make_dirs(parent));
	assert_no_error(file_write(path, text, strlen(text)));
}

/* linux.tar.xz with files in folders that are needed and in some that are not. */
static char *make_tarball(void)
{
	char *tarball = path_of("linux.tar.xz");
	const char *const argv[] = {"tar", "-C", folder, "-cJf", tarball, "linux", NULL};

	put("linux/Makefile", "all:\n");
	put("linux/kernel/a.c", "int a;\n");
	put("linux/arch/x86/b.c", "int b;\n");
	put("linux/arch/arm/c.c", "int c;\n");
	put("linux/drivers/gpu/drm/drm_panel_orientation_quirks.c", "int d;\n");
	put("linux/drivers/gpu/drm/amd/e.c", "int e;\n");
	put("linux/sound/f.c", "int f;\n");
	assert_no_error(proc_check(argv, NULL, NULL));
	return tarball;
}

static void left_out(const char *config, struct args *ret)
{
	_free_ char *path = path_of("config");

	put("config", config);
	*ret = (struct args){};
	assert_no_error(source_left_out(path, "x86", ret));
}

static bool has(const struct args *list, const char *name)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->list[i], name))
			return true;
	return false;
}

static void test_left_out(void **state)
{
	struct args list;

	(void)state;
	left_out("CONFIG_DRM_PANEL_ORIENTATION_QUIRKS=y\n# CONFIG_SOUND is not set\n", &list);
	assert_true(has(&list, "arch/arm"));
	assert_false(has(&list, "arch/x86"));
	assert_true(has(&list, "sound"));
	assert_false(has(&list, "drivers/gpu/drm"));
	assert_true(has(&list, "drivers/gpu/drm/amd"));
	args_deinit(&list);
	left_out("CONFIG_SOUND=m\nCONFIG_DRM=m\nCONFIG_DRM_AMDGPU=m\n", &list);
	assert_false(has(&list, "sound"));
	assert_false(has(&list, "drivers/gpu/drm/amd"));
	args_deinit(&list);
}

static void test_unpack(void **state)
{
	_free_ char *tarball = make_tarball();
	_free_ char *tree = path_of("plain");
	struct args list;

	(void)state;
	left_out("CONFIG_DRM=y\n", &list);
	assert_no_error(make_dirs(tree));
	assert_no_error(source_unpack(tarball, tree, &list));
	args_deinit(&list);
	assert_true(exists("plain/kernel/a.c"));
	assert_true(exists("plain/arch/x86/b.c"));
	assert_false(exists("plain/arch/arm"));
	assert_true(exists("plain/drivers/gpu/drm/drm_panel_orientation_quirks.c"));
	assert_false(exists("plain/drivers/gpu/drm/amd"));
	assert_false(exists("plain/sound"));
}

static bool take(const char *tarball, const struct args *list)
{
	_free_ char *tree = path_of("tree");
	bool taken;

	assert_no_error(source_take(tarball, folder, list, tree, &taken));
	assert_int_equal(taken, exists("tree"));
	return taken;
}

static void unpack_ahead(const char *tarball, const struct args *list)
{
	_free_ char *wanted = path_of("tree-unpacked");
	_free_ char *path = NULL;

	assert_no_error(source_unpack_ahead(tarball, folder, list, &path));
	assert_string_equal(path, wanted);
}

static void test_ahead(void **state)
{
	_free_ char *tarball = make_tarball();
	_free_ char *tree = path_of("tree");
	struct args list, other;

	(void)state;
	left_out("CONFIG_DRM=y\n", &list);
	left_out("CONFIG_DRM=y\nCONFIG_SOUND=y\n", &other);
	assert_false(take(tarball, &list)); /* there is none */
	unpack_ahead(tarball, &list);
	assert_false(take(tarball, &other)); /* that one would lack sound/ */
	assert_true(take(tarball, &list));
	assert_true(exists("tree/kernel/a.c"));
	assert_false(exists("tree/.pokepatch/ready")); /* it is no prepared tree yet */
	assert_false(exists("tree-unpacked"));
	assert_no_error(remove_tree(tree));
	assert_false(take(tarball, &list)); /* it is taken once */
	args_deinit(&list);
	args_deinit(&other);
}

static void test_ahead_useless(void **state)
{
	_free_ char *tarball = make_tarball();
	_free_ char *half = path_of("tree-unpacked/.pokepatch/ready");
	struct args list;

	(void)state;
	left_out("CONFIG_DRM=y\n", &list);
	unpack_ahead(tarball, &list);
	put("linux/kernel/a.c", "int a = 1;\n");
	free(make_tarball()); /* another time */
	assert_false(take(tarball, &list));
	unpack_ahead(tarball, &list); /* in its place */
	assert_int_equal(unlink(half), 0);
	assert_false(take(tarball, &list)); /* an interrupted fetch does not write that file */
	args_deinit(&list);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unpack, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ahead, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ahead_useless, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
