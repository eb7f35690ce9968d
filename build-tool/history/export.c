// SPDX-License-Identifier: GPL-2.0-or-later
/* Exported text histories; see export.h and FORMAT.md. */
#include <byteswap.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "history/export.h"

static const uint8_t magic[8] = {'p', 'k', 'p', 'h', 'i', 's', 't', 0x1a};
#define ORDER_MARK 0x01020304u
#define FORMAT_VERSION 1

struct header {
	uint8_t magic[8];
	uint32_t order;
	uint32_t version;
	uint64_t size;
	uint8_t sum[32];
	uint64_t zero;
};
struct chunk {
	uint32_t type;
	uint32_t zero;
	uint64_t size;
};
enum chunk_type {
	CHUNK_RECORDS = 1,
	CHUNK_TEXT = 2,
	CHUNK_SYMBOLS = 3,
	CHUNK_MODULES = 4,
	CHUNK_END = 5,
};
struct text_chunk {
	uint64_t address, mono, perf, seq;
	uint32_t size, base;
};
struct table_chunk {
	uint32_t count, zero;
};
struct table_entry {
	uint64_t address, size;
	uint32_t name, module;
};
struct end_chunk {
	uint64_t mono, perf;
};

static void sum_of(const void *bytes, size_t size, uint8_t ret[32])
{
	unsigned int length;

	EVP_Digest(bytes, size, ret, &length, EVP_sha256(), NULL);
}

/* ---- writing --------------------------------------------------------------------------- */

static void begin_chunk(struct buffer *out, enum chunk_type type, uint64_t size)
{
	const struct chunk chunk = {.type = type, .size = size};

	buffer_add(out, &chunk, sizeof(chunk));
}

static void end_chunk(struct buffer *out)
{
	static const uint8_t zeros[8];

	if (out->length % 8)
		buffer_add(out, zeros, 8 - out->length % 8);
}

static void add_chunk(struct buffer *out, enum chunk_type type, const void *bytes, size_t size)
{
	begin_chunk(out, type, size);
	buffer_add(out, bytes, size);
	end_chunk(out);
}

static void add_text(struct buffer *out, const struct history_sight *sight)
{
	const struct text_chunk text = {
		.address = sight->address,
		.mono = sight->time.ns[HISTORY_MONOTONIC],
		.perf = sight->time.ns[HISTORY_PERF],
		.seq = sight->seq,
		.size = sight->size,
		.base = sight->base,
	};

	begin_chunk(out, CHUNK_TEXT, sizeof(text) + sight->size);
	buffer_add(out, &text, sizeof(text));
	buffer_add(out, sight->bytes, sight->size);
	end_chunk(out);
}

/* Entries and their names, each name stored once. */
struct table {
	VEC(struct table_entry) entries;
	struct map names; /* to offsets in strings, plus one */
	struct buffer strings;
};

static uint32_t string_of(struct table *table, const char *text)
{
	void **slot;

	if (!text)
		return 0;
	slot = map_slot(&table->names, text);
	if (!*slot) {
		*slot = (void *)(uintptr_t)(table->strings.length + 1);
		buffer_add(&table->strings, text, strlen(text) + 1);
	}
	return (uint32_t)((uintptr_t)*slot - 1);
}

static void add_entry(struct table *table, uint64_t address, uint64_t size, const char *name,
		      const char *module)
{
	struct table_entry entry = {.address = address, .size = size};

	if (!table->strings.length)
		buffer_add(&table->strings, "", 1); /* offset 0 means no name */
	entry.name = string_of(table, name);
	entry.module = string_of(table, module);
	*vec_push(&table->entries) = entry;
}

static void add_table(struct buffer *out, enum chunk_type type, struct table *table)
{
	const struct table_chunk head = {.count = table->entries.count};
	const uint32_t strings =
		sizeof(head) + table->entries.count * sizeof(struct table_entry);

	begin_chunk(out, type, strings + table->strings.length);
	buffer_add(out, &head, sizeof(head));
	for (size_t i = 0; i < table->entries.count; i++) {
		struct table_entry entry = table->entries.list[i];

		entry.name += strings;
		entry.module += entry.module ? strings : 0;
		buffer_add(out, &entry, sizeof(entry));
	}
	buffer_add(out, table->strings.text, table->strings.length);
	end_chunk(out);
	vec_deinit(&table->entries);
	map_deinit(&table->names);
	buffer_deinit(&table->strings);
}

