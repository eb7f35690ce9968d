// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading the definition of a macro; see macro_body.h. */
#include "pokepatch-build/macro_body.h"

#include <stdlib.h>
#include <string.h>

/* Read "(a, b, rest...)"; the cursor is at the parenthesis. */
static void read_parameters(struct cursor *cursor, struct macro_body *ret)
{
	static const char rest[] = "__VA_ARGS__";
	enum token_kind previous = TOKEN_END;
	struct token token;

	while (next_token(cursor, &token) && !token_is(&token, ")")) {
		bool dots = token_is(&token, "...");

		if (token.kind == TOKEN_NAME)
			*vec_push(&ret->parameters) = token;
		else if (dots && previous != TOKEN_NAME)
			*vec_push(&ret->parameters) = (struct token){
				.kind = TOKEN_NAME, .text = rest, .length = strlen(rest)};
		ret->variadic |= dots;
		previous = token.kind;
	}
}

void macro_body_read(const struct item_index *index, const struct item *macro,
		     struct macro_body *ret)
{
	const char *text = index->files.list[macro->file].flat.text;
	struct cursor cursor = {text + macro->start + 1, text + macro->end, false};
	struct token token;

	*ret = (struct macro_body){};
	next_token(&cursor, &token); /* define */
	next_token(&cursor, &token);
	if (macro->takes_arguments)
		read_parameters(&cursor, ret);
	while (next_token(&cursor, &token))
		*vec_push(&ret->tokens) = token;
}

void macro_body_deinit(struct macro_body *body)
{
	vec_deinit(&body->tokens);
	vec_deinit(&body->parameters);
}

uint32_t macro_body_parameter(const struct macro_body *body, const struct token *token)
{
	for (size_t i = 0; i < body->parameters.count; i++)
		if (body->parameters.list[i].length == token->length &&
		    !memcmp(body->parameters.list[i].text, token->text, token->length))
			return (uint32_t)i + 1;
	return 0;
}
