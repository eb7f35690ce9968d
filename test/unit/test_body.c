// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of finding a function's body in its source (pokepatch-build/body.c). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "pokepatch-build/body.h"

/* body_find() for f, in the line that a | begins, which is taken out. */
static const char *find(const char *marked, struct body *ret, struct text_lines *ret_lines)
{
	static char text[1024];
	const char *bar = strchr(marked, '|');
	size_t before = (size_t)(bar - marked), line = 0;

	assert_non_null(bar);
	assert_true(strlen(marked) < sizeof(text));
	memcpy(text, marked, before);
	strcpy(text + before, bar + 1);
	for (size_t i = 0; i < before; i++)
		line += text[i] == '\n';
	text_lines_split(text, strlen(text), ret_lines);
	return body_find(ret_lines, line, "f", ret);
}

/* The text between the braces must be @expected. */
static void finds(const char *marked, const char *expected)
{
	struct text_lines lines;
	struct body body;
	const char *why = find(marked, &body, &lines);

	if (why)
		fail_msg("%s: %s", marked, why);
	const char *start = lines.list[body.open_line].text + body.open_column;
	const char *end = lines.list[body.close_line].text + body.close_column - 1;
	assert_int_equal(start[-1], '{');
	assert_int_equal(*end, '}');
	if ((size_t)(end - start) != strlen(expected) || memcmp(start, expected, strlen(expected)))
		fail_msg("%s: '%.*s'", marked, (int)(end - start), start);
	text_lines_deinit(&lines);
}

static void refuses(const char *marked, const char *expected)
{
	struct text_lines lines;
	struct body body;
	const char *why = find(marked, &body, &lines);

	if (!why || !strstr(why, expected))
		fail_msg("%s: %s", marked, why ? why : "found");
	text_lines_deinit(&lines);
}

static void test_found(void **state)
{
	(void)state;
	finds("int a;\n|int f(int a)\n{\n\treturn a;\n}\nint g(void) { return 1; }\n",
	      "\n\treturn a;\n");
	finds("|int f(void) { return 1; }\n", " return 1; ");
	finds("static int\n|f(void)\n{\n}\n", "\n");
	finds("|void f(void (*call)(int), int (*table)[3])\n{\n\tcall(1);\n}\n", "\n\tcall(1);\n");
	finds("|static void f(struct a *a,\n\t\tint b) /* { */ __must_hold(&a->lock)\n"
	      "\t__acquires(b)\n{\n\tb++;\n}\n", "\n\tb++;\n");
	finds("|int f(void)\n{\n\tif (a) {\n\t\tb('}', \"}\\\"}\", \"\\\\\");\n\t} /* } */\n"
	      "\t// }\n\treturn (struct s){ 1, 2 }.a;\n}\n",
	      "\n\tif (a) {\n\t\tb('}', \"}\\\"}\", \"\\\\\");\n\t} /* } */\n"
	      "\t// }\n\treturn (struct s){ 1, 2 }.a;\n");
	finds("|int f(void)\n{\n#define X }\n#if A /* {\n*/\n\ta();\n#endif\n\treturn g(1, 2);\n}\n",
	      "\n#define X }\n#if A /* {\n*/\n\ta();\n#endif\n\treturn g(1, 2);\n");
	finds("|int f(void)\n{\n#define X \\\n\t}\n\treturn ({ int a = 1, b; a; });\n}\n",
	      "\n#define X \\\n\t}\n\treturn ({ int a = 1, b; a; });\n");
	finds("|int f(void)\n{\n\tint returned = 1, a;\n\treturn a;\n}\n",
	      "\n\tint returned = 1, a;\n\treturn a;\n");
}

static void test_refused(void **state)
{
	(void)state;
	refuses("|SYSCALL_DEFINE1(g, int, a)\n{\n}\nint f(void)\n{\n}\n", "a macro defines it");
	refuses("|int g(void);\nint f(void)\n{\n}\n", "a macro defines it");
	refuses("|DEFINE(f);\nint a;\n", "its parameters");
	refuses("|int f(void);\n", "between its parameters and its body");
	refuses("|int f(a)\n\tint a;\n{\n}\n", "between its parameters and its body");
	refuses("|int f(void)\n#if A\n{\n#endif\n}\n", "between its parameters and its body");
	refuses("|int f(int a\n#if A\n\t, int b\n#endif\n)\n{\n}\n", "its parameters");
	refuses("|int f(void)\n{\n#if A\n\tif (a) {\n#else\n\tif (b) {\n#endif\n\t}\n}\n", "braces");
	refuses("|int f(void)\n{\n#if A\n\t}\n#else\n\t}\n#endif\n}\n", "closing brace");
	refuses("|int f(void)\n{\n#include \"x.c\"\n}\n", "an #include");
	refuses("|int f(void)\n{\n\treturn a, b;\n}\n", "a comma operator");
	refuses("|int f(void)\n{\n\treturn g(a, b), b;\n}\n", "a comma operator");
	refuses("|int f(void)\n{\n\t/* the end\n", "braces");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
