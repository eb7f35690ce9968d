// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Understanding a declaration of a header; see declared_names.h.
 *
 * Macros that make attributes are taken out of it, so that declaration_parser.c, which is for
 * preprocessed text, understands what is left.
 */
#include "pokepatch-build/declared_names.h"

#include <string.h>

#include "pokepatch-build/c_tokens.h"
#include "pokepatch-build/declaration_parser.h"
#include "pokepatch-build/expanded_text.h"

#define DEPTH_MAX 64

/* What an open bracket holds. */
enum content { CONTENT_MEMBERS, CONTENT_ENUMERATORS, CONTENT_OTHER };

/* After struct, union or enum, until something else than its tag or an attribute follows. */
enum tagged { TAGGED_NOT, TAGGED_BEGUN, TAGGED_NAMED };

struct cleaning {
	struct item_index *index;
	struct cursor cursor;
	struct buffer text;
	enum content stack[DEPTH_MAX];
	size_t depth;
	bool value;    /* after = or : in members or enumerators */
	bool had_type; /* outside brackets, a name was no storage class */
	bool is_enum;  /* the last of struct, union and enum */
	enum tagged tagged;
	bool after_value; /* outside brackets, after = */
	bool begins;      /* an enumerator may begin here */
	uint32_t called;  /* a macro that a parenthesis follows, outside brackets, or INDEX_NONE */
};

static bool paren_follows(const struct cleaning *cleaning)
{
	struct cursor next = cleaning->cursor;

	skip_blanks(&next);
	return next.at < next.end && *next.at == '(';
}

static void skip_group(struct cleaning *cleaning)
{
	struct token token;
	int depth = 0;

	while (next_token(&cleaning->cursor, &token)) {
		depth += token_is(&token, "(");
		depth -= token_is(&token, ")");
		if (!depth)
			return;
	}
}

static bool takes_arguments(const struct item_index *index, const struct indexed_name *name)
{
	for (uint32_t at = name->macros; at != INDEX_NONE; at = index->items.list[at].next_macro)
		if (index->items.list[at].takes_arguments)
			return true;
	return false;
}

/* Leave a macro out that makes specifiers, but for what they mean to declaration_parser.c. */
static void skip_specifiers(struct cleaning *cleaning, const struct indexed_name *name)
{
	if (name->words & WORD_USED)
		buffer_add_string(&cleaning->text, "__attribute__((used)) ");
	if (name->words & WORD_SECTION)
		buffer_add_string(&cleaning->text, "__attribute__((section)) ");
	if (takes_arguments(cleaning->index, name) && paren_follows(cleaning))
		skip_group(cleaning);
}

/* All macros of an enumerator's name are that name: #define IPPROTO_IP IPPROTO_IP */
static bool is_plain_enumerator(const struct item_index *index, uint32_t name)
{
	for (uint32_t at = index->names.list[name].macros; at != INDEX_NONE;
	     at = index->items.list[at].next_macro) {
		const struct item *macro = &index->items.list[at];

		if (macro->is_undef)
			continue;
		if (!macro->specifies || macro->takes_arguments || macro->nr_mentions != 1 ||
		    index->mentions.list[macro->first_mention].name != name)
			return false;
	}
	return true;
}

/* Return: false if the name may declare others. */
static bool read_inner_name(struct cleaning *cleaning, uint32_t index)
{
	const struct indexed_name *name = &cleaning->index->names.list[index];
	enum content content = cleaning->stack[cleaning->depth - 1];

	if (content == CONTENT_OTHER || cleaning->value)
		return true;
	if (content == CONTENT_ENUMERATORS)
		return !cleaning->begins ||
		       (is_plain_enumerator(cleaning->index, index) && !paren_follows(cleaning));
	return name->macros == INDEX_NONE || name->harmless || !(name->words & WORD_TAG);
}

static bool in_other(const struct cleaning *cleaning)
{
	return cleaning->depth && cleaning->stack[cleaning->depth - 1] == CONTENT_OTHER;
}

static void follow_tag(struct cleaning *cleaning, const struct indexed_name *name)
{
	if (in_other(cleaning) || name->words & WORD_SPECIFIER)
		return;
	if (name->words & WORD_TAG && name->macros == INDEX_NONE) {
		cleaning->tagged = TAGGED_BEGUN;
		cleaning->is_enum = name->length == strlen("enum");
	} else {
		cleaning->tagged = cleaning->tagged == TAGGED_BEGUN ? TAGGED_NAMED : TAGGED_NOT;
	}
}

