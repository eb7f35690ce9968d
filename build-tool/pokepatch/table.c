// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables, records and JSON; see table.h. */
#include <stdlib.h>
#include <string.h>

#include "pokepatch/table.h"

void cleanup_json(json_object **object)
{
	json_object_put(*object); /* NULL is allowed */
}

void json_add_text(json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, text ? json_object_new_string(text) : NULL);
}

const char *json_text(json_object *object, const char *key)
{
	json_object *value = NULL;

	json_object_object_get_ex(object, key, &value);
	return value ? json_object_get_string(value) : NULL;
}

char *json_joined(json_object *texts)
{
	const size_t count = json_object_is_type(texts, json_type_array)
				     ? json_object_array_length(texts)
				     : 0;
	struct buffer out = {0};

	for (size_t i = 0; i < count; i++)
		buffer_printf(&out, "%s%s", i ? "," : "",
			      json_object_get_string(json_object_array_get_idx(texts, i)));
	return out.text ?: xstrdup("-");
}

void json_print_cves(struct buffer *out, json_object *patch)
{
	static const struct {
		const char *key, *label;
	} lists[] = {{"cve", "fixes"}, {"unfixed", "does not fix"}};
	json_object *list = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		if (!json_object_object_get_ex(patch, lists[i].key, &list) ||
		    !json_object_array_length(list))
			continue;
		_free_ char *numbers = json_joined(list);
		buffer_printf(out, "%s: %s\n", lists[i].label, numbers);
	}
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

/* The last column is not padded, so that no line ends with blanks. */
static void print_cell(struct buffer *out, const struct table_column *column, size_t width,
		       const char *text)
{
	const bool last = !column[1].key;

	buffer_printf(out, "%-*s%s", last ? 0 : (int)width, text, last ? "\n" : "  ");
}

void table_print(struct buffer *out, json_object *rows, const struct table_column *columns)
{
	const size_t count = json_object_array_length(rows);
	_free_ size_t *widths = NULL;
	size_t n = 0;

	while (columns[n].key)
		n++;
	widths = xcalloc(n, sizeof(*widths));
	for (size_t c = 0; c < n; c++)
		widths[c] = strlen(columns[c].title);
	for (size_t i = 0; i < count; i++) {
		json_object *row = json_object_array_get_idx(rows, i);

		for (size_t c = 0; c < n; c++) {
			const size_t length = strlen(cell(row, columns[c].key));

			widths[c] = length > widths[c] ? length : widths[c];
		}
	}
	for (size_t c = 0; c < n; c++)
		print_cell(out, &columns[c], widths[c], columns[c].title);
	for (size_t i = 0; i < count; i++) {
		json_object *row = json_object_array_get_idx(rows, i);

		for (size_t c = 0; c < n; c++)
			print_cell(out, &columns[c], widths[c], cell(row, columns[c].key));
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
