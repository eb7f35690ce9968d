// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing #line directives into a changed file; see lines.h. */
#include "pokepatch-build/lines.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The state of C's syntax at the start of a line. */
struct scan {
	bool comment;        /* in a block comment */
	bool line_comment;   /* in a // comment that a backslash continues */
	char quote;          /* in a string or character constant that a backslash continues */
	bool continued;      /* the last line ended with a backslash */
	bool directive;      /* in a preprocessor directive */
	unsigned int parens; /* open parentheses, outside directives */
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
 * A brace at the start of a line ends a function or an initialiser, and resets the count of open
 * parentheses.  An #if and an #else that both open one would otherwise leave the count above 0 up
 * to the end of the file:
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

/* Update the state by the text of one line. */
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
	scan->quote = '\0'; /* strings end with their line; #error's text may have an apostrophe */
	/* A comment that begins in a directive and spans lines continues the directive. */
	if (!scan->comment)
		scan->directive = false;
}

/* The effect of a line on #if groups: none, #if, #else or #elif, #endif. */
enum group_line { GROUP_NONE, GROUP_OPENS, GROUP_TURNS, GROUP_CLOSES };

static enum group_line group_line(const struct text_line *line)
{
	static const struct {
		const char *name; /* also the beginning of others: ifdef, elifdef */
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

/* @numbers: for each line, the compiler's number; or NULL */
static void number_lines(const struct text_lines *lines, struct buffer *ret,
			 struct authored_lines *authored, size_t *numbers)
{
	struct scan scan = {};
	size_t number = 1;  /* the compiler's number for the next line */
	size_t depth = 0;   /* of #if groups */
	size_t marked = 0;  /* depth at the last directive; 0: it counts everywhere */
	bool again = false; /* its group has ended, and #if may have left it out: repeat it */

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
		if (!line->origin)
			*vec_push(&authored->numbers) = number;
		if (numbers)
			numbers[i] = number;
		buffer_add(ret, line->text, line->length);
		if (i + 1 < lines->count || !lines->no_newline)
			buffer_add(ret, "\n", 1);
		number++;
	}
}

void text_lines_join_numbered(const struct text_lines *lines, struct buffer *ret)
{
	struct authored_lines authored = {0};

	number_lines(lines, ret, &authored, NULL);
	vec_deinit(&authored.numbers);
}

void text_lines_numbers(const struct text_lines *lines, size_t *ret)
{
	struct authored_lines authored = {0};
	struct buffer text = {0};

	number_lines(lines, &text, &authored, ret);
	vec_deinit(&authored.numbers);
	buffer_deinit(&text);
}

void text_lines_authored(const struct text_lines *lines, struct authored_lines *ret)
{
	struct buffer text = {0};

	number_lines(lines, &text, ret, NULL);
	buffer_deinit(&text);
}

size_t text_lines_origin_before(const struct text_lines *lines, size_t index)
{
	while (index && !lines->list[index - 1].origin)
		index--;
	return index ? lines->list[index - 1].origin : 0;
}
