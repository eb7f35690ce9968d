// SPDX-License-Identifier: GPL-2.0-or-later
/* pokepatch text: show the kernel's text as it was at some time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pokepatch/cli.h"
#include "history/decode.h"
#include "history/live_text.h"
#include "pokepatch/table.h"
#include "pokepatch/view.h"

/* In bytes: of a question, of a function if no length is given, and outside of functions. */
#define LENGTH_MAX (1 << 20)
#define LENGTH_DEFAULT_MAX (1 << 16)
#define LENGTH_NO_SYMBOL 16

static const char *const state_names[] = {
	[PAST_NONE] = "none",
	[PAST_UNKNOWN] = "unknown",
	[PAST_KNOWN] = "known",
	[PAST_ASSUMED] = "assumed",
	[PAST_EITHER] = "either",
};

/* The user's question, and its answer. */
struct question {
	uint64_t time, address;
	size_t size;
	bool now;		 /* --at was not given */
	struct past_byte *bytes; /* the answer */
};

static struct error *read_question(const struct cli_call *call, const struct view *view,
				   struct question *ret)
{
	const char *at = cli_value(call, "at");
	const struct text_symbol *symbol;
	uint64_t size, unit;

	ret->time = view->history.end.ns[view->clock];
	ret->now = !at || strcmp(at, "now") == 0;
	if (!ret->now && !parse_time(at, &ret->time, &unit))
		return error_new(STATUS_FAILED,
				 "'%s' is not a time: give seconds of the clock that --clock "
				 "names, such as 12.345678901",
				 at);
	TRY(history_check_time(&view->history, view->clock, ret->time));
	TRY(symbol_list_find(&view->symbols, call->arguments[0], ret->time, &ret->address,
			     &symbol));
	if (call->count > 1) {
		if (!parse_address(call->arguments[1], &size) || !size || size > LENGTH_MAX)
			return error_new(
				STATUS_FAILED,
				"'%s' is not a length: give a number of bytes from 1 to %d",
				call->arguments[1], LENGTH_MAX);
	} else if (symbol && ret->address < symbol->address + symbol->size) {
		size = symbol->address + symbol->size - ret->address;
		size = size < LENGTH_DEFAULT_MAX ? size : LENGTH_DEFAULT_MAX;
	} else {
		size = LENGTH_NO_SYMBOL;
	}
	if (ret->address + size < ret->address)
		return error_new(STATUS_FAILED, "0x%" PRIx64 " and %" PRIu64
				 " bytes reach beyond the last address",
				 ret->address, size);
	ret->size = size;
	return NULL;
}

/* Read the text that is there now, if the place of the question still has text. */
static struct error *look_at_text(struct view *view, struct question *question)
{
	uint64_t now = view->history.end.ns[view->clock];
	struct live_range range = {question->address, question->size, false};

	if (view->fd < 0 || !past_life_at(&view->past, now, question->address))
		return NULL;
	TRY(live_sights(view->fd, &view->history, &range, 1));
	view_settle(view);
	if (question->now) /* the time at which it was read */
		question->time = view->history.end.ns[view->clock];
	return NULL;
}

/* ---- printing -------------------------------------------------------------------------- */

struct printing {
	const struct view *view;
	const struct question *question;
	struct buffer *out;  /* for text */
	json_object *array;  /* for JSON */
};

static char *hex(const uint8_t *bytes, size_t size, const char *between)
{
	struct buffer text = {0};

	for (size_t i = 0; i < size; i++)
		buffer_printf(&text, "%s%02x", i ? between : "", bytes[i]);
	return text.text ? text.text : xstrdup("");
}

static const char *state_word(const struct decode_line *line)
{
	if (line->state == PAST_EITHER)
		return line->newer ? "either new" : "either old";
	return line->state == PAST_KNOWN ? "" : state_names[line->state];
}

static void print_line(void *context, const struct decode_line *line)
{
	const struct printing *printing = context;
	const struct text_symbol *symbol = symbol_list_at(
		&printing->view->symbols, line->address, printing->question->time);
	bool missing = line->state == PAST_NONE || line->state == PAST_UNKNOWN;
	_free_ char *bytes = missing ? xasprintf("%zu byte%s", line->size,
						 line->size == 1 ? "" : "s")
				     : hex(line->bytes, line->size, " ");
	_free_ char *target =
		line->target ? symbol_text(&printing->view->symbols, line->target,
					   printing->question->time)
			     : NULL;

	if (symbol && symbol->address == line->address && !line->newer)
		buffer_printf(printing->out, "%016" PRIx64 " <%s>:\n", line->address,
			      symbol->name);
	buffer_printf(printing->out, "  %016" PRIx64 "  %-30s %-10s  %s%s%s%s\n", line->address,
		      bytes, state_word(line),
		      line->text ? line->text
		      : missing	 ? ""
				 : "(no instruction)",
		      target ? " <" : "", target ? target : "", target ? ">" : "");
}

