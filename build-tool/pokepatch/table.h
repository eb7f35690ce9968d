/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output that is a table or, with --json, the same data as JSON. */
#ifndef POKEPATCH_CLI_TABLE_H
#define POKEPATCH_CLI_TABLE_H

#include <json-c/json.h>

#include "common/util.h"

struct table_column {
	const char *key;   /* of the row's JSON object */
	const char *title; /* over the column */
};

/*
 * table_print - rows, an array of flat objects, as columns padded to the
 * widest cell, with titles; columns end with a NULL key.  A key that a row
 * lacks or has as null prints as "-".
 */
void table_print(struct buffer *out, json_object *rows, const struct table_column *columns);
/*
 * record_print - one object, a "key:  value" line for each member: blanks for
 * underscores in keys, nothing for null, objects and arrays.
 */
void record_print(struct buffer *out, json_object *record);
/* json_print - indented, with a newline at the end. */
void json_print(struct buffer *out, json_object *value);
/* json_add - add a member; a NULL text becomes null. */
void json_add_text(json_object *object, const char *key, const char *text);
void json_add_number(json_object *object, const char *key, int64_t number);

/* For _json_ variables: put at the end of the scope. */
void cleanup_json(json_object **object);
#define _json_ __attribute__((cleanup(cleanup_json)))

#endif /* POKEPATCH_CLI_TABLE_H */
