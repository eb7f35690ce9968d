// SPDX-License-Identifier: GPL-2.0-or-later
/* Source and code of the page of --html. */
#include "pokepatch-build/page_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/proc.h"
#include "diff/diff.h"
#include "pokepatch-build/changes.h"
#include "pokepatch-build/lines.h"
#include "pokepatch-build/touched.h"

/* Lines that are shown in front of a changed one and behind it. */
#define CONTEXT 4

void page_add_text(struct buffer *ret, const char *text, size_t length)
{
	static const char *const entities[UINT8_MAX + 1] = {
		['&'] = "&amp;",
		['<'] = "&lt;",
		['>'] = "&gt;",
		['"'] = "&quot;",
	};

	for (size_t i = 0; i < length; i++) {
		const unsigned char c = (unsigned char)text[i];

		if (entities[c])
			buffer_add_string(ret, entities[c]);
		else if (c >= ' ' || c == '\t' || c == '\n') /* HTML has no other controls */
			buffer_add(ret, &text[i], 1);
	}
}

void page_addf(struct buffer *ret, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	_free_ char *text = xvasprintf(format, arguments);
	va_end(arguments);
	page_add_text(ret, text, strlen(text));
}

/* A line of either version, or of both: ' ', '-' or '+', as in a diff. */
struct row {
	char kind;
	const char *text;
	size_t length;
	size_t number; /* of the line, from 1: of its text before the patch, or after it */
};

struct rows {
	VEC(struct row) rows;
};

static void add_row(struct rows *rows, char kind, const struct text_line *line, size_t number)
{
	*vec_push(&rows->rows) = (struct row){kind, line->text, line->length, number};
}

/* The lines of the old text from number @from up to, but not with, @until. */
static void add_removed(struct rows *rows, const struct changed_file *file, size_t from,
			size_t until)
{
	for (size_t number = from; number < until && number <= file->old_lines.count; number++)
		add_row(rows, '-', &file->old_lines.list[number - 1], number);
}

/* Number of the first line of the old text that is kept from a line of the new one on. */
static size_t origin_from(const struct changed_file *file, size_t index)
{
	const struct text_lines *lines = &file->new_lines;

	for (; index < lines->count; index++)
		if (lines->list[index].origin)
			return lines->list[index].origin;
	return file->old_lines.count + 1;
}

static void find_rows(const struct changed_file *file, size_t first, size_t end, struct rows *ret)
{
	const struct text_lines *lines = &file->new_lines;
	size_t before = first < end ? text_lines_origin_before(lines, first) : 0;

	for (size_t i = first; i < end; i++) {
		const struct text_line *line = &lines->list[i];

		/* Removed lines stand in front of those that came in their place. */
		if (line->origin || i == first || lines->list[i - 1].origin) {
			const size_t next = origin_from(file, i);

			add_removed(ret, file, before + 1, next);
			before = line->origin ? next : next - 1;
		}
		add_row(ret, line->origin ? ' ' : '+', line, i + 1);
	}
	/* What stood at the end of the file. */
	if (end == lines->count)
		add_removed(ret, file, before + 1, file->old_lines.count + 1);
}

static void add_line(struct buffer *ret, const struct row *row)
{
	const char *class = row->kind == '-' ? " class=\"old\"" : row->kind == '+' ? " class=\"new\"" : "";

	buffer_printf(ret, "<span%s><i>%6zu</i> %c ", class, row->number, row->kind);
	page_add_text(ret, row->text, row->length);
	buffer_add_string(ret, "</span>\n");
}

/* Append the rows that differ, and CONTEXT around them. */
static void add_rows(struct buffer *ret, const struct rows *rows)
{
	size_t shown = 0; /* rows so far that were looked at */

	buffer_add_string(ret, "<pre>");
	for (size_t i = 0; i < rows->rows.count; i++) {
		if (rows->rows.list[i].kind == ' ')
			continue;
		size_t from = i > shown + CONTEXT ? i - CONTEXT : shown;
		size_t until = i + CONTEXT + 1 < rows->rows.count ? i + CONTEXT + 1
								 : rows->rows.count;

		if (from > shown && shown)
			buffer_add_string(ret, "<span class=\"gap\">...</span>\n");
		for (; from < until; from++) {
			if (from > i && rows->rows.list[from].kind != ' ') /* context of its own */
				until = from + CONTEXT + 1 < rows->rows.count
						? from + CONTEXT + 1
						: rows->rows.count;
			add_line(ret, &rows->rows.list[from]);
		}
		shown = until;
		i = until - 1;
	}
	buffer_add_string(ret, "</pre>\n");
}

