// SPDX-License-Identifier: GPL-2.0-or-later
/* Judging the mentions of a name in a declaration; see mention_roles.h. */
#include "pokepatch-build/mention_roles.h"

#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/c_tokens.h"

#define DEPTH_MAX 32

/* What the tokens at a place are about. */
enum content {
	CONTENT_FILE,       /* outside brackets */
	CONTENT_MEMBERS,    /* of a structure or union */
	CONTENT_PARAMETERS, /* of a function, or of a pointer to one */
	CONTENT_DECLARATOR, /* (*name) */
	CONTENT_OTHER,
};

/* The tokens of an item, each with its name's index, or INDEX_NONE. */
struct reading {
	const struct item_index *index;
	VEC(struct token) tokens;
	VEC(uint32_t) names;
	enum content stack[DEPTH_MAX];
	size_t depth;
	bool tagged; /* struct or union was read, and neither its body nor a declarator yet */
	bool value;  /* after =, or after the : of a bit-field */
	name_list *ret;
};

static const struct token *token_at(const struct reading *reading, size_t at)
{
	static const struct token none = {.kind = TOKEN_END, .text = ""};

	return at < reading->tokens.count ? &reading->tokens.list[at] : &none;
}

static bool is_char(const struct reading *reading, size_t at, char c)
{
	const struct token *token = token_at(reading, at);

	return token->kind == TOKEN_OPERATOR && token->length == 1 && *token->text == c;
}

static bool is_one_of(const struct reading *reading, size_t at, const char *chars)
{
	const struct token *token = token_at(reading, at);

	return token->kind == TOKEN_OPERATOR && token->length == 1 && strchr(chars, *token->text);
}

static const struct indexed_name *name_at(const struct reading *reading, size_t at)
{
	uint32_t name = at < reading->names.count ? reading->names.list[at] : INDEX_NONE;

	return name == INDEX_NONE ? NULL : &reading->index->names.list[name];
}

static unsigned int words_at(const struct reading *reading, size_t at)
{
	const struct indexed_name *name = name_at(reading, at);

	return name ? name->words : 0;
}

static bool is_macro(const struct reading *reading, size_t at)
{
	const struct indexed_name *name = name_at(reading, at);

	return name && name->macros != INDEX_NONE;
}

/* A name that is neither a macro nor a word of C that this file knows. */
static bool is_plain(const struct reading *reading, size_t at)
{
	return token_at(reading, at)->kind == TOKEN_NAME && !is_macro(reading, at) &&
	       !(words_at(reading, at) & (WORD_TAG | WORD_SPECIFIER | WORD_STORAGE));
}

/* const, volatile, and macros that make nothing but attributes, as __rcu and __user. */
static bool is_qualifier(const struct reading *reading, size_t at)
{
	const struct indexed_name *name = name_at(reading, at);

	if (!name)
		return false;
	return is_macro(reading, at) ? name->harmless : (name->words & WORD_STORAGE) != 0;
}

static enum content content(const struct reading *reading)
{
	if (reading->value)
		return CONTENT_OTHER;
	return reading->depth ? reading->stack[reading->depth - 1] : CONTENT_FILE;
}

static enum content content_of_brace(const struct reading *reading)
{
	if (!reading->tagged)
		return CONTENT_OTHER;
	return content(reading) == CONTENT_FILE || content(reading) == CONTENT_MEMBERS
		       ? CONTENT_MEMBERS : CONTENT_OTHER;
}

