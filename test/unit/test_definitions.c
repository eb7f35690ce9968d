// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of finding functions and variables in a source text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pokepatch-build/definitions.h"

/* Line numbers from 1, as in an editor. */
static const char text[] =
	"#include <linux/fs.h>\n" /* 1 */
	"\n"
	"#define TABLE 3\n"
	"static int one_prototype(void);\n"
	"static const struct row table[] = {\n" /* 5 */
	"	{ 1 },\n"
	"	{ 2 },\n"
	"};\n"
	"static int counter = 1;\n"
	"static int other;\n" /* 10 */
	"\n"
	"/* one() does this */\n"
	"static int\n"
	"one(int a,\n"
	"    int b)\n" /* 15 */
	"{\n"
	"	if (a)\n"
	"		goto out;\n"
	"\n"
	"	counter++;\n" /* 20 */
	"out:\n"
	"	return table[b];\n"
	"}\n"
	"EXPORT_SYMBOL_GPL(one);\n"
	"\n" /* 25 */
	"static int two(void) {\n"
	"	return one(1, 2);\n"
	"}\n"
	"int three(void) { return 3; };\n"
	"static inline void four(void) {}\n" /* 30 */
	"int last[] = {\n"
	"	1,\n";

static struct text_lines lines;

static int split(void **state)
{
	(void)state;
	text_lines_split(text, strlen(text), &lines);
	return 0;
}

static int join(void **state)
{
	(void)state;
	text_lines_deinit(&lines);
	return 0;
}

static void around(size_t number, size_t first, size_t last)
{
	const struct line_range range = definition_around(&lines, number - 1);

	if (range.first + 1 != first || range.last + 1 != last)
		fail_msg("line %zu: %zu to %zu", number, range.first + 1, range.last + 1);
}

static void test_around(void **state)
{
	(void)state;
	for (size_t number = 13; number <= 23; number++)
		around(number, 13, 23);
	for (size_t number = 5; number <= 8; number++)
		around(number, 5, 8);
	around(9, 9, 9);
	around(10, 10, 10);
	around(4, 4, 4);
	around(24, 24, 24);
	around(26, 26, 28);
	around(27, 26, 28);
	around(29, 29, 29);
	around(30, 30, 30);
	/* A definition that the text ends in. */
	around(32, 31, 32);
	/* What is in none: a macro, a comment, a blank line, a line that is not there. */
	around(3, 3, 3);
	around(12, 12, 12);
	around(1, 1, 1);
	around(99, 99, 99);
}

/* The definitions of a name begin at these lines; the list ends with 0. */
static void defined_at(const char *name, const size_t *wanted)
{
	struct line_range range;

	for (size_t at = 0; definition_next(&lines, name, at, &range); at = range.last + 1) {
		assert_int_equal(range.first + 1, *wanted);
		wanted++;
	}
	assert_int_equal(*wanted, 0);
}

static void test_names(void **state)
{
	(void)state;
	defined_at("one", (size_t[]){13, 24, 0}); /* not two(), which calls it */
	defined_at("one_prototype", (size_t[]){0});
	defined_at("table", (size_t[]){5, 0});
	defined_at("counter", (size_t[]){9, 0});
	defined_at("other", (size_t[]){10, 0});
	defined_at("last", (size_t[]){31, 0});
	defined_at("tabl", (size_t[]){0});
	defined_at("", (size_t[]){0});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_around),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, split, join);
}