void history_pack(const struct history *history, struct buffer *ret)
{
	struct header header = {.order = ORDER_MARK, .version = FORMAT_VERSION};
	const struct end_chunk end = {history->end.ns[HISTORY_MONOTONIC],
				      history->end.ns[HISTORY_PERF]};
	struct table symbols = {0}, modules = {0};

	*ret = (struct buffer){0};
	memcpy(header.magic, magic, sizeof(magic));
	buffer_add(ret, &header, sizeof(header));
	for (size_t i = 0; i < history->raw.count; i++)
		add_chunk(ret, CHUNK_RECORDS, history->raw.list[i].bytes,
			  history->raw.list[i].size);
	for (size_t i = 0; i < history->sights.count; i++)
		add_text(ret, &history->sights.list[i]);
	for (size_t i = 0; i < history->symbols.count; i++)
		add_entry(&symbols, history->symbols.list[i].address,
			  history->symbols.list[i].size, history->symbols.list[i].name,
			  history->symbols.list[i].module);
	add_table(ret, CHUNK_SYMBOLS, &symbols);
	for (size_t i = 0; i < history->modules.count; i++)
		add_entry(&modules, history->modules.list[i].address,
			  history->modules.list[i].size, history->modules.list[i].name, NULL);
	add_table(ret, CHUNK_MODULES, &modules);
	add_chunk(ret, CHUNK_END, &end, sizeof(end));

	header.size = ret->length;
	sum_of(ret->text + sizeof(header), ret->length - sizeof(header), header.sum);
	memcpy(ret->text, &header, sizeof(header));
}

struct error *history_write(const struct history *history, const char *path)
{
	struct error *error;
	struct buffer file;

	history_pack(history, &file);
	error = file_write_named(path, file.text, file.length);
	buffer_deinit(&file);
	return error;
}

/* ---- reading --------------------------------------------------------------------------- */

struct reading {
	struct history *history;
	const uint8_t *bytes; /* the contents of the chunk */
	uint64_t size;
	bool swap;
	bool begun, ended; /* a chunk of records, of the end has been read */
};

static uint64_t swapped64(const struct reading *reading, uint64_t value)
{
	return reading->swap ? bswap_64(value) : value;
}

static uint32_t swapped32(const struct reading *reading, uint32_t value)
{
	return reading->swap ? bswap_32(value) : value;
}

static struct error *bad(const char *what)
{
	return error_new(STATUS_FAILED, "%s", what);
}

static struct error *take_records(struct reading *reading)
{
	struct history *history = reading->history;
	bool info;

	TRY(history_add_records(history, reading->bytes, reading->size, reading->swap,
				&info));
	if (!reading->begun && (!info || history->info.began.ns[HISTORY_MONOTONIC] == 0))
		return bad("the records do not begin with one about the history");
	reading->begun = true;
	return NULL;
}

static struct error *take_text(struct reading *reading)
{
	struct text_chunk text;
	struct history_sight sight;

	if (reading->size < sizeof(text))
		return bad("a piece of text is cut off");
	memcpy(&text, reading->bytes, sizeof(text));
	sight = (struct history_sight){
		.address = swapped64(reading, text.address),
		.size = swapped32(reading, text.size),
		.base = swapped32(reading, text.base),
		.time.ns = {[HISTORY_MONOTONIC] = swapped64(reading, text.mono),
			    [HISTORY_PERF] = swapped64(reading, text.perf)},
		.seq = swapped64(reading, text.seq),
		.bytes = reading->bytes + sizeof(text),
	};
	if (sight.size > reading->size - sizeof(text))
		return bad("a piece of text is longer than its place in the file");
	if (sight.address + sight.size < sight.address)
		return bad("a piece of text reaches beyond the last address");
	*vec_push(&reading->history->sights) = sight;
	return NULL;
}