static void add_line(void *context, const struct decode_line *line)
{
	const struct printing *printing = context;
	bool missing = line->state == PAST_NONE || line->state == PAST_UNKNOWN;
	_free_ char *bytes = missing ? NULL : hex(line->bytes, line->size, "");
	_free_ char *address = xasprintf("0x%" PRIx64, line->address);
	_free_ char *target = line->target ? xasprintf("0x%" PRIx64, line->target) : NULL;
	_free_ char *place = line->target
				     ? symbol_text(&printing->view->symbols, line->target,
						   printing->question->time)
				     : NULL;
	json_object *row = json_object_new_object();

	json_add_text(row, "address", address);
	json_add_number(row, "size", line->size);
	json_add_text(row, "state", state_names[line->state]);
	if (line->state == PAST_EITHER)
		json_add_text(row, "side", line->newer ? "new" : "old");
	json_add_text(row, "bytes", bytes);
	json_add_text(row, "instruction", line->text);
	json_add_text(row, "target", target);
	json_add_text(row, "target_symbol", place);
	json_object_array_add(printing->array, row);
}

/* All bytes in hexadecimal, with "??" for each unknown one.  Owned by the caller. */
static char *all_bytes(const struct question *question, bool newer)
{
	struct buffer text = {0};

	for (size_t i = 0; i < question->size; i++) {
		const struct past_byte *byte = &question->bytes[i];

		if (past_is_there(byte))
			buffer_printf(&text, "%02x",
				      newer && byte->state == PAST_EITHER ? byte->other
									  : byte->value);
		else
			buffer_add_string(&text, "??");
	}
	return text.text;
}

static size_t count_state(const struct question *question, enum past_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < question->size; i++)
		count += question->bytes[i].state == state;
	return count;
}

static void print_json(struct cli_call *call, struct printing *printing, struct decoder *decoder)
{
	const struct question *question = printing->question;
	_json_ json_object *object = json_object_new_object();
	_free_ char *address = xasprintf("0x%" PRIx64, question->address);
	_free_ char *symbol =
		symbol_text(&printing->view->symbols, question->address, question->time);
	_free_ char *bytes = all_bytes(question, false);
	_free_ char *newer =
		count_state(question, PAST_EITHER) ? all_bytes(question, true) : NULL;

	printing->array = json_object_new_array();
	json_add_text(object, "clock", view_clock_name(printing->view));
	json_add_number(object, "time_ns", question->time);
	json_add_text(object, "address", address);
	json_add_text(object, "symbol", symbol);
	json_add_number(object, "size", question->size);
	json_add_number(object, "unknown",
			count_state(question, PAST_UNKNOWN) + count_state(question, PAST_NONE));
	json_add_number(object, "assumed", count_state(question, PAST_ASSUMED));
	json_add_text(object, "bytes", bytes);
	json_add_text(object, "newer_bytes", newer);
	json_object_object_add(object, "instructions", printing->array);
	decoder_each(decoder, question->bytes, question->address, question->size, add_line,
		     printing);
	json_print(&call->out, object);
}

static void print_text(struct cli_call *call, struct printing *printing, struct decoder *decoder)
{
	const struct question *question = printing->question;
	_free_ char *time = time_text(question->time);
	_free_ char *symbol =
		symbol_text(&printing->view->symbols, question->address, question->time);

	buffer_printf(&call->out, "%s, %zu bytes, at %s (%s clock)\n",
		      symbol ? symbol : "no symbol", question->size, time,
		      view_clock_name(printing->view));
	printing->out = &call->out;
	decoder_each(decoder, question->bytes, question->address, question->size, print_line,
		     printing);
	if (count_state(question, PAST_UNKNOWN))
		buffer_printf(&call->out,
			      "unknown: it was changed without a record, records are missing, or "
			      "it is not in the file\n");
	if (count_state(question, PAST_ASSUMED))
		buffer_printf(&call->out,
			      "assumed: no record contradicts it, but other writers' changes are "
			      "not recorded\n");
}

static struct error *answer(struct cli_call *call, struct view *view)
{
	struct question question = {0};
	struct printing printing = {.view = view, .question = &question};
	struct decoder *decoder;

	TRY(read_question(call, view, &question));
	TRY(look_at_text(view, &question));

	_free_ struct past_byte *bytes = xcalloc(question.size, sizeof(*bytes));

	question.bytes = bytes;
	past_bytes(&view->past, question.time, question.address, question.size, bytes);
	if (count_state(&question, PAST_NONE) == question.size)
		return error_new(STATUS_FAILED,
				 "at 0x%" PRIx64 " there was no text of the kernel or a module at "
				 "that time, as far as the history knows",
				 question.address);
	decoder = decoder_open(view->history.info.machine, view->history.info.big_endian);
	if (cli_value(call, "json"))
		print_json(call, &printing, decoder);
	else
		print_text(call, &printing, decoder);
	decoder_close(decoder);
	return NULL;
}

struct error *cli_text(struct cli_call *call)
{
	struct view view;
	struct error *error = view_open(call, &view);

	if (!error)
		error = answer(call, &view);
	view_deinit(&view);
	return error;
}
