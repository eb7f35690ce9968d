// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names that macros paste; see pasted_names.h.
 *
 * A macro such as "#define __PASTE(a, b) a##b" is followed to the macros that use it, which give
 * one of the parts as a text, or pass on parameters of their own.
 */
#include "pokepatch-build/pasted_names.h"

#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/macro_body.h"

typedef VEC(struct paste_part) part_list;
typedef VEC(struct pasting_way) way_list;

static bool is_char(const struct macro_body *body, size_t i, char c)
{
	return i < body->tokens.count && body->tokens.list[i].length == 1 &&
	       *body->tokens.list[i].text == c;
}

static bool is_word_token(const struct macro_body *body, size_t i)
{
	return i < body->tokens.count && (body->tokens.list[i].kind == TOKEN_NAME ||
					  body->tokens.list[i].kind == TOKEN_NUMBER);
}

/* ---- adding pastes ---------------------------------------------------------- */

static bool is_whole(const struct paste_part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (parts[i].text || parts[i].digits)
			return false;
	return true;
}

/* Whether the macro has no such paste yet; texts in one paste that others have too do not count. */
static bool is_new(struct pastes *pastes, uint32_t item, const part_list *parts)
{
	struct buffer key = {};

	buffer_printf(&key, "%u", pastes->index->items.list[item].name);
	for (size_t i = 0; i < parts->count; i++) {
		const struct paste_part *part = &parts->list[i];

		if (part->text)
			buffer_printf(&key, " %.*s", (int)part->length, part->text);
		else
			buffer_printf(&key, " %s%u", part->digits ? "##" : "#",
				      is_whole(parts->list, parts->count) ? part->param : 0);
	}
	if (map_has(&pastes->seen, key.text)) {
		buffer_deinit(&key);
		return false;
	}
	map_slot(&pastes->seen, key.text);
	*vec_push(&pastes->keys) = key.text;
	return true;
}

static void add_paste(struct pastes *pastes, uint32_t item, const part_list *parts)
{
	uint32_t number = (uint32_t)pastes->list.count;
	const struct paste_part *first, *last;
	struct paste *paste;

	if (!parts->count || !is_new(pastes, item, parts))
		return;
	first = &parts->list[0];
	last = &parts->list[parts->count - 1];
	paste = vec_push(&pastes->list);
	*paste = (struct paste){item, (uint32_t)pastes->parts.count, (uint32_t)parts->count};
	if (is_whole(parts->list, parts->count))
		*vec_push(&pastes->whole) = number;
	else if (first->text)
		*vec_push(&pastes->by_first[(unsigned char)*first->text]) = number;
	else if (last->text)
		*vec_push(&pastes->by_last[(unsigned char)last->text[last->length - 1]]) = number;
	else
		*vec_push(&pastes->others) = number;
	for (size_t i = 0; i < parts->count; i++)
		*vec_push(&pastes->parts) = parts->list[i];
}

/* Add the words that ## joins in a macro's body. */
static void add_joined(struct pastes *pastes, uint32_t item)
{
	struct macro_body body;

	macro_body_read(pastes->index, &pastes->index->items.list[item], &body);
	for (size_t i = 0; i < body.tokens.count; i++) {
		part_list parts = {};

		while (is_word_token(&body, i)) {
			const struct token *token = &body.tokens.list[i];
			uint32_t param = macro_body_parameter(&body, token);

			*vec_push(&parts) = (struct paste_part){
				.text = param ? NULL : token->text,
				.length = param ? 0 : (uint32_t)token->length,
				.param = param,
			};
			if (!is_char(&body, i + 1, '#') || !is_char(&body, i + 2, '#'))
				break;
			i += 3;
		}
		if (parts.count > 1)
			add_paste(pastes, item, &parts);
		vec_deinit(&parts);
	}
	macro_body_deinit(&body);
}

/* ---- macros that use those without a text of their own ---------------------- */

/* The end of an argument that begins at @i: the comma, or the parenthesis, behind it. */
static size_t argument_end(const struct macro_body *body, size_t i)
{
	int depth = 0;

	for (; i < body->tokens.count; i++) {
		if (!depth && (is_char(body, i, ',') || is_char(body, i, ')')))
			break;
		depth += is_char(body, i, '(');
		depth -= is_char(body, i, ')');
	}
	return i;
}