/* Whether parentheses with something else than parameters follow a word of C. */
static bool takes_expression(const struct token *token)
{
	static const char *const words[] = {
		"typeof", "__typeof__", "__typeof", "sizeof", "_Alignof", "__alignof__",
		"_Alignas", "_Static_assert", "_Atomic", "asm", "__asm__",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (token_is(token, words[i]))
			return true;
	return false;
}

/* What the parenthesis at a place begins. */
static enum content content_of_parenthesis(const struct reading *reading, size_t at)
{
	if (content(reading) == CONTENT_OTHER)
		return CONTENT_OTHER;
	if (!at || takes_expression(token_at(reading, at - 1)))
		return CONTENT_OTHER;
	if (is_char(reading, at + 1, '*'))
		return CONTENT_DECLARATOR;
	return is_char(reading, at - 1, ')') || is_plain(reading, at - 1) ? CONTENT_PARAMETERS
									  : CONTENT_OTHER;
}

/* Follow the brackets.  Return: false if they are not understood. */
static bool pass_bracket(struct reading *reading, size_t at)
{
	if (is_one_of(reading, at, "([{")) {
		if (reading->depth == DEPTH_MAX)
			return false;
		reading->stack[reading->depth] =
			is_char(reading, at, '{')   ? content_of_brace(reading)
			: is_char(reading, at, '(') ? content_of_parenthesis(reading, at)
						    : CONTENT_OTHER;
		reading->depth++;
	} else if (is_one_of(reading, at, ")]}")) {
		if (!reading->depth)
			return false;
		reading->depth--;
	}
	if (is_char(reading, at, '=') ||
	    (is_char(reading, at, ':') && content(reading) == CONTENT_MEMBERS))
		reading->value = true;
	else if (is_char(reading, at, ';'))
		reading->value = false;
	if (words_at(reading, at) & WORD_TAG && !is_macro(reading, at))
		reading->tagged = *token_at(reading, at)->text != 'e';
	else if (token_at(reading, at)->kind == TOKEN_OPERATOR)
		reading->tagged = false;
	return true;
}

/* Take the names of pointers: "*a, *b;", from the first * on.  Return: false if one is none. */
static bool take_pointers(struct reading *reading, size_t at)
{
	size_t depth = 0;
	bool named = false;

	for (; token_at(reading, at)->kind != TOKEN_END; at++) {
		if (!depth && is_char(reading, at, ';'))
			return named;
		if (!depth && is_char(reading, at, ',')) {
			if (!named || !is_char(reading, at + 1, '*'))
				return false;
			named = false;
		} else if (!named && is_plain(reading, at)) {
			*vec_push(reading->ret) = reading->names.list[at];
			named = true;
		} else if (is_one_of(reading, at, "([{")) {
			depth++;
		} else if (is_one_of(reading, at, ")]}")) {
			if (!depth--)
				return false;
		} else if (!named && !is_char(reading, at, '*') && !is_qualifier(reading, at)) {
			return false;
		}
	}
	return false;
}

/* Whether a member or a parameter has the name at a place: it follows a type, a * or a comma. */
static bool is_declarator(const struct reading *reading, size_t at)
{
	const bool in_members = content(reading) == CONTENT_MEMBERS;
	size_t before = at;

	if (!is_one_of(reading, at + 1, ";,[)") &&
	    !(in_members && is_char(reading, at + 1, ':')))
		return false;
	while (before && is_qualifier(reading, before - 1))
		before--;
	if (!before)
		return false;
	if (is_char(reading, before - 1, '*'))
		return true;
	return before == at && (is_plain(reading, at - 1) ||
				(in_members && is_one_of(reading, at - 1, ",}")));
}

/* Judge the mention at a place.  Return: false if what the item declares may differ. */
static bool judge(struct reading *reading, size_t at)
{
	size_t next = at + 1;

	if (content(reading) != CONTENT_MEMBERS && content(reading) != CONTENT_PARAMETERS &&
	    content(reading) != CONTENT_DECLARATOR)
		return false;
	if (is_declarator(reading, at))
		return true;
	if (content(reading) == CONTENT_DECLARATOR)
		return false;
	while (is_qualifier(reading, next))
		next++;
	if (!is_char(reading, next, '*'))
		return false;
	return content(reading) == CONTENT_PARAMETERS || take_pointers(reading, next);
}

/* A string may be a name, too, as in alias("name"). */
static uint32_t find_name(const struct item_index *index, const struct token *token)
{
	if (token->kind == TOKEN_NAME)
		return item_index_find(index, token->text, token->length, token->hash);
	if (token->kind != TOKEN_QUOTED || token->length < 3)
		return INDEX_NONE;
	return item_index_find(index, token->text + 1, token->length - 2,
			       token_name_hash(token->text + 1, token->length - 2));
}

static void read_tokens(struct reading *reading, const struct item *item)
{
	const char *text = reading->index->files.list[item->file].flat.text;
	struct cursor cursor = {text + item->start, text + item->end, false};
	struct token token;

	while (next_token(&cursor, &token)) {
		*vec_push(&reading->tokens) = token;
		*vec_push(&reading->names) = find_name(reading->index, &token);
	}
}

/* Whether the item does not end as a declaration does, but as a function. */
static bool has_body(const struct reading *reading)
{
	return !is_char(reading, reading->tokens.count - 1, ';');
}

bool mention_roles(const struct item_index *index, uint32_t number, uint32_t name, name_list *ret)
{
	struct reading reading = {.index = index, .ret = ret};
	bool same, found = false;

	ret->count = 0;
	if (index->files.list[index->items.list[number].file].opaque)
		return false;
	read_tokens(&reading, &index->items.list[number]);
	same = reading.tokens.count && !has_body(&reading);
	for (size_t i = 0; same && i < reading.tokens.count; i++) {
		if (reading.names.list[i] == name) {
			found = true;
			same = judge(&reading, i);
		}
		same = same && pass_bracket(&reading, i);
	}
	vec_deinit(&reading.tokens);
	vec_deinit(&reading.names);
	return same && found;
}
