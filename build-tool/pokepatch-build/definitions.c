// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding functions and variables in a source text; see definitions.h. */
#include "pokepatch-build/definitions.h"

#include <ctype.h>
#include <string.h>

static bool is_word_character(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

bool line_has_word(const struct text_line *line, const char *word)
{
	const size_t length = strlen(word);
	const char *p = line->text, *end = line->text + line->length;

	while (length && (size_t)(end - p) >= length) {
		p = memmem(p, (size_t)(end - p), word, length);
		if (!p)
			return false;
		if ((p == line->text || !is_word_character(p[-1])) &&
		    (p + length == end || !is_word_character(p[length])))
			return true;
		p++;
	}
	return false;
}

bool word_is(const struct word *word, const char *text)
{
	return word->length == strlen(text) && !memcmp(word->text, text, word->length);
}

bool next_word(const char **at, const char *end, struct word *ret)
{
	const char *p = *at;

	/* A number is passed as a whole: the x of 0x10 begins no word. */
	while (p < end && !isalpha((unsigned char)*p) && *p != '_')
		if (isdigit((unsigned char)*p))
			while (p < end && is_word_character(*p))
				p++;
		else
			p++;
	*ret = (struct word){.text = p};
	while (p < end && is_word_character(*p))
		p++;
	ret->length = (size_t)(p - ret->text);
	*at = p;
	return ret->length;
}

/* The line's length without blanks at its end. */
static size_t trimmed(const struct text_line *line)
{
	size_t length = line->length;

	while (length && isspace((unsigned char)line->text[length - 1]))
		length--;
	return length;
}

static bool ends_with(const struct text_line *line, const char *text)
{
	const size_t length = trimmed(line), wanted = strlen(text);

	return length >= wanted && !memcmp(line->text + length - wanted, text, wanted);
}

static bool begins_with(const struct text_line *line, char c)
{
	return line->length && line->text[0] == c;
}

/* "out_unlock:" in the first column, within a function */
static bool is_label(const struct text_line *line)
{
	return ends_with(line, ":") && !ends_with(line, "::");
}

/* Does a definition, or its return type, stand in the first column here? */
static bool is_head(const struct text_line *line)
{
	return line->length && (isalpha((unsigned char)line->text[0]) || line->text[0] == '_') &&
	       !is_label(line);
}

static bool has_brace(const struct text_line *line)
{
	return memchr(line->text, '{', line->length) != NULL;
}

/* Is the line the end of what is above a definition? */
static bool is_apart(const struct text_line *line)
{
	return !trimmed(line) || !is_head(line) || ends_with(line, ";") || ends_with(line, "}");
}

struct line_range definition_around(const struct text_lines *lines, size_t index)
{
	struct line_range range = {index, index};
	bool body = false;
	size_t head = index;

	if (index >= lines->count)
		return range;
	/* From within a body up to its head.  A brace in the first column ends another one. */
	while (head && !is_head(&lines->list[head])) {
		if (head != index && begins_with(&lines->list[head], '}'))
			return range;
		head--;
	}
	if (!is_head(&lines->list[head]))
		return range;
	while (head && !is_apart(&lines->list[head - 1]))
		head--;
	range.first = head;
	for (range.last = head; range.last < lines->count; range.last++) {
		const struct text_line *line = &lines->list[range.last];

		body |= has_brace(line);
		if (body && begins_with(line, '}'))
			break;
		if (body && range.last == head && (ends_with(line, "}") || ends_with(line, "};")))
			break;
		if (!body && ends_with(line, ";"))
			break;
	}
	if (range.last == lines->count)
		range.last--;
	/* The line stands behind the definition that was found, in a comment or a macro. */
	if (range.last < index)
		range = (struct line_range){index, index};
	return range;
}

/* "int f(void);" and "struct x;" define nothing; "EXPORT_SYMBOL(f);" is about f. */
static bool is_declaration(const struct text_lines *lines, struct line_range range)
{
	const struct text_line *line = &lines->list[range.first];
	const size_t word = strspn(line->text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");

	if (word && word < line->length && line->text[word] == '(')
		return false;
	for (size_t i = range.first; i <= range.last; i++)
		if (has_brace(&lines->list[i]) ||
		    memchr(lines->list[i].text, '=', lines->list[i].length))
			return false;
	for (size_t i = range.first; i <= range.last; i++)
		if (memchr(lines->list[i].text, '(', lines->list[i].length))
			return true;
	return line_has_word(line, "extern");
}

bool definition_next(const struct text_lines *lines, const char *name, size_t index,
		     struct line_range *ret)
{
	for (; index < lines->count; index++) {
		const struct text_line *line = &lines->list[index];

		if (!is_head(line) || !line_has_word(line, name))
			continue;
		*ret = definition_around(lines, index);
		if (!is_declaration(lines, *ret))
			return true;
	}
	return false;
}

/* The lines of a #define, and its name. */
static bool macro_at(const struct text_lines *lines, size_t index, struct line_range *ret,
		     struct word *ret_name)
{
	const struct text_line *line = &lines->list[index];
	const char *at = line->text, *end = line->text + line->length;

	if (!next_word(&at, end, ret_name) || !word_is(ret_name, "define") ||
	    !next_word(&at, end, ret_name))
		return false;
	*ret = (struct line_range){index, index};
	while (ret->last + 1 < lines->count && ends_with(&lines->list[ret->last], "\\"))
		ret->last++;
	return true;
}

/* Words that may stand in front of a parenthesis or a brace and name nothing: "enum {" */
static bool names_nothing(const struct word *word)
{
	static const char *const words[] = {"struct", "union", "enum",	   "void",  "int",
					    "char",   "long",  "unsigned", "short", "bool"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (word_is(word, words[i]))
			return true;
	return !word->length;
}

static bool is_capitals(const struct word *word)
{
	for (size_t i = 0; i < word->length; i++)
		if (islower((unsigned char)word->text[i]))
			return false;
	return true;
}

/* Behind the parenthesis that closes the one at @at; @end if none does. */
static const char *behind_parentheses(const char *at, const char *end)
{
	size_t depth = 0;

	for (; at < end; at++) {
		depth += *at == '(';
		depth -= *at == ')';
		if (!depth)
			return at + 1;
	}
	return end;
}

/*
 * The name in a head: the last word in front of a parenthesis, an equals sign, a bracket, a brace
 * or a semicolon.  "__printf(1, 2) void f(" is about f, and "SYSCALL_DEFINE1(dup," about dup.
 */
static bool head_name(const struct text_line *line, struct word *ret)
{
	const char *at = line->text, *line_end = line->text + line->length, *end;
	struct word word;

	do {
		for (end = at; end < line_end && !strchr("(=[{;", *end);)
			end++;
		if (end == line_end)
			return false;
		*ret = (struct word){};
		while (next_word(&at, end, &word))
			*ret = word;
		at = *end == '(' ? behind_parentheses(end, line_end) : line_end;
	} while (*end == '(' && ret->length > 2 && !memcmp(ret->text, "__", 2) && at < line_end &&
		 memchr(at, '(', (size_t)(line_end - at)));
	if (*end == '(' && ret->length && is_capitals(ret))
		return next_word(&end, line_end, ret);
	return !names_nothing(ret);
}

bool definition_at(const struct text_lines *lines, size_t index, struct line_range *ret,
		   struct word *ret_name)
{
	const struct text_line *line = &lines->list[index];

	if (begins_with(line, '#'))
		return macro_at(lines, index, ret, ret_name);
	/* A macro that defines functions has their heads in the first column, too. */
	if (!is_head(line) || ends_with(line, "\\") || !head_name(line, ret_name))
		return false;
	*ret = definition_around(lines, index);
	return !is_declaration(lines, *ret);
}
