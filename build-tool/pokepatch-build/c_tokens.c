// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading the tokens of preprocessed C; see c_tokens.h. */
#include "pokepatch-build/c_tokens.h"

#include <string.h>

enum character_class { BLANK = 1, NEWLINE, LETTER, DIGIT, QUOTE, OPERATOR };
static const unsigned char classes[256] = {
	[' '] = BLANK, ['\t'] = BLANK, ['\r'] = BLANK, ['\f'] = BLANK, ['\v'] = BLANK,
	['\n'] = NEWLINE, ['A' ... 'Z'] = LETTER, ['a' ... 'z'] = LETTER, ['_'] = LETTER,
	['$'] = LETTER, [128 ... 255] = LETTER, ['0' ... '9'] = DIGIT, ['"'] = QUOTE,
	['\''] = QUOTE, ['!'] = OPERATOR, ['%' ... '&'] = OPERATOR, ['(' ... '/'] = OPERATOR,
	[':' ... '?'] = OPERATOR, ['['] = OPERATOR, [']' ... '^'] = OPERATOR,
	['{' ... '~'] = OPERATOR,
};

static int class_of(char c)
{
	return classes[(unsigned char)c];
}

static bool in_word(char c)
{
	return class_of(c) == LETTER || class_of(c) == DIGIT;
}

static const char *line_end(const char *at, const char *end)
{
	const char *newline = memchr(at, '\n', (size_t)(end - at));

	return newline ? newline : end;
}

/* # 12 "include/linux/list.h" 2, which tells where the following lines come from. */
static bool is_line_marker(const char *at, const char *end)
{
	return end - at > 2 && at[0] == '#' && at[1] == ' ' && class_of(at[2]) == DIGIT;
}

/* gcc -Wx or not changes no code. */
static bool is_diagnostic_pragma(const char *at, const char *end)
{
	static const char words[] = "#pragma GCC diagnostic ";

	return (size_t)(end - at) >= strlen(words) && !memcmp(at, words, strlen(words));
}

void skip_blanks(struct cursor *cursor)
{
	for (; cursor->at < cursor->end; cursor->at++) {
		if (class_of(*cursor->at) == NEWLINE) {
			cursor->line_start = true;
		} else if (*cursor->at == '#' && cursor->line_start &&
			   (is_line_marker(cursor->at, cursor->end) ||
			    is_diagnostic_pragma(cursor->at, cursor->end))) {
			cursor->at = line_end(cursor->at, cursor->end);
			if (cursor->at == cursor->end)
				return;
		} else if (class_of(*cursor->at) != BLANK) {
			return;
		}
	}
}

static const char *quoted_end(const char *at, const char *end)
{
	char quote = *at;

	for (at++; at < end && *at != '\n'; at++) {
		if (*at == quote)
			return at + 1;
		if (*at == '\\' && at + 1 < end)
			at++;
	}
	return NULL;
}

/* A preprocessing number: 0x1p-3, 1.5e+10f, 0x1e. */
static const char *number_end(const char *at, const char *end)
{
	for (; at < end && (in_word(*at) || *at == '.'); at++)
		if (strchr("eEpP", *at) && at + 1 < end && (at[1] == '+' || at[1] == '-'))
			at++;
	return at;
}

/* <<= is one token, and "< <" are two. */
static size_t operator_length(const char *at, const char *end)
{
	char next = at + 1 < end ? at[1] : '\0';

	switch (*at) {
	case '<':
	case '>':
		if (next == *at)
			return at + 2 < end && at[2] == '=' ? 3 : 2;
		return next == '=' ? 2 : 1;
	case '.':
		return end - at > 2 && next == '.' && at[2] == '.' ? 3 : 1;
	case '-':
		return next == '>' || next == '-' || next == '=' ? 2 : 1;
	case '+':
	case '&':
	case '|':
		return next == *at || next == '=' ? 2 : 1;
	case '=':
	case '!':
	case '*':
	case '/':
	case '%':
	case '^':
		return next == '=' ? 2 : 1;
	default:
		return 1;
	}
}

static uint64_t hash_bytes(const char *bytes, size_t length, unsigned int seed)
{
	uint64_t hash = 0xcbf29ce484222325 + seed;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3;
	return hash ^ hash >> 32;
}

bool next_token(struct cursor *cursor, struct token *ret)
{
	const char *start, *end = cursor->end;
	bool line_start;

	skip_blanks(cursor);
	start = cursor->at;
	line_start = cursor->line_start;
	cursor->line_start = false;
	*ret = (struct token){.kind = TOKEN_END, .text = start};
	if (start == end)
		return false;
	switch (class_of(*start)) {
	case LETTER:
		ret->kind = TOKEN_NAME;
		while (cursor->at < end && in_word(*cursor->at))
			cursor->at++;
		break;
	case DIGIT:
		ret->kind = TOKEN_NUMBER;
		cursor->at = number_end(start, end);
		break;
	case QUOTE:
		ret->kind = TOKEN_QUOTED;
		cursor->at = quoted_end(start, end) ?: end;
		if (cursor->at == end && end[-1] != *start)
			ret->kind = TOKEN_UNKNOWN;
		break;
	case OPERATOR:
		ret->kind = TOKEN_OPERATOR;
		cursor->at += operator_length(start, end);
		if (*start == '.' && cursor->at < end && class_of(*cursor->at) == DIGIT) {
			ret->kind = TOKEN_NUMBER;
			cursor->at = number_end(start, end);
		} else if (*start == '/' && cursor->at < end &&
			   (*cursor->at == '/' || *cursor->at == '*')) {
			ret->kind = TOKEN_UNKNOWN; /* a comment: not gcc -E's output */
		}
		break;
	default:
		if (*start == '#' && line_start) {
			ret->kind = TOKEN_DIRECTIVE;
			cursor->at = line_end(start, end);
		} else {
			ret->kind = TOKEN_UNKNOWN;
			cursor->at++;
		}
	}
	ret->length = (size_t)(cursor->at - start);
	ret->hash = hash_bytes(start, ret->length, ret->kind);
	return true;
}

bool token_is(const struct token *token, const char *text)
{
	return token->kind != TOKEN_END && token->length == strlen(text) &&
	       !memcmp(token->text, text, token->length);
}

uint64_t token_name_hash(const char *name, size_t length)
{
	return hash_bytes(name, length, TOKEN_NAME);
}

bool is_word(const char *text, size_t length)
{
	if (!length || class_of(*text) != LETTER)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!in_word(text[i]))
			return false;
	return true;
}

bool is_plain_number(const char *text, size_t length)
{
	if (!length || class_of(*text) != DIGIT)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!strchr("0123456789abcdefABCDEFxXuUlL.", text[i]))
			return false;
	return true;
}
