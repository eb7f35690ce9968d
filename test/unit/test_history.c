// SPDX-License-Identifier: GPL-2.0-or-later
/* The text history: records made by hand, and what text and calls were at some time. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../synthetic/records.h"
#include "cli.h"
#include "decode.h"
#include "export.h"
#include "live.h"

#define SITE (SYNTHETIC_STEXT + 0x1000)
#define NOP "\x0f\x1f\x44\x00\x00"
#define JUMP "\xe9\xfb\xef\x0f\x3f"
#define CALL "\xe8\x11\x22\x33\x44"

static void assert_no_error(struct error *error)
{
	if (error)
		fail_msg("unexpected error: %s", error->text);
}

static void assert_error(struct error *error, const char *part)
{
	assert_non_null(error);
	assert_int_equal(error->status, STATUS_FAILED);
	assert_null(strchr(error->text, '\n'));
	if (!strstr(error->text, part))
		fail_msg("'%s' is not in '%s'", part, error->text);
	error_destroy(error);
}

/* A history of the records, which are used up. */
static void take(struct synthetic *s, struct history *ret)
{
	struct error *error;
	bool info;

	*ret = (struct history){.end.ns = {10000, 10000 + SYNTHETIC_PERF}};
	error = history_add_records(ret, history_keep(ret, s->bytes.text), s->bytes.length, s->swap,
				    &info);
	assert_no_error(error);
	assert_true(info);
}

/* The text at the end of the history; bytes must live. */
static void see(struct history *history, uint64_t address, const char *bytes, size_t size)
{
	*vec_push(&history->sights) = (struct history_sight){
		.address = address,
		.size = size,
		.time = history->end,
		.seq = history_last_seq(history),
		.bytes = (const uint8_t *)bytes,
	};
}

/*
 * The bytes at the site at some time, "known 0f1f440000": in one word if all are of the
 * same state, "either 0f1f440000 e9fbef0f3f" with both.
 */
static const char *text_at(const struct past *past, uint64_t time, uint64_t address, size_t size)
{
	static const char *const words[] = {"none", "unknown", "known", "assumed", "either"};
	static char text[256];
	struct past_byte bytes[32];
	char *end = text;

	assert_true(size <= ARRAY_SIZE(bytes));
	past_bytes(past, time, address, size, bytes);
	end += sprintf(end, "%s ", words[bytes[0].state]);
	for (size_t i = 0; i < size; i++) {
		if (bytes[i].state == PAST_EITHER)
			end += sprintf(end, "%02x/%02x", bytes[i].value, bytes[i].other);
		else if (past_is_there(&bytes[i]))
			end += sprintf(end, "%02x", bytes[i].value);
		else
			end += sprintf(end, "??");
	}
	return text;
}

#define assert_text(past, time, wanted) \
	assert_string_equal(text_at(past, time, SITE, 5), wanted)

static const struct synthetic_text on = {
	.address = SITE, .old = NOP, .new = JUMP, .size = 5,
	.before = 2000, .begin = 2100, .end = 2150, .after = 2200,
	.method = POKEPATCH_HISTORY_STOP_MACHINE, .symbol = "victim", .patch = "fix",
};
static const struct synthetic_text off = {
	.address = SITE, .old = JUMP, .new = NOP, .size = 5,
	.before = 3000, .begin = 3100, .end = 3150, .after = 3200,
	.method = POKEPATCH_HISTORY_STOP_MACHINE, .symbol = "victim", .patch = "fix",
};

/* ---- text ------------------------------------------------------------------------------ */

