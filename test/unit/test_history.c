// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of the text history: its files, and how words, times and instructions are printed. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "pokepatch/cli.h"
#include "history/decode.h"
#include "history/export.h"
#include "history/live_text.h"
#include "past_records.h"

/* One line that has this in it. */
static void assert_line(struct error *error, const char *part)
{
	assert_true(!error || !strchr(error->text, '\n'));
	assert_error(error, STATUS_FAILED, part);
}

/* ---- files ----------------------------------------------------------------------------- */

/* What a file has is what was written, and it says so in whatever byte order. */
static void test_files(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct synthetic s = {.swap = swap};
		struct history history;
		struct symbol_list symbols;
		struct buffer file;
		struct past past;

		synthetic_story(&s);
		file = synthetic_file(&s, SITE, NOP, 5, 10000);
		assert_no_error(history_unpack((uint8_t *)file.text, file.length, true, &history));
		assert_string_equal(history.info.release, "6.1.0-test");
		assert_true(has_prefix(history.info.build_id, "abcd00"));
		assert_int_equal(history.info.big_endian,
				 swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__));
		history_past(&history, HISTORY_PERF, &past);
		history_symbols(&history, HISTORY_PERF, &past, &symbols);
		assert_text(&past, SYNTHETIC_PERF + 1500, "known 0f1f440000");
		assert_text(&past, SYNTHETIC_PERF + 2500, "known e9fbef0f3f");
		assert_text(&past, SYNTHETIC_PERF + 3500, "known 0f1f440000");
		assert_string_equal(text_at(&past, SYNTHETIC_PERF + 2500, SYNTHETIC_MODULE, 8),
				    "known 554889e531c05dc3");
		assert_string_equal(
			symbol_list_at(&symbols, SYNTHETIC_MODULE + 7, SYNTHETIC_PERF + 3999)->name,
			"victim");
		symbol_list_deinit(&symbols);
		past_deinit(&past);
		history_deinit(&history);
		buffer_deinit(&s.bytes);
	}
}

/* Written by the program itself, with base text, symbols and modules. */
static void test_export(void **state)
{
	const struct text_symbol victim = {.address = SITE, .size = 16, .died = PAST_FOREVER,
					   .name = "victim"};
	const struct text_symbol far = {.address = SITE + 0x4000, .size = 16,
					.died = PAST_FOREVER, .name = "far"};
	static const char text[16] = NOP "\x55\xc3";
	struct synthetic s = {0};
	struct history_ranges ranges;
	struct history history, again;
	struct symbol_list symbols;
	struct buffer file;
	struct past past;
	char *copy;

	(void)state;
	synthetic_story(&s);
	take(&s, &history);
	*vec_push(&history.symbols) = victim;
	*vec_push(&history.symbols) = far;
	*vec_push(&history.modules) = (struct history_module){0xffffffffc0200000, 4096, "dummy"};
	history_export_ranges(&history, true, &ranges);
	/* Two functions, and the patch has gone. */
	assert_int_equal(ranges.list.count, 2);
	assert_int_equal(ranges.list.list[1].address, SITE + 0x4000);
	assert_int_equal(ranges.list.list[1].size, 16);
	vec_deinit(&ranges.list);
	history_export_ranges(&history, false, &ranges);
	assert_int_equal(ranges.list.count, 1); /* the patch has gone */
	assert_int_equal(ranges.list.list[0].address, SITE);
	assert_int_equal(ranges.list.list[0].size, 64);
	ranges.list.list[0].size = 16;
	see(&history, SITE, text, sizeof(text));
	history_add_base(&history, &ranges);
	assert_int_equal(history.sights.count, 2);
	assert_true(history.sights.list[1].base);
	history_prune(&history, &ranges);
	history_pack(&history, &file);
	copy = memcpy(xmalloc(file.length), file.text, file.length);
	assert_no_error(history_unpack((uint8_t *)file.text, file.length, false, &again));
	/* Forwards from the base alone. */
	again.sights.list[0] = again.sights.list[1];
	again.sights.count = 1;
	history_past(&again, HISTORY_MONOTONIC, &past);
	history_symbols(&again, HISTORY_MONOTONIC, &past, &symbols);
	assert_text(&past, 1500, "known 0f1f440000");
	assert_text(&past, 2500, "known e9fbef0f3f");
	assert_text(&past, 9999, "known 0f1f440000");
	assert_string_equal(text_at(&past, 2500, SITE + 5, 2), "known 55c3");
	assert_string_equal(symbol_list_at(&symbols, SITE + 5, 2500)->name, "victim");
	assert_int_equal(again.symbols.count, 1);
	assert_int_equal(again.modules.count, 1);
	symbol_list_deinit(&symbols);
	past_deinit(&past);
	history_deinit(&again);

	/* Every bit counts, and so does the length. */
	for (size_t i = 0; i < file.length; i += i < 64 ? 1 : 13) {
		char *damaged = memcpy(xmalloc(file.length), copy, file.length);

		damaged[i] ^= 4;
		if (i < 56 || i >= 64) /* the last word of the header is not used */
			assert_line(history_unpack((uint8_t *)damaged, file.length, false, &again),
				     "");
		else
			free(damaged);
	}
	for (size_t i = 0; i < file.length; i += 7)
		assert_line(history_unpack(memcpy(xmalloc(i + 1), copy, i), i, false, &again), "");
	for (size_t i = 64; i < file.length; i += 3) {
		struct error *error =
			history_unpack(memcpy(xmalloc(i + 1), copy, i), i, true, &again);

		assert_line(error, "");
	}
	free(copy);
	vec_deinit(&ranges.list);
	history_deinit(&history);
}