/* Return: false if the name may declare others. */
static bool read_name(struct cleaning *cleaning, const struct token *token)
{
	/* A name that macros paste may be new. */
	uint32_t index = item_index_name_hashed(cleaning->index, token->text, token->length,
						token->hash);
	const struct indexed_name *name = &cleaning->index->names.list[index];
	bool is_macro;

	if (cleaning->depth && !read_inner_name(cleaning, index))
		return false;
	is_macro = name->macros != INDEX_NONE && !(name->words & (WORD_STORAGE | WORD_SPECIFIER));
	if (is_macro && name->harmless && !in_other(cleaning)) {
		skip_specifiers(cleaning, name);
		return true;
	}
	if (is_macro && !cleaning->depth && !cleaning->after_value && paren_follows(cleaning) &&
	    takes_arguments(cleaning->index, name)) {
		if (!cleaning->had_type || cleaning->called != INDEX_NONE)
			return false;
		cleaning->called = index;
	}
	/* "NAME(...)" without a type in front is a macro, wherever it is from. */
	if (!cleaning->depth && !cleaning->had_type && paren_follows(cleaning) &&
	    !(name->words & WORD_SPECIFIER))
		return false;
	follow_tag(cleaning, name);
	cleaning->had_type |= !(name->words & (WORD_STORAGE | WORD_SPECIFIER));
	buffer_add(&cleaning->text, token->text, token->length);
	buffer_add(&cleaning->text, " ", 1);
	return true;
}

static bool open_bracket(struct cleaning *cleaning, char c)
{
	enum content content = CONTENT_OTHER;

	if (cleaning->depth == DEPTH_MAX)
		return false;
	if (c == '{' && cleaning->tagged && !in_other(cleaning))
		content = cleaning->is_enum ? CONTENT_ENUMERATORS : CONTENT_MEMBERS;
	cleaning->stack[cleaning->depth++] = content;
	cleaning->begins = true;
	return true;
}

static bool read_operator(struct cleaning *cleaning, const struct token *token)
{
	bool good = true;

	switch (token->length == 1 ? *token->text : '\0') {
	case '(':
	case '[':
	case '{':
		good = open_bracket(cleaning, *token->text);
		break;
	case ')':
	case ']':
	case '}':
		good = cleaning->depth != 0;
		cleaning->depth -= good;
		break;
	case '=':
	case ':':
		if (!cleaning->depth)
			cleaning->after_value = true;
		else if (cleaning->stack[cleaning->depth - 1] != CONTENT_OTHER)
			cleaning->value = true;
		break;
	case ',':
	case ';':
		if (!cleaning->depth)
			cleaning->after_value = false;
		else if (cleaning->stack[cleaning->depth - 1] != CONTENT_OTHER)
			cleaning->value = false;
		cleaning->begins = true;
		break;
	}
	if (!token_is(token, "{") && !token_is(token, ",") && !token_is(token, ";"))
		cleaning->begins = false;
	/* struct __attribute__((packed)) name */
	if (cleaning->tagged != TAGGED_BEGUN || token_is(token, "{"))
		cleaning->tagged = TAGGED_NOT;
	return good;
}

static bool clean(struct cleaning *cleaning)
{
	struct token token;

	while (next_token(&cleaning->cursor, &token)) {
		if (token.kind == TOKEN_DIRECTIVE)
			continue;
		if (token.kind == TOKEN_NAME) {
			if (!read_name(cleaning, &token))
				return false;
			cleaning->begins = false;
			continue;
		}
		if (token.kind == TOKEN_OPERATOR && !read_operator(cleaning, &token))
			return false;
		buffer_add(&cleaning->text, token.text, token.length);
		buffer_add(&cleaning->text, " ", 1);
	}
	return true;
}

/* ---- names ------------------------------------------------------------------ */

static bool is_declared(const struct item_index *index, const struct item *item, uint32_t name)
{
	for (size_t i = item->first_declared; i < index->declared.count; i++)
		if (index->declared.list[i] == name)
			return true;
	return false;
}

/*
 * A declared name that is a macro, too, may be another one: with #define insl insl32, insl() is
 * insl32().  Add what the macros make of it.  Text that cannot be within a declaration, such as
 * ((x) + 1), is for configurations that do without the declaration.
 */
