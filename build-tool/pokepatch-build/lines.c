// SPDX-License-Identifier: GPL-2.0-or-later
#include "pokepatch-build/lines.h"

#include <ctype.h>
#include <string.h>

/* Where in C's syntax the start of a line is. */
struct scan {
	bool comment;        /* in a block comment */
	bool line_comment;   /* in a // comment that a backslash continues */
	char quote;          /* in a string or character constant that a backslash continues */
	bool continued;      /* the last line ended with a backslash */
	bool directive;      /* in a preprocessor directive */
	unsigned int parens; /* open ones, outside directives */
};

static bool scan_is_safe(const struct scan *scan)
{
	return !scan->comment && !scan->line_comment && !scan->quote && !scan->continued &&
	       !scan->parens;
}

static bool only_blanks(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isspace((unsigned char)text[i]))
			return false;
	return true;
}

/*
 * A brace at the start of a line ends a function or an initialiser.  #if and
 * #else with an open parenthesis in each branch would otherwise leave the
 * count above 0 to the file's end:
 *	#ifdef CONFIG_A
 *		if (a &&
 *	#else
 *		if (
 *	#endif
 */
static bool ends_definition(const char *text, size_t length)
{
	if (!length || text[0] != '}')
		return false;
	return only_blanks(text + 1, length - 1) ||
	       (text[1] == ';' && only_blanks(text + 2, length - 2));
}

static void scan_parens(struct scan *scan, char c)
{
	if (scan->directive)
		return;
	if (c == '(')
		scan->parens++;
	else if (c == ')' && scan->parens)
		scan->parens--;
}

/* The text of one line, from where the last one left the state. */
static void scan_text(struct scan *scan, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		char c = text[i], next = i + 1 < length ? text[i + 1] : '\0';

		if (scan->comment) {
			if (c == '*' && next == '/') {
				scan->comment = false;
				i++;
			}
		} else if (scan->line_comment) {
			return;
		} else if (scan->quote) {
			if (c == '\\')
				i++;
			else if (c == scan->quote)
				scan->quote = '\0';
		} else if (c == '/' && next == '*') {
			scan->comment = true;
			i++;
		} else if (c == '/' && next == '/') {
			scan->line_comment = true;
		} else if (c == '"' || c == '\'') {
			scan->quote = c;
		} else {
			scan_parens(scan, c);
		}
	}
}

static size_t leading_blanks(const struct text_line *line)
{
	size_t i = 0;

	while (i < line->length && (line->text[i] == ' ' || line->text[i] == '\t'))
		i++;
	return i;
}

static void scan_line(struct scan *scan, const struct text_line *line)
{
	size_t length = line->length;
	size_t blanks = leading_blanks(line);
	bool continues;

	while (length && line->text[length - 1] == '\r')
		length--;
	continues = length && line->text[length - 1] == '\\';
	if (!scan->continued && !scan->comment) {
		scan->directive = blanks < length && line->text[blanks] == '#';
		if (ends_definition(line->text, length))
			scan->parens = 0;
	}
	scan_text(scan, line->text, continues ? length - 1 : length);
	scan->continued = continues;
	if (continues)
		return;
	scan->line_comment = false;
	scan->quote = '\0'; /* an apostrophe in #error's text; strings end with their line */
	/* A comment that begins in a directive and spans lines continues it. */
	if (!scan->comment)
		scan->directive = false;
}

/* What a line does to the groups that #if leaves out or takes in. */
enum group_line { GROUP_NONE, GROUP_OPENS, GROUP_TURNS, GROUP_CLOSES };

static enum group_line group_line(const struct text_line *line)
{
	static const struct {
		const char *name; /* or what it begins with: ifdef, elifdef */
		enum group_line kind;
	} directives[] = {
		{"if", GROUP_OPENS},
		{"else", GROUP_TURNS},
		{"elif", GROUP_TURNS},
		{"endif", GROUP_CLOSES},
	};
	size_t i = leading_blanks(line);

	if (i == line->length || line->text[i] != '#')
		return GROUP_NONE;
	i++;
	while (i < line->length && (line->text[i] == ' ' || line->text[i] == '\t'))
		i++;
	for (size_t n = 0; n < ARRAY_SIZE(directives); n++) {
		size_t length = strlen(directives[n].name);

		if (line->length - i >= length &&
		    !memcmp(line->text + i, directives[n].name, length))
			return directives[n].kind;
	}
	return GROUP_NONE;
}

void lines_mark(const struct text_lines *lines, struct buffer *ret)
{
	struct scan scan = {};
	size_t number = 1;  /* what the compiler believes the next line's number to be */
	size_t depth = 0;   /* of groups */
	size_t marked = 0;  /* the depth of the last directive: behind its group it may be void */
	bool again = false; /* that group ended */

	for (size_t i = 0; i < lines->count; i++) {
		const struct text_line *line = &lines->list[i];

		if (line->origin && scan_is_safe(&scan) && (line->origin != number || again)) {
			buffer_printf(ret, "#line %zu\n", line->origin);
			number = line->origin;
			marked = depth;
			again = false;
		}
		if (!scan.comment && !scan.continued) {
			enum group_line kind = group_line(line);

			again |= marked && (kind == GROUP_TURNS || kind == GROUP_CLOSES);
			depth += kind == GROUP_OPENS;
			depth -= kind == GROUP_CLOSES && depth;
		}
		scan_line(&scan, line);
		buffer_add(ret, line->text, line->length);
		if (i + 1 < lines->count || !lines->no_newline)
			buffer_add(ret, "\n", 1);
		number++;
	}
}
