// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of the reader of build ids (common/build_id.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/build_id.h"
#include "common/util.h"

/* gABI, "Note Section": lengths of name and descriptor, type, and both, padded to 4 bytes. */
static void add_note(struct buffer *notes, uint32_t type, const char *name, const void *bytes,
		     uint32_t length)
{
	const uint32_t words[] = {strlen(name) + 1, length, type};

	buffer_add(notes, words, sizeof(words));
	buffer_add(notes, name, strlen(name) + 1);
	while (notes->length % 4)
		buffer_add(notes, "", 1);
	buffer_add(notes, bytes, length);
	while (notes->length % 4)
		buffer_add(notes, "", 1);
}

static void expect(const struct buffer *notes, const char *expected)
{
	/* A copy of just that size: a sanitizer sees a read behind it. */
	char *bytes _free_ = xmalloc(notes->length + !notes->length);
	if (notes->length)
		memcpy(bytes, notes->text, notes->length);
	char *id _free_ = build_id_in_notes(bytes, notes->length);

	if (expected)
		assert_string_equal(id, expected);
	else
		assert_null(id);
}

static void test_find(void **state)
{
	struct buffer notes = {0};

	(void)state;
	expect(&notes, NULL);
	add_note(&notes, 6, "Xen", "\1\2\3\4\5", 5);
	add_note(&notes, 1, "GNU", "\1\2\3\4", 4); /* not that type */
	add_note(&notes, 3, "BSD", "\1\2\3\4", 4); /* not that name */
	add_note(&notes, 3, "GNU.", "\1\2", 2);
	add_note(&notes, 3, "GNU", "", 0);
	expect(&notes, NULL);
	add_note(&notes, 3, "GNU", "\xab\0\x1f", 3);
	expect(&notes, "ab001f");
	add_note(&notes, 3, "GNU", "\5\6\7", 3); /* the first counts */
	expect(&notes, "ab001f");
	buffer_deinit(&notes);
}

static void test_cut_off(void **state)
{
	struct buffer notes = {0};
	size_t whole;

	(void)state;
	add_note(&notes, 1, "Linux", "\1\2\3", 3);
	add_note(&notes, 3, "GNU", "\xab\xcd\xef\x01\x02", 5);
	whole = notes.length - 3; /* its padding may be missing */
	for (notes.length = 0; notes.length < whole; notes.length++)
		expect(&notes, NULL);
	expect(&notes, "abcdef0102");
	buffer_deinit(&notes);
}

/* Lengths that no section has. */
static void test_malformed(void **state)
{
	struct buffer notes = {0};

	(void)state;
	add_note(&notes, 3, "GNU", "\xab\xcd\xef\x01", 4);
	memcpy(notes.text, "\xff\xff\xff\xff", 4);
	expect(&notes, NULL);
	memcpy(notes.text, "\4\0\0\0\xff\xff\xff\xff", 8);
	expect(&notes, NULL);
	buffer_deinit(&notes);
}

static void test_hex(void **state)
{
	char *none _free_ = build_id_hex(NULL, 0);
	char *some _free_ = build_id_hex((const uint8_t *)"\0\xf0\x7f", 3);

	(void)state;
	assert_string_equal(none, "");
	assert_string_equal(some, "00f07f");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_hex),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
