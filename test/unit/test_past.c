// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of the text history: what records made by hand say of text and calls at a time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "past_records.h"

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

/* A writer was not recorded: a record does not find what the record before it left. */
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

/*
 * A transition with another writer's change in it, whose records are missing: when it was made is
 * known only when the transition is over.
 */
static void test_lost_in_transition(void **state)
{
	struct synthetic_text elsewhere = on;
	struct synthetic s = {0};
	struct history history;
	struct past past;

	(void)state;
	synthetic_info(&s, POKEPATCH_HISTORY_OTHERS);
	synthetic_transition(&s, 1, POKEPATCH_HISTORY_BEFORE, 2000, "fix");
	synthetic_lost(&s, 2);
	elsewhere.address = SITE + 0x100;
	synthetic_text(&s, &elsewhere);
	synthetic_transition(&s, 1, POKEPATCH_HISTORY_AFTER, 6000, "fix");
	take(&s, &history);
	see(&history, SITE, JUMP, 5);
	history_past(&history, HISTORY_MONOTONIC, &past);
	assert_text(&past, 5999, "unknown ??????????");
	assert_text(&past, 6500, "known e9fbef0f3f");
	past_deinit(&past);
	history_deinit(&history);
}

/* The first of a change's two records is the one that is missing, and its number LOST's. */
static void test_lost_before(void **state)
{
	struct synthetic_text change = on;
	struct synthetic s = {0};
	struct history history;
	struct past past;

	(void)state;
	synthetic_info(&s, POKEPATCH_HISTORY_OTHERS);
	change.only_after = true;
	synthetic_lost(&s, 1);
	s.seq--;
	synthetic_text(&s, &change);
	take(&s, &history);
	history_past(&history, HISTORY_MONOTONIC, &past);
	assert_text(&past, 2500, "known e9fbef0f3f");
	past_deinit(&past);
	history_deinit(&history);
}

/* Times of two processors whose clocks differ. */
static void test_backwards(void **state)
{
	struct synthetic_text change = on;
	struct synthetic s = {0};
	struct history history;
	struct past past;

	(void)state;
	change.begin = on.end;
	change.end = on.begin;
	synthetic_info(&s, POKEPATCH_HISTORY_OTHERS);
	synthetic_text(&s, &change);
	take(&s, &history);
	see(&history, SITE, JUMP, 5);
	history_past(&history, HISTORY_MONOTONIC, &past);
	assert_text(&past, on.begin - 1, "known 0f1f440000");
	assert_text(&past, on.end, "known e9fbef0f3f");
	past_deinit(&past);
	history_deinit(&history);
}

/* The oldest records are missing: the text before them is unknown. */
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
	assert_error(symbol_list_find(&symbols, "fixed", 3500, &address, &symbol), STATUS_FAILED,
		     "no function is called 'fixed' at that time");
	assert_error(symbol_list_find(&symbols, "12z", 3500, &address, &symbol), STATUS_FAILED, "is not an address");
	assert_error(symbol_list_find(&symbols, "fixed+z", 1600, &address, &symbol), STATUS_FAILED, "is not a number");
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
		cmocka_unit_test(test_lost_in_transition),
		cmocka_unit_test(test_lost_before),
		cmocka_unit_test(test_backwards),
		cmocka_unit_test(test_lost_in_front),
		cmocka_unit_test(test_lives),
		cmocka_unit_test(test_life_without_birth),
		cmocka_unit_test(test_both_ways),
		cmocka_unit_test(test_routes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
