// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unit tests of the program pokepatch: its command line, how it reads apt's output, and its
 * commands on a /sys that the test makes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "common/args.h"
#include "pokepatch/apt.h"
#include "pokepatch/cli.h"
#include "errors.h"
#include "pokepatch/kernel_packages.h"
#include "pokepatch/table.h"
#include "pokepatch/unpack.h"

#define RUN(out, ...)                                                                              \
	cli_run(cli_commands, sizeof((char *[]){"pokepatch", __VA_ARGS__}) / sizeof(char *),       \
		(char *[]){"pokepatch", __VA_ARGS__, NULL}, out)

static void assert_has(const struct buffer *out, const char *part)
{
	if (!out->text || !strstr(out->text, part))
		fail_msg("'%s' is not in '%s'", part, out->text ? out->text : "");
}

/* ---- the command line ------------------------------------------------------ */

static struct error *show_call(struct cli_call *call)
{
	buffer_printf(&call->out, "flag %s value %s:", cli_value(call, "flag") ? "on" : "off",
		      cli_value(call, "value") ? cli_value(call, "value") : "none");
	if (cli_value(call, "maybe"))
		buffer_printf(&call->out, " maybe '%s'", cli_value(call, "maybe"));
	for (int i = 0; i < call->count; i++)
		buffer_printf(&call->out, " %s", call->arguments[i]);
	assert_null(cli_value(call, "unknown"));
	return NULL;
}

static const struct cli_option test_options[] = {
	{"flag", 'f', NULL, "a flag"},
	{"value", 'v', "VALUE", "a value"},
	{"maybe", 0, "[=VALUE]", "perhaps a value"},
	{0},
};
static const struct cli_command test_commands[] = {
	{.name = "show",
	 .arguments = "A [B]",
	 .summary = "Show",
	 .help = "",
	 .options = test_options,
	 .min_arguments = 1,
	 .max_arguments = 2,
	 .run = show_call},
	{0},
};

static void assert_shows(const char *wanted, int argc, char **argv)
{
	struct buffer out;

	assert_no_error(cli_run(test_commands, argc, argv, &out));
	assert_string_equal(out.text, wanted);
	buffer_deinit(&out);
}

#define SHOWS(wanted, ...)                                                                         \
	assert_shows(wanted, sizeof((char *[]){"p", "show", __VA_ARGS__}) / sizeof(char *),        \
		     (char *[]){"p", "show", __VA_ARGS__, NULL})

static void test_options_and_arguments(void **state)
{
	(void)state;
	SHOWS("flag off value none: a", "a");
	SHOWS("flag on value x: a b", "-f", "-v", "x", "a", "b");
	SHOWS("flag on value x: a b", "a", "--value=x", "b", "--flag");
	SHOWS("flag on value x: a", "-fvx", "a");
	SHOWS("flag off value -f: a", "--value", "-f", "a");
	SHOWS("flag off value none: --flag a", "--", "--flag", "a");
	SHOWS("flag off value 2: a", "-v1", "-v2", "a");
}

static void test_optional_value(void **state)
{
	struct buffer out;

	(void)state;
	SHOWS("flag off value none: maybe '' a b", "--maybe", "a", "b");
	SHOWS("flag off value none: maybe 'b' a", "--maybe=b", "a");
	assert_error(cli_run(test_commands, 4, (char *[]){"p", "show", "--maybe=", "a", NULL}, &out),
		     STATUS_FAILED, "option '--maybe=' has an empty value");
	assert_no_error(cli_run(test_commands, 3, (char *[]){"p", "show", "--help", NULL}, &out));
	assert_has(&out, "--maybe[=VALUE] ");
	assert_has(&out, "--value VALUE ");
	buffer_deinit(&out);
}

/* ---- apt's output ---------------------------------------------------------- */