static bool add_renamed(struct item_index *index, const struct item *item, uint32_t declared)
{
	for (uint32_t at = index->names.list[declared].macros; at != INDEX_NONE;
	     at = index->items.list[at].next_macro) {
		const struct item *macro = &index->items.list[at];

		if (macro->is_undef || (!macro->begins_with_name && !macro->structural_parameter))
			continue;
		if (macro->structural_parameter || macro->pastes)
			return false;
		for (uint32_t i = 0; i < macro->nr_mentions; i++) {
			const struct mention *mention =
				&index->mentions.list[macro->first_mention + i];
			uint32_t name = mention->name;

			if (mention->structural && !is_declared(index, item, name) &&
			    !index->names.list[name].words)
				*vec_push(&index->declared) = name;
		}
	}
	return true;
}

/* Whether all names that the parser found are understood. */
static bool take_names(struct item_index *index, struct item *item, const struct parser *parser,
		       uint32_t called)
{
	for (size_t i = 0; i < parser->declarations.count; i++) {
		const struct declaration *declaration = &parser->declarations.list[i];

		if (declaration->root || declaration->directive || declaration->implicit ||
		    (!declaration->names && !declaration->harmless))
			return false;
	}
	for (size_t i = 0; i < parser->names.count; i++) {
		const struct name *name = &parser->names.list[i];

		if (name->declarations != DECLARATIONS_NONE)
			*vec_push(&index->declared) =
				item_index_name(index, name->text, name->length);
	}
	if (called != INDEX_NONE && !is_declared(index, item, called))
		return false;
	for (size_t i = item->first_declared; i < index->declared.count; i++)
		if (!add_renamed(index, item, index->declared.list[i]))
			return false;
	return true;
}

/* "struct name;" outside functions changes nothing that code comes of. */
static bool is_forward(const struct item_index *index, struct cursor cursor)
{
	struct token tag, name, end;
	uint32_t found;

	if (!next_token(&cursor, &tag) || tag.kind != TOKEN_NAME || !next_token(&cursor, &name) ||
	    name.kind != TOKEN_NAME || !next_token(&cursor, &end) || !token_is(&end, ";") ||
	    next_token(&cursor, &end))
		return false;
	found = item_index_find(index, tag.text, tag.length, tag.hash);
	if (found == INDEX_NONE || !(index->names.list[found].words & WORD_TAG) ||
	    *tag.text == 'e' || index->names.list[found].macros != INDEX_NONE)
		return false;
	found = item_index_find(index, name.text, name.length, name.hash);
	return found != INDEX_NONE && index->names.list[found].macros == INDEX_NONE;
}

/* Add the names that a declaration declares.  Return: whether it is understood. */
static bool understand(struct item_index *index, struct item *item, struct cursor text)
{
	struct cleaning cleaning = {.index = index, .cursor = text, .called = INDEX_NONE};
	struct parser parser;
	bool good = clean(&cleaning);

	if (good) {
		parser_init(&parser);
		parser_read(&parser, cleaning.text.text ?: "", cleaning.text.length, 0,
			    cleaning.text.length);
		good = !parser.unsure && take_names(index, item, &parser, cleaning.called);
		parser_deinit(&parser);
	}
	buffer_deinit(&cleaning.text);
	return good;
}

/* The same for what macros make of the item, which is a line for each declaration. */
static bool understand_expanded(struct item_index *index, struct item *item)
{
	struct buffer text = {};
	bool good = expand_text(index, (uint32_t)(item - index->items.list), &text);
	const char *line = text.text;

	for (size_t left = text.length; good && left;) {
		const char *end = memchr(line, '\n', left);
		size_t length = end ? (size_t)(end - line) : left;

		good = understand(index, item, (struct cursor){line, line + length, false});
		left -= length + (end != NULL);
		line += length + (end != NULL);
	}
	buffer_deinit(&text);
	return good;
}

void item_understand(struct item_index *index, uint32_t number)
{
	struct item *item = &index->items.list[number];
	const struct indexed_file *file = &index->files.list[item->file];
	const struct cursor text = {file->flat.text + item->start, file->flat.text + item->end,
				    false};

	if (item->understood)
		return;
	item->understood = true;
	item->opaque |= file->opaque;
	item->first_declared = (uint32_t)index->declared.count;
	if (item->opaque || is_forward(index, text))
		return;
	item->opaque = !understand(index, item, text);
	if (item->opaque) {
		index->declared.count = item->first_declared;
		item->opaque = !understand_expanded(index, item);
	}
	item->nr_declared = (uint32_t)index->declared.count - item->first_declared;
}
