// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parsing the core's records.  They may come from a file, so nothing in them is trusted: a field is
 * read only if it lies within its record, and is zero if the record is older than the field.
 */
#include <byteswap.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "history/text_history.h"

struct raw {
	struct history *history;
	const uint8_t *bytes;
	uint32_t size;
	bool swap;
};

/* An unsigned integer of the record; 0 if the record ends in front of it. */
static uint64_t raw_field(const struct raw *raw, size_t offset, size_t width)
{
	uint64_t value = 0;
	uint32_t word;
	uint16_t half;

	if (offset + width > raw->size)
		return 0;
	switch (width) {
	case 1:
		return raw->bytes[offset];
	case 2:
		memcpy(&half, raw->bytes + offset, sizeof(half));
		return raw->swap ? bswap_16(half) : half;
	case 4:
		memcpy(&word, raw->bytes + offset, sizeof(word));
		return raw->swap ? bswap_32(word) : word;
	default:
		memcpy(&value, raw->bytes + offset, sizeof(value));
		return raw->swap ? bswap_64(value) : value;
	}
}

#define FIELD(raw, structure, member)                                                              \
	raw_field(raw, offsetof(struct structure, member),                                         \
		  sizeof(((struct structure *)NULL)->member))
#define FIELD_TEXT(raw, structure, member, ret)                                                    \
	raw_text(raw, FIELD(raw, structure, member), ret)

static struct error *bad(const char *what)
{
	return error_new(STATUS_FAILED, "%s", what);
}

/* A string of the record; *ret is NULL for offset 0. */
static struct error *raw_text(const struct raw *raw, uint64_t offset, const char **ret)
{
	*ret = NULL;
	if (!offset)
		return NULL;
	if (offset >= raw->size || !memchr(raw->bytes + offset, 0, raw->size - offset))
		return bad("has a name that ends outside of it");
	*ret = history_clean(raw->history, (const char *)raw->bytes + offset);
	return NULL;
}

static bool is_shown(char c)
{
	return c >= ' ' && c <= '~';
}

const char *history_clean(struct history *history, const char *name)
{
	const char *end = name;
	char *copy;

	while (is_shown(*end))
		end++;
	if (!*end)
		return name;
	copy = history_keep(history, xstrdup(name));
	for (char *c = copy; *c; c++)
		*c = is_shown(*c) ? *c : '?';
	return copy;
}

static struct history_stamp stamp(uint64_t mono, uint64_t perf)
{
	return (struct history_stamp){{[HISTORY_MONOTONIC] = mono, [HISTORY_PERF] = perf}};
}

static struct error *check_range(uint64_t address, uint64_t size)
{
	return address + size < address ? bad("reaches beyond the last address") : NULL;
}

/*
 * The two times are read by a task that may go to another processor meanwhile, and the clocks of
 * two may differ (local_clock() with a time-stamp counter that is not stable).
 */
static void order_times(struct history_record *record)
{
	for (int i = 0; i < HISTORY_CLOCKS; i++) {
		const uint64_t begin = record->begin.ns[i];

		if (begin <= record->end.ns[i])
			continue;
		record->begin.ns[i] = record->end.ns[i];
		record->end.ns[i] = begin;
	}
}

/*
 * Convert a time that the record has for the monotonic clock alone.  The clocks drift apart by some
 * parts in a million.
 */
static struct history_stamp convert(const struct history_info *info, uint64_t mono)
{
	uint64_t perf = mono - info->time.ns[HISTORY_MONOTONIC] + info->time.ns[HISTORY_PERF];

	return stamp(mono, (int64_t)perf < 0 ? 0 : perf);
}

/* ---- each type ------------------------------------------------------------------------- */

static struct error *take_info(struct history *history, const struct raw *raw,
			       struct history_record *record)
{
	struct history_info *info = &history->info;
	uint64_t length = FIELD(raw, pokepatch_history_info, build_id_len);
	struct buffer id = {0};

