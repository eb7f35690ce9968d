// SPDX-License-Identifier: GPL-2.0-or-later
/* A history as a timeline; see timeline.h. */
#include "pokepatch/timeline.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pokepatch/table.h"

/* The tracks, as threads of one process. */
enum track { SWITCHES = 1, STOPS, TEXT_CHANGES, CODE, TRACKS };

static const char *const track_names[] = {
	[SWITCHES] = "switches",
	[STOPS] = "stops of the machine",
	[TEXT_CHANGES] = "changes of text",
	[CODE] = "code of modules",
};

/* A switch that has begun. */
struct open_switch {
	uint64_t number; /* the core's number of the transition */
	const struct history_record *before;
	uint64_t text_end; /* when the last of its changes of text was over; 0: there is none yet */
};

struct timeline {
	const struct view *view;
	json_object *events;
	VEC(struct open_switch) open; /* a few: the core makes one transition after the other */
};

static uint64_t time_of(const struct timeline *timeline, const struct history_stamp *stamp)
{
	return stamp->ns[timeline->view->clock];
}

/* A number of microseconds, with all digits of the nanoseconds. */
static json_object *microseconds(uint64_t ns)
{
	_free_ char *text = xasprintf("%" PRIu64 ".%03u", ns / 1000, (unsigned int)(ns % 1000));

	return json_object_new_double_s((double)ns / 1000, text);
}

/* Add an event.  @record: its arguments. */
static void add_event(struct timeline *timeline, enum track track, const char *name, uint64_t begin,
		      uint64_t end, const struct history_record *record)
{
	json_object *event = json_object_new_object();

	json_add_text(event, "name", name);
	json_add_text(event, "ph", "X");
	json_add_number(event, "pid", 1);
	json_add_number(event, "tid", track);
	json_object_object_add(event, "ts", microseconds(begin));
	json_object_object_add(event, "dur", microseconds(end > begin ? end - begin : 0));
	json_object_object_add(event, "args", record_json(record));
	json_object_array_add(timeline->events, event);
}

static void add_name(struct timeline *timeline, const char *what, int track, const char *name)
{
	json_object *event = json_object_new_object(), *arguments = json_object_new_object();

	json_add_text(event, "name", what);
	json_add_text(event, "ph", "M");
	json_add_number(event, "pid", 1);
	json_add_number(event, "tid", track);
	json_add_text(arguments, "name", name);
	json_object_object_add(event, "args", arguments);
	json_object_array_add(timeline->events, event);
}

static struct open_switch *find_switch(struct timeline *timeline, uint64_t number)
{
	for (size_t i = 0; i < timeline->open.count; i++)
		if (timeline->open.list[i].number == number)
			return &timeline->open.list[i];
	return NULL;
}

/* The end of a transition: the switch, and the stop in it, which ended with the last change. */
static void close_switch(struct timeline *timeline, struct open_switch *open,
			 const struct history_record *after)
{
	const char *kind = history_kind_name(after->kind);
	_free_ char *name = xasprintf("%s %s%s", kind ?: "switch", after->patch ?: "?",
				      after->error ? ", failed" : "");

	add_event(timeline, SWITCHES, name, time_of(timeline, &open->before->time),
		  time_of(timeline, &after->time), after);
	if (after->stop_ns && open->text_end > after->stop_ns)
		add_event(timeline, STOPS, name, open->text_end - after->stop_ns, open->text_end,
			  after);
	*open = timeline->open.list[--timeline->open.count];
}

static void add_transition(struct timeline *timeline, const struct history_record *record)
{
	struct open_switch *open = find_switch(timeline, record->transition);

	if (record->phase == POKEPATCH_HISTORY_BEFORE)
		*vec_push(&timeline->open) =
			(struct open_switch){.number = record->transition, .before = record};
	else if (open)
		close_switch(timeline, open, record);
}

static void add_text(struct timeline *timeline, const struct history_record *record)
{
	struct open_switch *open = find_switch(timeline, record->transition);
	const uint64_t begin = time_of(timeline, &record->begin);
	const uint64_t end = time_of(timeline, &record->end);
	_free_ char *name = record->symbol
				    ? xasprintf("%s+%#x", record->symbol, record->symbol_offset)
				    : xasprintf("%#" PRIx64, record->address);

	if (record->phase == POKEPATCH_HISTORY_BEFORE || end == PAST_FOREVER)
		return;
	add_event(timeline, TEXT_CHANGES, name, begin, end, record);
	if (open && end > open->text_end)
		open->text_end = end;
}

/* One of the two ends of what may overlap with others of its track. */
static void add_end(struct timeline *timeline, const char *phase, size_t id, const char *name,
		    uint64_t time, const struct history_record *record)
{
	json_object *event = json_object_new_object();

	json_add_text(event, "name", name);
	json_add_text(event, "cat", track_names[CODE]);
	json_add_text(event, "ph", phase);
	json_add_number(event, "id", (int64_t)id);
	json_add_number(event, "pid", 1);
	json_add_number(event, "tid", CODE);
	json_object_object_add(event, "ts", microseconds(time));
	if (record)
		json_object_object_add(event, "args", record_json(record));
	json_object_array_add(timeline->events, event);
}

/*
 * Code that came or went.  What was there before the core began with the history, and what is there
 * still lasts until its end.
 */
static void add_code(struct timeline *timeline)
{
	const struct past *past = &timeline->view->past;
	const uint64_t first = time_of(timeline, &timeline->view->history.info.began);
	const uint64_t last = time_of(timeline, &timeline->view->history.end);

	for (size_t i = 0; i < past->lives.count; i++) {
		const struct past_life *life = &past->lives.list[i];
		const struct history_record *record = life->user;
		const char *name = record ? record->symbol ?: record->module ?: "code" : NULL;

		if (!record)
			continue;
		add_end(timeline, "b", i + 1, name, life->born > first ? life->born : first, record);
		add_end(timeline, "e", i + 1, name, life->died < last ? life->died : last, NULL);
	}
}

static void (*const add[])(struct timeline *timeline, const struct history_record *record) = {
	[POKEPATCH_HISTORY_TEXT] = add_text,
	[POKEPATCH_HISTORY_TRANSITION] = add_transition,
};

struct error *timeline_write(const struct view *view, const char *file)
{
	const struct history *history = &view->history;
	_free_ char *process = xasprintf("Linux %s", history->info.release ?: "");
	struct timeline timeline = {.view = view, .events = json_object_new_array()};
	_json_ json_object *document = json_object_new_object();
	const char *text;

	json_add_text(document, "displayTimeUnit", "ns");
	json_object_object_add(document, "traceEvents", timeline.events);
	add_name(&timeline, "process_name", 0, process);
	for (int track = SWITCHES; track < TRACKS; track++)
		add_name(&timeline, "thread_name", track, track_names[track]);
	for (size_t i = 0; i < history->records.count; i++) {
		const struct history_record *record = &history->records.list[i];

		if (record->type < ARRAY_SIZE(add) && add[record->type])
			add[record->type](&timeline, record);
	}
	add_code(&timeline);
	vec_deinit(&timeline.open);
	text = json_object_to_json_string_ext(document, JSON_C_TO_STRING_PLAIN);
	return file_write_named(file, text, strlen(text));
}