/* The name that all uses of a macro without arguments give, or NULL. */
static const struct indexed_name *constant_name(const struct item_index *index,
						const struct indexed_name *name)
{
	const struct item *macro = &index->items.list[name->macros];
	const struct indexed_name *value;

	if (macro->next_macro != INDEX_NONE || macro->is_undef || macro->takes_arguments ||
	    !macro->specifies || macro->nr_mentions != 1)
		return NULL;
	value = &index->names.list[index->mentions.list[macro->first_mention].name];
	return value->macros == INDEX_NONE ? value : NULL;
}

/* Whether a name stands for something else where no parenthesis follows. */
static bool is_constant(const struct item_index *index, const struct indexed_name *name)
{
	for (uint32_t at = name->macros; at != INDEX_NONE; at = index->items.list[at].next_macro)
		if (!index->items.list[at].is_undef && !index->items.list[at].takes_arguments)
			return true;
	return false;
}

/* What one word gives that is an argument. */
static struct paste_part word_part(const struct pastes *pastes, const struct macro_body *body,
				   const struct token *token)
{
	struct paste_part part = {.param = macro_body_parameter(body, token)};
	const struct indexed_name *name = NULL;
	uint32_t number;

	if (part.param)
		return part;
	part.text = token->text;
	part.length = (uint32_t)token->length;
	number = item_index_find(pastes->index, token->text, token->length, token->hash);
	if (token->kind != TOKEN_NAME || number == INDEX_NONE)
		return part;
	name = &pastes->index->names.list[number];
	if (name->words & WORD_COUNTER && name->macros == INDEX_NONE)
		return (struct paste_part){.digits = true};
	if (!is_constant(pastes->index, name))
		return part;
	name = constant_name(pastes->index, name);
	return name ? (struct paste_part){.text = name->text, .length = name->length}
		    : (struct paste_part){};
}

static void add_parts(const struct pastes *pastes, const struct macro_body *body, size_t i,
		      const struct paste *paste, part_list *ret);

static const struct paste *whole_paste(const struct pastes *pastes, const struct token *token)
{
	uint32_t name = item_index_find(pastes->index, token->text, token->length, token->hash);

	for (size_t i = 0; token->kind == TOKEN_NAME && i < pastes->whole.count; i++) {
		const struct paste *paste = &pastes->list.list[pastes->whole.list[i]];

		if (pastes->index->items.list[paste->item].name == name)
			return paste;
	}
	return NULL;
}

static void add_argument(const struct pastes *pastes, const struct macro_body *body, size_t from,
			 size_t to, part_list *ret)
{
	const struct paste *inner;

	if (from == to)
		return;
	inner = is_char(body, from + 1, '(') ? whole_paste(pastes, &body->tokens.list[from]) : NULL;
	if (to == from + 1 && is_word_token(body, from))
		*vec_push(ret) = word_part(pastes, body, &body->tokens.list[from]);
	else if (inner)
		add_parts(pastes, body, from, inner, ret);
	else
		*vec_push(ret) = (struct paste_part){};
}

/* The macro at token @i is used with arguments: add the parts that the paste makes of them. */
static void add_parts(const struct pastes *pastes, const struct macro_body *body, size_t i,
		      const struct paste *paste, part_list *ret)
{
	VEC(size_t) starts = {};
	size_t end = i + 1;

	do {
		*vec_push(&starts) = end + 1;
		end = argument_end(body, end + 1);
	} while (is_char(body, end, ','));
	for (uint32_t part = 0; part < paste->nr_parts; part++) {
		uint32_t param = pastes->parts.list[paste->first_part + part].param;

		if (param && param <= starts.count)
			add_argument(pastes, body, starts.list[param - 1],
				     argument_end(body, starts.list[param - 1]), ret);
		else
			*vec_push(ret) = (struct paste_part){};
	}
	vec_deinit(&starts);
}

/* The token behind the parentheses that follow token @i. */
static size_t behind_arguments(const struct macro_body *body, size_t i)
{
	size_t end = i + 1;

	do
		end = argument_end(body, end + 1);
	while (is_char(body, end, ','));
	return end;
}

