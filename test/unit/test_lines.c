// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of #line directives (pokepatch-build/lines.c): untouched lines keep their numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pokepatch-build/lines.h"

/*
 * A text in which lines that begin with + were added, and lines that begin
 * with - were removed; all others have a space in front.
 */
static char *mark(const char *diff)
{
	struct text_lines lines = {};
	struct buffer out = {};
	size_t origin = 0;

	while (*diff) {
		size_t length = strcspn(diff, "\n");

		if (*diff != '+')
			origin++;
		if (*diff != '-') {
			struct text_line *line = vec_push(&lines);

			line->text = diff + 1;
			line->length = length - 1;
			line->origin = *diff == '+' ? 0 : origin;
		}
		diff += length + 1;
	}
	text_lines_join_numbered(&lines, &out);
	text_lines_deinit(&lines);
	return out.text;
}

static void expect(const char *diff, const char *marked)
{
	char *text = mark(diff);

	assert_string_equal(text, marked);
	free(text);
}

static void test_plain(void **state)
{
	(void)state;
	expect(" a;\n b;\n", "a;\nb;\n");
	expect(" a;\n+x;\n b;\n c;\n", "a;\nx;\n#line 2\nb;\nc;\n");
	expect(" a;\n-x;\n b;\n", "a;\n#line 3\nb;\n");
	expect("-x;\n+y;\n b;\n", "y;\nb;\n"); /* as many lines as before: nothing to do */
	expect(" a;\n+x;\n+y;\n b;\n-c;\n d;\n",
	       "a;\nx;\ny;\n#line 2\nb;\n#line 4\nd;\n");
}

static void test_comment(void **state)
{
	(void)state;
	expect(" /* a\n+ x\n  b */\n c;\n", "/* a\n x\n b */\n#line 3\nc;\n");
	expect(" // a \\\n+x\n b;\n", "// a \\\nx\n#line 2\nb;\n");
	expect(" a; // don't /* \n+x;\n b;\n", "a; // don't /* \nx;\n#line 2\nb;\n");
	expect(" char c = '\"'; /* \" */\n+x;\n b;\n",
	       "char c = '\"'; /* \" */\nx;\n#line 2\nb;\n");
	expect(" s = \"/* \\\" (\";\n+x;\n b;\n", "s = \"/* \\\" (\";\nx;\n#line 2\nb;\n");
}

static void test_macro(void **state)
{
	(void)state;
	/* Not before a continued line, and not within arguments. */
	expect(" #define A(x) \\\n+	x; \\\n 	y\n b;\n",
	       "#define A(x) \\\n	x; \\\n	y\n#line 3\nb;\n");
	expect(" A(a,\n+  x,\n   b);\n c;\n", "A(a,\n  x,\n  b);\n#line 3\nc;\n");
	expect(" #define OPEN (\n+x;\n b;\n", "#define OPEN (\nx;\n#line 2\nb;\n");
	expect(" if (f(a) &&\n+    x &&\n     g(\")\", ')'))\n c;\n",
	       "if (f(a) &&\n    x &&\n    g(\")\", ')'))\n#line 3\nc;\n");
}

static void test_group(void **state)
{
	(void)state;
	/* The directive in the #if's branch may be void: again behind it. */
	expect(" #ifdef A\n+x;\n b;\n #else\n c;\n #endif\n d;\n e;\n",
	       "#ifdef A\nx;\n#line 2\nb;\n#else\n#line 4\nc;\n#endif\n#line 6\nd;\ne;\n");
	/* Behind all groups once is enough. */
	expect("+x;\n a;\n #if A\n b;\n #endif\n c;\n",
	       "x;\n#line 1\na;\n#if A\nb;\n#endif\nc;\n");
	expect(" # if A\n #  if B\n+x;\n b;\n #  endif\n c;\n # endif\n d;\n e;\n",
	       "# if A\n#  if B\nx;\n#line 3\nb;\n#  endif\n#line 5\nc;\n# endif\n#line 7\n"
	       "d;\ne;\n");
}

static void test_unbalanced(void **state)
{
	(void)state;
	/* Two open parentheses for one that closes: the function's end sets it right. */
	expect(" {\n #ifdef A\n if (a &&\n #else\n if (\n #endif\n     b)\n+x;\n c;\n }\n d;\n",
	       "{\n#ifdef A\nif (a &&\n#else\nif (\n#endif\n    b)\nx;\nc;\n}\n#line 10\nd;\n");
	/* An apostrophe in text that is no C must not swallow the file. */
	expect(" #error don't\n+x;\n b;\n", "#error don't\nx;\n#line 2\nb;\n");
}

/* gcc agrees: the numbers of untouched lines, in any arrangement of changes. */
static void test_every_line_has_its_number(void **state)
{
	static const char *const file[] = {
		"/* one", " two */", "#define A \\", " three", "f(", " a,", " b);", "#if 0",
		" skipped", "#else", " taken", "#endif", "g(1);", "}",
	};

	(void)state;
	for (unsigned int bits = 0; bits < 1u << ARRAY_SIZE(file); bits += 7) {
		struct buffer diff = {};
		char *text;
		size_t number = 1, seen = 0;

		for (size_t i = 0; i < ARRAY_SIZE(file); i++) {
			if (bits >> i & 1)
				buffer_printf(&diff, "+\n");
			buffer_printf(&diff, " %s\n", file[i]);
		}
		buffer_printf(&diff, " last\n");
		text = mark(diff.text);
		for (char *line = text; *line; line += strcspn(line, "\n") + 1) {
			if (has_prefix(line, "#line ")) {
				number = strtoul(line + 6, NULL, 10);
				continue;
			}
			if (has_prefix(line, "last")) {
				assert_int_equal(number, ARRAY_SIZE(file) + 1);
				seen++;
			}
			if (has_prefix(line, "g(1)")) {
				assert_int_equal(number, 13);
				seen++;
			}
			number++;
		}
		assert_int_equal(seen, 2);
		free(text);
		buffer_deinit(&diff);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_comment),
		cmocka_unit_test(test_macro),
		cmocka_unit_test(test_group),
		cmocka_unit_test(test_unbalanced),
		cmocka_unit_test(test_every_line_has_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
