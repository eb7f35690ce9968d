// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of build-tool/types/; test/objects/types.cases has what the differ makes of types. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/proc.h"
#include "folder.h"
#include "object/debuginfo.h"
#include "object/object.h"
#include "types/types.h"

/* Compile a source in the folder, and read the object. */
static void compile(const char *name, const char *source, struct object *ret)
{
	_free_ char *object = xasprintf("%s/%s.o", folder, name);
	_free_ char *from = xasprintf("%s/%s.c", folder, name);
	const char *const argv[] = {"gcc", "-w", "-g", "-c", "-o", object, from, NULL};

	assert_no_error(file_write_scratch(from, source, strlen(source)));
	assert_no_error(proc_check(argv, NULL, NULL));
	assert_no_error(object_read(object, ret));
}

static void compare(const char *before, const char *after, struct type_changes *ret)
{
	struct object orig, patched;

	compile("orig", before, &orig);
	compile("patched", after, &patched);
	types_compare(debuginfo_dwarf(debuginfo_of(&orig)), debuginfo_dwarf(debuginfo_of(&patched)),
		      ret);
	object_deinit(&orig);
	object_deinit(&patched);
}

static void test_equal(void **state)
{
	struct type_changes changes;

	(void)state;
	compare("struct foo { int a; struct foo *next; } foo; int f(struct foo *x) { return 1; }",
		"struct foo { int a; struct foo *next; } foo; int f(struct foo *x) { return 2; }\n"
		"static struct bar { int b; } bar; int g(void) { return bar.b; }",
		&changes);
	assert_int_equal(changes.list.count, 0);
	type_changes_deinit(&changes);
}

static void test_sorted(void **state)
{
	static const char before[] = "struct zoo { int a; } zoo; enum all { ONE } all;\n"
				     "union mid { int a; } mid; int f(int x) { return ONE; }";
	static const char after[] = "struct zoo { long a; } zoo; enum all { ONE = 3 } all;\n"
				    "union mid { unsigned a; } mid; int f(long x) { return ONE; }";
	static const struct {
		const char *name;
		enum type_kind kind;
		enum type_verdict verdict;
	} wanted[] = {
		{"all", TYPE_ENUM, TYPE_MISREAD},
		{"f", TYPE_FUNCTION, TYPE_MISREAD},
		{"mid", TYPE_UNION, TYPE_HARMLESS},
		{"zoo", TYPE_STRUCT, TYPE_MISREAD},
	};
	struct type_changes changes;

	(void)state;
	compare(before, after, &changes);
	assert_int_equal(changes.list.count, ARRAY_SIZE(wanted));
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		const struct type_change *change = &changes.list.list[i];

		assert_string_equal(change->name, wanted[i].name);
		assert_int_equal(change->kind, wanted[i].kind);
		assert_int_equal(change->verdict, wanted[i].verdict);
		assert_int_equal(change->members.count, 1);
	}
	assert_true(changes.list.list[1].defined && changes.list.list[1].global);
	assert_int_equal(changes.list.list[0].members.list[0].new_value, 3);
	assert_string_equal(changes.list.list[3].members.list[0].new_type, "long int");
	type_changes_deinit(&changes);
}

/* How C writes a type. */
static void test_text(void **state)
{
	static const char *const types[] = {
		"char [4][2]",
		"const char *",
		"int (*)(struct s *, ...)",
		"void (*)(void)",
		"struct s *(*)[3]",
		"int *[3]",
		"void (*(*)(int))(union u *)",
		"enum e *",
		"char *const",
		"volatile struct s **",
	};
	static const char *const declarations[] = {
		"char %s[4][2]",
		"const char *%s",
		"int (*%s)(struct s *, ...)",
		"void (*%s)(void)",
		"struct s *(*%s)[3]",
		"int *%s[3]",
		"void (*(*%s)(int))(union u *)",
		"enum e *%s",
		"char *const %s",
		"volatile struct s **%s",
	};
	struct buffer before = {0}, after = {0};
	struct type_changes changes;

	(void)state;
	buffer_add_string(&before, "struct s; union u; enum e { E };\nstruct foo {\n");
	buffer_add_string(&after, "struct foo {\n");
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		_free_ char *name = xasprintf("m%zu", i);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		buffer_printf(&before, declarations[i], name);
#pragma GCC diagnostic pop
		buffer_printf(&after, "float %s", name);
		buffer_add_string(&before, ";\n");
		buffer_add_string(&after, ";\n");
	}
	buffer_add_string(&before, "} foo;\n");
	buffer_add_string(&after, "} foo;\n");
	compare(before.text, after.text, &changes);
	assert_int_equal(changes.list.count, 1);
	assert_int_equal(changes.list.list[0].members.count, ARRAY_SIZE(types));
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		assert_string_equal(changes.list.list[0].members.list[i].old_type, types[i]);
	type_changes_deinit(&changes);
	buffer_deinit(&before);
	buffer_deinit(&after);
}

/* Each type leads to all others; each pair is compared once. */
static void test_many(void **state)
{
	enum { COUNT = 2000, CHANGED = 1234 };
	struct buffer texts[2] = {0};
	struct type_changes changes;

	(void)state;
	for (size_t build = 0; build < 2; build++) {
		for (int i = 0; i < COUNT; i++)
			buffer_printf(&texts[build],
				      "struct s%d { struct s%d *next; struct s%d *half; %s };\n", i,
				      (i + 1) % COUNT, i / 2,
				      build && i == CHANGED ? "int more;" : "");
		buffer_add_string(&texts[build], "struct s0 first;\n");
	}
	compare(texts[0].text, texts[1].text, &changes);
	assert_int_equal(changes.list.count, 1);
	assert_string_equal(changes.list.list[0].name, "s1234");
	type_changes_deinit(&changes);
	buffer_deinit(&texts[0]);
	buffer_deinit(&texts[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),
		cmocka_unit_test(test_sorted),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
