// SPDX-License-Identifier: GPL-2.0-or-later
/* The changes that the self-check makes to sources (test/selfcheck/text.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shift),
		cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_no_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