/*
 * Add what a macro makes of another one, which has that paste.  What it makes within the arguments
 * of such a macro is a part of what this one makes.
 */
static void add_uses(struct pastes *pastes, uint32_t item, const struct paste *paste)
{
	const struct item_index *index = pastes->index;
	uint32_t name = index->items.list[paste->item].name;
	struct macro_body body;

	macro_body_read(index, &index->items.list[item], &body);
	for (size_t i = 0; i < body.tokens.count; i++) {
		const struct token *token = &body.tokens.list[i];
		bool used = token->kind == TOKEN_NAME &&
			    item_index_find(index, token->text, token->length, token->hash) == name;
		part_list parts = {};

		if (used && is_char(&body, i + 1, '('))
			add_parts(pastes, &body, i, paste, &parts);
		else if (used) /* #define CONCAT __PASTE */
			for (uint32_t part = 0; part < paste->nr_parts; part++)
				*vec_push(&parts) = pastes->parts.list[paste->first_part + part];
		add_paste(pastes, item, &parts);
		vec_deinit(&parts);
		if (is_char(&body, i + 1, '(') && whole_paste(pastes, token))
			i = behind_arguments(&body, i);
	}
	macro_body_deinit(&body);
}

/*
 * Whether no code comes of the names that a macro pastes: it only asserts something, or they are
 * instructions and registers (x86's asm/asm.h), which become strings in C.
 */
static bool makes_nothing(const struct item_index *index, const struct item *macro)
{
	static const char *const wholes[] = {"__ASM_SEL", "__ASM_SEL_RAW", "static_assert"};
	struct macro_body body;
	bool found = false;

	macro_body_read(index, macro, &body);
	for (size_t i = 0; body.tokens.count && i < ARRAY_SIZE(wholes); i++)
		found |= token_is(&body.tokens.list[0], wholes[i]) &&
			 behind_arguments(&body, 0) + 1 == body.tokens.count;
	macro_body_deinit(&body);
	return found;
}

void pastes_init(struct pastes *pastes, struct item_index *index)
{
	*pastes = (struct pastes){.index = index};
	for (uint32_t i = 0; i < index->items.count; i++)
		if (index->items.list[i].kind == ITEM_MACRO && index->items.list[i].pastes &&
		    !makes_nothing(index, &index->items.list[i]))
			add_joined(pastes, i);
	for (size_t i = 0; i < pastes->whole.count; i++) {
		const struct paste paste = pastes->list.list[pastes->whole.list[i]];
		uint32_t name = index->items.list[paste.item].name;

		for (uint32_t at = index->names.list[name].mentions; at != INDEX_NONE;
		     at = index->mentions.list[at].next) {
			uint32_t item = index->mentions.list[at].item;

			if (index->items.list[item].kind == ITEM_MACRO)
				add_uses(pastes, item, &paste);
		}
	}
}

void pastes_deinit(struct pastes *pastes)
{
	for (size_t i = 0; i < ARRAY_SIZE(pastes->by_first); i++) {
		vec_deinit(&pastes->by_first[i]);
		vec_deinit(&pastes->by_last[i]);
	}
	for (size_t i = 0; i < pastes->keys.count; i++)
		free(pastes->keys.list[i]);
	vec_deinit(&pastes->keys);
	map_deinit(&pastes->seen);
	vec_deinit(&pastes->parts);
	vec_deinit(&pastes->list);
	vec_deinit(&pastes->others);
	vec_deinit(&pastes->whole);
	vec_deinit(&pastes->ways);
	vec_deinit(&pastes->pastings);
	vec_deinit(&pastes->places);
	vec_deinit(&pastes->starts);
	vec_deinit(&pastes->startings);
	vec_deinit(&pastes->starting_of);
	vec_deinit(&pastes->leads);
	vec_deinit(&pastes->leadings);
	vec_deinit(&pastes->leading_of);
	vec_deinit(&pastes->marks);
	vec_deinit(&pastes->steps);
}

/* ---- the ways of a name ----------------------------------------------------- */

/* The text of a name and what of it the parts so far have left. */
struct matching {
	struct pastes *pastes;
	way_list *ways;
	const struct paste *paste;
	const char *end;
	struct pasting_way way;
};

