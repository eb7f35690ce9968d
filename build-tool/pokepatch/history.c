// SPDX-License-Identifier: GPL-2.0-or-later
/* pokepatch history: list, follow and export the records of changes of the kernel's text. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pokepatch/cli.h"
#include "history/export.h"
#include "history/live_text.h"
#include "common/proc.h"
#include "pokepatch/table.h"
#include "pokepatch/timeline.h"
#include "pokepatch/view.h"

/* ---- records as JSON ------------------------------------------------------------------- */

static void add_address(json_object *row, const char *key, uint64_t address)
{
	_free_ char *text = address ? xasprintf("0x%" PRIx64, address) : NULL;

	json_add_text(row, key, text);
}

static void add_hex(json_object *row, const char *key, const uint8_t *bytes, size_t size)
{
	struct buffer text = {0};

	for (size_t i = 0; i < size; i++)
		buffer_printf(&text, "%02x", bytes[i]);
	json_add_text(row, key, text.text ? text.text : "");
	buffer_deinit(&text);
}

static void add_word(json_object *row, const char *key, const char *word, unsigned int number)
{
	_free_ char *digits = word ? NULL : xasprintf("%u", number);

	json_add_text(row, key, word ? word : digits);
}

static void add_interval(json_object *row, const char *begin, const char *end,
			 const struct history_record *record)
{
	_free_ char *begin_perf = xasprintf("%s_perf", begin);
	_free_ char *end_perf = xasprintf("%s_perf", end);
	_free_ char *begin_ns = xasprintf("%s_ns", begin);
	_free_ char *end_ns = xasprintf("%s_ns", end);

	json_add_number(row, begin_ns, record->begin.ns[HISTORY_MONOTONIC]);
	json_add_number(row, begin_perf, record->begin.ns[HISTORY_PERF]);
	if (record->end.ns[HISTORY_MONOTONIC] == PAST_FOREVER)
		return;
	json_add_number(row, end_ns, record->end.ns[HISTORY_MONOTONIC]);
	json_add_number(row, end_perf, record->end.ns[HISTORY_PERF]);
}

static const char *phase_name(const struct history_record *record)
{
	return record->phase == POKEPATCH_HISTORY_BEFORE ? "before" : "after";
}

static void add_flag(json_object *row, const char *key, bool set)
{
	json_object_object_add(row, key, json_object_new_boolean(set));
}

static void fill_text(json_object *row, const struct history_record *record)
{
	json_add_text(row, "phase", phase_name(record));
	json_add_number(row, "change", record->change);
	add_address(row, "address", record->address);
	json_add_number(row, "size", record->size);
	json_add_text(row, "symbol", record->symbol);
	json_add_number(row, "offset", record->symbol_offset);
	json_add_text(row, "module", record->module);
	add_hex(row, "old", record->old, record->size);
	add_hex(row, "new", record->new, record->size);
	add_word(row, "method", history_method_name(record->method), record->method);
	json_add_text(row, "mode", history_mode_name(record->mode));
	add_flag(row, "exact", record->flags & POKEPATCH_HISTORY_EXACT);
	add_interval(row, "begin", "end", record);
	add_address(row, "function", record->function);
	json_add_text(row, "patch", record->patch);
	json_add_number(row, "transition", record->transition);
}

static void fill_route(json_object *row, const struct history_record *record)
{
	json_add_text(row, "symbol", record->symbol);
	json_add_text(row, "module", record->module);
	add_address(row, "function", record->address);
	json_add_number(row, "size", record->size);
	add_address(row, "site", record->site);
	add_address(row, "from", record->from);
	add_address(row, "to", record->to);
	add_word(row, "method", history_method_name(record->method), record->method);
	json_add_text(row, "mode", history_mode_name(record->mode));
	add_flag(row, "exact", record->flags & POKEPATCH_HISTORY_EXACT);
	add_interval(row, "begin", "end", record);
	json_add_text(row, "patch", record->patch);
	json_add_number(row, "transition", record->transition);
}

static void fill_transition(json_object *row, const struct history_record *record)
{
	json_add_text(row, "phase", phase_name(record));
	add_word(row, "kind", history_kind_name(record->kind), record->kind);
	json_add_number(row, "transition", record->transition);
	json_add_text(row, "patch", record->patch);
	json_add_text(row, "module", record->module);
	if (record->phase == POKEPATCH_HISTORY_BEFORE)
		return;
	json_add_number(row, "error", record->error);
	json_add_number(row, "functions", record->functions);
	json_add_number(row, "stop_ns", record->stop_ns);
	add_flag(row, "live", record->flags & POKEPATCH_HISTORY_LIVE);
}

