/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A history as a timeline in the Trace Event Format (JSON), which Perfetto and Chrome open. */
#ifndef POKEPATCH_CLI_TIMELINE_H
#define POKEPATCH_CLI_TIMELINE_H

#include <json-c/json.h>

#include "pokepatch/view.h"

/* record_json - a record as an object, of the caller (history.c). */
json_object *record_json(const struct history_record *record);

/*
 * timeline_write - write a file with the history's events, with times in microseconds of the view's
 * clock.  Each of these has a track: the switches of patches, the stops of the machine in them, the
 * changes of text, and the code of modules.
 */
struct error *timeline_write(const struct view *view, const char *file);

#endif /* POKEPATCH_CLI_TIMELINE_H */