	if (FIELD(raw, pokepatch_history_info, magic) != POKEPATCH_HISTORY_MAGIC)
		return bad("does not belong to a text history");
	if (FIELD(raw, pokepatch_history_info, version) != POKEPATCH_HISTORY_VERSION)
		return error_new(STATUS_FAILED,
				 "has version %u of the history, this program knows %u: core "
				 "and program must be of one release of pokepatch",
				 (unsigned int)FIELD(raw, pokepatch_history_info, version),
				 POKEPATCH_HISTORY_VERSION);
	if (length > POKEPATCH_HISTORY_BUILD_ID_MAX ||
	    offsetof(struct pokepatch_history_info, build_id) + length > raw->size)
		return bad("has a build id that is too long");
	info->time = record->time;
	info->big_endian = raw->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	info->machine = FIELD(raw, pokepatch_history_info, elf_machine);
	info->others = record->flags & POKEPATCH_HISTORY_OTHERS;
	info->began = convert(info, FIELD(raw, pokepatch_history_info, began_ns));
	info->others_since = convert(info, FIELD(raw, pokepatch_history_info, others_ns));
	/* Older records have strings there.  The clocks may drift apart by seconds in a month. */
	if (FIELD(raw, pokepatch_history_info, release) >= sizeof(struct pokepatch_history_info)) {
		info->began.ns[HISTORY_PERF] = FIELD(raw, pokepatch_history_info, began_perf);
		info->others_since.ns[HISTORY_PERF] =
			FIELD(raw, pokepatch_history_info, others_perf);
	}
	info->modules = record->flags & POKEPATCH_HISTORY_MODULES;
	info->text = FIELD(raw, pokepatch_history_info, text);
	info->stext = FIELD(raw, pokepatch_history_info, stext);
	info->etext = FIELD(raw, pokepatch_history_info, etext);
	info->real_ns = FIELD(raw, pokepatch_history_info, real_ns);
	info->next_seq = FIELD(raw, pokepatch_history_info, next_seq);
	info->lost = FIELD(raw, pokepatch_history_info, lost);
	info->snapshots_lost = FIELD(raw, pokepatch_history_info, snapshots_lost);
	TRY(FIELD_TEXT(raw, pokepatch_history_info, release, &info->release));
	free(info->build_id);
	info->build_id = NULL;
	for (size_t i = 0; i < length; i++)
		buffer_printf(&id, "%02x",
			      raw->bytes[offsetof(struct pokepatch_history_info, build_id) + i]);
	info->build_id = id.text;
	return NULL;
}

static struct error *take_lost(struct history *history, const struct raw *raw,
			       struct history_record *record)
{
	(void)history;
	record->count = FIELD(raw, pokepatch_history_lost, count);
	if (!record->count || record->seq + record->count < record->seq)
		return bad("has an impossible number of lost records");
	return NULL;
}

static struct error *take_text(struct history *history, const struct raw *raw,
			       struct history_record *record)
{
	const size_t old = offsetof(struct pokepatch_history_text, old_bytes);
	const size_t new = offsetof(struct pokepatch_history_text, new_bytes);

	(void)history;
	if (raw->size < sizeof(struct pokepatch_history_text))
		return bad("is too short for a change of text");
	record->change = FIELD(raw, pokepatch_history_text, change);
	record->transition = FIELD(raw, pokepatch_history_text, transition);
	record->address = FIELD(raw, pokepatch_history_text, addr);
	record->begin = stamp(FIELD(raw, pokepatch_history_text, begin_ns),
			      FIELD(raw, pokepatch_history_text, begin_perf));
	record->end = stamp(FIELD(raw, pokepatch_history_text, end_ns),
			    FIELD(raw, pokepatch_history_text, end_perf));
	record->function = FIELD(raw, pokepatch_history_text, func);
	record->phase = FIELD(raw, pokepatch_history_text, phase);
	record->method = FIELD(raw, pokepatch_history_text, method);
	record->mode = FIELD(raw, pokepatch_history_text, mode);
	record->size = FIELD(raw, pokepatch_history_text, len);
	record->symbol_offset = FIELD(raw, pokepatch_history_text, symbol_offset);
	record->old = raw->bytes + old;
	record->new = raw->bytes + new;
	if (record->size > POKEPATCH_HISTORY_BYTES_MAX)
		return bad("changes more bytes than it has");
	if (record->phase > POKEPATCH_HISTORY_AFTER)
		return bad("is neither before nor after a change");
	TRY(FIELD_TEXT(raw, pokepatch_history_text, symbol, &record->symbol));
	TRY(FIELD_TEXT(raw, pokepatch_history_text, module, &record->module));
	TRY(FIELD_TEXT(raw, pokepatch_history_text, patch, &record->patch));
	order_times(record);
	return check_range(record->address, record->size);
}

static struct error *take_route(struct history *history, const struct raw *raw,
				struct history_record *record)
{
	(void)history;
	record->transition = FIELD(raw, pokepatch_history_route, transition);
	record->address = FIELD(raw, pokepatch_history_route, func);
	record->size = FIELD(raw, pokepatch_history_route, func_size);
	record->site = FIELD(raw, pokepatch_history_route, site);
	record->from = FIELD(raw, pokepatch_history_route, from);
	record->to = FIELD(raw, pokepatch_history_route, to);
	record->from_size = FIELD(raw, pokepatch_history_route, from_size);
	record->to_size = FIELD(raw, pokepatch_history_route, to_size);
	record->begin = stamp(FIELD(raw, pokepatch_history_route, begin_ns),
			      FIELD(raw, pokepatch_history_route, begin_perf));
	record->end = stamp(FIELD(raw, pokepatch_history_route, end_ns),
			    FIELD(raw, pokepatch_history_route, end_perf));
	record->method = FIELD(raw, pokepatch_history_route, method);
	record->mode = FIELD(raw, pokepatch_history_route, mode);
	TRY(FIELD_TEXT(raw, pokepatch_history_route, symbol, &record->symbol));
	TRY(FIELD_TEXT(raw, pokepatch_history_route, module, &record->module));
	TRY(FIELD_TEXT(raw, pokepatch_history_route, patch, &record->patch));
	order_times(record);
	TRY(check_range(record->from, record->from_size));
	TRY(check_range(record->to, record->to_size));
	return check_range(record->address, record->size);
}