static void test_before_and_after(void **state)
{
	struct synthetic s = {0};
	struct history history;
	struct past past;

	(void)state;
	synthetic_info(&s, POKEPATCH_HISTORY_OTHERS);
	synthetic_text(&s, &on);
	synthetic_text(&s, &off);
	take(&s, &history);
	see(&history, SITE, NOP, 5);
	history_past(&history, HISTORY_MONOTONIC, &past);
	assert_text(&past, SYNTHETIC_BEGAN, "known 0f1f440000");
	assert_text(&past, 2099, "known 0f1f440000");
	assert_text(&past, 2100, "either 0f/e91f/fb44/ef00/0f00/3f");
	assert_text(&past, 2149, "either 0f/e91f/fb44/ef00/0f00/3f");
	assert_text(&past, 2150, "known e9fbef0f3f");
	assert_text(&past, 3099, "known e9fbef0f3f");
	assert_text(&past, 3149, "either e9/0ffb/1fef/440f/003f/00");
	assert_text(&past, 3150, "known 0f1f440000");
	assert_text(&past, 10000, "known 0f1f440000");
	/* Part of it; what lies around it was never seen. */
	assert_string_equal(text_at(&past, 2500, SITE + 3, 4), "known 0f3f????");
	assert_string_equal(text_at(&past, 2500, SITE - 2, 4), "unknown ????e9fb");
	/* Outside of all text, and at the end of all addresses. */
	assert_string_equal(text_at(&past, 2500, SYNTHETIC_ETEXT, 2), "none ????");
	assert_string_equal(text_at(&past, 2500, UINT64_MAX - 1, 4), "none ????????");
	past_deinit(&past);

	/* The same by the other clock. */
	history_past(&history, HISTORY_PERF, &past);
	assert_text(&past, SYNTHETIC_PERF + 2099, "known 0f1f440000");
	assert_text(&past, SYNTHETIC_PERF + 2150, "known e9fbef0f3f");
	past_deinit(&past);
	history_deinit(&history);
}

/* Bytes that old and new have in common are known in the middle of a change, too. */
static void test_common_bytes(void **state)
{
	struct synthetic_text change = on;
	struct synthetic s = {0};
	struct history history;
	struct past past;

	(void)state;
	change.new = "\x0f\x1f\x44\x00\x08";
	synthetic_info(&s, POKEPATCH_HISTORY_OTHERS);
	synthetic_text(&s, &change);
	take(&s, &history);
	history_past(&history, HISTORY_MONOTONIC, &past);
	assert_text(&past, 2120, "known 0f1f440000/08");
	past_deinit(&past);
	history_deinit(&history);
}

/* The breakpoint's store is one moment; the rest of the protocol is not ambiguous. */
static void test_int3_exact(void **state)
{
	struct synthetic_text change = on;
	struct synthetic s = {0};
	struct history history;
	struct past past;

	(void)state;
	change.method = POKEPATCH_HISTORY_INT3;
	change.flags = POKEPATCH_HISTORY_EXACT;
	change.begin = change.end = 2120;
	synthetic_info(&s, POKEPATCH_HISTORY_OTHERS);
	synthetic_text(&s, &change);
	take(&s, &history);
	history_past(&history, HISTORY_MONOTONIC, &past);
	assert_text(&past, 2050, "known 0f1f440000"); /* the breakpoint stands there */
	assert_text(&past, 2119, "known 0f1f440000");
	assert_text(&past, 2120, "known e9fbef0f3f");
	assert_text(&past, 2199, "known e9fbef0f3f");
	past_deinit(&past);
	history_deinit(&history);
}

/* One of a change's two records is enough. */
static void test_half_a_change(void **state)
{
	struct synthetic_text change = on;
	struct history history;
	struct past past;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct synthetic s = {0};

		change.only_before = i == 0;
		change.only_after = i == 1;
		synthetic_info(&s, POKEPATCH_HISTORY_OTHERS);
		synthetic_text(&s, &change);
		take(&s, &history);
		history_past(&history, HISTORY_MONOTONIC, &past);
		assert_text(&past, 2099, "known 0f1f440000");
		assert_text(&past, 2150, "known e9fbef0f3f");
		past_deinit(&past);
		history_deinit(&history);
	}
}