#define SHA_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void test_parse_show(void **state)
{
	static const char text[] = "Package: linux-kbuild-6.1\n"
				   "Source: linux\n"
				   "Version: 6.1.9-1\n"
				   "Installed-Size: 2397\n"
				   "Architecture: amd64\n"
				   "Depends: libc6 (>= 2.34), libelf1\n"
				   "Description: tools\n"
				   " Version: not a field\n"
				   "Filename: pool/main/l/linux-kbuild-6.1_6.1.9-1_amd64.deb\n"
				   "Size: 1568188\n"
				   "SHA256: " SHA_A "\n"
				   "\n"
				   "Package: no-checksum\n"
				   "Version: 1\n"
				   "Architecture: all\n"
				   "Filename: x.deb\n"
				   "Size: 1\n"
				   "\n"
				   "Package: last\n"
				   "Version: 2\n"
				   "Architecture: all\n"
				   "Filename: last.deb\n"
				   "Size: 1\n"
				   "SHA256: " SHA_A;
	struct apt_packages packages;

	(void)state;
	apt_parse_show(text, &packages);
	assert_int_equal(packages.count, 2);
	assert_string_equal(packages.list[0].name, "linux-kbuild-6.1");
	assert_string_equal(packages.list[0].version, "6.1.9-1");
	assert_string_equal(packages.list[0].architecture, "amd64");
	assert_string_equal(packages.list[0].depends, "libc6 (>= 2.34), libelf1");
	assert_string_equal(packages.list[0].file, "linux-kbuild-6.1_6.1.9-1_amd64.deb");
	assert_string_equal(packages.list[0].sha256, SHA_A);
	assert_int_equal(packages.list[0].size, 1568188);
	assert_int_equal(packages.list[0].installed, 2397 * 1024);
	assert_string_equal(packages.list[1].name, "last");
	assert_string_equal(packages.list[1].depends, "");
	apt_packages_deinit(&packages);
	apt_parse_show(NULL, &packages);
	assert_int_equal(packages.count, 0);
}

static void test_parse_policy(void **state)
{
	static const char text[] = "linux-image-tiny:\n"
				   "  Installed: (none)\n"
				   "  Candidate: 6.1.9-1\n"
				   "  Version table:\n"
				   "     6.12.5-1~bpo12+1 100\n"
				   "        100 http://example.org backports/main amd64 Packages\n"
				   "     6.1.9-1 500\n"
				   "        500 http://example.org security/main amd64 Packages\n"
				   " *** 6.1.8-1 500\n"
				   "        500 http://example.org stable/main amd64 Packages\n";
	char **versions;

	(void)state;
	versions = apt_parse_policy(text);
	assert_string_equal(versions[0], "6.1.9-1");
	assert_string_equal(versions[1], "6.1.8-1");
	assert_string_equal(versions[2], "6.12.5-1~bpo12+1");
	assert_null(versions[3]);
	strings_free(versions);
	versions = apt_parse_policy("");
	assert_null(versions[0]);
	strings_free(versions);
}

