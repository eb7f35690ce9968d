// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of moving patchable entries behind the labels of MIPS functions (pokepatch-as). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pokepatch-as/entries.h"

#define TABLE                                                                                      \
	"\t.section\t__patchable_function_entries,\"awo\",@progbits,f\n\t.align\t3\n"              \
	"\t.8byte\t.LPFE1\n\t.text\n"
#define SLOT "\t.set\tnoreorder\n\tnop\n\t.set\treorder\n"
#define BLOCK ".LPFE1:\n" SLOT SLOT
#define PROLOGUE                                                                                   \
	".LVL1 = .\n.LFB1 = .\n\t.loc 1 3 13 is_stmt 1 view -0\n\t.cfi_startproc\n"                \
	"\t.set\tnomips16\n\t.set\tnomicromips\n\t.ent\tf\n\t.type\tf, @function\n"
#define BODY "\t.frame\t$sp,0,$31\n\t.set\tnoreorder\n\tjr\t$31\n\tnop\n\t.end\tf\n"

static void moves(const char *before, const char *after, size_t count)
{
	struct buffer out = {0};
	size_t moved;
	struct error *error = entries_move("t.s", before, strlen(before), &out, &moved);

	if (error)
		fail_msg("%s", error->text);
	assert_int_equal(moved, count);
	if (count)
		assert_string_equal(out.text, after);
	buffer_deinit(&out);
}

static void refuses(const char *text, const char *expected)
{
	struct buffer out = {0};
	size_t moved;
	struct error *error = entries_move("t.s", text, strlen(text), &out, &moved);

	assert_non_null(error);
	assert_int_equal(error->status, STATUS_FAILED);
	if (!strstr(error->text, expected))
		fail_msg("'%s' is not in: %s", expected, error->text);
	error_destroy(error);
	buffer_deinit(&out);
}

static void test_moves(void **state)
{
	(void)state;
	moves("\t.text\n" TABLE BLOCK PROLOGUE "f:\n" BODY,
	      "\t.text\n" TABLE PROLOGUE "f:\n" BLOCK BODY, 1);
	/* One after the other, a function without an entry between, and no newline at the end. */
	moves(TABLE BLOCK PROLOGUE "f:\n" BODY "g:\n" TABLE BLOCK PROLOGUE "f:\n" BODY "\tnop",
	      TABLE PROLOGUE "f:\n" BLOCK BODY "g:\n" TABLE PROLOGUE "f:\n" BLOCK BODY "\tnop", 2);
	/* Comments, blanks and empty lines. */
	moves(".LPFE1:\t# here\n\n\t.set noreorder\n nop\t # x\n\t.set\treorder\r\n# a line\n"
	      "\t.ent\tf # f\nf:\t# the function\n\tjr $31\n",
	      "\t.ent\tf # f\nf:\t# the function\n"
	      ".LPFE1:\t# here\n\n\t.set noreorder\n nop\t # x\n\t.set\treorder\r\n# a line\n"
	      "\tjr $31\n", 1);
	/* Names with dots and dollars. */
	moves(BLOCK "\t.ent\tf.part$0\nf.part$0:\n\tnop\n",
	      "\t.ent\tf.part$0\nf.part$0:\n" BLOCK "\tnop\n", 1);
}

#define O32_TABLE                                                                                  \
	"\t.section\t__patchable_function_entries,\"awo\",@progbits,f\n\t.align\t2\n"              \
	"\t.4byte\t$LPFE1\n\t.text\n"
#define O32_BLOCK "$LPFE1:\n" SLOT SLOT
#define O32_PROLOGUE                                                                               \
	"$LVL1 = .\n$LFB1 = .\n\t.loc 1 3 13 is_stmt 1 view -0\n\t.set\tnomips16\n"               \
	"\t.set\tnomicromips\n\t.ent\tf\n\t.type\tf, @function\n"

/* Local symbols of the ABI of 32 bits. */
static void test_moves_o32(void **state)
{
	(void)state;
	moves("\t.text\n" O32_TABLE O32_BLOCK O32_PROLOGUE "f:\n" BODY,
	      "\t.text\n" O32_TABLE O32_PROLOGUE "f:\n" O32_BLOCK BODY, 1);
	moves(O32_PROLOGUE "f:\n$LFB3 = .\n" O32_TABLE O32_BLOCK BODY, NULL, 0);
}

static void test_stays(void **state)
{
	(void)state;
	moves("", NULL, 0);
	moves(PROLOGUE "f:\n" BODY, NULL, 0);
	/* A compiler with the cure: the table and the NOPs come after the label. */
	moves(PROLOGUE "f:\n" TABLE BLOCK BODY, NULL, 0);
	moves(PROLOGUE "f:\n.LFB3 = .\n\t.frame\t$sp,0,$31\n" TABLE BLOCK BODY, NULL, 0);
	/* Mentioned, but no label. */
	moves("\t.8byte\t.LPFE1\n# .LPFE1:\n", NULL, 0);
}

static void test_refuses(void **state)
{
	(void)state;
	refuses(BLOCK PROLOGUE "g:\n" BODY, "no label of a function right after");
	refuses(BLOCK "\tmove\t$2,$3\n" PROLOGUE "f:\n", "t.s:8: no label of a function");
	refuses(BLOCK "\t.align\t3\n" PROLOGUE "f:\n", "no label of a function right after");
	refuses(BLOCK "\t.section\t.init.text\n" PROLOGUE "f:\n", "no label of a function");
	refuses(BLOCK "\t.set\tmips16\n\t.ent\tf\nf:\n", "MIPS16 or microMIPS");
	refuses(BLOCK "\t.set\tmicromips\n\t.ent\tf\nf:\n", "MIPS16 or microMIPS");
	refuses(".LPFE1:\n" PROLOGUE "f:\n", "there is no nop in");
	refuses(BLOCK BLOCK PROLOGUE "f:\n", "no label of a function right after");
	refuses(BLOCK, "the end of the file");
	refuses(BLOCK PROLOGUE, "the end of the file");
	refuses(PROLOGUE "f:\n\tmove\t$2,$3\n" BLOCK, "code before");
}

/* Whatever the bytes are, nothing is read beyond them, and nothing is lost. */
static void test_any_bytes(void **state)
{
	static const char *const parts[] = {
		".LPFE1:", "\n", "\tnop", "f:", "\t.ent\tf", "\t.set\treorder", "#", " ", ".L", "=",
		".", ":", "\t.end\tf", "\t.set", "\t.ent", ".LPFE", "\t.set\tnoreorder\n", "\r", "x",
	};
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 50000; round++) {
		struct buffer text = {0}, out = {0};
		int count = rand_r(&seed) % 24;
		struct error *error;
		size_t moved;
		char *exact;

		for (int i = 0; i < count; i++)
			buffer_add_string(&text, parts[rand_r(&seed) % ARRAY_SIZE(parts)]);
		exact = xmalloc(text.length); /* no NUL behind it */
		if (text.length)
			memcpy(exact, text.text, text.length);
		error = entries_move("t.s", exact, text.length, &out, &moved);
		if (!error && moved)
			assert_int_equal(out.length, text.length);
		error_destroy(error);
		free(exact);
		buffer_deinit(&text);
		buffer_deinit(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moves),
		cmocka_unit_test(test_moves_o32),
		cmocka_unit_test(test_stays),
		cmocka_unit_test(test_refuses),
		cmocka_unit_test(test_any_bytes),
	};

	return cmocka_run_group_tests_name("patchable entries", tests, NULL, NULL);
}
