// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of the code's place in a module (pokepatch-build/section_layout.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "pokepatch-build/section_layout.h"

#define ADRP 275
#define ADD  277

static const struct late_limit limit = {.types = {ADRP, ADRP + 1}, .align = 4096, .from = 0xff8};

static void test_allowed(void **state)
{
	(void)state;
	assert_true(late_limit_allows(&limit, ADRP, 0xff4));
	assert_false(late_limit_allows(&limit, ADRP, 0xff8));
	assert_false(late_limit_allows(&limit, ADRP + 1, 0x3ffc));
	assert_true(late_limit_allows(&limit, ADRP, 0x1000));
	assert_true(late_limit_allows(&limit, ADD, 0xffc));
	assert_true(late_limit_allows(NULL, ADRP, 0xffc));
}

static uint64_t find(const uint64_t *places, size_t count, uint64_t step)
{
	uint64_t padding;

	assert_true(layout_find_padding(&limit, places, count, step, &padding));
	return padding;
}

static void test_find(void **state)
{
	const uint64_t good[] = {0, 0xff4, 0x1000}, bad[] = {0x10, 0xff8};
	/* 16 bytes on, the next one would be in that place; 32 bytes on, none is. */
	const uint64_t next[] = {0xffc, 0xfec};

	(void)state;
	assert_int_equal(find(good, 3, 16), 0);
	assert_int_equal(find(bad, 2, 16), 16);
	assert_int_equal(find(bad, 2, 64), 64);
	assert_int_equal(find(next, 2, 16), 32);
}

static void test_none(void **state)
{
	uint64_t places[256], padding;

	(void)state;
	for (size_t i = 0; i < 256; i++)
		places[i] = i * 16 + 8;
	assert_false(layout_find_padding(&limit, places, 256, 16, &padding));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