/* A name must not lead a terminal astray. */
static void test_names(void **state)
{
	struct synthetic_text change = on;
	struct synthetic s = {0};
	struct history history;

	(void)state;
	change.symbol = "\x1b[2Jfoo\n\xff";
	synthetic_info(&s, 0);
	synthetic_text(&s, &change);
	take(&s, &history);
	assert_string_equal(history.records.list[0].symbol, "?[2Jfoo??");
	assert_string_equal(history.records.list[0].patch, on.patch);
	history_deinit(&history);
}

/* The clocks have drifted apart since the history began. */
static void test_drift(void **state)
{
	struct synthetic s = {.drift = -500};
	struct history history;

	(void)state;
	synthetic_info(&s, POKEPATCH_HISTORY_OTHERS);
	take(&s, &history);
	assert_int_equal(history.info.began.ns[HISTORY_MONOTONIC], SYNTHETIC_BEGAN);
	assert_int_equal(history.info.began.ns[HISTORY_PERF], SYNTHETIC_BEGAN + SYNTHETIC_PERF - 500);
	assert_int_equal(history.info.others_since.ns[HISTORY_PERF],
			 SYNTHETIC_BEGAN + SYNTHETIC_PERF - 500);
	history_deinit(&history);
}

/* Records that cannot be. */
static void test_bad_records(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
		const char *message;
	} cases[] = {
		{offsetof(struct pokepatch_history_record, size), 7, "impossible size 7"},
		{offsetof(struct pokepatch_history_record, size), 8, "impossible size 8"},
		{offsetof(struct pokepatch_history_record, size), 1 << 20, "impossible size"},
		{offsetof(struct pokepatch_history_text, len) & ~3u, 0x01ff0201, "more bytes"},
		{offsetof(struct pokepatch_history_text, phase) & ~3u, 0x00050102, "neither"},
		{offsetof(struct pokepatch_history_text, symbol), 100000, "a name that ends"},
		{offsetof(struct pokepatch_history_record, seq), 0, "not in order"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct synthetic s = {0};
		struct history history = {0};
		size_t second;
		bool info;

		synthetic_info(&s, 0);
		synthetic_text(&s, &on);
		second = s.bytes.length;
		synthetic_text(&s, &off);
		memcpy(s.bytes.text + second + cases[i].at, &cases[i].value, 4);
		assert_line(history_add_records(&history, (uint8_t *)s.bytes.text, s.bytes.length,
						 false, &info),
			     cases[i].message);
		buffer_deinit(&s.bytes);
		history_deinit(&history);
	}
}

/* ---- words and numbers ----------------------------------------------------------------- */

static void test_times(void **state)
{
	static const char *const bad[] = {"",    "x",  "1.",  ".5", "-1", "1.1234567891",
					  "1s",  " 1", "1::", "99999999999999999999", "0x5"};
	uint64_t ns, unit;
	char *text;

	(void)state;
	assert_true(parse_time("12", &ns, &unit));
	assert_int_equal(ns, 12000000000);
	assert_int_equal(unit, 1);
	assert_true(parse_time("12.5", &ns, &unit));
	assert_int_equal(ns, 12500000000);
	assert_int_equal(unit, 100000000);
	assert_true(parse_time("0.000000001", &ns, &unit));
	assert_int_equal(ns, 1);
	assert_int_equal(unit, 1);
	assert_true(parse_time("123.456789:", &ns, &unit)); /* perf script, without --ns */
	assert_int_equal(ns, 123456789000);
	assert_int_equal(unit, 1000);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(parse_time(bad[i], &ns, &unit));
	text = time_text(123456789001);
	assert_string_equal(text, "123.456789001");
	free(text);
}