/* A string of a table, or NULL for offset 0. */
static struct error *text_at(const struct reading *reading, uint32_t offset, const char **ret)
{
	*ret = NULL;
	if (!offset)
		return NULL;
	if (offset >= reading->size ||
	    !memchr(reading->bytes + offset, 0, reading->size - offset))
		return bad("a name lies outside of its table");
	*ret = history_clean(reading->history, (const char *)reading->bytes + offset);
	return NULL;
}

/* Read the entry of that index; *ret_more is false behind the last one. */
static struct error *table_next(const struct reading *reading, size_t index,
				struct text_symbol *ret, bool *ret_more)
{
	struct table_chunk head;
	struct table_entry entry;

	if (reading->size < sizeof(head))
		return bad("a table is cut off");
	memcpy(&head, reading->bytes, sizeof(head));
	head.count = swapped32(reading, head.count);
	if (head.count > (reading->size - sizeof(head)) / sizeof(entry))
		return bad("a table is longer than its place in the file");
	*ret_more = index < head.count;
	if (!*ret_more)
		return NULL;
	memcpy(&entry, reading->bytes + sizeof(head) + index * sizeof(entry), sizeof(entry));
	*ret = (struct text_symbol){
		.address = swapped64(reading, entry.address),
		.size = swapped64(reading, entry.size),
		.died = PAST_FOREVER,
	};
	if (ret->address + ret->size < ret->address)
		return bad("a table names a place beyond the last address");
	TRY(text_at(reading, swapped32(reading, entry.name), &ret->name));
	TRY(text_at(reading, swapped32(reading, entry.module), &ret->module));
	return ret->name ? NULL : bad("a table has an entry without a name");
}

static struct error *take_symbols(struct reading *reading)
{
	bool more = true;

	for (size_t i = 0; more; i++) {
		struct text_symbol symbol;

		TRY(table_next(reading, i, &symbol, &more));
		if (more)
			*vec_push(&reading->history->symbols) = symbol;
	}
	return NULL;
}

static struct error *take_modules(struct reading *reading)
{
	bool more = true;

	for (size_t i = 0; more; i++) {
		struct text_symbol symbol;

		TRY(table_next(reading, i, &symbol, &more));
		if (more)
			*vec_push(&reading->history->modules) = (struct history_module){
				symbol.address, symbol.size, symbol.name};
	}
	return NULL;
}

static struct error *take_end(struct reading *reading)
{
	struct end_chunk end;

	if (reading->size < sizeof(end))
		return bad("the end is cut off");
	memcpy(&end, reading->bytes, sizeof(end));
	reading->history->end.ns[HISTORY_MONOTONIC] = swapped64(reading, end.mono);
	reading->history->end.ns[HISTORY_PERF] = swapped64(reading, end.perf);
	reading->ended = true;
	return NULL;
}

static struct error *(*const take_chunk[])(struct reading *reading) = {
	[CHUNK_RECORDS] = take_records, [CHUNK_TEXT] = take_text, [CHUNK_SYMBOLS] = take_symbols,
	[CHUNK_MODULES] = take_modules, [CHUNK_END] = take_end,
};

static struct error *read_chunks(struct reading *reading, const uint8_t *bytes, size_t size)
{
	for (size_t at = sizeof(struct header); at < size;) {
		struct chunk chunk;
		uint32_t type;

		if (size - at < sizeof(chunk))
			return error_new(STATUS_FAILED, "it is cut off at byte %zu", at);
		memcpy(&chunk, bytes + at, sizeof(chunk));
		at += sizeof(chunk);
		type = swapped32(reading, chunk.type);
		reading->size = swapped64(reading, chunk.size);
		reading->bytes = bytes + at;
		if (reading->size > size - at)
			return error_new(STATUS_FAILED, "it is cut off at byte %zu", at);
		if (!reading->begun && type != CHUNK_RECORDS)
			return bad("it does not begin with records");
		if (type < ARRAY_SIZE(take_chunk) && take_chunk[type])
			TRY(error_prefix(take_chunk[type](reading), "at byte %zu", at));
		at += reading->size;
		at += -at % 8;
	}
	if (!reading->begun || !reading->ended)
		return bad("its end is missing");
	return NULL;
}

static struct error *check_header(const uint8_t *bytes, size_t size, bool trust, bool *ret_swap)
{
	struct header header;
	uint8_t sum[32];