/* Others wrote, and nobody saw it: what one record left is not what the next one found. */
static void test_unseen(void **state)
{
	struct synthetic_text change = off;
	struct synthetic s = {0};
	struct history history;
	struct past past;

	(void)state;
	change.old = CALL;
	synthetic_info(&s, POKEPATCH_HISTORY_OTHERS);
	synthetic_text(&s, &on);
	synthetic_text(&s, &change);
	take(&s, &history);
	see(&history, SITE, "\x0f\x1f\x44\x00\x01", 5);
	history_past(&history, HISTORY_MONOTONIC, &past);
	assert_text(&past, 2099, "known 0f1f440000");
	assert_text(&past, 2150, "known e9fbef0f3f"); /* at that moment it is known */
	assert_text(&past, 2151, "unknown ??????????");
	assert_text(&past, 3099, "unknown ??????????");
	assert_text(&past, 3120, "either e8/0f11/1f22/4433/0044/00");
	assert_text(&past, 5000, "known 0f1f4400??");
	past_deinit(&past);
	history_deinit(&history);
}

/* Where others' changes are not recorded, an equal byte may have been another in between. */
static void test_others_not_recorded(void **state)
{
	struct synthetic s = {0};
	struct history history;
	struct past past;

	(void)state;
	synthetic_info(&s, 0);
	synthetic_text(&s, &on);
	take(&s, &history);
	see(&history, SITE, JUMP, 5);
	history_past(&history, HISTORY_MONOTONIC, &past);
	assert_text(&past, 1500, "assumed 0f1f440000");
	assert_text(&past, 2120, "either 0f/e91f/fb44/ef00/0f00/3f");
	assert_text(&past, 2150, "known e9fbef0f3f");
	assert_text(&past, 5000, "assumed e9fbef0f3f");
	assert_text(&past, 10000, "known e9fbef0f3f");
	past_deinit(&past);
	history_deinit(&history);
}

/* Of others' changes there is one record, made when they were over. */
static void test_others(void **state)
{
	struct synthetic_text change = {
		.address = SITE, .old = NOP, .new = CALL, .size = 5,
		.before = 4000000, .begin = 4000000, .end = 6000000, .after = 6000000,
		.method = POKEPATCH_HISTORY_OTHER, .symbol = "victim", .only_after = true,
	};
	struct synthetic s = {0};
	struct history history;
	struct past past;

	(void)state;
	synthetic_info(&s, POKEPATCH_HISTORY_OTHERS);
	synthetic_text(&s, &change);
	take(&s, &history);
	history_past(&history, HISTORY_MONOTONIC, &past);
	assert_text(&past, 2000, "known 0f1f440000");
	assert_text(&past, 3999999, "known 0f1f440000");
	assert_text(&past, 4000000, "either 0f/e81f/1144/2200/3300/44");
	assert_text(&past, 5999999, "either 0f/e81f/1144/2200/3300/44");
	assert_text(&past, 6000000, "known e811223344");
	assert_text(&past, 9000000, "known e811223344");
	past_deinit(&past);
	history_deinit(&history);
}

/* Between the records around those that are missing nothing is known, and else all. */
static void test_lost(void **state)
{
	struct synthetic_text other = on;
	struct synthetic s = {0};
	struct history history;
	struct past past;

	(void)state;
	synthetic_info(&s, POKEPATCH_HISTORY_OTHERS);
	synthetic_text(&s, &on);
	synthetic_lost(&s, 7);
	other.address = SITE + 0x100;
	other.before = 2800;
	other.begin = 2810;
	other.end = 2820;
	other.after = 2900;
	synthetic_text(&s, &other);
	synthetic_text(&s, &off);
	take(&s, &history);
	see(&history, SITE, NOP, 5);
	assert_int_equal(history_last_seq(&history), 13);
	history_past(&history, HISTORY_MONOTONIC, &past);
	assert_text(&past, 2099, "known 0f1f440000");
	assert_text(&past, 2150, "known e9fbef0f3f");
	assert_text(&past, 2500, "unknown ??????????");
	assert_text(&past, 2950, "known e9fbef0f3f");
	assert_text(&past, 3500, "known 0f1f440000");
	/* A place of which only the missing ones can have told. */
	assert_string_equal(text_at(&past, 2850, SITE + 0x100, 2), "known e9fb");
	assert_string_equal(text_at(&past, 2500, SITE + 0x100, 2), "unknown ????");
	past_deinit(&past);
	history_deinit(&history);
}