static void test_package_names(void **state)
{
	(void)state;
	assert_int_equal(kernel_part_of("linux-image-6.1.0-5-amd64"), PART_IMAGE);
	assert_int_equal(kernel_part_of("linux-image-6.1.0-5-amd64-dbg"), PART_DBG);
	assert_int_equal(kernel_part_of("linux-headers-6.1.0-5-common"), PART_HEADERS);
	assert_int_equal(kernel_part_of("linux-kbuild-6.1"), PART_HEADERS);
	assert_int_equal(kernel_part_of("linux-source-6.1"), PART_SOURCE);
	assert_int_equal(kernel_part_of("bash"), PART_COUNT);

	assert_string_equal(kernel_arch("cloud-amd64"), "amd64");
	assert_string_equal(kernel_arch("6.1.0-5-cloud-arm64"), "arm64");
	assert_string_equal(kernel_arch("6.1.0-5-686-pae"), "i386");
	assert_string_equal(kernel_arch("loongson-3"), "mips64el");
	assert_null(kernel_arch("6.1.0-5-generic"));

	assert_true(kernel_has_flavour("6.1.0-5-amd64", "amd64"));
	assert_true(kernel_has_flavour("6.12.9+deb12-cloud-amd64", "cloud-amd64"));
	assert_false(kernel_has_flavour("6.1.0-5-cloud-amd64", "amd64"));
	assert_false(kernel_has_flavour("6.1.0-5-rt-amd64", "cloud-amd64"));
	assert_false(kernel_has_flavour("-amd64", "amd64"));

	assert_true(kernel_is_of("6.1.0-5-cloud-amd64", "cloud-amd64"));
	assert_true(kernel_is_of("6.1.0-5-cloud-amd64", "6.1-cloud-amd64"));
	assert_true(kernel_is_of("6.12.9+deb12-cloud-amd64", "6-cloud-amd64"));
	assert_true(kernel_is_of("6.12+deb12-cloud-amd64", "6.12-cloud-amd64"));
	assert_false(kernel_is_of("6.12.9+deb12-cloud-amd64", "6.1-cloud-amd64"));
	assert_false(kernel_is_of("6.1.0-5-cloud-amd64", "6.1-amd64"));
	assert_false(kernel_is_of("6.1.0-5-amd64", "6.1"));
	assert_true(kernel_replaces("6.1.0-10-amd64", "6.1.0-9-amd64"));
	assert_false(kernel_replaces("6.1.0-9-amd64", "6.1.0-10-amd64"));
	assert_false(kernel_replaces("6.1.0-9-amd64", "6.1.0-9-amd64"));
	assert_false(kernel_replaces("6.1.0-10-cloud-amd64", "6.1.0-9-amd64"));
	assert_true(kernel_replaces("6.12.9+deb12-cloud-amd64", "6.12.8+deb12-cloud-amd64"));
	assert_false(kernel_replaces("6.12.9+deb12-amd64", "6.1.0-9-amd64"));
	assert_false(kernel_replaces("6.2-own", "6.1-own"));
}

static void test_lacks_kbuild(void **state)
{
	struct apt_package list[] = {{.name = "linux-image-6.1.0-5-amd64"},
				     {.name = "linux-headers-6.1.0-5-common"},
				     {.name = "linux-kbuild-6.1"}};
	struct apt_packages packages = {.list = list, .count = 1};

	(void)state;
	assert_false(kernel_lacks_kbuild(&packages));
	packages.count = 2;
	assert_true(kernel_lacks_kbuild(&packages));
	packages.count = 3;
	assert_false(kernel_lacks_kbuild(&packages));
}

/* ---- folders of a test ----------------------------------------------------- */

static int make_folder(void **state)
{
	char *dir;
	struct error *error = temp_dir(&dir);

	if (error)
		return -1;
	*state = dir;
	setenv("POKEPATCH_SYSFS", dir, 1);
	return 0;
}

static int remove_folder(void **state)
{
	struct error *error = remove_tree(*state);
	int result = error ? -1 : 0;

	error_destroy(error);
	free(*state);
	unsetenv("POKEPATCH_SYSFS");
	return result;
}

static void put(const char *dir, const char *name, const char *text)
{
	_free_ char *path = xasprintf("%s/%s", dir, name);
	_free_ char *folder = xstrdup(path);

	*strrchr(folder, '/') = '\0';
	assert_no_error(make_dirs(folder));
	assert_no_error(file_write(path, text, strlen(text)));
}

static void assert_contents(const char *dir, const char *name, const char *wanted)
{
	_free_ char *path = xasprintf("%s/%s", dir, name);
	_free_ char *text = NULL;

	assert_no_error(file_read(path, &text, NULL));
	assert_string_equal(text, wanted);
}

/* ---- unpacking ------------------------------------------------------------- */

