// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer target: exported text histories.
 *
 * An input is such a file, whose size and sum are not looked at.  Nothing may crash, hang or
 * leak; what is wrong is told in one line; of what is not, all questions have an answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/decode.h"
#include "history/export.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ASKED_MAX 64 /* records, of each file; all of a long one take too long */

static void require(bool condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "fuzz_history: %s\n", what);
	abort();
}

static void count_line(void *context, const struct decode_line *line)
{
	require(line->size, "an instruction without bytes");
	*(size_t *)context += line->newer ? 0 : line->size;
}

/* The text of one place at one time, and what the answer must be like. */
static void ask_text(const struct past *past, struct decoder *decoder, uint64_t time,
		     uint64_t address, size_t size)
{
	struct past_byte bytes[64];
	size_t shown = 0;

	size = size < ARRAY_SIZE(bytes) ? size : ARRAY_SIZE(bytes);
	past_bytes(past, time, address, size, bytes);
	for (size_t i = 0; i < size; i++)
		require(bytes[i].state <= PAST_EITHER, "a byte in no state");
	decoder_each(decoder, bytes, address, size, count_line, &shown);
}

static void ask_names(const struct symbol_list *symbols, uint64_t time, uint64_t address,
		      const char *name)
{
	const struct text_symbol *symbol = symbol_list_at(symbols, address, time);
	_free_ char *text = symbol_text(symbols, address, time);
	uint64_t found;

	require(!symbol == !text, "a symbol without a text");
	if (name) {
		struct error *error = symbol_list_find(symbols, name, time, &found, &symbol);

		require(!error || *error->text, "an error without a text");
		error_destroy(error);
	}
}

static void ask_all(const struct history *history, enum history_clock clock)
{
	struct decoder *decoder =
		decoder_open(history->info.machine, history->info.big_endian);
	struct symbol_list symbols;
	struct routes routes;
	struct past past;

	history_past(history, clock, &past);
	history_routes(history, clock, &routes);
	history_symbols(history, clock, &past, &symbols);
	for (size_t i = 0; i < history->records.count && i < ASKED_MAX; i++) {
		const struct history_record *record = &history->records.list[i];
		const uint64_t times[] = {record->time.ns[clock], record->begin.ns[clock],
					  record->end.ns[clock], 0, UINT64_MAX};

		for (size_t j = 0; j < ARRAY_SIZE(times); j++) {
			ask_text(&past, decoder, times[j], record->address, record->size + 3);
			ask_text(&past, decoder, times[j], record->address - 1, 2);
			ask_names(&symbols, times[j], record->address, record->symbol);
			route_at(&routes, &past, times[j], record->address);
		}
	}
	for (size_t i = 0; i < history->sights.count && i < ASKED_MAX; i++)
		ask_text(&past, decoder, history->sights.list[i].time.ns[clock],
			 history->sights.list[i].address, history->sights.list[i].size);
	symbol_list_deinit(&symbols);
	routes_deinit(&routes);
	past_deinit(&past);
	decoder_close(decoder);
}

/* What was read can be written, and is the same when it is read again. */
static void write_again(const struct history *history)
{
	struct history again;
	struct buffer file;
	struct error *error;

	history_pack(history, &file);
	error = history_unpack((uint8_t *)file.text, file.length, false, &again);
	require(!error, error ? error->text : "");
	require(again.records.count == history->records.count, "not the same records");
	require(again.sights.count == history->sights.count, "not the same text");
	history_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct history history;
	struct error *error =
		history_unpack(memcpy(xmalloc(size + 1), data, size), size, true, &history);
	uint16_t host = 1;

	if (error) {
		require(*error->text && !strchr(error->text, '\n'), "a message is not one line");
		error_destroy(error);
		return 0;
	}
	for (int clock = 0; clock < HISTORY_CLOCKS; clock++)
		ask_all(&history, clock);
	if (history.info.big_endian == !*(uint8_t *)&host)
		write_again(&history);
	history_deinit(&history);
	return 0;
}
