/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For unit tests of the text history: makes one of records by hand, and checks what it answers. */
#ifndef POKEPATCH_TEST_PAST_RECORDS_H
#define POKEPATCH_TEST_PAST_RECORDS_H

#include "../text-history/records.h"
#include "errors.h"
#include "history/past.h"

#define SITE (SYNTHETIC_STEXT + 0x1000)
#define NOP "\x0f\x1f\x44\x00\x00"
#define JUMP "\xe9\xfb\xef\x0f\x3f"
#define CALL "\xe8\x11\x22\x33\x44"

/* A history of the records, which are used up. */
static inline void take(struct synthetic *s, struct history *ret)
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
static inline void see(struct history *history, uint64_t address, const char *bytes, size_t size)
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
static inline const char *text_at(const struct past *past, uint64_t time, uint64_t address,
				  size_t size)
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

#endif /* POKEPATCH_TEST_PAST_RECORDS_H */
