// SPDX-License-Identifier: GPL-2.0-or-later
/* Expanding macros that have one definition; see expanded_text.h. */
#include "pokepatch-build/expanded_text.h"

#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/macro_body.h"

#define EXPANSION_MAX 16
#define TOKENS_MAX    10000

struct range {
	size_t from, to;
};

struct expansion {
	const struct item_index *index;
	uint32_t active[EXPANSION_MAX]; /* names of the macros that are being expanded */
	size_t nr_active;
	VEC(char *) owned; /* texts of tokens that ## made */
	size_t nr_tokens;
};

/* A macro's definition, and the arguments of a use of it. */
struct use {
	struct macro_body body;
	const token_list *from;
	VEC(struct range) arguments; /* in from */
};

static bool is_at(const token_list *tokens, size_t at, const char *text)
{
	return at < tokens->count && token_is(&tokens->list[at], text);
}

static uint32_t name_of(const struct expansion *expansion, const struct token *token)
{
	return token->kind == TOKEN_NAME ? item_index_find(expansion->index, token->text,
							   token->length, token->hash)
					 : INDEX_NONE;
}

/* ---- definitions ------------------------------------------------------------ */

static bool is_active(const struct expansion *expansion, uint32_t name)
{
	for (size_t i = 0; i < expansion->nr_active; i++)
		if (expansion->active[i] == name)
			return true;
	return false;
}

/* The only definition of a name, or INDEX_NONE. */
static uint32_t only_definition(const struct item_index *index, uint32_t name)
{
	const uint32_t first = index->names.list[name].macros;

	for (uint32_t at = first; at != INDEX_NONE; at = index->items.list[at].next_macro)
		if (index->items.list[at].is_undef ||
		    index->items.list[at].hash != index->items.list[first].hash)
			return INDEX_NONE;
	return first;
}

/* Read arguments from the parenthesis at @at on.  Return: the place behind them, or 0. */
static size_t read_arguments(struct use *use, size_t at)
{
	const token_list *from = use->from;
	size_t depth = 0, begin = ++at;

	for (; at < from->count; at++) {
		if (is_at(from, at, "(") || is_at(from, at, "[") || is_at(from, at, "{"))
			depth++;
		bool end = !depth && is_at(from, at, ")");
		bool rest = use->body.variadic && use->arguments.count + 1 == use->body.parameters.count;

		if (end || (!depth && is_at(from, at, ",") && !rest)) {
			*vec_push(&use->arguments) = (struct range){begin, at};
			begin = at + 1;
		}
		if (end)
			break;
		if (is_at(from, at, ")") || is_at(from, at, "]") || is_at(from, at, "}")) {
			if (!depth--)
				return 0;
		}
	}
	if (use->body.variadic && use->arguments.count + 1 == use->body.parameters.count)
		*vec_push(&use->arguments) = (struct range){at, at};
	if (!use->body.parameters.count && use->arguments.count == 1)
		use->arguments.count = 0;
	return at < from->count && use->arguments.count == use->body.parameters.count ? at + 1 : 0;
}

/* ---- substitution ----------------------------------------------------------- */

static bool expand(struct expansion *expansion, token_list *tokens, bool outside,
		   token_list *ret);

static void add_range(const token_list *from, struct range range, token_list *ret)
{
	for (size_t i = range.from; i < range.to; i++)
		*vec_push(ret) = from->list[i];
}

/* An argument, expanded as a whole. */
static bool add_argument(struct expansion *expansion, const struct use *use, size_t argument,
			 token_list *ret)
{
	token_list raw = {};
	bool good;

	add_range(use->from, use->arguments.list[argument], &raw);
	good = expand(expansion, &raw, false, ret);
	vec_deinit(&raw);
	return good;
}

/* Join the last token with the first of the others: ## */
static void paste(struct expansion *expansion, token_list *ret, const token_list *right)
{
	for (size_t i = 0; i < right->count; i++) {
		if (i || !ret->count) {
			*vec_push(ret) = right->list[i];
			continue;
		}
		struct token *left = &ret->list[ret->count - 1];
		char *text = xasprintf("%.*s%.*s", (int)left->length, left->text,
				       (int)right->list[0].length, right->list[0].text);
		struct cursor cursor = {text, text + strlen(text), false};

		*vec_push(&expansion->owned) = text;
		next_token(&cursor, left);
	}
}

/* Whether there is ## at a place of a macro's body. */
static bool is_paste(const token_list *body, size_t at)
{
	return is_at(body, at, "#") && is_at(body, at + 1, "#");
}

/* Put the body of a macro with its arguments into ret. */
static bool substitute(struct expansion *expansion, const struct use *use, token_list *ret)
{
	static const struct token empty_string = {.kind = TOKEN_QUOTED, .text = "\"\"",
						  .length = 2};
	const token_list *body = &use->body.tokens;
	bool joins = false, good = true, placed = false;

	for (size_t i = 0; good && i < body->count; i++) {
		const struct token *token = &body->list[i];
		uint32_t argument = macro_body_parameter(&use->body, token);
		token_list part = {};

		if (is_paste(body, i)) {
			i++;
			joins = placed; /* an empty left side leaves the right one as it is */
			continue;
		}
		if (is_at(body, i, "#") && i + 1 < body->count) {
			i++;
			*vec_push(&part) = empty_string;
		} else if (!argument) {
			*vec_push(&part) = *token;
		} else if (joins || is_paste(body, i + 1)) {
			add_range(use->from, use->arguments.list[argument - 1], &part);
		} else {
			good = add_argument(expansion, use, argument - 1, &part);
		}
		placed = part.count != 0;
		/* ", ## args" without arguments is nothing. */
		if (joins && !part.count && ret->count &&
		    token_is(&ret->list[ret->count - 1], ",")) {
			ret->count--;
		} else if (joins && ret->count && !token_is(&ret->list[ret->count - 1], ",")) {
			paste(expansion, ret, &part);
		} else {
			add_range(&part, (struct range){0, part.count}, ret);
		}
		placed |= joins;
		joins = false;
		vec_deinit(&part);
	}
	return good;
}

