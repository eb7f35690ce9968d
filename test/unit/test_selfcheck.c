// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of the changes that the self-check makes to sources (test/selfcheck/text.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../selfcheck/selfcheck.h"

static const char source[] = "#define TWICE(x) \\\n"	    /* 1 */
			     "	((x) * 2)\n"		    /* 2 */
			     "static int\n"		    /* 3 */
			     "first(int a)\n"		    /* 4 */
			     "{\n"			    /* 5 */
			     "	/* if (a == 3) */\n"	    /* 6 */
			     "	if (a->b == 0x10UL)\n"	    /* 7 */
			     "		return '7';\n"	    /* 8 */
			     "#if 8 > 7\n"		    /* 9 */
			     "	log(\"9 < 10\\\" 5\", a1);\n" /* 10 */
			     "#endif\n"			    /* 11 */
			     "	return true;\n"		    /* 12 */
			     "}\n"			    /* 13 */
			     "int second(int a);\n"	    /* 14 */
			     "int third = 5;\n";	    /* 15 */

static void test_shift(void **state)
{
	/* In front of the macro's second line there is no place: in front of the next. */
	static const int lines[] = {2, 4, 14};
	struct buffer text = {};

	(void)state;
	text_shift(source, lines, 3, &text);
	const char *line = text.text;
	size_t blank = 0, last = 0, kept = 0;
	size_t expected[] = {0, 0, 1, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 15, 0};
	for (; *line; line = strchr(line, '\n') + 1) {
		if (*line == '\n') {
			blank++;
			continue;
		}
		assert_int_equal(blank - last, expected[kept++]);
		last = blank;
	}
	assert_int_equal(kept, 15);
	buffer_deinit(&text);
}

static void check_token(const struct token_changes *changes, size_t i, int line, const char *from,
			const char *to)
{
	assert_true(i < changes->list.count);
	assert_int_equal(changes->list.list[i].line, line);
	assert_string_equal(changes->list.list[i].from, from);
	assert_string_equal(changes->list.list[i].to, to);
	assert_memory_equal(source + changes->list.list[i].offset, from, strlen(from));
}

/* Nothing in comments, strings, preprocessor lines, names, or behind the function. */
static void test_tokens(void **state)
{
	struct token_changes changes = {};

	(void)state;
	text_tokens(source, 4, false, &changes);
	check_token(&changes, 0, 7, "==", "!=");
	check_token(&changes, 1, 7, "0x10UL", "17UL");
	check_token(&changes, 2, 12, "true", "false");
	assert_int_equal(changes.list.count, 3);
	vec_deinit(&changes.list);
}

static void test_no_function(void **state)
{
	struct token_changes changes = {};

	(void)state;
	text_tokens(source, 14, false, &changes);
	text_tokens(source, 15, false, &changes);
	text_tokens(source, 99, false, &changes);
	assert_int_equal(changes.list.count, 0);
}

/* The next body is not that of what the macro makes; __acquires() does not begin another head. */
static void test_macro(void **state)
{
	static const char heads[] = "DEFINE_TREE(struct node, first, /* empty */,\n"
				    "	    second)\n"
				    "\n"
				    "int third(void)\n"
				    "__acquires(lock)\n"
				    "	__releases(other)\n"
				    "{ return 3; }\n";
	struct token_changes changes = {};

	(void)state;
	text_tokens(heads, 1, false, &changes);
	assert_int_equal(changes.list.count, 0);
	text_tokens(heads, 4, false, &changes);
	assert_int_equal(changes.list.count, 1);
	vec_deinit(&changes.list);
}

/* Of what gcc 12 writes: early inlining, later inlining, a clone. */
static void test_inlining(void **state)
{
	static const char report[] =
		"a.c:3:68: optimized:  Inlining inner/0 into middle/2.\n"
		"a.c:4:30: missed:   not inlinable: middle/2 -> other/6, function body not available\n"
		"a.c:5:28: optimized:   Inlining check/1 into other/3 (always_inline).\n"
		"a.c:6:23: optimized:  Inlined middle/2 into outer.isra/8 which now has time 2.5 and "
		"size 3, net change of -4.\n";
	char path[] = "/tmp/selfcheck-XXXXXX";
	struct inlining inlining = {};

	(void)state;
	close(mkstemp(path));
	assert_null(file_write(path, report, strlen(report)));
	assert_null(inlining_read(path, &inlining));
	unlink(path);
	inlining_follow(&inlining, "inner");
	assert_true(inlining_is_holder(&inlining, "inner"));
	assert_true(inlining_is_holder(&inlining, "middle"));
	assert_true(inlining_is_holder(&inlining, "outer.isra.0"));
	assert_false(inlining_is_holder(&inlining, "other"));
	assert_false(inlining_is_holder(&inlining, "check"));
	inlining_deinit(&inlining);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shift),
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_no_function),
		cmocka_unit_test(test_macro),
		cmocka_unit_test(test_inlining),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