/* The oldest are missing: what was there before them nobody knows. */
static void test_lost_in_front(void **state)
{
	struct synthetic s = {0};
	struct history history;
	struct past past;

	(void)state;
	synthetic_info(&s, POKEPATCH_HISTORY_OTHERS);
	synthetic_lost(&s, 100);
	synthetic_text(&s, &off);
	take(&s, &history);
	history_past(&history, HISTORY_MONOTONIC, &past);
	assert_text(&past, 2500, "unknown ??????????");
	assert_text(&past, 3050, "known e9fbef0f3f");
	assert_text(&past, 3500, "known 0f1f440000");
	past_deinit(&past);
	history_deinit(&history);
}

/* The same address in two lives of a patch's module, and in neither. */
static void test_lives(void **state)
{
	const uint64_t base = SYNTHETIC_MODULE;
	struct synthetic_code code = {
		.kind = POKEPATCH_HISTORY_MODULE_TEXT, .address = base, .size = 4,
		.name = "pokepatch_fix",
	};
	struct synthetic_text change = {
		.address = base, .old = "\x0f", .new = "\x55", .size = 1,
		.before = 1700, .begin = 1750, .end = 1760, .after = 1800,
		.method = POKEPATCH_HISTORY_STORE,
	};
	const struct text_symbol *symbol;
	struct symbol_list symbols;
	struct synthetic s = {0};
	struct history history;
	struct past past;
	uint64_t address;

	(void)state;
	synthetic_info(&s, POKEPATCH_HISTORY_OTHERS);
	code.type = POKEPATCH_HISTORY_APPEAR;
	code.born = 1500;
	synthetic_code(&s, &code);
	synthetic_text(&s, &change);
	code.type = POKEPATCH_HISTORY_SNAPSHOT;
	code.died = 2000;
	code.bytes = "\x55\x01\x02\x03";
	synthetic_code(&s, &code);
	/* A second piece of the same. */
	code.address = base + 4;
	code.bytes = "\x04\x05\x06\x07";
	synthetic_code(&s, &code);
	synthetic_symbol(&s, base, 8, 1500, 2000, "fixed", "pokepatch_fix");
	code.address = base;
	code.born = 3000;
	code.died = 4000;
	code.bytes = "\xaa\xbb\xcc\xdd";
	code.name = "pokepatch_other";
	synthetic_code(&s, &code);
	synthetic_symbol(&s, base + 1, 3, 3000, 4000, "other", "pokepatch_other");
	take(&s, &history);
	history_past(&history, HISTORY_MONOTONIC, &past);
	assert_string_equal(text_at(&past, 1499, base, 4), "none ????????");
	assert_string_equal(text_at(&past, 1600, base, 4), "known 0f010203");
	assert_string_equal(text_at(&past, 1755, base, 4), "either 0f/55010203");
	assert_string_equal(text_at(&past, 1900, base, 8), "known 5501020304050607");
	assert_string_equal(text_at(&past, 2500, base, 4), "none ????????");
	assert_string_equal(text_at(&past, 3500, base, 5), "known aabbccdd??");
	assert_string_equal(text_at(&past, 4001, base, 4), "none ????????");

	history_symbols(&history, HISTORY_MONOTONIC, &past, &symbols);
	assert_string_equal(symbol_list_at(&symbols, base + 3, 1600)->name, "fixed");
	assert_string_equal(symbol_list_at(&symbols, base + 3, 3600)->name, "other");
	assert_null(symbol_list_at(&symbols, base + 3, 2500));
	assert_null(symbol_list_at(&symbols, base, 3500));
	assert_no_error(symbol_list_find(&symbols, "pokepatch_fix:fixed+0x2", 1600, &address,
					 &symbol));
	assert_int_equal(address, base + 2);
	assert_error(symbol_list_find(&symbols, "fixed", 3500, &address, &symbol),
		     "no function is called 'fixed' at that time");
	assert_error(symbol_list_find(&symbols, "12z", 3500, &address, &symbol), "no address");
	assert_error(symbol_list_find(&symbols, "fixed+z", 1600, &address, &symbol), "no number");
	symbol_list_deinit(&symbols);
	past_deinit(&past);
	history_deinit(&history);
}