static void fill_code(json_object *row, const struct history_record *record)
{
	add_word(row, "kind", history_kind_name(record->kind), record->kind);
	json_add_text(row, "symbol", record->symbol);
	json_add_text(row, "module", record->module);
	add_address(row, "address", record->address);
	json_add_number(row, "size", record->size);
	add_interval(row, "born", "died", record);
	json_add_text(row, "patch", record->patch);
	if (record->type == POKEPATCH_HISTORY_SNAPSHOT)
		add_flag(row, "bytes", record->bytes);
}

static void fill_lost(json_object *row, const struct history_record *record)
{
	json_add_number(row, "count", record->count);
}

static void (*const fill[])(json_object *row, const struct history_record *record) = {
	[POKEPATCH_HISTORY_LOST] = fill_lost,
	[POKEPATCH_HISTORY_TEXT] = fill_text,
	[POKEPATCH_HISTORY_ROUTE] = fill_route,
	[POKEPATCH_HISTORY_TRANSITION] = fill_transition,
	[POKEPATCH_HISTORY_APPEAR] = fill_code,
	[POKEPATCH_HISTORY_SNAPSHOT] = fill_code,
	[POKEPATCH_HISTORY_SYMBOL] = fill_code,
};

json_object *record_json(const struct history_record *record)
{
	json_object *row = json_object_new_object();

	json_add_number(row, "seq", record->seq);
	json_add_text(row, "type", history_type_name(record->type));
	json_add_number(row, "time_ns", record->time.ns[HISTORY_MONOTONIC]);
	json_add_number(row, "perf_ns", record->time.ns[HISTORY_PERF]);
	json_add_number(row, "cpu", record->cpu);
	fill[record->type](row, record);
	return row;
}

/* ---- records as lines ------------------------------------------------------------------ */

/* "NAME+0x5 [MODULE]" */
static void put_place(struct buffer *out, const struct history_record *record)
{
	if (!record->symbol)
		buffer_printf(out, "0x%" PRIx64, record->address);
	else
		buffer_add_string(out, record->symbol);
	if (record->symbol && record->symbol_offset)
		buffer_printf(out, "+0x%" PRIx32, record->symbol_offset);
	if (record->module)
		buffer_printf(out, " [%s]", record->module);
}

static void put_bytes(struct buffer *out, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		buffer_printf(out, "%02x", bytes[i]);
}

static void put_text(struct buffer *out, const struct history_record *record)
{
	const char *method = history_method_name(record->method);

	buffer_printf(out, "%-6s 0x%" PRIx64 " ", phase_name(record), record->address);
	put_bytes(out, record->old, record->size);
	buffer_add_string(out, " -> ");
	put_bytes(out, record->new, record->size);
	buffer_printf(out, " %s ", method ? method : "?");
	put_place(out, record);
	if (record->patch)
		buffer_printf(out, " for %s", record->patch);
}

static void put_route(struct buffer *out, const struct history_record *record)
{
	const char *mode = history_mode_name(record->mode);

	buffer_printf(out, "0x%" PRIx64 " ", record->address);
	put_place(out, record);
	buffer_add_string(out, record->to ? " -> " : " -> the original");
	if (record->to)
		buffer_printf(out, "0x%" PRIx64 " of %s", record->to,
			      record->patch ? record->patch : "?");
	buffer_printf(out, " (%s)", mode ? mode : "?");
}

static void put_transition(struct buffer *out, const struct history_record *record)
{
	const char *kind = history_kind_name(record->kind);

	buffer_printf(out, "%-6s %s %s%s%s", phase_name(record), kind ? kind : "?",
		      record->patch ? record->patch : "", record->module ? " of " : "",
		      record->module ? record->module : "");
	if (record->phase == POKEPATCH_HISTORY_BEFORE)
		return;
	if (record->error)
		buffer_printf(out, ": %s", strerror(-record->error));
	else
		buffer_printf(out, ": %" PRIu32 " functions, stopped for %" PRIu64 " ns",
			      record->functions, record->stop_ns);
}

static void put_code(struct buffer *out, const struct history_record *record)
{
	buffer_printf(out, "0x%" PRIx64 " %" PRIu64 " bytes ", record->address, record->size);
	put_place(out, record);
	if (record->type == POKEPATCH_HISTORY_SNAPSHOT && !record->bytes)
		buffer_add_string(out, " (without the bytes)");
}

