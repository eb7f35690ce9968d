/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the JSON report (schema version 1) that come from the differ, and how refusals are
 * printed.
 */
#ifndef POKEPATCH_DIFF_REPORT_H
#define POKEPATCH_DIFF_REPORT_H

#include <json-c/json.h>

#include "diff/diff.h"

/*
 * report_functions, report_data, report_callbacks - append these parts of a result to a JSON array.
 * @parent: name of the parent, or NULL
 * @mode: word for the mode of functions that have an entry, or NULL
 */
void report_functions(struct json_object *array, const struct diff_result *result,
		      const char *parent, const char *mode);
void report_data(struct json_object *array, const struct diff_result *result, const char *parent);
void report_callbacks(struct json_object *array, const struct diff_result *result,
		      const char *parent);
/*
 * report_types - append the types that changed, but for those that an earlier result had too.
 * @seen: of the report, which the caller deinits
 */
struct report_seen {
	struct map keys;
	VEC(char *) owned;
};
void report_types(struct json_object *array, struct report_seen *seen,
		  const struct diff_result *result);
void report_seen_deinit(struct report_seen *seen);
/* report_refusals - make an array of all refusals and warnings. */
struct json_object *report_refusals(const struct refusals *refusals);
/* report_sort - sort an array of objects by a string member, then by another (or NULL). */
void report_sort(struct json_object *array, const char *first, const char *second);
/* report_save - write a report to a file, or to standard output for "-". */
struct error *report_save(struct json_object *report, const char *path);
/* refusals_print - print each refusal as one line, in the form that the manual page describes. */
void refusals_print(const struct refusals *refusals, FILE *stream);

#endif /* POKEPATCH_DIFF_REPORT_H */