static void add_lines(struct buffer *ret, const struct changed_file *file, size_t first,
		      size_t end)
{
	struct rows rows = {0};

	find_rows(file, first, end, &rows);
	add_rows(ret, &rows);
	vec_deinit(&rows.rows);
}

void page_add_source(struct buffer *ret, const struct function_lines *lines)
{
	add_lines(ret, lines->file, lines->first, lines->last + 1);
}

void page_add_file(struct buffer *ret, const struct changed_file *file)
{
	add_lines(ret, file, 0, file->new_lines.count);
}

/* ---- code ------------------------------------------------------------------- */

static struct error *write_keys(const struct listing *listing, const char *path)
{
	struct buffer text = {0};

	for (size_t i = 0; i < listing->lines.count; i++)
		buffer_printf(&text, "%s\n", listing->lines.list[i].key);
	struct error *error = file_write_scratch(path, text.text ?: "", text.length);
	buffer_deinit(&text);
	return error;
}

/* One line of a listing, as diff(1) has classed it. */
static void add_instruction(struct buffer *ret, char kind, const struct listing *listing, size_t i)
{
	const char *class = kind == '-' ? " class=\"old\"" : kind == '+' ? " class=\"new\"" : "";

	if (i && i == listing->cold)
		buffer_add_string(ret, "<span class=\"gap\">the unlikely part (.cold)</span>\n");
	buffer_printf(ret, "<span%s><i>%6" PRIx64 "</i> %c ", class,
		      listing->lines.list[i].offset, kind);
	page_addf(ret, "%s", listing->lines.list[i].text);
	buffer_add_string(ret, "</span>\n");
}

/*
 * Append both listings by diff(1)'s output, which has a line for each instruction, in order: the
 * keys decide what is equal, the listings what is shown.
 */
static void add_paired(struct buffer *ret, const char *diff, const struct listing *old,
		       const struct listing *new)
{
	size_t i = 0, j = 0;
	const char *line = diff ? strstr(diff, "\n@@ ") : NULL;

	line = line ? strchr(line + 1, '\n') : NULL;
	for (; line && line[1]; line = strchr(line + 1, '\n')) {
		switch (line[1]) {
		case '-':
			if (i < old->lines.count)
				add_instruction(ret, '-', old, i++);
			break;
		case '+':
			if (j < new->lines.count)
				add_instruction(ret, '+', new, j++);
			break;
		case ' ':
			if (j < new->lines.count)
				add_instruction(ret, ' ', new, j++);
			i++;
			break;
		}
	}
	for (; j < new->lines.count; j++) /* diff(1) prints nothing of what is equal */
		add_instruction(ret, ' ', new, j);
}

struct error *page_add_code(struct buffer *ret, const struct build *build,
			    const struct diff_function *function)
{
	char *old _free_ = xasprintf("%s/page-old", build->work);
	char *new _free_ = xasprintf("%s/page-new", build->work);
	const struct listing *listings[] = {&function->old_code, &function->new_code};
	char *context _free_ = xasprintf("-U%zu", function->old_code.lines.count +
							  function->new_code.lines.count);
	const char *const argv[] = {"diff", context, old, new, NULL};
	struct proc_result result;

	TRY(write_keys(listings[0], old));
	TRY(write_keys(listings[1], new));
	TRY(proc_run(argv, &(struct proc_options){0}, &result));
	if (result.status > 1) {
		proc_result_deinit(&result);
		return error_new(STATUS_FAILED, "diff failed on two listings of '%s'; see --verbose",
				 function->name);
	}
	buffer_add_string(ret, "<pre>");
	add_paired(ret, result.out.text, listings[0], listings[1]);
	buffer_add_string(ret, "</pre>\n");
	proc_result_deinit(&result);
	return NULL;
}
