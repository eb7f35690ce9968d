// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables, records and JSON; see table.h. */
#include <stdlib.h>
#include <string.h>

#include "table.h"

void cleanup_json(json_object **object)
{
	json_object_put(*object); /* NULL is allowed */
}

void json_add_text(json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, text ? json_object_new_string(text) : NULL);
}

void json_add_number(json_object *object, const char *key, int64_t number)
{
	json_object_object_add(object, key, json_object_new_int64(number));
}

void json_print(struct buffer *out, json_object *value)
{
	const int flags =
		JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE;

	buffer_printf(out, "%s\n", json_object_to_json_string_ext(value, flags));
}

static const char *cell(json_object *row, const char *key)
{
	json_object *value = NULL;

	json_object_object_get_ex(row, key, &value);
	return value ? json_object_get_string(value) : "-";
}

void table_print(struct buffer *out, json_object *rows, const struct table_column *columns)
{
	size_t count = json_object_array_length(rows);

	for (size_t line = 0; line <= count; line++) {
		json_object *row = line ? json_object_array_get_idx(rows, line - 1) : NULL;

		for (const struct table_column *c = columns; c->key; c++) {
			size_t width = strlen(c->title);

			for (size_t i = 0; i < count; i++) {
				size_t length =
					strlen(cell(json_object_array_get_idx(rows, i), c->key));

				width = length > width ? length : width;
			}
			if (!c[1].key) /* no blanks at the end of a line */
				width = 0;
			buffer_printf(out, "%-*s%s", (int)width, row ? cell(row, c->key) : c->title,
				      c[1].key ? "  " : "\n");
		}
	}
}

static bool is_line(json_object *value)
{
	return value && !json_object_is_type(value, json_type_array) &&
	       !json_object_is_type(value, json_type_object);
}

void record_print(struct buffer *out, json_object *record)
{
	size_t width = 0;

	json_object_object_foreach(record, key, value)
	{
		if (is_line(value) && strlen(key) > width)
			width = strlen(key);
	}
	json_object_object_foreach(record, name, member)
	{
		_free_ char *label = NULL;

		if (!is_line(member))
			continue;
		label = xasprintf("%s:", name);
		for (char *c = label; *c; c++)
			*c = *c == '_' ? ' ' : *c;
		buffer_printf(out, "%-*s  %s\n", (int)width + 1, label,
			      json_object_get_string(member));
	}
}
