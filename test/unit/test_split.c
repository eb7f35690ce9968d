// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of split_check.c: an original that the compiler made otherwise with split sections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/proc.h"
#include "folder.h"
#include "pokepatch-build/split_check.h"

/* The macro decides what the compiler does with the helper, as its own choice would. */
static const char source[] =
	"extern int more(int);\n"
	"HELPER int helper(int x) { return more(x) + 1; }\n"
	"int f(int x) { return helper(x) * 2; }\n"
	"int g(int x) { return more(helper(x)); }\n";

#define INLINED	    "-DHELPER=static inline __attribute__((always_inline))"
#define OWN	    "-DHELPER=static __attribute__((noinline))"
#define GLOBAL	    "-DHELPER=__attribute__((noinline))"

/* Compile the source to an object of the folder; the caller frees its name. */
static char *compile(const char *name, const char *helper)
{
	char *object = xasprintf("%s/%s.o", folder, name);
	_free_ char *from = xasprintf("%s/%s.c", folder, name);
	const char *const argv[] = {"gcc", "-O2", "-g", "-c", helper, "-o", object, from, NULL};

	assert_no_error(file_write_scratch(from, source, strlen(source)));
	assert_no_error(proc_check(argv, NULL, NULL));
	return object;
}

/* The refusal's subject, if that function changed; NULL: none. */
static char *refused(const char *name, const char *exact_helper, const char *split_helper)
{
	struct diff_function changed = {.name = (char *)name, .change = DIFF_CHANGED};
	struct diff_result result = {0};
	_free_ char *exact_path = compile("exact", exact_helper);
	struct unit unit = {.source = (char *)"x.c", .orig_object = compile("split", split_helper)};
	struct refusals refusals = {0};
	struct object exact;
	char *subject = NULL;

	*vec_push(&result.functions) = changed;
	assert_no_error(object_read(exact_path, &exact));
	assert_no_error(split_check(&unit, &exact, &result, &refusals));
	for (size_t i = 0; i < refusals.count && !subject; i++) {
		assert_string_equal(refusals.list[i].code, "split-differs");
		subject = xstrdup(refusals.list[i].subject);
	}
	object_deinit(&exact);
	refusals_deinit(&refusals);
	vec_deinit(&result.functions);
	free(unit.orig_object);
	return subject;
}

static void expect(const char *name, const char *exact_helper, const char *split_helper,
		   const char *subject)
{
	_free_ char *found = refused(name, exact_helper, split_helper);

	if (subject)
		assert_string_equal(found ?: "", subject);
	else
		assert_null(found);
}

/* Whatever changed. */
static void test_functions(void **state)
{
	(void)state;
	expect("f", OWN, OWN, NULL);
	expect("f", INLINED, INLINED, NULL);
	expect("f", OWN, INLINED, "helper");
	expect("f", INLINED, OWN, "helper");
}

/* A global function is there, inlined or not. */
static void test_inlining(void **state)
{
	static const char inlined[] = "-DHELPER=__attribute__((always_inline)) inline int helper(int); "
				      "extern";

	(void)state;
	expect("helper", GLOBAL, GLOBAL, NULL);
	expect("helper", inlined, GLOBAL, "helper");
	expect("helper", GLOBAL, inlined, "helper");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_functions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_inlining, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
