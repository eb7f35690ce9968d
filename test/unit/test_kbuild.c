// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of reading what kbuild writes: commands, .cmd files, a compressed kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "pokepatch-build/kbuild.h"
#include "pokepatch-build/tree.h"
#include "pokepatch-build/vmlinuz.h"

static void words_are(const char *line, const char *joined, const char *rest)
{
	struct args words = {};
	struct buffer text = {};
	const char *next;
	struct error *error = shell_split(line, &words, &next);

	if (error)
		fail_msg("%s", error->text);
	buffer_add(&text, "", 0);
	for (size_t i = 0; i < words.count; i++)
		buffer_printf(&text, "%s%s", i ? "|" : "", words.list[i]);
	assert_string_equal(text.text ? text.text : "", joined);
	if (rest)
		assert_string_equal(next, rest);
	else
		assert_null(next);
	buffer_deinit(&text);
	args_deinit(&words);
}

static void words_fail(const char *line)
{
	struct args words = {};
	const char *next;
	struct error *error = shell_split(line, &words, &next);

	assert_non_null(error);
	error_destroy(error);
	args_deinit(&words);
}

static void test_words(void **state)
{
	(void)state;
	words_are("gcc  -c\tx.c ", "gcc|-c|x.c", NULL);
	words_are("gcc -DN='\"version\"' x.c   ; objtool x.o", "gcc|-DN=\"version\"|x.c",
		  "objtool x.o");
	words_are("sed 's/ko$/o/' a | modpost -T -", "sed|s/ko$/o/|a", "modpost -T -");
	words_are("a \"b \\\"c\\\" \\d\" e\\ f ''", "a|b \"c\" \\d|e f|", NULL);
	words_are("a && b", "a", "b");
	words_are("", "", NULL);
	words_fail("a 'b");
	words_fail("a \"b");
	words_fail("a $(b)");
	words_fail("a `b`");
	words_fail("a \"$b\"");
}

static char *write_temp(const char *folder, const char *name, const char *text)
{
	char *path = xasprintf("%s/%s", folder, name);

	assert_null(file_write(path, text, strlen(text)));
	return path;
}

static void test_cmd_file(void **state)
{
	struct cmd_file cmd;
	struct error *error;
	char *folder, *path;

	(void)state;
	assert_null(temp_dir(&folder));
	path = write_temp(folder, ".x.o.cmd",
			  "cmd_fs/x.o := gcc -DA='$(pound)' -DB='$$x' -c -o fs/x.o fs/x.c\n\n"
			  "source_fs/x.o := fs/x.c\n\n"
			  "deps_fs/x.o := \\\n    $(wildcard include/config/FOO) \\\n"
			  "  include/linux/a.h \\\n  fs/b.h \\\n\nfs/x.o: $(deps_fs/x.o)\n\n"
			  "$(deps_fs/x.o):\n");
	assert_null(cmd_file_read(path, &cmd));
	assert_string_equal(cmd.command, "gcc -DA='#' -DB='$x' -c -o fs/x.o fs/x.c");
	assert_string_equal(cmd.depends[0], "fs/x.c");
	assert_string_equal(cmd.depends[1], "include/linux/a.h");
	assert_string_equal(cmd.depends[2], "fs/b.h");
	assert_null(cmd.depends[3]);
	cmd_file_deinit(&cmd);
	free(path);

	path = write_temp(folder, ".y.o.cmd", "savedcmd_y.o := ld -r\n");
	assert_null(cmd_file_read(path, &cmd));
	assert_string_equal(cmd.command, "ld -r");
	assert_null(cmd.depends[0]);
	cmd_file_deinit(&cmd);
	free(path);

	path = write_temp(folder, ".z.o.cmd", "cmd_z.o := cut off");
	error = cmd_file_read(path, &cmd);
	assert_non_null(error);
	error_destroy(error);
	free(path);
	assert_null(remove_tree(folder));
	free(folder);

	path = cmd_file_path("/t", "fs/x.o");
	assert_string_equal(path, "/t/fs/.x.o.cmd");
	free(path);
	path = cmd_file_path(NULL, "x.o");
	assert_string_equal(path, ".x.o.cmd");
	free(path);
}

static void test_lz4(void **state)
{
	/* 3 literals "abc", a match of 9 from 3 bytes back; then 1 literal "!". */
	static const uint8_t block[] = { 0x35, 'a', 'b', 'c', 3, 0, 0x10, '!' };
	/* 1 literal, a match of 15 + 4 + 255 + 1 from 1 byte back; an empty last sequence. */
	static const uint8_t run[] = { 0x1f, 'x', 1, 0, 255, 1, 0x00 };
	static const uint8_t far[] = { 0x10, 'a', 2, 0, 0x00 };
	struct buffer out = {};

	(void)state;
	assert_true(lz4_unpack_block(block, sizeof(block), &out));
	assert_int_equal(out.length, 13);
	assert_memory_equal(out.text, "abcabcabcabc!", 13);
	buffer_deinit(&out);
	assert_true(lz4_unpack_block(run, sizeof(run), &out));
	assert_int_equal(out.length, 1 + 15 + 4 + 255 + 1);
	buffer_deinit(&out);
	assert_false(lz4_unpack_block(far, sizeof(far), &out)); /* from before the start */
	buffer_deinit(&out);
	for (size_t cut = 1; cut < sizeof(run) - 1; cut++) {
		if (cut == 2)
			continue; /* literals only: a whole block */
		assert_false(lz4_unpack_block(run, cut, &out));
		buffer_deinit(&out);
	}
}

/* files: a list that ends with NULL; NULL: all */
static bool is_sound(const char *tree, char *const *files)
{
	struct manifest manifest;

	assert_null(manifest_open(tree, &manifest));
	bool sound = files ? manifest_check_files(&manifest, files) : manifest_check_all(&manifest);
	manifest_close(&manifest);
	return sound;
}

static void test_manifest(void **state)
{
	char *names[] = { (char *)"a.h", (char *)"./b.h", (char *)"generated.h", NULL };
	char *folder, *notes, *path;
	bool sound;

	(void)state;
	assert_null(temp_dir(&folder));
	notes = xasprintf("%s/.pokepatch", folder);
	assert_null(make_dirs(notes));
	free(write_temp(folder, "a.h", "a"));
	free(write_temp(folder, "b.h", "b"));
	sound = is_sound(folder, NULL);
	assert_false(sound); /* there is none */
	assert_null(manifest_write(folder));
	sound = is_sound(folder, NULL);
	assert_true(sound);
	sound = is_sound(folder, names);
	assert_true(sound);
	path = write_temp(folder, "b.h", "longer");
	sound = is_sound(folder, names);
	assert_false(sound);
	assert_int_equal(unlink(path), 0);
	free(path);
	sound = is_sound(folder, names);
	assert_false(sound);
	names[1] = NULL; /* a.h is as it was */
	sound = is_sound(folder, names);
	assert_true(sound);
	sound = is_sound(folder, NULL);
	assert_false(sound);
	free(write_temp(notes, "manifest", "pokepatch manifest 2\n"));
	sound = is_sound(folder, names);
	assert_false(sound); /* it has no lines */
	assert_null(remove_tree(folder));
	free(notes);
	free(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_cmd_file),
		cmocka_unit_test(test_lz4),
		cmocka_unit_test(test_manifest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