/* A module that came before the core, and went: only its going is told. */
static void test_life_without_birth(void **state)
{
	struct synthetic_code code = {
		.type = POKEPATCH_HISTORY_SNAPSHOT, .kind = POKEPATCH_HISTORY_OTHER_TEXT,
		.address = SYNTHETIC_MODULE, .size = 64, .died = 4000,
		.flags = POKEPATCH_HISTORY_DROPPED, .name = "dummy",
	};
	struct synthetic_text change = on;
	struct synthetic s = {0};
	struct history history;
	struct past past;

	(void)state;
	change.address = SYNTHETIC_MODULE;
	synthetic_info(&s, POKEPATCH_HISTORY_OTHERS);
	synthetic_text(&s, &change);
	synthetic_code(&s, &code);
	take(&s, &history);
	history_past(&history, HISTORY_MONOTONIC, &past);
	assert_string_equal(text_at(&past, 1500, SYNTHETIC_MODULE, 5), "known 0f1f440000");
	assert_string_equal(text_at(&past, 3000, SYNTHETIC_MODULE, 6), "known e9fbef0f3f??");
	assert_string_equal(text_at(&past, 4500, SYNTHETIC_MODULE, 2), "none ????");
	past_deinit(&past);
	history_deinit(&history);
}

/*
 * Random changes of some places: forwards from what was there first, and backwards from
 * what is there last, at every time the same, and what really was there.
 */
static void test_both_ways(void **state)
{
	enum { PLACES = 5, SIZE = 4, CHANGES = 200 };
	static uint8_t really[CHANGES + 1][PLACES * SIZE];
	struct history forwards, backwards;
	struct synthetic s = {0};
	struct past past[2];

	(void)state;
	srandom(7);
	for (size_t i = 0; i < sizeof(really[0]); i++)
		really[0][i] = random();
	synthetic_info(&s, POKEPATCH_HISTORY_OTHERS);
	for (int i = 0; i < CHANGES; i++) {
		size_t place = random() % PLACES * SIZE;
		uint64_t time = 2000 + i * 10;

		memcpy(really[i + 1], really[i], sizeof(really[0]));
		for (size_t at = place; at < place + SIZE; at++)
			really[i + 1][at] = random();
		synthetic_text(&s, &(struct synthetic_text){
					   .address = SITE + place,
					   .old = (char *)&really[i][place],
					   .new = (char *)&really[i + 1][place],
					   .size = SIZE,
					   .before = time, .begin = time, .end = time + 2,
					   .after = time + 3,
				   });
	}
	struct synthetic copy = {.seq = s.seq};
	buffer_add(&copy.bytes, s.bytes.text, s.bytes.length);
	take(&s, &forwards);
	take(&copy, &backwards);
	see(&forwards, SITE, (char *)really[0], sizeof(really[0]));
	forwards.sights.list[0].time = forwards.info.began;
	forwards.sights.list[0].seq = 0;
	see(&backwards, SITE, (char *)really[CHANGES], sizeof(really[0]));
	history_past(&forwards, HISTORY_MONOTONIC, &past[0]);
	history_past(&backwards, HISTORY_MONOTONIC, &past[1]);
	for (int i = 0; i <= CHANGES; i++) {
		struct past_byte bytes[2][sizeof(really[0])];

		for (int way = 0; way < 2; way++)
			past_bytes(&past[way], i ? 2000 + i * 10 - 5 : 1500, SITE,
				   sizeof(really[0]), bytes[way]);
		for (size_t at = 0; at < sizeof(really[0]); at++)
			for (int way = 0; way < 2; way++) {
				assert_int_equal(bytes[way][at].state, PAST_KNOWN);
				assert_int_equal(bytes[way][at].value, really[i][at]);
			}
	}
	past_deinit(&past[0]);
	past_deinit(&past[1]);
	history_deinit(&forwards);
	history_deinit(&backwards);
}