static void put_lost(struct buffer *out, const struct history_record *record)
{
	buffer_printf(out, "%" PRIu64 " records are missing: the ring was full", record->count);
}

static void (*const put[])(struct buffer *out, const struct history_record *record) = {
	[POKEPATCH_HISTORY_LOST] = put_lost,
	[POKEPATCH_HISTORY_TEXT] = put_text,
	[POKEPATCH_HISTORY_ROUTE] = put_route,
	[POKEPATCH_HISTORY_TRANSITION] = put_transition,
	[POKEPATCH_HISTORY_APPEAR] = put_code,
	[POKEPATCH_HISTORY_SNAPSHOT] = put_code,
	[POKEPATCH_HISTORY_SYMBOL] = put_code,
};

#define TITLE "SEQ     TIME                CPU  EVENT       WHAT\n"

static void put_record(struct buffer *out, const struct view *view,
		       const struct history_record *record)
{
	_free_ char *time = time_text(record->time.ns[view->clock]);

	buffer_printf(out, "%-6" PRIu64 "  %-18s  %-3" PRIu32 "  %-10s  ", record->seq, time,
		      record->cpu, history_type_name(record->type));
	put[record->type](out, record);
	buffer_add_string(out, "\n");
}

/* ---- listing --------------------------------------------------------------------------- */

static void list_all(struct cli_call *call, const struct view *view)
{
	const struct history *history = &view->history;
	_json_ json_object *rows = json_object_new_array();

	if (!cli_value(call, "json"))
		buffer_add_string(&call->out, TITLE);
	for (size_t i = 0; i < history->records.count; i++) {
		if (cli_value(call, "json"))
			json_object_array_add(rows, record_json(&history->records.list[i]));
		else
			put_record(&call->out, view, &history->records.list[i]);
	}
	if (cli_value(call, "json"))
		json_print(&call->out, rows);
}

/* One object on each line: an array would never be closed. */
static void follow_record(struct cli_call *call, const struct view *view,
			  const struct history_record *record)
{
	_json_ json_object *row = NULL;

	if (!cli_value(call, "json")) {
		put_record(&call->out, view, record);
		return;
	}
	row = record_json(record);
	buffer_printf(&call->out, "%s\n",
		      json_object_to_json_string_ext(row, JSON_C_TO_STRING_PLAIN |
								  JSON_C_TO_STRING_NOSLASHESCAPE));
}

/* Show new records until Ctrl-C, or until the core is removed. */
static struct error *follow(struct cli_call *call, struct view *view)
{
	struct history_info info = {0};
	bool more, gone = false;

	if (!cli_value(call, "json"))
		buffer_add_string(&call->out, TITLE);
	while (!gone && !proc_interrupted()) {
		/* A history of its own for each read: records that were shown are freed. */
		struct history now = {.info = info};

		struct error *error = live_read(view->fd, &now, -1, &more, &gone);
		for (size_t i = 0; !error && i < now.records.count; i++)
			follow_record(call, view, &now.records.list[i]);
		if (!error)
			error = cli_flush(call);
		info = (struct history_info){.time = now.info.time};
		history_deinit(&now);
		if (error)
			return error;
	}
	return NULL;
}

/* ---- routes at times ------------------------------------------------------------------- */

struct question {
	uint64_t time, address;
	uint64_t unit; /* ns in which the time may be: perf cuts off what is behind µs */
};

/* Parse "TIME ADDRESS", in place. */
static struct error *read_question(const struct view *view, char *line, struct question *ret)
{
	const struct text_symbol *symbol;
	char *rest = line;
	char *time = strsep(&rest, " \t"), *address;

	while (rest && isspace((unsigned char)*rest))
		rest++;
	address = strsep(&rest, " \t\r");
	while (rest && isspace((unsigned char)*rest))
		rest++;
	if (!address || !*address || (rest && *rest))
		return error_new(STATUS_FAILED, "a line must have a time and an address");
	if (!parse_time(time, &ret->time, &ret->unit))
		return error_new(STATUS_FAILED,
				 "'%s' is not a time: give seconds, such as 12.345678901", time);
	TRY(symbol_list_find(&view->symbols, address, ret->time, &ret->address, &symbol));
	return history_check_time(&view->history, view->clock, ret->time);
}

