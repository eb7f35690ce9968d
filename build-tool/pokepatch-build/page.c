// SPDX-License-Identifier: GPL-2.0-or-later
/* The page of --html as a whole. */
#include "pokepatch-build/page.h"

#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/changes.h"
#include "pokepatch-build/comparison.h"
#include "pokepatch-build/explain.h"
#include "pokepatch-build/page_parts.h"
#include "pokepatch-build/series.h"
#include "pokepatch-build/touched.h"

static const char style[] =
	"body{font:15px/1.45 sans-serif;margin:2em auto;max-width:100em;padding:0 1em;"
	"color:#1b1b1b;background:#fff}"
	"h1{font-size:1.5em}h2{border-bottom:1px solid #bbb;margin-top:2em}"
	"table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2em .6em;"
	"text-align:left;vertical-align:top}"
	".pair{display:flex;gap:1em}.pair>div{flex:1;min-width:0}"
	"pre{font:12.5px/1.35 monospace;background:#f6f6f6;border:1px solid #ddd;padding:.5em;"
	"overflow-x:auto;tab-size:8}"
	"pre i{font-style:normal;color:#888}"
	".old{background:#ffe3e3}.new{background:#ddf6dd}.gap{color:#888}"
	"@media(max-width:60em){.pair{display:block}}"
	"@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}"
	"pre{background:#202020;border-color:#444}.old{background:#5a2626}.new{background:#1f4a24}"
	"td,th{border-color:#555}a{color:#8ab4f8}}";

static void add_cell(struct buffer *ret, const char *text)
{
	buffer_add_string(ret, "<td>");
	page_addf(ret, "%s", text);
	buffer_add_string(ret, "</td>");
}

static void begin_table(struct buffer *ret, const char *title, const char *const *columns)
{
	buffer_printf(ret, "<h2>%s</h2>\n<table><tr>", title);
	for (; *columns; columns++)
		buffer_printf(ret, "<th>%s</th>", *columns);
	buffer_add_string(ret, "</tr>\n");
}

static void add_commits(struct buffer *ret, const struct build *build)
{
	static const char *const columns[] = {"Commit", "CVE", "In the patch", "Why not", NULL};

	if (!build->options.series)
		return;
	begin_table(ret, "Commits", columns);
	for (size_t i = 0; i < build->nr_patches; i++) {
		const struct commit *commit = build->patches[i].commit;
		char *label _free_ = commit_label(commit);
		struct args cves = {0}, reasons = {0};

		for (size_t j = 0; j < commit->cves.count; j++)
			args_add(&cves, commit->cves.list[j]);
		for (size_t j = 0; j < commit->reasons.count; j++)
			args_add(&reasons, commit->reasons.list[j]);
		char *cve_text _free_ = args_join(&cves, " ");
		char *reason_text _free_ = args_join(&reasons, "; ");
		buffer_add_string(ret, "<tr>");
		add_cell(ret, label);
		add_cell(ret, cve_text);
		add_cell(ret, commit_is_live(commit) ? "yes" : commit->idle ? "no effect" : "no");
		add_cell(ret, reason_text);
		buffer_add_string(ret, "</tr>\n");
		args_deinit(&cves);
		args_deinit(&reasons);
	}
	buffer_add_string(ret, "</table>\n");
}

/* Append what the author changed of a function.  False: nothing, or it is not understood. */
static bool add_changed_lines(struct buffer *ret, const struct build *build, const char *name,
			      const char *location)
{
	struct function_lines lines;

	if (explain_touch(build, location, name, &lines) != TOUCH_CHANGED)
		return false;
	page_add_source(ret, &lines);
	return true;
}

/* Where nothing better is known: links to all changed files that the unit compiles. */
static void add_links(struct buffer *ret, const struct build *build, const struct unit *unit)
{
	for (size_t i = 0; build->changes && i < unit->nr_changed_files; i++) {
		const struct changed_file *file =
			changes_find(build->changes, unit->changed_files[i]);

		if (!file)
			continue;
		buffer_printf(ret, "<p><a href=\"#file-%zu\">",
			      (size_t)(file - build->changes->files.list));
		page_addf(ret, "%s", file->path);
		buffer_add_string(ret, "</a></p>\n");
	}
}

/* The author's change of this function, and of those that are inlined into it. */
static void add_function_source(struct buffer *ret, const struct build *build,
				const struct unit *unit, const struct diff_function *function)
{
	bool shown = add_changed_lines(ret, build, function->name, function->location);

	for (size_t i = 0; i < function->touched_inlined.count; i++)
		shown |= add_changed_lines(ret, build, function->touched_inlined.list[i].name,
					   function->touched_inlined.list[i].location);
	if (!shown)
		add_links(ret, build, unit);
}

static struct error *add_function(struct buffer *ret, const struct build *build, size_t index,
				  const struct diff_function *function)
{
	struct args reasons = {0};
	const struct unit *unit = &build->units[index];

	buffer_add_string(ret, "<h3>");
	page_addf(ret, "%s", function->name);
	buffer_add_string(ret, "</h3>\n<p>");
	explain_function(build, function, &reasons);
	char *text _free_ = args_join(&reasons, " ");
	page_addf(ret, "%s", text);
	args_deinit(&reasons);
	buffer_add_string(ret, "</p>\n");
	if (!function->new_code.lines.count)
		return NULL;
	buffer_add_string(ret, "<div class=\"pair\"><div>\n");
	add_function_source(ret, build, unit, function);
	buffer_add_string(ret, "</div><div>\n");
	TRY(page_add_code(ret, build, function));
	buffer_add_string(ret, "</div></div>\n");
	return NULL;
}