static void test_deb_is_whole(void **state)
{
	static const char deb[] = "!<arch>\n"
				  "debian-binary   0           0     0     100644  4         `\n"
				  "2.0\n"
				  "data.tar        0           0     0     100644  3         `\n"
				  "abc\n";
	_free_ char *path = xasprintf("%s/x.deb", (const char *)*state);
	const size_t length = strlen(deb), without_padding = length - 1;

	assert_no_error(file_write(path, deb, length));
	assert_true(deb_is_whole(path));
	for (size_t cut = 0; cut < without_padding; cut++) {
		/* Right behind a member is an end that cannot be told from a real one. */
		if (cut == 8 + 60 + 4)
			continue;
		assert_no_error(file_write(path, deb, cut));
		assert_false(deb_is_whole(path));
	}
	assert_no_error(file_write(path, "!<arch>\nrubbish", 15));
	assert_false(deb_is_whole(path));
	assert_int_equal(unlink(path), 0);
	assert_false(deb_is_whole(path));
}

static void test_relocate(void **state)
{
	const char *dir = *state;
	_free_ char *link = xasprintf("%s/lib/modules/1/build", dir);
	_free_ char *outside = xasprintf("%s/lib/modules/1/outside", dir);
	char target[256];
	ssize_t length;

	put(dir, "usr/src/linux-headers-1/Makefile",
	    "KBUILD_OUTPUT=/usr/src/linux-headers-1\n"
	    "include /usr/src/linux-headers-1-common/Makefile\nlast");
	put(dir, "usr/src/linux-headers-1/sub/Makefile", "include /usr/src/x\n");
	put(dir, "usr/src/linux-headers-1-common/Makefile", "all:\n");
	put(dir, "lib/modules/1/modules.order", "");
	assert_int_equal(symlink("/usr/src/linux-headers-1", link), 0);
	assert_int_equal(symlink("/usr/src/elsewhere", outside), 0);
	assert_no_error(unpack_relocate(dir));
	assert_contents(dir, "usr/src/linux-headers-1/Makefile",
			"KBUILD_OUTPUT:=$(dir $(lastword $(MAKEFILE_LIST)))../linux-headers-1\n"
			"include $(dir $(lastword $(MAKEFILE_LIST)))../"
			"linux-headers-1-common/Makefile\nlast");
	assert_contents(dir, "usr/src/linux-headers-1/sub/Makefile", "include /usr/src/x\n");
	length = readlink(link, target, sizeof(target) - 1);
	target[length] = '\0';
	assert_string_equal(target, "../../../usr/src/linux-headers-1");
	length = readlink(outside, target, sizeof(target) - 1);
	target[length] = '\0';
	assert_string_equal(target, "/usr/src/elsewhere");
}

/* ---- a /sys of the test ---------------------------------------------------- */

#define FUNC_A "kernel/pokepatch/fix_one/vmlinux/do_thing,1/"
#define FUNC_B "kernel/pokepatch/fix_one/nf_tables/nft_do,2/"

