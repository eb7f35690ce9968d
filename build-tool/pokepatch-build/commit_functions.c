// SPDX-License-Identifier: GPL-2.0-or-later
/* Which functions a commit changes, by its text alone; see series.h. */
#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/definitions.h"
#include "pokepatch-build/series.h"

/* Code with one of these ran when the kernel or module started, or only runs when it ends. */
static const char *const not_running[] = {"__init", "__exit"};

static bool has_mark(const struct text_line *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(not_running); i++)
		if (line_has_word(line, not_running[i]))
			return true;
	return false;
}

static bool has_body(const struct text_lines *lines, struct line_range range)
{
	for (size_t i = range.first; i <= range.last && i < lines->count; i++)
		if (memchr(lines->list[i].text, '{', lines->list[i].length))
			return true;
	return false;
}

/* Does a parenthesis follow the name, or stand in front of it, as in SYSCALL_DEFINE1(dup, ...)? */
static bool has_parameters(const struct text_line *line, const struct word *name)
{
	const char *at = name->text + name->length;

	if (name->text > line->text && name->text[-1] == '(')
		return true;
	while (at < line->text + line->length && *at == ' ')
		at++;
	return at < line->text + line->length && *at == '(';
}

/* The name of a function whose head begins a range, and not of a type, a table or a macro. */
static bool function_name(const struct text_lines *lines, struct line_range range,
			  struct word *ret)
{
	for (size_t i = range.first; i <= range.last && i < lines->count; i++) {
		struct line_range same;

		if (has_mark(&lines->list[i]))
			return false;
		if (definition_at(lines, i, &same, ret))
			return has_parameters(&lines->list[i], ret) && has_body(lines, range);
	}
	return false;
}

static void add_function(struct commit *commit, const char *path, const struct word *word)
{
	char *name = xasprintf("%s:%.*s", path, (int)word->length, word->text);
	void **slot = map_slot(&commit->functions_by_name, name);

	if (*slot) {
		free(name);
		return;
	}
	*slot = name;
	*vec_push(&commit->functions) = name;
}

/* Where the last line was that was looked at. */
struct last_line {
	struct line_range range; /* of the definition around it */
	size_t index;
};

/*
 * Note the function that a line of the new text is in, if it is in another than the last one.
 * @removed: the line itself stays, and lines in front of it are gone
 */
static void note_line(struct commit *commit, const char *path, const struct text_lines *lines,
		      size_t index, bool removed, struct last_line *last)
{
	struct line_range range;
	struct word word;

	if (index >= lines->count || index == last->index ||
	    (index > last->range.first && index <= last->range.last))
		return;
	/* In a header of nothing but macros, each would be searched for. */
	if (lines->list[index].length && *lines->list[index].text == '#')
		return;
	range = definition_around(lines, index);
	if (removed && index == range.first)
		return;
	*last = (struct last_line){range, index};
	if (function_name(lines, range, &word))
		add_function(commit, path, &word);
}

void commit_note_functions(struct commit *commit, const char *path, const struct text_lines *lines,
			   const struct patch_entry *entry, const struct hunk_place *places)
{
	struct last_line last = {{SIZE_MAX, 0}, SIZE_MAX};
	size_t added = 0, removed = 0;

	if (commit->noted || (!has_suffix(path, ".c") && !has_suffix(path, ".h")))
		return;
	for (size_t i = 0; i < entry->nr_hunks; i++) {
		const struct patch_hunk *hunk = &entry->hunks[i];
		size_t at = places[i].line - 1 + added - removed;

		for (size_t j = 0; j < hunk->nr_lines; j++) {
			const char kind = hunk->lines[j].kind;

			if (kind != ' ')
				note_line(commit, path, lines, at, kind == '-', &last);
			at += kind != '-';
			added += kind == '+';
			removed += kind == '-';
		}
	}
}
