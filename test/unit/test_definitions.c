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

/* The name that the line with a number defines, and the lines of it; NULL: none. */
static void names(size_t number, const char *name, size_t first, size_t last)
{
	struct line_range range;
	struct word word;

	if (!definition_at(&lines, number - 1, &range, &word)) {
		assert_null(name);
		return;
	}
	assert_non_null(name);
	assert_int_equal(word.length, strlen(name));
	assert_memory_equal(word.text, name, word.length);
	assert_int_equal(range.first + 1, first);
	assert_int_equal(range.last + 1, last);
}

static void test_names_at(void **state)
{
	(void)state;
	names(1, NULL, 0, 0);
	names(3, "TABLE", 3, 3);
	names(4, NULL, 0, 0);
	names(5, "table", 5, 8);
	names(9, "counter", 9, 9);
	names(10, "other", 10, 10);
	names(12, NULL, 0, 0);
	names(13, NULL, 0, 0);
	names(14, "one", 13, 23);
	names(17, NULL, 0, 0);
	names(21, NULL, 0, 0);
	names(26, "two", 26, 28);
	names(30, "four", 30, 30);
	names(31, "last", 31, 32);
}

static void test_macros_at(void **state)
{
	static const char macros[] = "#define MANY(x) one(x, \\\n"
				     "		     2)\n"
				     "# define LAST \\";
	struct text_lines saved = lines;

	(void)state;
	lines = (struct text_lines){0};
	text_lines_split(macros, strlen(macros), &lines);
	names(1, "MANY", 1, 2);
	names(2, NULL, 0, 0);
	names(3, "LAST", 3, 3);
	text_lines_deinit(&lines);
	lines = saved;
}

/* Each is a text of its own. */
static void test_heads(void **state)
{
	static const struct {
		const char *text, *name;
	} heads[] = {
		{"typedef struct {", NULL},
		{"enum {", NULL},
		{"static const struct {", NULL},
		{"struct inner {", "inner"},
		{"static void (*const calls[])(int) = {", NULL},
		{"static ssize_t name##_show(int a) \\", NULL},
		{"SYSCALL_DEFINE1(dup, unsigned int, fd) {", "dup"},
		{"DEFINE_MUTEX(all);", "all"},
		{"__printf(1, 2) void log(const char *format, ...) {", "log"},
		{"static __printf((1), 2) int log(const char *format, ...) {", "log"},
		{"void __init start(void) {", "start"},
		{"__printf(1, 2)", NULL},
		{"static int __read(int a) {", "__read"},
		{"extern unsigned long other(void);", NULL},
		{"}", NULL},
		{"", NULL},
	};
	struct text_lines saved = lines;

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		lines = (struct text_lines){0};
		text_lines_split(heads[i].text, strlen(heads[i].text), &lines);
		if (lines.count)
			names(1, heads[i].name, 1, 1);
		text_lines_deinit(&lines);
	}
	lines = saved;
}

static void test_words(void **state)
{
	static const char *const wanted[] = {"if", "a1", "_b", "c"};
	static const char line[] = "if (a1->_b == 0x10ul + 3) c";
	const char *at = line;
	struct word word;

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		assert_true(next_word(&at, line + strlen(line), &word));
		assert_int_equal(word.length, strlen(wanted[i]));
		assert_memory_equal(word.text, wanted[i], word.length);
	}
	assert_false(next_word(&at, line + strlen(line), &word));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_around),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_names_at),
		cmocka_unit_test(test_macros_at),
		cmocka_unit_test(test_heads),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, split, join);
}
