// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of comparing what make -n prints (pokepatch-build/makefile_change.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pokepatch-build/makefile_change.h"

#define A "set -e;  gcc -O2 -Wall -DA=1 -c -o fs/a.o fs/a.c ; ./fixdep fs/.a.o.d\n"
#define B "set -e;  gcc -O2 -c -o fs/b.o fs/b.c\n"
#define AR_OF(file, members)                                                                       \
	"set -e;  echo '  AR      fs/" file "';  trap 'rm -f fs/" file "; trap - HUP' HUP; ar cD fs/" \
	file " " members "\n"
#define AR(members) AR_OF("built-in.a", members)
#define ENTER "make -f ./scripts/Makefile.build obj=fs/new \\\nneed-builtin=1 \\\nneed-modorder= \\\n"

#define NEW "set -e;  gcc -O2 -c -o fs/new.o fs/new.c\n"
#define LIST(objects)                                                                              \
	"set -e;  trap 'rm -f fs/two.mod; trap - HUP' HUP; echo " objects " > fs/two.mod\n"

/* The objects of new files, and the lists that have them, are no difference. */
static void test_added(void **state)
{
	static const struct {
		const char *old, *new, *reason, *command;
	} cases[] = {
		{A, A NEW, NULL, "set -e;  gcc -O2 -c -o fs/new.o fs/new.c"},
		{A LIST("a.o b.o"), A NEW LIST("a.o new.o b.o"), NULL,
		 "set -e;  gcc -O2 -c -o fs/new.o fs/new.c"},
		{A LIST("a.o b.o"), A NEW LIST("a.o new.o"),
		 "another step would be \"set -e;  trap 'rm -f fs/two.mod; trap - HUP' HUP; echo a.o >\"",
		 "set -e;  gcc -O2 -c -o fs/new.o fs/new.c"},
		{A, A B NEW, "fs/b.o would be compiled", "set -e;  gcc -O2 -c -o fs/new.o fs/new.c"},
		{A, A, NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct added_objects added = {};

		added_objects_add(&added, xstrdup("fs/new.o"));
		_free_ char *reason =
			makefile_first_difference(cases[i].old, cases[i].new, &added);
		const char *command = added.commands.list[0];

		if (strcmp(reason ?: "", cases[i].reason ?: ""))
			fail_msg("%zu: %s", i, reason ?: "no difference");
		if (strcmp(command ?: "", cases[i].command ?: ""))
			fail_msg("%zu: %s", i, command ?: "no command");
		added_objects_deinit(&added);
	}
}

static void test_differences(void **state)
{
	static const struct {
		const char *old, *new, *reason;
	} cases[] = {
		{A B, A B, NULL},
		{A B, B A, NULL},
		{A, "pokepatch: read fs/Makefile\n" A, NULL},
		{A, A B, "fs/b.o would be compiled"},
		{A B, B, "fs/a.o would no longer be compiled"},
		{"gcc -O2 -c -o fs/a.o fs/a.c\n", "gcc -O2 -g -c -o fs/a.o fs/a.c\n",
		 "fs/a.o would be compiled with -g"},
		{"gcc -O2 -g -c -o fs/a.o fs/a.c\n", "gcc -O2 -c -o fs/a.o fs/a.c\n",
		 "fs/a.o would be compiled without -g"},
		{"gcc -O2 -g -c -o fs/a.o fs/a.c\n", "gcc -O3 -g -c -o fs/a.o fs/a.c\n",
		 "fs/a.o would be compiled with -O3"},
		{"gcc -O2 -c -o fs/a.o fs/a.c\n", "gcc -O2 -c -o fs/a.o fs/a.c; objtool fs/a.o\n",
		 "fs/a.o would be compiled with fs/a.c;"},
		{A AR("a.o b.o"), A AR("b.o a.o"), NULL},
		{A, A ENTER AR("new/built-in.a"), NULL},
		{A, A ENTER B, "fs/b.o would be compiled"},
		{A AR_OF("lib.a", "a.o b.o"), A AR_OF("lib.a", "a.o"),
		 "AR fs/lib.a: another command"},
		{A AR("a.o"),
		 A "make: *** No rule to make target 'fs/c.o', needed by 'fs/built-in.a'.\n",
		 "fs/c.o would be made, and there is nothing to make it of"},
		{A "cp x y\n", A, "another step would be \"cp x y\""},
		{NULL, A, "fs/a.o would be compiled"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct added_objects added = {};
		_free_ char *reason =
			makefile_first_difference(cases[i].old, cases[i].new, &added);

		if (strcmp(reason ?: "", cases[i].reason ?: ""))
			fail_msg("%zu: %s", i, reason ?: "no difference");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differences),
		cmocka_unit_test(test_added),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
