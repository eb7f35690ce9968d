// SPDX-License-Identifier: GPL-2.0-or-later
/* pokepatch list, info, version: telling, changing nothing. */
#include <string.h>

#include "cli.h"
#include "patch_file.h"
#include "pokepatch_format.h"
#include "sysfs.h"
#include "table.h"
#include "version.h"

struct error *cli_list(struct cli_call *call)
{
	static const struct table_column columns[] = {
		{"name", "NAME"},
		{"state", "STATE"},
		{"functions", "FUNCTIONS"},
		{"mode", "MODE"},
		{0},
	};
	_json_ json_object *rows = NULL;

	_failed_(sysfs_patches(&rows));
	if (cli_value(call, "json"))
		json_print(&call->out, rows);
	else if (json_object_array_length(rows))
		table_print(&call->out, rows, columns);
	else
		buffer_add_string(&call->out,
				  sysfs_core_loaded()
					  ? "no patch is loaded\n"
					  : "no patch is loaded, nor is the core module\n");
	return NULL;
}

static void print_callback(struct buffer *out, json_object *row)
{
	json_object *kind = NULL, *parent = NULL;

	json_object_object_get_ex(row, "kind", &kind);
	json_object_object_get_ex(row, "parent", &parent);
	buffer_printf(out, "callback: %s of %s\n", json_object_get_string(kind),
		      json_object_get_string(parent));
}

/* The lines of a record, then its functions as a table. */
static void print_info(struct buffer *out, json_object *info, const struct table_column *columns)
{
	json_object *functions = NULL;
	json_object *blockers = NULL;
	json_object *callbacks = NULL;

	record_print(out, info);
	if (json_object_object_get_ex(info, "blocked_by", &blockers)) {
		for (size_t i = 0; i < json_object_array_length(blockers); i++)
			buffer_printf(
				out, "blocked by: %s\n",
				json_object_get_string(json_object_array_get_idx(blockers, i)));
	}
	if (json_object_object_get_ex(info, "callbacks", &callbacks)) {
		for (size_t i = 0; i < json_object_array_length(callbacks); i++)
			print_callback(out, json_object_array_get_idx(callbacks, i));
	}
	json_object_object_get_ex(info, "functions", &functions);
	if (json_object_array_length(functions)) {
		buffer_add_string(out, "\n");
		table_print(out, functions, columns);
	}
}

static struct error *info_file(struct cli_call *call, const char *path)
{
	static const struct table_column columns[] = {
		{"name", "FUNCTION"},
		{"parent", "PARENT"},
		{"change", "CHANGE"},
		{"mode", "MODE"},
		{"old_size", "OLD SIZE"},
		{"new_size", "NEW SIZE"},
		{0},
	};
	_json_ json_object *info = NULL;
	struct patch_file file;
	struct error *error;

	_failed_(patch_file_read(path, &file));
	error = patch_file_json(&file, &info);
	patch_file_deinit(&file);
	if (error)
		return error;
	if (cli_value(call, "json"))
		json_print(&call->out, info);
	else
		print_info(&call->out, info, columns);
	return NULL;
}

static struct error *info_loaded(struct cli_call *call, const char *given)
{
	static const struct table_column columns[] = {
		{"name", "FUNCTION"},
		{"parent", "PARENT"},
		{"mode", "MODE"},
		{"old_size", "OLD SIZE"},
		{"new_size", "NEW SIZE"},
		{"old_addr", "OLD ADDRESS"},
		{"new_addr", "NEW ADDRESS"},
		{0},
	};
	_json_ json_object *info = NULL;
	_free_ char *name = NULL;

	_failed_(sysfs_find_patch(given, &name));
	_failed_(sysfs_patch(name, &info));
	if (cli_value(call, "json"))
		json_print(&call->out, info);
	else
		print_info(&call->out, info, columns);
	return NULL;
}

struct error *cli_info(struct cli_call *call)
{
	const char *what = call->arguments[0];

	if (strchr(what, '/') || has_suffix(what, ".ko"))
		return info_file(call, what);
	return info_loaded(call, what);
}

struct error *cli_version(struct cli_call *call)
{
	_json_ json_object *record = json_object_new_object();
	_free_ char *core = sysfs_core_version();

	json_add_text(record, "pokepatch", POKEPATCH_VERSION);
	json_add_number(record, "format", POKEPATCH_FORMAT);
	if (cli_value(call, "json")) {
		json_add_text(record, "core", core);
		json_print(&call->out, record);
		return NULL;
	}
	json_add_text(record, "core", core ? core : "not loaded");
	record_print(&call->out, record);
	return NULL;
}
