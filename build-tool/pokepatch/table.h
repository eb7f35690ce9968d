/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Output as tables, records, or JSON. */
#ifndef POKEPATCH_CLI_TABLE_H
#define POKEPATCH_CLI_TABLE_H

#include <json-c/json.h>

#include "common/util.h"

struct table_column {
	const char *key;   /* of the row's JSON object */
	const char *title; /* the column's heading */
};

/*
 * table_print - print an array of flat objects as a table with titles, each column as wide as its
 * widest cell.  A missing or null member prints as "-".
 * @columns: ends with a NULL key
 */
void table_print(struct buffer *out, json_object *rows, const struct table_column *columns);
/*
 * record_print - print an object as lines "key:  value", with blanks for underscores in keys.
 * Members that are null, objects or arrays are left out.
 */
void record_print(struct buffer *out, json_object *record);
/* json_print - print a value, indented, with a newline at the end. */
void json_print(struct buffer *out, json_object *value);
/* json_add_text, json_add_number - add a member; a NULL text becomes null. */
void json_add_text(json_object *object, const char *key, const char *text);
void json_add_number(json_object *object, const char *key, int64_t number);
/* json_text - a member's text, which the object owns; NULL: there is none. */
const char *json_text(json_object *object, const char *key);
/* json_joined - the texts of an array with commas between, of the caller; "-" if there are none. */
char *json_joined(json_object *texts);
/* json_print_cves - print which CVEs a cumulative patch fixes, "cve", and does not, "unfixed". */
void json_print_cves(struct buffer *out, json_object *patch);

/* A variable with the attribute _json_ is put at the end of its scope. */
void cleanup_json(json_object **object);
#define _json_ __attribute__((cleanup(cleanup_json)))

#endif /* POKEPATCH_CLI_TABLE_H */