/* What is so all through the time that is meant, or else either or unknown. */
static struct route find_route(const struct view *view, const struct routes *routes,
			       const struct question *question)
{
	const struct route begin =
		route_at(routes, &view->past, question->time, question->address);
	struct route end = route_at(routes, &view->past, question->time + question->unit - 1,
				    question->address);

	if (begin.state != ROUTE_KNOWN || end.state != ROUTE_KNOWN)
		return begin.state == ROUTE_KNOWN || end.state == ROUTE_UNKNOWN ? end : begin;
	if (begin.last == end.last && begin.taken == end.taken)
		return end;
	end.state = ROUTE_EITHER;
	end.other = end.taken;
	end.taken = begin.taken;
	return end;
}

/* The patch of the function to which a route leads, or NULL: none is known. */
static const char *patch_of(const struct route *route, uint64_t function)
{
	const struct history_record *record;

	if (route->last && route->last->to == function) {
		record = route->last->user;
		return record->patch;
	}
	if (route->next && route->next->from == function) {
		record = route->next->user;
		return record->patch;
	}
	return NULL;
}

static const char *taken_word(const struct route *route)
{
	switch (route->state) {
	case ROUTE_KNOWN:
		return route->taken ? "new" : "old";
	case ROUTE_EITHER:
		return "either";
	case ROUTE_UNKNOWN:
		return "unknown";
	case ROUTE_NONE:
		break;
	}
	return "none"; /* no patch ever switched a function there */
}

static json_object *route_json(const struct view *view, const struct question *question,
			       const struct route *route)
{
	const struct route_change *change = route->last ? route->last : route->next;
	const struct history_record *record = change ? change->user : NULL;
	json_object *row = json_object_new_object();
	_free_ char *time = time_text(question->time);

	json_add_text(row, "time", time);
	json_add_number(row, view->clock == HISTORY_PERF ? "perf_ns" : "time_ns",
			question->time);
	add_address(row, "address", question->address);
	json_add_text(row, "taken", taken_word(route));
	json_add_text(row, "function", record ? record->symbol : NULL);
	json_add_text(row, "module", record ? record->module : NULL);
	if (record)
		add_word(row, "method", history_method_name(record->method), record->method);
	json_add_text(row, "patch",
		      route->state == ROUTE_KNOWN && route->taken
			      ? patch_of(route, route->taken)
		      : route->state == ROUTE_EITHER && change ? record->patch
							       : NULL);
	if (route->state == ROUTE_KNOWN || route->state == ROUTE_EITHER)
		add_address(row, "leads_to", route->taken ? route->taken : route->function);
	if (route->state == ROUTE_EITHER)
		add_address(row, "or_to", route->other ? route->other : route->function);
	return row;
}

/* Print a line with fixed columns, since there may be millions of lines. */
static void put_route_line(struct buffer *out, const struct question *question,
			   const struct route *route)
{
	const struct route_change *change = route->last ? route->last : route->next;
	const struct history_record *record = change ? change->user : NULL;
	const char *patch = route->state == ROUTE_KNOWN && route->taken
				    ? patch_of(route, route->taken)
			    : route->state == ROUTE_EITHER && change ? record->patch
								     : NULL;
	_free_ char *time = time_text(question->time);

	buffer_printf(out, "%-18s  0x%016" PRIx64 "  %-7s  %-20s  %s\n", time,
		      question->address, taken_word(route),
		      record && record->symbol ? record->symbol : "-", patch ? patch : "-");
}

/* The numbers of times and of ambiguous times, for each method of the nearest switch. */
struct share {
	size_t asked, either;
};
#define METHODS (POKEPATCH_HISTORY_OTHER + 1)

static void count_answer(struct share *shares, const struct route *route)
{
	const struct route_change *change = route->last ? route->last : route->next;
	const struct history_record *record = change ? change->user : NULL;

	if (!record || record->method >= METHODS || route->state < ROUTE_KNOWN)
		return;
	shares[record->method].asked++;
	shares[record->method].either += route->state == ROUTE_EITHER;
}

static void put_shares(struct buffer *out, const struct share *shares)
{
	for (unsigned int method = 0; method < METHODS; method++)
		if (shares[method].asked)
			buffer_printf(out, "# %s: %zu of %zu times are ambiguous (%.4f %%)\n",
				      history_method_name(method) ?: "?", shares[method].either,
				      shares[method].asked,
				      100.0 * shares[method].either / shares[method].asked);
}

