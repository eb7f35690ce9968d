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