static struct error *take_transition(struct history *history, const struct raw *raw,
				     struct history_record *record)
{
	(void)history;
	record->transition = FIELD(raw, pokepatch_history_transition, transition);
	record->stop_ns = FIELD(raw, pokepatch_history_transition, stop_ns);
	record->error = FIELD(raw, pokepatch_history_transition, error);
	record->functions = FIELD(raw, pokepatch_history_transition, functions);
	record->phase = FIELD(raw, pokepatch_history_transition, phase);
	record->kind = FIELD(raw, pokepatch_history_transition, kind);
	if (record->phase > POKEPATCH_HISTORY_AFTER)
		return bad("is neither before nor after a transition");
	TRY(FIELD_TEXT(raw, pokepatch_history_transition, patch, &record->patch));
	return FIELD_TEXT(raw, pokepatch_history_transition, module, &record->module);
}

static struct error *take_code(struct history *history, const struct raw *raw,
			       struct history_record *record)
{
	uint64_t bytes = FIELD(raw, pokepatch_history_code, bytes);
	uint64_t length = FIELD(raw, pokepatch_history_code, bytes_len);

	(void)history;
	record->address = FIELD(raw, pokepatch_history_code, addr);
	record->size = FIELD(raw, pokepatch_history_code, len);
	record->begin = stamp(FIELD(raw, pokepatch_history_code, born_ns),
			      FIELD(raw, pokepatch_history_code, born_perf));
	record->end = stamp(FIELD(raw, pokepatch_history_code, died_ns),
			    FIELD(raw, pokepatch_history_code, died_perf));
	record->kind = FIELD(raw, pokepatch_history_code, kind);
	TRY(FIELD_TEXT(raw, pokepatch_history_code, name, &record->symbol));
	TRY(FIELD_TEXT(raw, pokepatch_history_code, patch, &record->patch));
	TRY(check_range(record->address, record->size));
	if (record->type == POKEPATCH_HISTORY_APPEAR) {
		record->end = stamp(PAST_FOREVER, PAST_FOREVER);
		return NULL;
	}
	order_times(record);
	if (!length)
		return NULL;
	if (bytes > raw->size || length > raw->size - bytes || length != record->size)
		return bad("has bytes that lie outside of it");
	record->bytes = raw->bytes + bytes;
	return NULL;
}

/*
 * A symbol of an older core has the life of its code on the monotonic clock alone.  The SNAPSHOT of
 * the same code in front of it has the other clock too.
 */
static struct error *take_symbol(struct history *history, const struct raw *raw,
				 struct history_record *record)
{
	uint64_t born = FIELD(raw, pokepatch_history_symbol, born_ns);
	uint64_t died = FIELD(raw, pokepatch_history_symbol, died_ns);
	const struct history_record *last =
		history->records.count ? &history->records.list[history->records.count - 1] : NULL;

	record->address = FIELD(raw, pokepatch_history_symbol, addr);
	record->size = FIELD(raw, pokepatch_history_symbol, len);
	record->kind = FIELD(raw, pokepatch_history_symbol, kind);
	record->begin = convert(&history->info, born);
	record->end = convert(&history->info, died);
	if (FIELD(raw, pokepatch_history_symbol, died_perf)) {
		record->begin = stamp(born, FIELD(raw, pokepatch_history_symbol, born_perf));
		record->end = stamp(died, FIELD(raw, pokepatch_history_symbol, died_perf));
	} else if (last &&
	    (last->type == POKEPATCH_HISTORY_SNAPSHOT || last->type == POKEPATCH_HISTORY_SYMBOL) &&
	    last->begin.ns[HISTORY_MONOTONIC] == born && last->end.ns[HISTORY_MONOTONIC] == died) {
		record->begin = last->begin;
		record->end = last->end;
	}
	TRY(FIELD_TEXT(raw, pokepatch_history_symbol, name, &record->symbol));
	TRY(FIELD_TEXT(raw, pokepatch_history_symbol, module, &record->module));
	TRY(FIELD_TEXT(raw, pokepatch_history_symbol, patch, &record->patch));
	order_times(record);
	return check_range(record->address, record->size);
}