	if (size < sizeof(header) || memcmp(bytes, magic, sizeof(magic)))
		return bad("it was not written by 'pokepatch history --export'");
	memcpy(&header, bytes, sizeof(header));
	if (header.order != ORDER_MARK && header.order != bswap_32(ORDER_MARK))
		return bad("its byte order is unknown");
	*ret_swap = header.order != ORDER_MARK;
	if (*ret_swap) {
		header.version = bswap_32(header.version);
		header.size = bswap_64(header.size);
	}
	if (header.version != FORMAT_VERSION)
		return error_new(STATUS_FAILED,
				 "it has format version %" PRIu32 ", this program reads %d: use "
				 "the release of pokepatch that wrote it",
				 header.version, FORMAT_VERSION);
	if (trust)
		return NULL;
	if (header.size != size)
		return error_new(STATUS_FAILED, "it has %zu bytes and should have %" PRIu64, size,
				 header.size);
	sum_of(bytes + sizeof(header), size - sizeof(header), sum);
	if (memcmp(sum, header.sum, sizeof(sum)))
		return bad("it is damaged: its sum is wrong");
	return NULL;
}

struct error *history_unpack(uint8_t *bytes, size_t size, bool trust, struct history *ret)
{
	struct reading reading = {.history = ret};
	struct error *error;

	*ret = (struct history){0};
	history_keep(ret, bytes);
	error = check_header(bytes, size, trust, &reading.swap);
	if (!error)
		error = read_chunks(&reading, bytes, size);
	if (error)
		history_deinit(ret);
	return error;
}

struct error *history_read(const char *path, struct history *ret)
{
	size_t length;
	char *text;

	TRY(file_read(path, &text, &length));
	return error_prefix(history_unpack((uint8_t *)text, length, false, ret), "cannot use '%s'",
			    path);
}

/* ---- choosing the text of an export ---------------------------------------------------- */

/* Text is read in pieces of at most this size, in bytes. */
#define RANGE_MAX (64 << 10)