static void make_sysfs(const char *dir)
{
	static const char *const files[][2] = {
		{"kernel/pokepatch/version", "0.7\n"},
		{"kernel/pokepatch/fix_one/enabled", "1\n"},
		{"kernel/pokepatch/fix_one/state", "enabled\n"},
		{"kernel/pokepatch/fix_one/blocked_by", ""},
		{"kernel/pokepatch/fix_one/timeout_ms", "5000\n"},
		{"kernel/pokepatch/fix_one/stop_ns", "123456\n"},
		{"kernel/pokepatch/fix_one/build_id", "00ff\n"},
		{FUNC_A "mode", "ftrace\n"},
		{FUNC_A "old_addr", "0xffffffff81000000\n"},
		{FUNC_A "new_addr", "0xffffffffc0000000\n"},
		{FUNC_A "old_size", "16\n"},
		{FUNC_A "new_size", "32\n"},
		{FUNC_B "mode", "direct\n"},
		{FUNC_B "old_size", "100\n"},
		{FUNC_B "new_size", "90\n"},
		{"kernel/pokepatch/other/enabled", "0\n"},
		{"kernel/pokepatch/other/state", "blocked\n"},
		{"kernel/pokepatch/other/blocked_by", "12 sleeper do_thing\n13 b do_thing\n"},
		{"kernel/pokepatch/other/timeout_ms", "100\n"},
		{"kernel/pokepatch/other/blocked_since", "1\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		put(dir, files[i][0], files[i][1]);
}

static json_object *parse(const struct buffer *out)
{
	json_object *value = json_tokener_parse(out->text);

	assert_non_null(value);
	return value;
}

static json_object *member(json_object *object, const char *key)
{
	json_object *value = NULL;

	assert_true(json_object_object_get_ex(object, key, &value));
	return value;
}

static void test_list(void **state)
{
	json_object *rows, *row;
	struct buffer out;

	assert_no_error(RUN(&out, "list", "--json"));
	rows = json_tokener_parse(out.text);
	assert_int_equal(json_object_get_type(rows), json_type_array);
	assert_int_equal(json_object_array_length(rows), 0);
	json_object_put(rows);
	buffer_deinit(&out);

	make_sysfs(*state);
	assert_no_error(RUN(&out, "list"));
	assert_string_equal(out.text, "NAME     STATE    FUNCTIONS  MODE\n"
				      "fix_one  enabled  2          direct,ftrace\n"
				      "other    blocked  0          -\n");
	buffer_deinit(&out);

	assert_no_error(RUN(&out, "list", "--json"));
	rows = parse(&out);
	assert_int_equal(json_object_array_length(rows), 2);
	row = json_object_array_get_idx(rows, 0);
	assert_string_equal(json_object_get_string(member(row, "name")), "fix_one");
	assert_true(json_object_get_boolean(member(row, "enabled")));
	assert_int_equal(json_object_get_int64(member(row, "functions")), 2);
	json_object_put(rows);
	buffer_deinit(&out);
}

/* A long table takes as long as its rows, not as their square: that would be a minute here. */
static void test_long_table(void **state)
{
	static const struct table_column columns[] = {
		{ "name", "NAME" }, { "size", "SIZE" }, { "state", "STATE" }, {}
	};
	enum { ROWS = 20000 };
	_json_ json_object *rows = json_object_new_array();
	struct buffer out = {};
	const clock_t start = clock();

	(void)state;
	for (int i = 0; i < ROWS; i++) {
		json_object *row = json_object_new_object();

		json_add_text(row, "name", i == ROWS - 1 ? "a-long-name" : "short");
		json_add_number(row, "size", i);
		json_object_array_add(rows, row);
	}
	table_print(&out, rows, columns);
	assert_true(clock() - start < 10 * CLOCKS_PER_SEC);
	assert_has(&out, "NAME         SIZE   STATE\nshort        0      -\n");
	assert_has(&out, "\na-long-name  19999  -\n");
	buffer_deinit(&out);
}

static void test_info_of_loaded(void **state)
{
	json_object *info, *function;
	struct buffer out;

	make_sysfs(*state);
	assert_no_error(RUN(&out, "info", "fix-one"));
	assert_has(&out, "name:        fix_one\n");
	assert_has(&out, "stop ns:     123456\n");
	assert_has(&out, "do_thing  vmlinux    ftrace  16        32        0xffffffff81000000");
	assert_has(&out, "nft_do    nf_tables  direct  100       90        -");
	buffer_deinit(&out);

	assert_no_error(RUN(&out, "info", "other"));
	assert_has(&out, "blocked by: 12 sleeper do_thing\nblocked by: 13 b do_thing\n");
	buffer_deinit(&out);

	assert_no_error(RUN(&out, "info", "fix_one", "--json"));
	info = parse(&out);
	assert_int_equal(json_object_get_int64(member(info, "timeout_ms")), 5000);
	function = json_object_array_get_idx(member(info, "functions"), 0);
	assert_string_equal(json_object_get_string(member(function, "name")), "nft_do");
	assert_int_equal(json_object_get_int64(member(function, "pos")), 2);
	assert_null(member(function, "old_addr"));
	json_object_put(info);
	buffer_deinit(&out);
}

/* The patch `other` is blocked since the first second after the boot, `fix_one` is not. */
static void test_blocked_since(void **state)
{
	json_object *info;
	struct timespec now;
	struct buffer out;

	make_sysfs(*state);
	clock_gettime(CLOCK_BOOTTIME, &now);
	assert_no_error(RUN(&out, "info", "other", "--json"));
	info = parse(&out);
	assert_in_range(json_object_get_int64(member(info, "blocked_seconds")), now.tv_sec - 1,
			now.tv_sec + 60);
	assert_int_equal(strlen(json_object_get_string(member(info, "blocked_since"))),
			 strlen("2026-11-27T22:40:05Z"));
	json_object_put(info);
	buffer_deinit(&out);

	assert_no_error(RUN(&out, "info", "fix_one", "--json"));
	info = parse(&out);
	assert_null(member(info, "blocked_seconds"));
	assert_null(member(info, "blocked_since"));
	json_object_put(info);
	buffer_deinit(&out);
}

static void test_enable_and_disable(void **state)
{
	struct buffer out;

	make_sysfs(*state);
	assert_error(RUN(&out, "enable", "fix-one"), STATUS_NOTHING, "is enabled already");
	assert_no_error(RUN(&out, "disable", "fix-one"));
	assert_contents(*state, "kernel/pokepatch/fix_one/enabled", "0\n");
	assert_error(RUN(&out, "disable", "fix-one"), STATUS_NOTHING, "is disabled already");
	assert_no_error(RUN(&out, "enable", "fix_one"));
	assert_contents(*state, "kernel/pokepatch/fix_one/enabled", "1\n");
	assert_no_error(RUN(&out, "disable", "--timeout", "250", "fix_one"));
	assert_contents(*state, "kernel/pokepatch/fix_one/timeout_ms", "250");
	assert_error(RUN(&out, "enable", "--timeout", "1s", "fix_one"), STATUS_FAILED,
		     "'1s' is not a number of milliseconds");
	assert_contents(*state, "kernel/pokepatch/fix_one/enabled", "0\n");
	put(*state, "kernel/pokepatch/fix_one/evict", "0\n");
	put(*state, "kernel/pokepatch/fix_one/retry_ms", "0\n");
	assert_error(RUN(&out, "enable", "--evict", "--evict", "--evict", "fix_one"), STATUS_FAILED,
		     "--evict is given 3 times");
	assert_contents(*state, "kernel/pokepatch/fix_one/enabled", "0\n");
	assert_no_error(RUN(&out, "enable", "--retry", "700", "--evict", "fix_one"));
	assert_contents(*state, "kernel/pokepatch/fix_one/retry_ms", "700");
	/* It was meant for that switch alone. */
	assert_contents(*state, "kernel/pokepatch/fix_one/evict", "0\n");
	assert_no_error(RUN(&out, "disable", "fix_one"));
	assert_error(RUN(&out, "unload", "--retry", "700", "fix_one"), STATUS_FAILED,
		     "unknown option '--retry'");
	assert_error(RUN(&out, "enable", "../pokepatch"), STATUS_FAILED, "no patch '../pokepatch'");
}

static void test_version(void **state)
{
	json_object *record;
	struct buffer out;

	assert_no_error(RUN(&out, "version"));
	assert_has(&out, "core:       not loaded\n");
	buffer_deinit(&out);
	make_sysfs(*state);
	assert_no_error(RUN(&out, "--version", "--json"));
	record = parse(&out);
	assert_string_equal(json_object_get_string(member(record, "core")), "0.7");
	json_object_put(record);
	buffer_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_options_and_arguments),
		cmocka_unit_test(test_optional_value),
		cmocka_unit_test(test_parse_show),
		cmocka_unit_test(test_parse_policy),
		cmocka_unit_test(test_package_names),
		cmocka_unit_test(test_lacks_kbuild),
		cmocka_unit_test_setup_teardown(test_deb_is_whole, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_relocate, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_list, make_folder, remove_folder),
		cmocka_unit_test(test_long_table),
		cmocka_unit_test_setup_teardown(test_info_of_loaded, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_blocked_since, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_enable_and_disable, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(test_version, make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