static void add_way(struct matching *matching)
{
	*vec_push(matching->ways) = matching->way;
}

static void match(struct matching *matching, uint32_t part, const char *at);

/* A part that the user gives has the text from @at to @to. */
static void match_given(struct matching *matching, uint32_t part, const char *at, const char *to)
{
	struct pasting_way *way = &matching->way;
	uint32_t count = way->nr_names;

	if (to > at && !is_plain_number(at, (size_t)(to - at)) && count < ARRAY_SIZE(way->names))
		way->names[way->nr_names++] =
			item_index_name(matching->pastes->index, at, (size_t)(to - at));
	match(matching, part + 1, to);
	way->nr_names = count;
}

static void match(struct matching *matching, uint32_t number, const char *at)
{
	const struct paste *paste = matching->paste;
	size_t left = (size_t)(matching->end - at);
	const struct paste_part *part;

	if (number == paste->nr_parts) {
		if (!left)
			add_way(matching);
		return;
	}
	part = &matching->pastes->parts.list[paste->first_part + number];
	if (part->text) {
		if (left >= part->length && !memcmp(at, part->text, part->length))
			match(matching, number + 1, at + part->length);
	} else if (part->digits) {
		size_t digits = strspn(at, "0123456789");

		digits = digits < left ? digits : left;
		for (size_t i = 1; i <= digits; i++)
			match(matching, number + 1, at + i);
	} else if (number + 1 == paste->nr_parts) {
		match_given(matching, number, at, matching->end);
	} else {
		for (const char *to = at; to <= matching->end; to++)
			match_given(matching, number, at, to);
	}
}

static void match_all(struct pastes *pastes, const uint32_t *list, size_t count, const char *text,
		      size_t length, way_list *ret)
{
	for (size_t i = 0; i < count; i++) {
		const struct paste *paste = &pastes->list.list[list[i]];
		struct matching matching = {
			.pastes = pastes,
			.ways = ret,
			.paste = paste,
			.end = text + length,
			.way = {.item = paste->item,
				.nr_names = 1,
				.names = {pastes->index->items.list[paste->item].name}},
		};

		match(&matching, 0, text);
	}
}

static void match_name(struct pastes *pastes, const char *text, size_t length, way_list *ret)
{
	unsigned char first = (unsigned char)*text, last = (unsigned char)text[length - 1];

	match_all(pastes, pastes->by_first[first].list, pastes->by_first[first].count, text, length,
		  ret);
	match_all(pastes, pastes->by_last[last].list, pastes->by_last[last].count, text, length,
		  ret);
	match_all(pastes, pastes->others.list, pastes->others.count, text, length, ret);
}

bool pastes_name_exists(const struct pastes *pastes, uint32_t name)
{
	const struct indexed_name *named = &pastes->index->names.list[name];

	return named->mentions != INDEX_NONE || named->in_source;
}

/* Whether some file has all parts of a way, or they may be pasted themselves. */
static bool is_possible(struct pastes *pastes, const struct pasting_way *way)
{
	for (uint32_t i = 1; i < way->nr_names; i++)
		if (!pastes_name_exists(pastes, way->names[i]) &&
		    !pastes_ways(pastes, way->names[i]).nr_ways)
			return false;
	return true;
}

struct pasting pastes_ways(struct pastes *pastes, uint32_t name)
{
	const struct indexed_name *named = &pastes->index->names.list[name];
	way_list direct = {}, possible = {};
	struct pasting pasting;

	if (named->pastings)
		return pastes->pastings.list[named->pastings - 1];
	match_name(pastes, named->text, named->length, &direct);
	for (size_t i = 0; i < direct.count; i++)
		if (is_possible(pastes, &direct.list[i]))
			*vec_push(&possible) = direct.list[i];
	pasting = (struct pasting){(uint32_t)pastes->ways.count, (uint32_t)possible.count};
	for (size_t i = 0; i < possible.count; i++)
		*vec_push(&pastes->ways) = possible.list[i];
	*vec_push(&pastes->pastings) = pasting;
	pastes->index->names.list[name].pastings = (uint32_t)pastes->pastings.count;
	vec_deinit(&direct);
	vec_deinit(&possible);
	return pasting;
}