static struct error *add_unit(struct buffer *ret, const struct build *build, size_t index)
{
	const struct diff_result *result = &build->comparison->results[index];

	buffer_add_string(ret, "<h2>");
	page_addf(ret, "%s, in %s", build->units[index].source, build->units[index].parent);
	buffer_add_string(ret, "</h2>\n");
	if (!result->functions.count && !result->data.count && !result->callbacks.count)
		buffer_add_string(ret, "<p>It compiles to the same code.</p>\n");
	for (size_t i = 0; i < result->functions.count; i++)
		TRY(add_function(ret, build, index, &result->functions.list[i]));
	for (size_t i = 0; i < result->data.count; i++) {
		buffer_add_string(ret, "<p>Data: ");
		page_addf(ret, "%s", result->data.list[i].name);
		buffer_add_string(ret, "</p>\n");
	}
	for (size_t i = 0; i < result->callbacks.count; i++) {
		buffer_add_string(ret, "<p>Callback, ");
		page_addf(ret, "%s: %s", diff_callback_name(result->callbacks.list[i].kind),
			  result->callbacks.list[i].function);
		buffer_add_string(ret, "</p>\n");
	}
	return NULL;
}

/* The table so far; its head comes with the first type. */
struct types_table {
	struct buffer *page;
	bool begun;
};

static void add_type(void *context, const char *title, const struct type_change *change)
{
	static const char *const columns[] = {"Type", "Verdict", "Members", NULL};
	struct types_table *table = context;
	struct buffer *ret = table->page;

	if (!table->begun)
		begin_table(ret, "Types", columns);
	table->begun = true;
	buffer_add_string(ret, "<tr>");
	add_cell(ret, title);
	add_cell(ret, explain_type(change));
	buffer_add_string(ret, "<td>");
	for (size_t i = 0; i < change->members.count; i++) {
		char *line _free_ = explain_member(change, &change->members.list[i]);

		page_addf(ret, "%s", line);
		buffer_add_string(ret, "<br>");
	}
	buffer_add_string(ret, "</td></tr>\n");
}

static void add_types(struct buffer *ret, const struct build *build)
{
	struct types_table table = {.page = ret};

	explain_types(build, add_type, &table);
	if (table.begun)
		buffer_add_string(ret, "</table>\n");
}

static void add_refusals(struct buffer *ret, const struct build *build)
{
	static const char *const columns[] = {"Code", "Where", "What", NULL};

	if (!build->refusals.count)
		return;
	begin_table(ret, "Refused, or warned of", columns);
	for (size_t i = 0; i < build->refusals.count; i++) {
		const struct refusal *refusal = &build->refusals.list[i];

		buffer_add_string(ret, "<tr>");
		add_cell(ret, refusal->code);
		add_cell(ret, refusal->location ?: refusal->subject);
		buffer_add_string(ret, "<td>");
		page_addf(ret, "%s%s%s", refusal->warning ? "Warning: " : "",
			  refusal->allowed ? "allowed: " : "", refusal->text);
		buffer_add_string(ret, "</td></tr>\n");
	}
	buffer_add_string(ret, "</table>\n");
}

static void add_files(struct buffer *ret, const struct build *build)
{
	for (size_t i = 0; build->changes && i < build->changes->files.count; i++) {
		const struct changed_file *file = &build->changes->files.list[i];

		buffer_printf(ret, "<h2 id=\"file-%zu\">", i);
		page_addf(ret, "%s", file->path);
		buffer_add_string(ret, "</h2>\n");
		page_add_file(ret, file);
	}
}

static struct error *add_page(struct buffer *ret, const struct build *build)
{
	char *kernel _free_ = explain_kernel(build);

	buffer_add_string(ret, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
			       "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
	page_addf(ret, "%s for %s", build->name, build->release);
	buffer_printf(ret, "</title>\n<style>%s</style></head><body>\n<h1>Patch ", style);
	page_addf(ret, "%s", build->name);
	buffer_add_string(ret, "</h1>\n<p>For ");
	page_addf(ret, "%s.", kernel);
	buffer_add_string(ret, "</p>\n");
	add_refusals(ret, build);
	add_commits(ret, build);
	if (build->comparison && build->comparison->results) {
		for (size_t i = 0; i < build->nr_units; i++)
			TRY(add_unit(ret, build, i));
		add_types(ret, build);
	}
	add_files(ret, build);
	buffer_add_string(ret, "</body></html>\n");
	return NULL;
}

struct error *page_write(const struct build *build)
{
	struct buffer page = {0};

	if (!build->options.html)
		return NULL;
	struct error *error = add_page(&page, build);
	if (!error)
		error = file_write_named(build->options.html, page.text, page.length);
	buffer_deinit(&page);
	return error_prefix(error, "the page was not written");
}