static const struct {
	struct error *(*take)(struct history *history, const struct raw *raw,
			      struct history_record *record);
	const char *name;
} types[] = {
	[POKEPATCH_HISTORY_INFO] = {take_info, "info"},
	[POKEPATCH_HISTORY_LOST] = {take_lost, "lost"},
	[POKEPATCH_HISTORY_TEXT] = {take_text, "text"},
	[POKEPATCH_HISTORY_ROUTE] = {take_route, "route"},
	[POKEPATCH_HISTORY_TRANSITION] = {take_transition, "transition"},
	[POKEPATCH_HISTORY_APPEAR] = {take_code, "appear"},
	[POKEPATCH_HISTORY_SNAPSHOT] = {take_code, "snapshot"},
	[POKEPATCH_HISTORY_SYMBOL] = {take_symbol, "symbol"},
};

/* ---- a row of records ------------------------------------------------------------------ */

static struct error *add_record(struct history *history, const struct raw *raw, bool *ret_info)
{
	struct history_record record = {
		.type = FIELD(raw, pokepatch_history_record, type),
		.flags = FIELD(raw, pokepatch_history_record, flags),
		.seq = FIELD(raw, pokepatch_history_record, seq),
		.time = stamp(FIELD(raw, pokepatch_history_record, mono_ns),
			      FIELD(raw, pokepatch_history_record, perf_ns)),
		.cpu = FIELD(raw, pokepatch_history_record, cpu),
	};
	const struct history_record *last =
		history->records.count ? &history->records.list[history->records.count - 1] : NULL;

	if ((unsigned int)record.type >= ARRAY_SIZE(types) || !types[record.type].take)
		return NULL; /* a type of a later version */
	TRY(types[record.type].take(history, raw, &record));
	if (record.type == POKEPATCH_HISTORY_INFO) {
		*ret_info = true;
		return NULL;
	}
	if (last && record.seq <= last->seq)
		return bad("is not in order");
	*vec_push(&history->records) = record;
	return NULL;
}

struct error *history_add_records(struct history *history, const uint8_t *bytes, size_t size,
				  bool swap, bool *ret_info)
{
	*ret_info = false;
	*vec_push(&history->raw) = (struct history_raw){bytes, size};
	for (size_t at = 0; at < size;) {
		struct raw raw = {
			.history = history, .bytes = bytes + at, .size = UINT32_MAX, .swap = swap};

		if (size - at < sizeof(struct pokepatch_history_record))
			return error_new(STATUS_FAILED, "the record at byte %zu is cut off", at);
		raw.size = FIELD(&raw, pokepatch_history_record, size);
		if (raw.size < sizeof(struct pokepatch_history_record) || raw.size % 8 ||
		    raw.size > POKEPATCH_HISTORY_RECORD_MAX || raw.size > size - at)
			return error_new(STATUS_FAILED,
					 "the record at byte %zu has the impossible size %" PRIu32,
					 at, raw.size);
		TRY(error_prefix(add_record(history, &raw, ret_info), "the record at byte %zu",
				 at));
		at += raw.size;
	}
	return NULL;
}

/* ---- words ----------------------------------------------------------------------------- */

const char *history_type_name(unsigned int type)
{
	return type < ARRAY_SIZE(types) ? types[type].name : NULL;
}

#define WORD_OF(words, number) ((number) < ARRAY_SIZE(words) ? (words)[number] : NULL)

const char *history_method_name(unsigned int method)
{
	static const char *const words[] = {
		[POKEPATCH_HISTORY_INT3] = "int3",
		[POKEPATCH_HISTORY_STORE] = "store",
		[POKEPATCH_HISTORY_STOP_MACHINE] = "stop_machine",
		[POKEPATCH_HISTORY_FTRACE] = "ftrace",
		[POKEPATCH_HISTORY_OTHER] = "other",
	};

	return WORD_OF(words, method);
}

const char *history_mode_name(unsigned int mode)
{
	static const char *const words[] = {NULL, "ftrace", "direct", "entry"};

	return WORD_OF(words, mode);
}

const char *history_kind_name(unsigned int kind)
{
	static const char *const words[] = {
		[POKEPATCH_HISTORY_ENABLE] = "enable",
		[POKEPATCH_HISTORY_DISABLE] = "disable",
		[POKEPATCH_HISTORY_PARENT_COMES] = "parent-comes",
		[POKEPATCH_HISTORY_PARENT_GOES] = "parent-goes",
		[POKEPATCH_HISTORY_MODULE_TEXT] = "module",
		[POKEPATCH_HISTORY_STUB] = "stub",
		[POKEPATCH_HISTORY_OTHER_TEXT] = "other-module",
	};

	return WORD_OF(words, kind);
}