static void test_kallsyms(void **state)
{
	static const char text[] = "ffffffff81000000 T _text\n"
				   "ffffffff81000000 T alias\n"
				   "ffffffff81000040 t local\n"
				   "ffffffff81000060 D data\n"
				   "ffffffff81000080 t local\n"
				   "ffffffffc0001010 t second\t[dummy]\n"
				   "ffffffffc0001000 t first\t[dummy]\n"
				   "ffffffffc0003000 d table\t[dummy]\n"
				   "ffffffffc0009000 t bpf_prog\t[bpf]\n"
				   "bad\n";
	char path[] = "/tmp/pokepatch-test-XXXXXX";
	struct history history = {.end.ns = {10, 10}};
	const struct text_symbol *symbol;
	struct symbol_list symbols;
	struct past past;
	uint64_t address;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	assert_no_error(live_symbols(path, &history));
	history_past(&history, HISTORY_MONOTONIC, &past);
	history_symbols(&history, HISTORY_MONOTONIC, &past, &symbols);
	assert_no_error(symbol_list_find(&symbols, "alias", 5, &address, &symbol));
	assert_int_equal(symbol->size, 0x40);
	assert_int_equal(symbol_list_at(&symbols, 0xffffffff8100005f, 5)->address,
			 0xffffffff81000040);
	assert_null(symbol_list_at(&symbols, 0xffffffff81000060, 5));
	assert_line(symbol_list_find(&symbols, "local", 5, &address, &symbol),
		     "2 symbols are called 'local': give one of their addresses: "
		     "0xffffffff81000040 0xffffffff81000080");
	assert_no_error(symbol_list_find(&symbols, "dummy:second", 5, &address, &symbol));
	assert_line(symbol_list_find(&symbols, "vmlinux:second", 5, &address, &symbol),
		     "in vmlinux");
	assert_line(symbol_list_find(&symbols, "bpf_prog", 5, &address, &symbol), "no function");
	assert_no_error(
		symbol_list_find(&symbols, "ffffffff81000041", 5, &address, &symbol));
	assert_string_equal(symbol->name, "local");
	assert_int_equal(history.modules.count, 1);
	assert_int_equal(history.modules.list[0].address, 0xffffffffc0001000);
	symbol_list_deinit(&symbols);
	past_deinit(&past);
	history_deinit(&history);

	/* Without root all addresses are zero. */
	fd = open(path, O_WRONLY | O_TRUNC);
	assert_int_equal(write(fd, "0000000000000000 T _text\n", 25), 25);
	close(fd);
	assert_line(live_symbols(path, &history), "shows no addresses");
	history_deinit(&history);
	unlink(path);
}

/* ---- instructions ---------------------------------------------------------------------- */

static void add_line(void *context, const struct decode_line *line)
{
	static const char *const words[] = {"none", "unknown", "known", "assumed", "either"};

	buffer_printf(context, "%s%s %zu %s;", words[line->state], line->newer ? " new" : "",
		      line->size, line->text ? line->text : "-");
}

static void test_decode(void **state)
{
	struct decoder *decoder = decoder_open(62 /* EM_X86_64 */, false);
	struct buffer out = {0};
	struct past_byte bytes[8];

	(void)state;
	assert_non_null(decoder);
	assert_null(decoder_open(0xfffe, false));
	for (size_t i = 0; i < 5; i++)
		bytes[i] = (struct past_byte){PAST_EITHER, ((uint8_t *)NOP)[i],
					      ((uint8_t *)"\xe9\xfb\x00\x00\x00")[i]};
	bytes[3].state = bytes[4].state = PAST_KNOWN; /* the same in both */
	bytes[5] = (struct past_byte){PAST_KNOWN, 0xc3, 0};
	bytes[6] = bytes[7] = (struct past_byte){.state = PAST_UNKNOWN};
	decoder_each(decoder, bytes, 0x1000, 8, add_line, &out);
	assert_string_equal(out.text, "either 5 nop dword ptr [rax + rax];"
				      "either new 5 jmp 0x1100;known 1 ret;unknown 2 -;");
	buffer_deinit(&out);
	/* Two instructions were one, and back. */
	out = (struct buffer){0};
	memcpy(bytes, (struct past_byte[]){{PAST_EITHER, 0x90, 0x66}, {PAST_KNOWN, 0x90, 0},
					   {PAST_KNOWN, 0xc3, 0}},
	       3 * sizeof(*bytes));
	decoder_each(decoder, bytes, 0x1000, 3, add_line, &out);
	assert_string_equal(out.text, "either 1 nop;known 1 nop;either new 2 nop;known 1 ret;");
	buffer_deinit(&out);
	decoder_close(decoder);
	/* For an unknown machine, the bytes. */
	out = (struct buffer){0};
	decoder_each(NULL, bytes, 0x1000, 3, add_line, &out);
	assert_string_equal(out.text, "either 1 -;either new 1 -;known 1 -;known 1 -;");
	buffer_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_export),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_drift),
		cmocka_unit_test(test_bad_records),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_kallsyms),
		cmocka_unit_test(test_decode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
