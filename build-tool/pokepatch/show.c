// SPDX-License-Identifier: GPL-2.0-or-later
/* pokepatch list, info, version: subcommands that show and change nothing. */
#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "pokepatch/cli.h"
#include "pokepatch/install.h"
#include "pokepatch/kernel_livepatch.h"
#include "pokepatch/load.h"
#include "pokepatch/patch_file.h"
#include "pokepatch_format.h"
#include "pokepatch/patch_sysfs.h"
#include "pokepatch/table.h"
#include "common/version.h"

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

	TRY(sysfs_patches(&rows));
	TRY(livepatch_add_rows(rows));
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

/* As many digits of a commit's SHA as kernel developers quote; a file's name stays whole. */
static char *short_id(json_object *commit)
{
	const char *id = json_text(commit, "id") ?: "-";
	const bool sha = strlen(id) == 40 && strspn(id, "0123456789abcdef") == 40;

	return xstrndup(id, sha ? 12 : strlen(id));
}

/* Print the commits of a series as a table, and behind it why some are left out. */
static void print_commits(struct buffer *out, json_object *commits)
{
	static const struct table_column columns[] = {
		{"id", "COMMIT"},
		{"status", "STATUS"},
		{"cve", "CVE"},
		{"subject", "SUBJECT"},
		{0},
	};
	_json_ json_object *rows = json_object_new_array();
	struct buffer reasons = {0};

	for (size_t i = 0; i < json_object_array_length(commits); i++) {
		json_object *commit = json_object_array_get_idx(commits, i);
		json_object *row = json_object_new_object();
		json_object *list = NULL;
		_free_ char *id = short_id(commit), *cve = NULL;

		json_object_object_get_ex(commit, "cve", &list);
		cve = json_joined(list);
		json_add_text(row, "id", id);
		json_add_text(row, "status", json_text(commit, "status"));
		json_add_text(row, "cve", cve);
		json_add_text(row, "subject", json_text(commit, "subject"));
		json_object_array_add(rows, row);
		if (!json_object_object_get_ex(commit, "reasons", &list) ||
		    !json_object_is_type(list, json_type_array))
			continue;
		for (size_t j = 0; j < json_object_array_length(list); j++)
			buffer_printf(&reasons, "%s: %s\n", id,
				      json_object_get_string(json_object_array_get_idx(list, j)));
	}
	buffer_add_string(out, "\n");
	table_print(out, rows, columns);
	if (reasons.length)
		buffer_printf(out, "\n%s", reasons.text);
	buffer_deinit(&reasons);
}

/* Print what functions return that were made without a compiler (pokepatch-build --return). */
static void print_returns(struct buffer *out, json_object *returns)
{
	const size_t count = json_object_array_length(returns);

	for (size_t i = 0; i < count; i++)
		buffer_printf(out, "%s%s\n", i ? "                " : "returns:        ",
			      json_object_get_string(json_object_array_get_idx(returns, i)));
}

/* Print the lines of a record, then its functions as a table, and the commits of a series. */
static void print_info(struct buffer *out, json_object *info, const struct table_column *columns)
{
	json_object *functions = NULL;
	json_object *blockers = NULL;
	json_object *callbacks = NULL;
	json_object *report = NULL, *commits = NULL, *returns = NULL;

	record_print(out, info);
	if (json_object_object_get_ex(info, "report", &report) &&
	    json_object_object_get_ex(report, "returns", &returns) &&
	    json_object_is_type(returns, json_type_array))
		print_returns(out, returns);
	if (json_object_object_get_ex(info, "blocked_by", &blockers)) {
		for (size_t i = 0; i < json_object_array_length(blockers); i++)
			buffer_printf(
				out, "blocked by: %s\n",
				json_object_get_string(json_object_array_get_idx(blockers, i)));
	}
	json_print_cves(out, info);
	if (json_object_object_get_ex(info, "callbacks", &callbacks)) {
		for (size_t i = 0; i < json_object_array_length(callbacks); i++)
			print_callback(out, json_object_array_get_idx(callbacks, i));
	}
	json_object_object_get_ex(info, "functions", &functions);
	if (json_object_array_length(functions)) {
		buffer_add_string(out, "\n");
		table_print(out, functions, columns);
	}
	if (report && json_object_object_get_ex(report, "commits", &commits) &&
	    json_object_is_type(commits, json_type_array) && json_object_array_length(commits))
		print_commits(out, commits);
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

	TRY(patch_file_read(path, &file));
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
	_free_ char *name = NULL, *livepatch = livepatch_find(given);

	if (livepatch) {
		TRY(livepatch_info(livepatch, &info));
	} else {
		TRY(sysfs_find_patch(given, &name));
		TRY(sysfs_patch(name, &info));
	}
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
