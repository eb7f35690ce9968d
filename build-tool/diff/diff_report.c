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
			add_string(item, "mode", function->overwrites  ? "entry"
						 : function->has_entry ? mode
								       : "carried");
			if (function->overwrites)
				json_object_object_add(item, "overwrites",
						       json_object_new_int(function->overwrites));
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

static void add_number(struct json_object *object, const char *key, int64_t value)
{
	json_object_object_add(object, key, json_object_new_int64(value));
}

/* One build's place and type of a member. */
static void add_member_place(struct json_object *item, const struct type_member *member,
			     const char *prefix, uint64_t offset, uint64_t size, const char *type)
{
	char offset_key[16], size_key[16], type_key[16];

	snprintf(offset_key, sizeof(offset_key), "%s_%s", prefix,
		 member->bit_field ? "bit" : "offset");
	snprintf(size_key, sizeof(size_key), "%s_%s", prefix, member->bit_field ? "bits" : "size");
	snprintf(type_key, sizeof(type_key), "%s_type", prefix);
	add_number(item, offset_key, member->bit_field ? offset : offset / 8);
	add_number(item, size_key, member->bit_field ? size : size / 8);
	add_string(item, type_key, type);
}

static struct json_object *member_object(const struct type_change *change,
					 const struct type_member *member)
{
	struct json_object *item = json_object_new_object();

	add_string(item, "name", member->name);
	add_string(item, "change", member_change_name(member->change));
	if (member->old_name)
		add_string(item, "old_name", member->old_name);
	json_object_object_add(item, "misread", json_object_new_boolean(!member->harmless));
	if (member_is_enumerator(member)) {
		if (member->was)
			add_number(item, "old_value", member->old_value);
		if (member->is)
			add_number(item, "new_value", member->new_value);
	} else if (change->kind == TYPE_FUNCTION) {
		if (member->was)
			add_string(item, "old_type", member->old_type);
		if (member->is)
			add_string(item, "new_type", member->new_type);
	} else {
		if (member->was)
			add_member_place(item, member, "old", member->old_offset, member->old_size,
					 member->old_type);
		if (member->is)
			add_member_place(item, member, "new", member->new_offset, member->new_size,
					 member->new_type);
	}
	return item;
}

/* A changed prototype misleads only callers that stay as they are; most have none. */
static const char *change_name(const struct type_change *change)
{
	static const char *const names[] = {
		[TYPE_HARMLESS] = "compatible",
		[TYPE_FOLLOWS] = "contains",
		[TYPE_ON_STACK] = "on-stack",
		[TYPE_MISREAD] = "misread",
	};

	return change->kind == TYPE_FUNCTION && change->verdict == TYPE_MISREAD
		       ? "prototype"
		       : names[change->verdict];
}

/* The units of a build share headers, so several may have found the same change. */
static char *type_key(const struct type_change *change)
{
	return xasprintf("%s %s %s", type_kind_name(change->kind), change->name,
			 change->location ?: "");
}

void report_types(struct json_object *array, struct report_seen *seen,
		  const struct diff_result *result)
{
	for (size_t i = 0; i < result->types.list.count; i++) {
		const struct type_change *change = &result->types.list.list[i];
		char *key = type_key(change);

		if (map_has(&seen->keys, key)) {
			free(key);
			continue;
		}
		*vec_push(&seen->owned) = key;
		map_slot(&seen->keys, key);

		struct json_object *item = json_object_new_object();
		struct json_object *members = json_object_new_array();

		add_string(item, "name", change->name);
		add_string(item, "kind", type_kind_name(change->kind));
		add_string(item, "change", change_name(change));
		add_string(item, "location", change->location);
		if (change->cause)
			add_string(item, "contains", change->cause);
		if (change->kind != TYPE_FUNCTION) {
			add_number(item, "old_size", change->old_size);
			add_number(item, "new_size", change->new_size);
		}
		for (size_t j = 0; j < change->members.count; j++)
			json_object_array_add(members,
					      member_object(change, &change->members.list[j]));
		json_object_object_add(item, "members", members);
		json_object_array_add(array, item);
	}
}

void report_seen_deinit(struct report_seen *seen)
{
	map_deinit(&seen->keys);
	for (size_t i = 0; i < seen->owned.count; i++)
		free(seen->owned.list[i]);
	vec_deinit(&seen->owned);
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
		return file_write_named(path, line, strlen(line));
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