/* The records are sorted once, so that each line takes two binary searches. */
static struct error *show_routes(struct cli_call *call, const struct view *view, char *text)
{
	_json_ json_object *rows = cli_value(call, "json") ? json_object_new_array() : NULL;
	struct share shares[METHODS] = {0};
	struct error *error = NULL;
	struct routes routes;
	char *line;

	if (!rows)
		buffer_add_string(&call->out, "TIME                ADDRESS             TAKEN    "
					      "FUNCTION              PATCH\n");

	history_routes(&view->history, view->clock, &routes);
	for (size_t number = 1; !error && (line = strsep(&text, "\n")); number++) {
		struct question question;
		struct route route;

		while (isspace((unsigned char)*line))
			line++;
		if (!*line || *line == '#')
			continue;
		error = error_prefix(read_question(view, line, &question), "line %zu", number);
		if (error)
			break;
		route = find_route(view, &routes, &question);
		count_answer(shares, &route);
		if (rows)
			json_object_array_add(rows, route_json(view, &question, &route));
		else
			put_route_line(&call->out, &question, &route);
	}
	routes_deinit(&routes);
	if (!error && rows)
		json_print(&call->out, rows);
	else if (!error)
		put_shares(&call->out, shares);
	return error;
}

static struct error *show_path(struct cli_call *call, const struct view *view)
{
	const char *name = cli_value(call, "path");
	_free_ char *text = NULL;
	size_t length;

	TRY(file_read(name, &text, &length));
	if (memchr(text, 0, length))
		return error_new(STATUS_FAILED, "'%s' is not a text file: it has a zero byte",
				 name);
	return error_prefix(show_routes(call, view, text), "%s", name);
}

/* ---- export ---------------------------------------------------------------------------- */

static struct error *export_history(struct cli_call *call, struct view *view)
{
	const char *name = cli_value(call, "export");
	struct history_ranges ranges = {0};
	struct live_range *wanted;
	struct error *error;
	size_t failed = 0;

	history_export_ranges(&view->history, cli_value(call, "all-text"), &ranges);
	wanted = xcalloc(ranges.list.count + 1, sizeof(*wanted));
	for (size_t i = 0; i < ranges.list.count; i++)
		wanted[i] = (struct live_range){ranges.list.list[i].address,
						ranges.list.list[i].size, false};
	error = live_sights(view->fd, &view->history, wanted, ranges.list.count);
	for (size_t i = 0; !error && i < ranges.list.count; i++)
		failed += wanted[i].failed;
	if (!error) {
		history_add_base(&view->history, &ranges);
		history_prune(&view->history, &ranges);
		error = history_write(&view->history, name);
	}
	if (!error) {
		buffer_printf(&call->out, "%s: %zu records, text of %zu places\n", name,
			      view->history.records.count, ranges.list.count - failed);
		if (failed)
			buffer_printf(&call->out,
				      "%zu more could not be read: they are gone, or change all "
				      "the time\n",
				      failed);
	}
	free(wanted);
	vec_deinit(&ranges.list);
	return error;
}

/* ---- the command ----------------------------------------------------------------------- */

static struct error *check_options(const struct cli_call *call)
{
	static const char *const what[] = {"follow", "export", "path", "perfetto"};
	const char *found = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(what); i++) {
		if (!cli_value(call, what[i]))
			continue;
		if (found)
			return error_new(STATUS_FAILED,
					 "--%s and --%s exclude each other: give one of them",
					 found, what[i]);
		found = what[i];
	}
	if (cli_value(call, "all-text") && !cli_value(call, "export"))
		return error_new(STATUS_FAILED, "--all-text needs --export FILE");
	if (cli_value(call, "from") && (cli_value(call, "follow") || cli_value(call, "export")))
		return error_new(STATUS_FAILED,
				 "--%s works on the running kernel and not on a file: leave out "
				 "--from",
				 found);
	return NULL;
}

struct error *cli_history(struct cli_call *call)
{
	struct error *error;
	struct view view;

	TRY(check_options(call));
	if (cli_value(call, "follow")) {
		view = (struct view){.fd = -1};
		error = live_open(&view.fd);
		if (!error)
			error = follow(call, &view);
		view_deinit(&view);
		return error;
	}
	error = view_open(call, &view);
	if (!error && cli_value(call, "export"))
		error = export_history(call, &view);
	else if (!error && cli_value(call, "perfetto"))
		error = timeline_write(&view, cli_value(call, "perfetto"));
	else if (!error && cli_value(call, "path"))
		error = show_path(call, &view);
	else if (!error)
		list_all(call, &view);
	view_deinit(&view);
	return error;
}