/* Expand the macro at @at of tokens, and go on with what it makes.  Return: the place behind it. */
static size_t expand_macro(struct expansion *expansion, token_list *tokens, size_t at,
			   uint32_t name, bool outside, token_list *ret)
{
	uint32_t definition = only_definition(expansion->index, name);
	struct use use = {.from = tokens};
	token_list made = {};
	size_t behind = at + 1;
	bool good = definition != INDEX_NONE && expansion->nr_active < EXPANSION_MAX;

	if (good) {
		macro_body_read(expansion->index, &expansion->index->items.list[definition],
				&use.body);
		if (expansion->index->items.list[definition].takes_arguments)
			behind = read_arguments(&use, at + 1);
		good = behind && substitute(expansion, &use, &made);
	}
	if (good) {
		expansion->active[expansion->nr_active++] = name;
		good = expand(expansion, &made, outside, ret);
		expansion->nr_active--;
	}
	macro_body_deinit(&use.body);
	vec_deinit(&use.arguments);
	vec_deinit(&made);
	return good ? behind : 0;
}

static bool takes_arguments(const struct item_index *index, uint32_t name)
{
	uint32_t macro = index->names.list[name].macros;

	return index->items.list[macro].takes_arguments;
}

static bool is_to_expand(const struct expansion *expansion, const token_list *tokens, size_t at,
			 uint32_t name)
{
	const struct indexed_name *indexed;

	if (name == INDEX_NONE)
		return false;
	indexed = &expansion->index->names.list[name];
	if (indexed->macros == INDEX_NONE || indexed->harmless || is_active(expansion, name))
		return false;
	return is_at(tokens, at + 1, "(") || !takes_arguments(expansion->index, name);
}

/* @outside: expand macros outside brackets only; else all */
static bool expand(struct expansion *expansion, token_list *tokens, bool outside, token_list *ret)
{
	size_t depth = 0;

	expansion->nr_tokens += tokens->count;
	if (expansion->nr_tokens > TOKENS_MAX)
		return false;
	for (size_t i = 0; i < tokens->count;) {
		const struct token *token = &tokens->list[i];
		uint32_t name = name_of(expansion, token);

		if ((!outside || !depth) && is_to_expand(expansion, tokens, i, name)) {
			i = expand_macro(expansion, tokens, i, name, outside, ret);
			if (!i)
				return false;
			continue;
		}
		if (is_at(tokens, i, "(") || is_at(tokens, i, "[") || is_at(tokens, i, "{"))
			depth++;
		else if (is_at(tokens, i, ")") || is_at(tokens, i, "]") || is_at(tokens, i, "}"))
			depth -= depth != 0;
		*vec_push(ret) = *token;
		i++;
	}
	return true;
}

/* ---- the text --------------------------------------------------------------- */

/* Whether a declaration ends at a place: with a semicolon, or with a function's body. */
static bool ends_at(const token_list *tokens, size_t at, size_t depth, bool had_paren)
{
	if (depth)
		return false;
	return is_at(tokens, at, ";") || (is_at(tokens, at, "}") && had_paren);
}

static void write_tokens(const token_list *tokens, struct buffer *ret)
{
	bool had_paren = false, aggregate = false;
	size_t depth = 0;

	for (size_t i = 0; i < tokens->count; i++) {
		bool opens = is_at(tokens, i, "(") || is_at(tokens, i, "[") || is_at(tokens, i, "{");
		bool closes = is_at(tokens, i, ")") || is_at(tokens, i, "]") || is_at(tokens, i, "}");

		/* "struct s {", unlike "struct s f(void) {" */
		if (!depth && is_at(tokens, i, "{"))
			aggregate = !had_paren;
		if (!depth && is_at(tokens, i, "("))
			had_paren = true;
		depth += opens;
		depth -= closes && depth;
		buffer_add(ret, tokens->list[i].text, tokens->list[i].length);
		buffer_add(ret, " ", 1);
		if (!ends_at(tokens, i, depth, had_paren && !aggregate))
			continue;
		buffer_add(ret, "\n", 1);
		had_paren = aggregate = false;
	}
}

bool expand_text(const struct item_index *index, uint32_t number, struct buffer *ret)
{
	const struct item *item = &index->items.list[number];
	const char *text = index->files.list[item->file].flat.text;
	struct cursor cursor = {text + item->start, text + item->end, false};
	struct expansion expansion = {.index = index};
	token_list tokens = {}, made = {};
	struct token token;
	bool good = true;

	while (good && next_token(&cursor, &token)) {
		good = token.kind != TOKEN_DIRECTIVE && token.kind != TOKEN_UNKNOWN;
		*vec_push(&tokens) = token;
	}
	good = good && expand(&expansion, &tokens, true, &made);
	for (size_t i = 0; good && i < made.count; i++)
		good = !token_is(&made.list[i], "_Pragma");
	if (good)
		write_tokens(&made, ret);
	for (size_t i = 0; i < expansion.owned.count; i++)
		free(expansion.owned.list[i]);
	vec_deinit(&expansion.owned);
	vec_deinit(&tokens);
	vec_deinit(&made);
	return good;
}
