// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the differ's result as JSON, and prints refusals. */
#include "diff/diff_report.h"

#include <errno.h>
#include <string.h>

static const char *const change_names[] = {
	[DIFF_CHANGED] = "changed",
	[DIFF_NEW] = "new",
	[DIFF_REMOVED] = "removed",
};

static void add_string(struct json_object *object, const char *key, const char *value)
{
	json_object_object_add(object, key, value ? json_object_new_string(value) : NULL);
}

static struct json_object *string_array(char *const *list, size_t count)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < count; i++)
		json_object_array_add(array, json_object_new_string(list[i]));
	return array;
}

void report_functions(struct json_object *array, const struct diff_result *result,
		      const char *parent, const char *mode)
{
	for (size_t i = 0; i < result->functions.count; i++) {
		const struct diff_function *function = &result->functions.list[i];
		struct json_object *item = json_object_new_object();

		add_string(item, "name", function->name);
		add_string(item, "parent", parent);
		add_string(item, "change", change_names[function->change]);
		json_object_object_add(item, "old_size",
				       json_object_new_int64(function->old_size));
		json_object_object_add(item, "new_size",
				       json_object_new_int64(function->new_size));
		json_object_object_add(item, "inlined_into",
				       string_array(function->inlined_into.list,
						    function->inlined_into.count));
		if (function->change == DIFF_CHANGED) {
			struct json_object *first = json_object_new_object();

			json_object_object_add(first, "offset",
					       json_object_new_int64(function->first_change));
			add_string(first, "source", function->source);
			json_object_object_add(item, "first_change", first);
			add_string(item, "mode", function->has_entry ? mode : "carried");
			json_object_object_add(item, "carried_by",
					       string_array(function->carried_by.list,
							    function->carried_by.count));
		}
		json_object_array_add(array, item);
	}
}

void report_data(struct json_object *array, const struct diff_result *result, const char *parent)
{
	for (size_t i = 0; i < result->data.count; i++) {
		struct json_object *item = json_object_new_object();

		add_string(item, "name", result->data.list[i].name);
		add_string(item, "parent", parent);
		add_string(item, "change", change_names[result->data.list[i].change]);
		json_object_array_add(array, item);
	}
}

void report_callbacks(struct json_object *array, const struct diff_result *result,
		      const char *parent)
{
	for (size_t i = 0; i < result->callbacks.count; i++) {
		struct json_object *item = json_object_new_object();

		add_string(item, "kind", diff_callback_name(result->callbacks.list[i].kind));
		add_string(item, "function", result->callbacks.list[i].function);
		add_string(item, "parent", parent);
		json_object_array_add(array, item);
	}
}

struct json_object *report_refusals(const struct refusals *refusals)
{
	struct json_object *array = json_object_new_array();

	for (size_t i = 0; i < refusals->count; i++) {
		const struct refusal *refusal = &refusals->list[i];
		struct json_object *item = json_object_new_object();

		add_string(item, "code", refusal->code);
		add_string(item, "subject", refusal->subject);
		add_string(item, "location", refusal->location);
		add_string(item, "text", refusal->text);
		json_object_object_add(item, "warning", json_object_new_boolean(refusal->warning));
		if (refusal->allowed)
			json_object_object_add(item, "allowed", json_object_new_boolean(true));
		json_object_array_add(array, item);
	}
	return array;
}

static const char *sort_keys[2]; /* for compare_members(), which json-c calls without a context */

static const char *member(struct json_object *object, const char *key)
{
	struct json_object *value;

	if (!key || !json_object_object_get_ex(object, key, &value) || !value)
		return "";
	return json_object_get_string(value);
}

static int compare_members(const void *left, const void *right)
{
	struct json_object *a = *(struct json_object *const *)left;
	struct json_object *b = *(struct json_object *const *)right;

	return strcmp(member(a, sort_keys[0]), member(b, sort_keys[0]))
		       ?: strcmp(member(a, sort_keys[1]), member(b, sort_keys[1]));
}

void report_sort(struct json_object *array, const char *first, const char *second)
{
	sort_keys[0] = first;
	sort_keys[1] = second;
	json_object_array_sort(array, compare_members);
}

struct error *report_save(struct json_object *report, const char *path)
{
	const char *text = json_object_to_json_string_ext(
		report, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
	char *line _free_ = xasprintf("%s\n", text);

	if (strcmp(path, "-"))
		return file_write(path, line, strlen(line));
	if (fputs(line, stdout) < 0 || fflush(stdout))
		return error_errno("cannot write the report");
	return NULL;
}

void refusals_print(const struct refusals *refusals, FILE *stream)
{
	for (size_t i = 0; i < refusals->count; i++) {
		const struct refusal *refusal = &refusals->list[i];

		fprintf(stream, "%s: %s [%s]: %s%s\n", refusal->location ?: refusal->subject,
			refusal->warning ? "warning" : "refused", refusal->code,
			refusal->allowed ? "allowed: " : "", refusal->text);
	}
}