static int compare_ranges(const void *a, const void *b)
{
	const struct history_range *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Sort the ranges, and merge those that overlap or touch. */
static void merge_ranges(struct history_ranges *ranges)
{
	size_t count = 0;

	if (!ranges->list.count)
		return;
	qsort(ranges->list.list, ranges->list.count, sizeof(*ranges->list.list), compare_ranges);
	for (size_t i = 0; i < ranges->list.count; i++) {
		const struct history_range *range = &ranges->list.list[i];
		struct history_range *last = count ? &ranges->list.list[count - 1] : NULL;

		if (last && range->address <= last->address + last->size) {
			uint64_t end = range->address + range->size;

			if (end > last->address + last->size)
				last->size = end - last->address;
		} else {
			ranges->list.list[count++] = *range;
		}
	}
	ranges->list.count = count;
}

/* Add a place and the function around it, clipped to text that is still there. */
static void add_function(struct history_ranges *ranges, const struct past *past,
			 const struct symbol_list *symbols, uint64_t time, uint64_t address,
			 uint64_t size)
{
	const struct past_life *life = size ? past_life_at(past, time, address) : NULL;
	const struct text_symbol *symbol;
	uint64_t end = address + size;

	if (!life)
		return;
	symbol = symbol_list_at(symbols, address, time);
	if (symbol && symbol->address >= life->address) {
		address = symbol->address;
		if (symbol->address + symbol->size > end)
			end = symbol->address + symbol->size;
	}
	if (end > life->address + life->size)
		end = life->address + life->size;
	*vec_push(&ranges->list) = (struct history_range){address, end - address};
}

/*
 * Cut the ranges into pieces: text that changes all the time can never be read whole, and must
 * not keep its neighbours from being read.
 */
static void cut_ranges(struct history_ranges *ranges)
{
	struct history_ranges pieces = {0};

	for (size_t i = 0; i < ranges->list.count; i++) {
		struct history_range rest = ranges->list.list[i];

		while (rest.size) {
			uint64_t size = rest.size < RANGE_MAX ? rest.size : RANGE_MAX;

			*vec_push(&pieces.list) = (struct history_range){rest.address, size};
			rest.address += size;
			rest.size -= size;
		}
	}
	vec_deinit(&ranges->list);
	*ranges = pieces;
}

void history_export_ranges(const struct history *history, bool all, struct history_ranges *ret)
{
	uint64_t time = history->end.ns[HISTORY_MONOTONIC];
	struct symbol_list symbols;
	struct past past;

	*ret = (struct history_ranges){0};
	history_past(history, HISTORY_MONOTONIC, &past);
	history_symbols(history, HISTORY_MONOTONIC, &past, &symbols);
	for (size_t i = 0; all && i < history->symbols.count; i++) {
		const struct text_symbol *symbol = &history->symbols.list[i];

		add_function(ret, &past, &symbols, time, symbol->address, symbol->size);
	}
	for (size_t i = 0; i < history->records.count; i++) {
		const struct history_record *record = &history->records.list[i];

		switch (record->type) {
		case POKEPATCH_HISTORY_ROUTE:
			add_function(ret, &past, &symbols, time, record->from, record->from_size);
			add_function(ret, &past, &symbols, time, record->to, record->to_size);
			add_function(ret, &past, &symbols, time, record->address, record->size);
			break;
		case POKEPATCH_HISTORY_APPEAR:
			if (record->kind == POKEPATCH_HISTORY_OTHER_TEXT)
				break;
			/* fall through */
		case POKEPATCH_HISTORY_TEXT:
			add_function(ret, &past, &symbols, time, record->address, record->size);
			break;
		default:
			break;
		}
	}
	symbol_list_deinit(&symbols);
	past_deinit(&past);
	merge_ranges(ret);
	cut_ranges(ret);
}

/* A time before all records that are not lost, and the number of the last lost one before it. */
static uint64_t beginning(const struct history *history, uint64_t *ret_seq,
			  struct history_stamp *ret)
{
	const struct history_record *first = history->records.list;

	*ret_seq = 0;
	*ret = history->info.began;
	if (history->records.count > 1 && first->type == POKEPATCH_HISTORY_LOST) {
		*ret_seq = first->seq + first->count - 1;
		*ret = first[1].time;
		for (int i = 0; i < HISTORY_CLOCKS; i++)
			if (first[1].type == POKEPATCH_HISTORY_TEXT)
				ret->ns[i] = first[1].begin.ns[i];
	}
	return ret->ns[HISTORY_MONOTONIC];
}

void history_add_base(struct history *history, const struct history_ranges *ranges)
{
	struct history_stamp stamp;
	uint64_t seq, time = beginning(history, &seq, &stamp);
	struct past past;

	history_past(history, HISTORY_MONOTONIC, &past);
	for (size_t i = 0; i < ranges->list.count; i++) {
		const struct history_range *range = &ranges->list.list[i];
		_free_ struct past_byte *bytes = xcalloc(range->size, sizeof(*bytes));
		uint8_t *values = history_keep(history, xmalloc(range->size));

		past_bytes(&past, time, range->address, range->size, bytes);
		for (size_t at = 0, start = 0; at <= range->size; at++) {
			bool known = at < range->size && (bytes[at].state == PAST_KNOWN ||
							  bytes[at].state == PAST_ASSUMED);

			if (known) {
				values[at] = bytes[at].value;
				continue;
			}
			if (at > start)
				*vec_push(&history->sights) = (struct history_sight){
					.address = range->address + start,
					.size = at - start,
					.base = true,
					.time = stamp,
					.seq = seq,
					.bytes = values + start,
				};
			start = at + 1;
		}
	}
	past_deinit(&past);
}

void history_prune(struct history *history, const struct history_ranges *ranges)
{
	struct span_list places = {0};
	size_t count = 0;

	for (size_t i = 0; i < ranges->list.count; i++)
		span_list_add(&places, ranges->list.list[i].address, ranges->list.list[i].size, i);
	span_list_sort(&places);
	for (size_t i = 0; i < history->symbols.count; i++) {
		const struct text_symbol symbol = history->symbols.list[i];
		size_t index = places.spans.count;

		if (symbol.size && span_list_each(&places, symbol.address,
						  symbol.address + symbol.size, &index))
			history->symbols.list[count++] = symbol;
	}
	history->symbols.count = count;
	span_list_deinit(&places);
}
