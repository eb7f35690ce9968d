/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tokens of preprocessed C (gcc -E). */
#ifndef POKEPATCH_C_TOKENS_H
#define POKEPATCH_C_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
	TOKEN_END,
	TOKEN_NAME,
	TOKEN_NUMBER,
	TOKEN_QUOTED,	 /* a string or a character */
	TOKEN_OPERATOR,
	TOKEN_DIRECTIVE, /* a line that begins with # and is not a line marker: #pragma, #ident */
	TOKEN_UNKNOWN,
};

struct token {
	enum token_kind kind;
	const char *text;
	size_t length;
	uint64_t hash; /* of kind and text */
};

struct cursor {
	const char *at, *end;
	bool line_start; /* only blanks were read in this line */
};

/* skip_blanks - move to the next token, past line markers and #pragma GCC diagnostic. */
void skip_blanks(struct cursor *cursor);

/* next_token - read a token, which borrows from the text.  Return: false at the end. */
bool next_token(struct cursor *cursor, struct token *ret);

/* token_is - whether a token has this text; one at the end has none. */
bool token_is(const struct token *token, const char *text);

/* token_name_hash - the hash that the token of this name has. */
uint64_t token_name_hash(const char *name, size_t length);

/* is_word - whether a string holds a name, and nothing else. */
bool is_word(const char *text, size_t length);

/* is_plain_number - whether text is a number, and cannot be the end of a name as in set_3way. */
bool is_plain_number(const char *text, size_t length);

#endif /* POKEPATCH_C_TOKENS_H */
