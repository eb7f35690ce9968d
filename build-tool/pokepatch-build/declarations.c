// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Comparing two preprocessed texts, and following names from what emits code to what changed; see
 * declarations.h.
 *
 * Both texts are mostly equal.  The first is split wholly; of the second, only what is between the
 * equal bytes at the beginning and at the end.
 */
#include "pokepatch-build/declarations.h"

#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "pokepatch-build/c_tokens.h"
#include "pokepatch-build/declaration_pairs.h"
#include "pokepatch-build/declaration_parser.h"

static const char *line_end(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return newline ? newline : end;
}

bool preprocessed_differs(const char *a, size_t a_length, const char *b, size_t b_length)
{
	struct cursor left = {a, a + a_length, true}, right = {b, b + b_length, true};
	struct token x, y;

	for (;;) {
		/* Most lines are equal. */
		while (left.line_start && right.line_start && left.at < left.end) {
			const char *end = line_end(left.at, left.end);
			size_t length = (size_t)(end - left.at);

			if (end == left.end || length >= (size_t)(right.end - right.at) ||
			    memcmp(left.at, right.at, length + 1))
				break;
			left.at += length + 1;
			right.at += length + 1;
		}
		skip_blanks(&left);
		skip_blanks(&right);
		if (next_token(&left, &x) != next_token(&right, &y))
			return true;
		if (x.kind == TOKEN_END)
			return false;
		if (x.kind != y.kind || x.length != y.length || memcmp(x.text, y.text, x.length))
			return true;
		/* At the ends of both lines, go on with whole lines. */
		if (left.at < left.end && right.at < right.end && *left.at == '\n' &&
		    *right.at == '\n') {
			left.at++;
			right.at++;
			left.line_start = right.line_start = true;
		}
	}
}

/* ---- what changed, and what it reaches -------------------------------------------- */

/* Whether a changed declaration matters wherever it is. */
static bool matters_itself(const struct declaration *declaration)
{
	if (declaration->harmless)
		return false;
	return declaration->root || declaration->directive || declaration->implicit ||
	       !declaration->names;
}

/* Follow the names that roots mention to the declarations of these. */
static bool changed_is_reached(struct parser *parser)
{
	_free_ uint32_t *waiting = xcalloc(parser->declarations.count + 1, sizeof(*waiting));
	struct declaration *list = parser->declarations.list;
	size_t count = 0;

	for (uint32_t i = 0; i < parser->declarations.count; i++) {
		if (list[i].changed && matters_itself(&list[i]))
			return true;
		list[i].reached = list[i].root;
		if (list[i].root)
			waiting[count++] = i;
	}
	while (count) {
		struct declaration *from = &list[waiting[--count]];

		for (uint32_t i = 0; i < from->nr_mentions; i++) {
			struct name *name =
				&parser->names.list[parser->mentions.list[from->first_mention + i]];
			uint32_t next = name->reached ? DECLARATIONS_NONE : name->declarations;

			name->reached = true;
			for (; next != DECLARATIONS_NONE; next = parser->links.list[next].next) {
				uint32_t to = parser->links.list[next].declaration;

				if (list[to].changed)
					return true;
				if (!list[to].reached)
					waiting[count++] = to;
				list[to].reached = true;
			}
		}
	}
	return false;
}

static size_t equal_at_start(const char *a, const char *b, size_t length)
{
	size_t i = 0;

	for (; i + 4096 <= length && !memcmp(a + i, b + i, 4096);)
		i += 4096;
	while (i < length && a[i] == b[i])
		i++;
	return i;
}

static size_t equal_at_end(const char *a_end, const char *b_end, size_t length)
{
	size_t i = 0;

	for (; i + 4096 <= length && !memcmp(a_end - i - 4096, b_end - i - 4096, 4096);)
		i += 4096;
	while (i < length && a_end[-1 - (ptrdiff_t)i] == b_end[-1 - (ptrdiff_t)i])
		i++;
	return i;
}

static size_t first_token(const char *text, size_t length)
{
	struct cursor cursor = {text, text + length, true};

	skip_blanks(&cursor);
	return (size_t)(cursor.at - text);
}

bool declarations_reach_code(const char *a, size_t a_length, const char *b, size_t b_length)
{
	/* Both texts begin with a line marker that has the compiler's working folder. */
	size_t a_start = first_token(a, a_length), b_start = first_token(b, b_length);
	size_t a_rest = a_length - a_start, b_rest = b_length - b_start;
	size_t shorter = a_rest < b_rest ? a_rest : b_rest;
	size_t head = equal_at_start(a + a_start, b + b_start, shorter);
	size_t tail = equal_at_end(a + a_length, b + b_length, shorter - head);
	size_t first = 0, last, count, from = 0, limit = b_length;
	struct parser parser;
	struct declaration *list;
	bool result = true;

	parser_init(&parser);
	parser_read(&parser, a, a_length, 0, a_length);
	list = parser.declarations.list;
	count = parser.declarations.count;
	/* Declarations before @first, and those from @last on, are the same bytes in both texts. */
	while (first < count && list[first].end < a_start + head)
		from = list[first++].end - a_start + b_start;
	for (last = first; last < count; last++)
		if (list[last].start > a_length - tail && !list[last].directive)
			break;
	if (last < count)
		limit = b_length - (a_length - list[last].start);
	if (!parser.unsure && !parser_read(&parser, b, b_length, from, limit))
		last = count;
	list = parser.declarations.list;
	if (!parser.unsure) {
		declarations_mark_changed(&parser, (struct declaration_range){first, last},
					  (struct declaration_range){
						  count, parser.declarations.count});
		result = changed_is_reached(&parser);
	}
	parser_deinit(&parser);
	return result;
}
