// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Finding a function's body with a tokenizer that knows just enough C to match braces: comments,
 * strings, characters and directives.  Where it cannot be sure, it gives a reason instead of a
 * result.
 */
#include "pokepatch-build/body.h"

#include <ctype.h>
#include <string.h>

/* A token is one of these, or a character of punctuation. */
enum {
	TOKEN_END = 256,
	TOKEN_NAME,
	TOKEN_OTHER,	 /* a string, a character, a number */
	TOKEN_DIRECTIVE, /* with its continuation lines */
};

struct cursor {
	const struct text_lines *lines;
	size_t line, column;
	/* The last token: */
	size_t at_line, at_column;
	const char *text;
	size_t length;
};

static char peek(const struct cursor *cursor, size_t ahead)
{
	const struct text_line *line = &cursor->lines->list[cursor->line];

	return cursor->column + ahead < line->length ? line->text[cursor->column + ahead] : '\n';
}

/* Move past the comment that begins here.  Return: false if the text ends within it. */
static bool skip_comment(struct cursor *cursor)
{
	cursor->column += 2;
	for (; cursor->line < cursor->lines->count; cursor->line++, cursor->column = 0) {
		for (; peek(cursor, 0) != '\n'; cursor->column++) {
			if (peek(cursor, 0) == '*' && peek(cursor, 1) == '/') {
				cursor->column += 2;
				return true;
			}
		}
	}
	return false;
}

static bool ends_with_backslash(const struct text_line *line)
{
	size_t length = line->length;

	while (length && line->text[length - 1] == '\r')
		length--;
	return length && line->text[length - 1] == '\\';
}

static void next_line(struct cursor *cursor)
{
	cursor->line++;
	cursor->column = 0;
}

/* Move past a string or character constant, which a backslash may continue on the next line. */
static void skip_quoted(struct cursor *cursor)
{
	char quote = peek(cursor, 0);

	cursor->column++;
	while (cursor->line < cursor->lines->count) {
		char c = peek(cursor, 0);

		if (c == '\n') {
			bool more = ends_with_backslash(&cursor->lines->list[cursor->line]);

			next_line(cursor);
			if (!more)
				return;
		} else if (c == '\\' && peek(cursor, 1) != '\n') {
			cursor->column += 2;
		} else {
			cursor->column++;
			if (c == quote)
				return;
		}
	}
}

static void skip_directive(struct cursor *cursor)
{
	while (cursor->line + 1 < cursor->lines->count &&
	       ends_with_backslash(&cursor->lines->list[cursor->line]))
		next_line(cursor);
	next_line(cursor);
}

static bool only_blanks_before(const struct cursor *cursor)
{
	const char *text = cursor->lines->list[cursor->line].text;

	for (size_t i = 0; i < cursor->column; i++)
		if (text[i] != ' ' && text[i] != '\t')
			return false;
	return true;
}

static int take_word(struct cursor *cursor, int kind)
{
	while (isalnum((unsigned char)peek(cursor, 0)) || peek(cursor, 0) == '_')
		cursor->column++;
	cursor->length = cursor->column - cursor->at_column;
	return kind;
}

static int next_token(struct cursor *cursor)
{
	while (cursor->line < cursor->lines->count) {
		char c = peek(cursor, 0);

		cursor->at_line = cursor->line;
		cursor->at_column = cursor->column;
		cursor->text = cursor->lines->list[cursor->line].text + cursor->column;
		cursor->length = 1;
		if (c == '\n') {
			next_line(cursor);
		} else if (c == '/' && peek(cursor, 1) == '*') {
			if (!skip_comment(cursor))
				return TOKEN_END;
		} else if (c == '/' && peek(cursor, 1) == '/') {
			skip_directive(cursor); /* a backslash continues a // comment, too */
		} else if (c == '#' && only_blanks_before(cursor)) {
			skip_directive(cursor);
			return TOKEN_DIRECTIVE;
		} else if (c == '"' || c == '\'') {
			skip_quoted(cursor);
			return TOKEN_OTHER;
		} else if (isalpha((unsigned char)c) || c == '_') {
			return take_word(cursor, TOKEN_NAME);
		} else if (isdigit((unsigned char)c)) {
			return take_word(cursor, TOKEN_OTHER);
		} else {
			cursor->column++;
			if (!isspace((unsigned char)c) && c != '\\')
				return (unsigned char)c;
		}
	}
	return TOKEN_END;
}

