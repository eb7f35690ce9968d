// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unit tests of common/: the binary search (search.h), each against a search from the front, and
 * the table of refusal codes (refusal.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/search.h"
#include "common/util.h"

static const int numbers[] = {-7, -7, 0, 2, 2, 2, 5, 9, 9};

static size_t first_from(const int *list, size_t count, int wanted)
{
	return first_index(i, count, list[i] >= wanted);
}

static void test_first_index(void **state)
{
	(void)state;
	for (size_t count = 0; count <= ARRAY_SIZE(numbers); count++)
		for (int wanted = -9; wanted <= 11; wanted++) {
			size_t expected = 0;

			while (expected < count && numbers[expected] < wanted)
				expected++;
			assert_int_equal(first_from(numbers, count, wanted), expected);
		}
}

static void test_all_and_none(void **state)
{
	(void)state;
	assert_int_equal(first_index(i, 0, true), 0);
	assert_int_equal(first_index(i, 0, (abort(), true)), 0);
	assert_int_equal(first_index(i, 5, true), 0);
	assert_int_equal(first_index(i, 5, false), 5);
	assert_int_equal(first_index(i, SIZE_MAX, i >= SIZE_MAX - 1), SIZE_MAX - 1);
	assert_int_equal(first_index(i, SIZE_MAX, false), SIZE_MAX);
}

/* The count may change with the condition: it is read once. */
static void test_reads_count_once(void **state)
{
	size_t count = 3;

	(void)state;
	assert_int_equal(first_index(i, count++, false), 3);
	assert_int_equal(count, 4);
}

/* A search within another's condition. */
static void test_nested(void **state)
{
	(void)state;
	assert_int_equal(first_index(i, 10, first_from(numbers, ARRAY_SIZE(numbers), (int)i) >= 6),
			 3);
	assert_int_equal(first_index(i, 10, first_index(j, i, j * j >= 9) < i), 4);
}

struct named {
	int number;
	char name;
};

static int number_order(const struct named *element, int number)
{
	return element->number < number ? -1 : element->number > number;
}

/* As qsort() takes it. */
static int named_order(const void *left, const void *right)
{
	const struct named *a = left, *b = right;

	return number_order(a, b->number);
}

static void test_sorted_find(void **state)
{
	const struct named list[] = {{1, 'a'}, {3, 'b'}, {3, 'c'}, {3, 'd'}, {8, 'e'}};

	(void)state;
	for (size_t count = 0; count <= ARRAY_SIZE(list); count++)
		for (int number = 0; number <= 9; number++) {
			const struct named key = {.number = number};
			const struct named *expected = NULL;

			for (size_t i = count; i--;)
				if (list[i].number == number)
					expected = &list[i];
			assert_ptr_equal(sorted_find(list, count, number, number_order), expected);
			assert_ptr_equal(sorted_find(list, count, &key, named_order), expected);
		}
}

static void test_find_in_nothing(void **state)
{
	const struct named *none = NULL;

	(void)state;
	assert_null(sorted_find(none, 0, 3, number_order));
}

/* An element that is found in a list that may be written may be written. */
static void test_find_to_write(void **state)
{
	struct named list[] = {{1, 'a'}, {2, 'b'}};

	(void)state;
	sorted_find(list, 2, 2, number_order)->name = 'z';
	assert_int_equal(list[1].name, 'z');
}

/* ---- the table of refusal codes: order and form; the manual page has all ------------- */

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
		cmocka_unit_test(test_first_index),
		cmocka_unit_test(test_all_and_none),
		cmocka_unit_test(test_reads_count_once),
		cmocka_unit_test(test_nested),
		cmocka_unit_test(test_sorted_find),
		cmocka_unit_test(test_find_in_nothing),
		cmocka_unit_test(test_find_to_write),
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_manual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
