/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the JSON report (schema version 1) that come from the differ. */
#ifndef POKEPATCH_DIFF_REPORT_H
#define POKEPATCH_DIFF_REPORT_H

#include <json-c/json.h>

#include "diff/diff.h"

/* Append a result's functions, data and callbacks to JSON arrays; parent may be NULL. */
void report_functions(struct json_object *array, const struct diff_result *result,
		      const char *parent, const char *mode);
void report_data(struct json_object *array, const struct diff_result *result, const char *parent);
void report_callbacks(struct json_object *array, const struct diff_result *result,
		      const char *parent);
/* A new array of refusals, warnings included. */
struct json_object *report_refusals(const struct refusals *refusals);
/* Sort an array of objects by a string member, then by another (or NULL). */
void report_sort(struct json_object *array, const char *first, const char *second);
/* report_save - to a file, or to standard output for "-". */
struct error *report_save(struct json_object *report, const char *path);
/* refusals_print - one line each on a stream, as the contract has it. */
void refusals_print(const struct refusals *refusals, FILE *stream);

#endif /* POKEPATCH_DIFF_REPORT_H */
