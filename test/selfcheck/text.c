// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the two changes to sources: adds blank lines, or changes one token. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "selfcheck.h"

/* ---- lines --------------------------------------------------------------------------- */

static bool is_continued(const char *text, const char *line)
{
	if (line == text)
		return false;
	line--; /* the newline before it */
	if (line > text && line[-1] == '\r')
		line--;
	return line > text && line[-1] == '\\';
}

/* From 1 to 40, in no order, so that differences do not repeat. */
static unsigned int blank_lines(size_t i)
{
	return (unsigned int)(i * 7 % 40 + 1);
}

/*
 * A blank line is white space wherever it stands, but within a continued line
 * (a macro); a function's name there gets its lines in front of all of it.
 */
void text_shift(const char *text, const int *lines, size_t count, struct buffer *ret)
{
	size_t next = 0, wanted = 0;
	int number = 1;

	for (const char *line = text; *line; number++) {
		const char *end = strchrnul(line, '\n');

		while (next < count && lines[next] <= number) {
			wanted += blank_lines(next);
			next++;
		}
		if (wanted && !is_continued(text, line)) {
			for (; wanted; wanted--)
				buffer_add(ret, "\n", 1);
		}
		end += *end == '\n';
		buffer_add(ret, line, (size_t)(end - line));
		line = end;
	}
}

/* ---- tokens ------------------------------------------------------------------------- */

static const struct exchange {
	const char *from, *to;
} exchanges[] = {
	/* The longer first. */
	{"<<=", NULL}, {">>=", NULL}, {"...", NULL}, {"->", NULL}, {"<<", NULL}, {">>", NULL},
	{"++", "--"},  {"--", "++"},  {"==", "!="},  {"!=", "=="}, {"<=", "<"},  {">=", ">"},
	{"&&", "||"},  {"||", "&&"},  {"+=", "-="},  {"-=", "+="}, {"|=", "&="}, {"&=", "|="},
	{"<", "<="},   {">", ">="},   {"+", "-"},    {"-", "+"},
};

/* Past a comment, string, character constant or preprocessor line at p; p if there is none. */
static const char *skip_opaque(const char *text, const char *p)
{
	if (p[0] == '/' && p[1] == '*') {
		const char *end = strstr(p + 2, "*/");

		return end ? end + 2 : p + strlen(p);
	}
	if (p[0] == '/' && p[1] == '/')
		return strchrnul(p, '\n');
	if (*p == '"' || *p == '\'') {
		char quote = *p++;

		while (*p && *p != quote)
			p += *p == '\\' && p[1] ? 2 : 1;
		return *p ? p + 1 : p;
	}
	if (*p == '#' && (p == text || p[-1] == '\n')) {
		while (*p && !(*p == '\n' && p[-1] != '\\'))
			p++;
	}
	return p;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void add_change(struct token_changes *changes, const char *text, const char *at,
		       size_t length, int line, const char *to)
{
	struct token_change *change = vec_push(&changes->list);

	change->offset = (size_t)(at - text);
	change->length = length;
	change->line = line;
	snprintf(change->from, sizeof(change->from), "%.*s", (int)length, at);
	snprintf(change->to, sizeof(change->to), "%s", to);
}

/* An integer becomes the next one: "0x10UL" to "17UL". */
static void add_number(struct token_changes *changes, const char *text, const char *at,
		       size_t length, int line)
{
	char *end, to[24];
	unsigned long long value = strtoull(at, &end, 0);

	if (length > 12 || end == at || (size_t)(end - at) > length ||
	    strspn(end, "uUlL") < length - (size_t)(end - at))
		return;
	snprintf(to, sizeof(to), "%llu%.*s", value + 1, (int)(length - (size_t)(end - at)), end);
	add_change(changes, text, at, length, line, to);
}

static void add_word(struct token_changes *changes, const char *text, const char *at, size_t length,
		     int line)
{
	if (isdigit((unsigned char)*at))
		add_number(changes, text, at, length, line);
	else if (length == 4 && !strncmp(at, "true", 4))
		add_change(changes, text, at, length, line, "false");
	else if (length == 5 && !strncmp(at, "false", 5))
		add_change(changes, text, at, length, line, "true");
}

static const struct exchange *find_exchange(const char *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(exchanges); i++)
		if (has_prefix(p, exchanges[i].from))
			return &exchanges[i];
	return NULL;
}

/*
 * From the head's line to the '{' of its body; NULL: a ';' or something else comes first, such as
 * the next function behind INTERVAL_TREE_DEFINE(...), which has no ';'.
 */
static const char *find_body(const char *text, const char *p, int *line)
{
	bool closed = false;
	int depth = 0;

	while (*p) {
		const char *next = skip_opaque(text, p);

		if (next > p) {
			for (; p < next; p++)
				*line += *p == '\n';
			continue;
		}
		if (closed && !depth && is_word(*p) && p[-1] == '\n' && !has_prefix(p, "__"))
			return NULL;
		if (*p == '(')
			depth++;
		else if (*p == ')')
			closed |= !--depth;
		else if (*p == '{' && !depth)
			return p;
		else if ((*p == ';' || *p == '}') && depth <= 0)
			return NULL;
		*line += *p++ == '\n';
	}
	return NULL;
}

/* The first letter of a literal becomes another. */
static void add_string(struct token_changes *changes, const char *text, const char *at, int line)
{
	if (at[0] == '"' && isalpha((unsigned char)at[1]))
		add_change(changes, text, at + 1, 1, line, at[1] == 'X' ? "Y" : "X");
}

void text_tokens(const char *text, int line, bool strings, struct token_changes *ret)
{
	const char *p = text;
	int depth = 0;

	for (int i = 1; i < line && *p; i++) {
		p = strchrnul(p, '\n');
		p += *p == '\n';
	}
	p = find_body(text, p, &line);
	while (p && *p) {
		const char *next = skip_opaque(text, p);
		const struct exchange *exchange;

		if (next > p) {
			if (strings)
				add_string(ret, text, p, line);
			for (; p < next; p++)
				line += *p == '\n';
			continue;
		}
		if (is_word(*p)) {
			while (is_word(*next))
				next++;
			if (!strings)
				add_word(ret, text, p, (size_t)(next - p), line);
			p = next;
			continue;
		}
		depth += (*p == '{') - (*p == '}');
		if (!depth)
			return;
		exchange = find_exchange(p);
		if (!strings && exchange && exchange->to)
			add_change(ret, text, p, strlen(exchange->from), line, exchange->to);
		line += *p == '\n';
		p += exchange ? strlen(exchange->from) : 1;
	}
}