/* ---- routes ---------------------------------------------------------------------------- */

static void test_routes(void **state)
{
	struct synthetic_route route = {
		.function = SITE, .size = 64, .site = SITE + 4, .to = SYNTHETIC_MODULE,
		.begin = 2100, .end = 2100, .flags = POKEPATCH_HISTORY_EXACT,
		.symbol = "victim", .patch = "fix",
	};
	struct synthetic s = {0};
	struct history history;
	struct routes routes;
	struct past past;
	struct route found;

	(void)state;
	synthetic_info(&s, 0); /* whether others are recorded is nothing to routes */
	synthetic_route(&s, &route);
	route.from = route.to;
	route.to = SYNTHETIC_MODULE + 0x1000; /* a second patch on top */
	route.begin = 3000;
	route.end = 3100;
	synthetic_route(&s, &route);
	synthetic_lost(&s, 3);
	route.from = route.to;
	route.to = 0;
	route.begin = 5000;
	route.end = 5100;
	synthetic_route(&s, &route);
	take(&s, &history);
	history_past(&history, HISTORY_MONOTONIC, &past);
	history_routes(&history, HISTORY_MONOTONIC, &routes);
#define assert_route(time, address, wanted_state, wanted_taken, wanted_other)                      \
	do {                                                                                       \
		found = route_at(&routes, &past, time, address);                                   \
		assert_int_equal(found.state, wanted_state);                                       \
		assert_int_equal(found.taken, wanted_taken);                                       \
		assert_int_equal(found.other, wanted_other);                                       \
	} while (0)
	assert_route(1500, SITE, ROUTE_KNOWN, 0, 0);
	assert_route(2099, SITE, ROUTE_KNOWN, 0, 0);
	assert_route(2100, SITE, ROUTE_KNOWN, SYNTHETIC_MODULE, 0);
	assert_route(2100, SITE + 4, ROUTE_KNOWN, SYNTHETIC_MODULE, 0); /* behind an ENDBR */
	assert_route(2100, SITE + 5, ROUTE_NONE, 0, 0);			/* its body */
	assert_route(2100, SITE - 1, ROUTE_NONE, 0, 0);
	assert_route(3050, SITE, ROUTE_EITHER, SYNTHETIC_MODULE, SYNTHETIC_MODULE + 0x1000);
	assert_route(3100, SITE, ROUTE_KNOWN, SYNTHETIC_MODULE + 0x1000, 0);
	assert_route(4000, SITE, ROUTE_UNKNOWN, 0, 0);
	assert_route(5050, SITE, ROUTE_EITHER, SYNTHETIC_MODULE + 0x1000, 0);
	assert_route(9000, SITE, ROUTE_KNOWN, 0, 0);
	routes_deinit(&routes);
	past_deinit(&past);
	history_deinit(&history);
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
			assert_error(history_unpack((uint8_t *)damaged, file.length, false, &again),
				     "");
		else
			free(damaged);
	}
	for (size_t i = 0; i < file.length; i += 7)
		assert_error(history_unpack(memcpy(xmalloc(i + 1), copy, i), i, false, &again), "");
	for (size_t i = 64; i < file.length; i += 3) {
		struct error *error =
			history_unpack(memcpy(xmalloc(i + 1), copy, i), i, true, &again);

		assert_error(error, "");
	}
	free(copy);
	vec_deinit(&ranges.list);
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
		{offsetof(struct pokepatch_history_text, begin_ns), 999999, "ends before"},
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
		assert_error(history_add_records(&history, (uint8_t *)s.bytes.text, s.bytes.length,
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
	uint64_t ns;
	char *text;

	(void)state;
	assert_true(parse_time("12", &ns));
	assert_int_equal(ns, 12000000000);
	assert_true(parse_time("12.5", &ns));
	assert_int_equal(ns, 12500000000);
	assert_true(parse_time("0.000000001", &ns));
	assert_int_equal(ns, 1);
	assert_true(parse_time("123.456789:", &ns)); /* perf script */
	assert_int_equal(ns, 123456789000);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(parse_time(bad[i], &ns));
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
	assert_error(symbol_list_find(&symbols, "local", 5, &address, &symbol),
		     "2 symbols are called 'local': give one of their addresses: "
		     "0xffffffff81000040 0xffffffff81000080");
	assert_no_error(symbol_list_find(&symbols, "dummy:second", 5, &address, &symbol));
	assert_error(symbol_list_find(&symbols, "vmlinux:second", 5, &address, &symbol),
		     "in vmlinux");
	assert_error(symbol_list_find(&symbols, "bpf_prog", 5, &address, &symbol), "no function");
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
	assert_error(live_symbols(path, &history), "shows no addresses");
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
	struct decoder *decoder = decode_open(62 /* EM_X86_64 */, false);
	struct buffer out = {0};
	struct past_byte bytes[8];

	(void)state;
	assert_non_null(decoder);
	assert_null(decode_open(0xfffe, false));
	for (size_t i = 0; i < 5; i++)
		bytes[i] = (struct past_byte){PAST_EITHER, ((uint8_t *)NOP)[i],
					      ((uint8_t *)"\xe9\xfb\x00\x00\x00")[i]};
	bytes[3].state = bytes[4].state = PAST_KNOWN; /* the same in both */
	bytes[5] = (struct past_byte){PAST_KNOWN, 0xc3, 0};
	bytes[6] = bytes[7] = (struct past_byte){.state = PAST_UNKNOWN};
	decode_each(decoder, bytes, 0x1000, 8, add_line, &out);
	assert_string_equal(out.text, "either 5 nop dword ptr [rax + rax];"
				      "either new 5 jmp 0x1100;known 1 ret;unknown 2 -;");
	buffer_deinit(&out);
	/* Two instructions were one, and back. */
	out = (struct buffer){0};
	memcpy(bytes, (struct past_byte[]){{PAST_EITHER, 0x90, 0x66}, {PAST_KNOWN, 0x90, 0},
					   {PAST_KNOWN, 0xc3, 0}},
	       3 * sizeof(*bytes));
	decode_each(decoder, bytes, 0x1000, 3, add_line, &out);
	assert_string_equal(out.text, "either 1 nop;known 1 nop;either new 2 nop;known 1 ret;");
	buffer_deinit(&out);
	decode_close(decoder);
	/* Of a machine that nobody knows, the bytes. */
	out = (struct buffer){0};
	decode_each(NULL, bytes, 0x1000, 3, add_line, &out);
	assert_string_equal(out.text, "either 1 -;either new 1 -;known 1 -;known 1 -;");
	buffer_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before_and_after),
		cmocka_unit_test(test_common_bytes),
		cmocka_unit_test(test_int3_exact),
		cmocka_unit_test(test_half_a_change),
		cmocka_unit_test(test_unseen),
		cmocka_unit_test(test_others_not_recorded),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_lost),
		cmocka_unit_test(test_lost_in_front),
		cmocka_unit_test(test_lives),
		cmocka_unit_test(test_life_without_birth),
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_routes),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_export),
		cmocka_unit_test(test_bad_records),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_kallsyms),
		cmocka_unit_test(test_decode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