static bool is_name(const struct cursor *cursor, const char *name)
{
	return cursor->length == strlen(name) && !memcmp(cursor->text, name, cursor->length);
}

/* Move past the parenthesis that closes the one just read. */
static bool skip_parens(struct cursor *cursor)
{
	for (size_t depth = 1; depth;) {
		int token = next_token(cursor);

		if (token == TOKEN_END || token == TOKEN_DIRECTIVE)
			return false;
		depth += token == '(';
		depth -= token == ')';
	}
	return true;
}

/* Move from the function's name past its opening brace.  Return: NULL, or why that failed. */
static const char *find_head(struct cursor *cursor, const char *name)
{
	size_t line = cursor->line;
	int token;

	do {
		token = next_token(cursor);
		if (token == TOKEN_END || token == TOKEN_DIRECTIVE || cursor->at_line != line)
			return "a macro defines it, or a #line directive moves it";
	} while (token != TOKEN_NAME || !is_name(cursor, name));
	if (next_token(cursor) != '(' || !skip_parens(cursor))
		return "its parameters are not understood";
	/* Attributes: __must_hold(lock) */
	while ((token = next_token(cursor)) != '{')
		if (token != TOKEN_NAME && (token != '(' || !skip_parens(cursor)))
			return "the text between its parameters and its body is not understood";
	return NULL;
}

static bool is_include(const struct cursor *cursor)
{
	static const char word[] = "include";
	const struct text_line *line = &cursor->lines->list[cursor->at_line];
	size_t i = cursor->at_column + 1;

	while (i < line->length && (line->text[i] == ' ' || line->text[i] == '\t'))
		i++;
	return line->length - i >= strlen(word) && !memcmp(line->text + i, word, strlen(word));
}

/*
 * marks.c turns the return statement into an assignment, which binds tighter than a comma.  The
 * marker of "return a, b;" would silently record a.
 */
struct statement {
	bool returns;
	long depth; /* open brackets of any kind in the statement */
};

static bool has_comma(struct statement *statement, const struct cursor *cursor, int token)
{
	if (token == TOKEN_NAME && is_name(cursor, "return")) {
		*statement = (struct statement){.returns = true};
		return false;
	}
	if (!statement->returns)
		return false;
	if (token == '(' || token == '[' || token == '{')
		statement->depth++;
	else if (token == ')' || token == ']' || token == '}')
		statement->depth--;
	else if (token == ';' && !statement->depth)
		statement->returns = false;
	return token == ',' && !statement->depth;
}

const char *body_find(const struct text_lines *lines, size_t first, const char *name,
		      struct body *ret)
{
	struct cursor cursor = {.lines = lines, .line = first};
	struct statement statement = {0};
	const char *why = find_head(&cursor, name);
	size_t depth = 1;

	if (why)
		return why;
	ret->open_line = cursor.line;
	ret->open_column = cursor.column;
	while (depth) {
		int token = next_token(&cursor);

		if (token == TOKEN_END)
			return "its braces do not match";
		if (token == TOKEN_DIRECTIVE && is_include(&cursor))
			return "its body has an #include";
		if (has_comma(&statement, &cursor, token))
			return "a return statement has a comma operator";
		depth += token == '{';
		depth -= token == '}';
	}
	/* #if and #else may each have an opening brace, so that this is not the function's end. */
	if (cursor.at_column && cursor.at_line != ret->open_line)
		return "its closing brace is not at the beginning of a line";
	ret->close_line = cursor.line;
	ret->close_column = cursor.column;
	return NULL;
}
