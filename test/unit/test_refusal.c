// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of the table of refusal codes: its order and form; the manual page has all codes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/util.h"

static void test_codes(void **state)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz-";

	(void)state;
	for (const struct refusal_code *row = refusal_codes; row->code; row++) {
		assert_int_equal(strspn(row->code, allowed), strlen(row->code));
		assert_true(row->meaning && *row->meaning);
		if (row > refusal_codes && strcmp(row[-1].code, row->code) >= 0)
			fail_msg("%s is not behind %s", row->code, row[-1].code);
	}
}

static void test_manual(void **state)
{
	char *page;
	size_t length;

	(void)state;
	/* Tests run in the checkout's top folder, as test/run starts them. */
	assert_null(file_read("man/pokepatch-build.1", &page, &length));
	for (const struct refusal_code *row = refusal_codes; row->code; row++) {
		char *line = xasprintf("\n.It Bq %s\n", row->code);

		if (!strstr(page, line))
			fail_msg("man/pokepatch-build.1 does not list %s", row->code);
		free(line);

		/* In the text of --allow: exactly those that can be. */
		char *item = xasprintf("\n.Li %s ", row->code);

		if (row->allowable != (strstr(page, item) != NULL))
			fail_msg("man/pokepatch-build.1 and %s: can it be allowed?", row->code);
		free(item);
	}
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_manual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
