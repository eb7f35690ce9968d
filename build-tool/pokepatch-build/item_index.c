// SPDX-License-Identifier: GPL-2.0-or-later
/* Splitting headers into items; see item_index.h. */
#include "pokepatch-build/item_index.h"

#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/c_tokens.h"
#include "pokepatch-build/known_conditions.h"

#define DEPTH_MAX 256
#define TAKES_ARGUMENTS 0x9e3779b97f4a7c15

/* ---- names ------------------------------------------------------------------ */

/* What C says about names, which macros may lead to. */
static const struct {
	const char *name;
	unsigned short words;
} special_names[] = {
	{"struct", WORD_TAG},
	{"union", WORD_TAG},
	{"enum", WORD_TAG},
	{"used", WORD_USED},
	{"__used__", WORD_USED},
	{"retain", WORD_USED},
	{"__retain__", WORD_USED},
	{"alias", WORD_USED},
	{"__alias__", WORD_USED},
	{"ifunc", WORD_USED},
	{"__ifunc__", WORD_USED},
	{"symver", WORD_USED},
	{"__symver__", WORD_USED},
	{"constructor", WORD_USED},
	{"__constructor__", WORD_USED},
	{"destructor", WORD_USED},
	{"__destructor__", WORD_USED},
	{"externally_visible", WORD_USED},
	{"__externally_visible__", WORD_USED},
	{"section", WORD_SECTION},
	{"__section__", WORD_SECTION},
	{"__COUNTER__", WORD_COUNTER},
	{"__attribute__", WORD_SPECIFIER},
	{"__attribute", WORD_SPECIFIER},
	{"const", WORD_SPECIFIER | WORD_STORAGE},
	{"__const", WORD_SPECIFIER | WORD_STORAGE},
	{"volatile", WORD_SPECIFIER | WORD_STORAGE},
	{"inline", WORD_SPECIFIER | WORD_STORAGE},
	{"__inline", WORD_SPECIFIER | WORD_STORAGE},
	{"__inline__", WORD_SPECIFIER | WORD_STORAGE},
	{"extern", WORD_SPECIFIER | WORD_STORAGE},
	{"static", WORD_SPECIFIER | WORD_STORAGE},
	{"register", WORD_SPECIFIER | WORD_STORAGE},
	{"_Noreturn", WORD_SPECIFIER | WORD_STORAGE},
	{"__extension__", WORD_SPECIFIER | WORD_STORAGE},
	{"typedef", WORD_STORAGE},
};

static void rehash(struct item_index *index)
{
	free(index->slots);
	index->nr_slots = index->nr_slots ? index->nr_slots * 2 : 1 << 18;
	index->slots = xmalloc(index->nr_slots * sizeof(*index->slots));
	memset(index->slots, 0xff, index->nr_slots * sizeof(*index->slots));
	for (uint32_t i = 0; i < index->names.count; i++) {
		size_t slot = index->hashes.list[i] & (index->nr_slots - 1);

		while (index->slots[slot] != INDEX_NONE)
			slot = (slot + 1) & (index->nr_slots - 1);
		index->slots[slot] = i;
	}
}

/* The slot that has the name, or is free for it. */
static uint32_t *find_slot(const struct item_index *index, const char *text, size_t length,
			   uint64_t hash)
{
	size_t slot = (uint32_t)hash & (index->nr_slots - 1);

	for (; index->slots[slot] != INDEX_NONE; slot = (slot + 1) & (index->nr_slots - 1)) {
		const struct indexed_name *name = &index->names.list[index->slots[slot]];

		if (index->hashes.list[index->slots[slot]] == (uint32_t)hash &&
		    name->length == length && !memcmp(name->text, text, length))
			break;
	}
	return &index->slots[slot];
}

uint32_t item_index_find(const struct item_index *index, const char *text, size_t length,
			 uint64_t hash)
{
	return *find_slot(index, text, length, hash);
}

/* @text: lives as long as the index */
static uint32_t add_name(struct item_index *index, const char *text, size_t length, uint64_t hash)
{
	uint32_t *slot;
	struct indexed_name *name;

	if (index->names.count * 2 >= index->nr_slots)
		rehash(index);
	slot = find_slot(index, text, length, hash);
	if (*slot != INDEX_NONE)
		return *slot;
	*slot = (uint32_t)index->names.count;
	name = vec_push(&index->names);
	*name = (struct indexed_name){.text = text,
				      .length = (uint32_t)length,
				      .mentions = INDEX_NONE,
				      .macros = INDEX_NONE};
	*vec_push(&index->hashes) = (uint32_t)hash;
	return (uint32_t)index->names.count - 1;
}

uint32_t item_index_name(struct item_index *index, const char *text, size_t length)
{
	return item_index_name_hashed(index, text, length, token_name_hash(text, length));
}

uint32_t item_index_name_hashed(struct item_index *index, const char *text, size_t length,
				uint64_t hash)
{
	uint32_t found = item_index_find(index, text, length, hash);

	if (found != INDEX_NONE)
		return found;
	*vec_push(&index->own_names) = xstrndup(text, length);
	return add_name(index, index->own_names.list[index->own_names.count - 1], length, hash);
}

void item_index_init(struct item_index *index)
{
	*index = (struct item_index){};
	rehash(index);
	for (size_t i = 0; i < ARRAY_SIZE(special_names); i++) {
		const char *name = special_names[i].name;
		uint32_t added =
			add_name(index, name, strlen(name), token_name_hash(name, strlen(name)));

		index->names.list[added].words = special_names[i].words;
	}
}

void item_index_deinit(struct item_index *index)
{
	for (size_t i = 0; i < index->files.count; i++)
		buffer_deinit(&index->files.list[i].flat);
	for (size_t i = 0; i < index->own_names.count; i++)
		free(index->own_names.list[i]);
	vec_deinit(&index->files);
	vec_deinit(&index->items);
	vec_deinit(&index->mentions);
	vec_deinit(&index->names);
	vec_deinit(&index->declared);
	vec_deinit(&index->own_names);
	free(index->slots);
	vec_deinit(&index->hashes);
	*index = (struct item_index){};
}

/* ---- scanning a file -------------------------------------------------------- */

/* An #if group. */
struct group {
	uint32_t item;      /* its #if, or INDEX_NONE if that is left out */
	size_t depth;       /* open brackets at the #if */
	size_t other_depth; /* at the end of the branches before this one */
	bool other;         /* a branch before this one counts */
	bool certain;       /* for each branch up to here it is known whether units have it */
	bool taken;         /* all have one up to here */
	bool left_out;      /* none has this one */
};

/* After struct, union or enum, until something else than its tag or an attribute follows. */
enum aggregate { AGGREGATE_NONE, AGGREGATE_BEGUN, AGGREGATE_TAGGED };

struct scan {
	struct item_index *index;
	uint32_t file;
	const char *text; /* flat */
	struct cursor cursor;
	const char *counted; /* lines are counted up to here */
	uint32_t line;
	VEC(struct group) groups;
	size_t left_out; /* groups that are left out */
	uint32_t out;    /* the text left out that is being read, or INDEX_NONE */
	uint32_t item;   /* the text that is being read, or INDEX_NONE */
	/* Of that text: */
	struct {
		char closing;
		bool expression; /* it holds expressions or statements */
		bool body;       /* of a function */
	} stack[DEPTH_MAX];
	bool value[DEPTH_MAX + 1]; /* after = or : at this depth */
	size_t depth, expressions;
	bool had_paren; /* there was a parenthesis outside all others */
	enum aggregate aggregate;
	uint32_t previous; /* name that the last token was, or INDEX_NONE */
};

static struct item *item_at(struct scan *scan, uint32_t item)
{
	return &scan->index->items.list[item];
}

static uint32_t line_of(struct scan *scan, const char *at)
{
	for (; scan->counted < at; scan->counted++)
		scan->line += *scan->counted == '\n' || *scan->counted == '\v';
	return scan->line;
}

static uint32_t new_item(struct scan *scan, enum item_kind kind, const struct token *token)
{
	struct item *item = vec_push(&scan->index->items);

	*item = (struct item){
		.kind = kind,
		.file = scan->file,
		.start = (uint32_t)(token->text - scan->text),
		.end = (uint32_t)(token->text + token->length - scan->text),
		.first_mention = (uint32_t)scan->index->mentions.count,
		.first_line = line_of(scan, token->text),
		.hash = (uint64_t)kind,
		.group = INDEX_NONE,
		.group_end = INDEX_NONE,
		.around = INDEX_NONE,
	};
	item->last_line = item->first_line;
	return (uint32_t)scan->index->items.count - 1;
}

static void add_hash(struct item *item, const struct token *token)
{
	item->hash = (item->hash ^ token->hash) * 0x9e3779b97f4a7c15;
	item->hash ^= item->hash >> 29;
}

static void add_mention(struct item_index *index, uint32_t item, uint32_t name, bool structural)
{
	struct indexed_name *named = &index->names.list[name];
	struct mention *mention;

	if (named->mentions != INDEX_NONE && index->mentions.list[named->mentions].item == item) {
		index->mentions.list[named->mentions].structural |= structural;
		return;
	}
	mention = vec_push(&index->mentions);
	*mention = (struct mention){name, item, named->mentions, structural};
	named->mentions = (uint32_t)index->mentions.count - 1;
}

static uint32_t token_name(struct scan *scan, const struct token *token)
{
	return add_name(scan->index, token->text, token->length, token->hash);
}

/* ---- directives ------------------------------------------------------------- */

/* Mark the parameters of a macro: "(a, b, rest...)".  The cursor is at the parenthesis. */
static void read_parameters(struct scan *scan, struct cursor *line, uint32_t item)
{
	static const char variadic[] = "__VA_ARGS__";
	uint32_t name = add_name(scan->index, variadic, strlen(variadic),
				 token_name_hash(variadic, strlen(variadic)));
	struct token token;

	scan->index->names.list[name].param_of = item + 1;
	while (next_token(line, &token) && *token.text != ')') {
		add_hash(item_at(scan, item), &token);
		if (token.kind != TOKEN_NAME)
			continue;
		name = token_name(scan, &token);
		scan->index->names.list[name].param_of = item + 1;
	}
	add_hash(item_at(scan, item), &token);
}

/* 3way may be a part of a name that ## joins. */
static bool is_name(const struct token *token)
{
	return token->kind == TOKEN_NAME ||
	       (token->kind == TOKEN_NUMBER && !is_plain_number(token->text, token->length));
}

static void read_body_name(struct scan *scan, uint32_t item, const struct token *token, int depth)
{
	uint32_t name = token_name(scan, token);

	if (scan->index->names.list[name].param_of != item + 1)
		add_mention(scan->index, item, name, depth == 0);
	else if (!depth)
		item_at(scan, item)->structural_parameter = true;
}

static void read_body(struct scan *scan, struct cursor *line, uint32_t item)
{
	struct token token, previous = {.kind = TOKEN_END};
	char stack[DEPTH_MAX];
	int depth = 0;

	item_at(scan, item)->specifies = true;
	while (next_token(line, &token)) {
		struct item *macro = item_at(scan, item);
		char c = *token.text;

		add_hash(macro, &token);
		if (previous.kind == TOKEN_END)
			macro->begins_with_name = token.kind == TOKEN_NAME;
		if (is_name(&token)) {
			read_body_name(scan, item, &token, depth);
		} else if (c == '(' || c == '[' || c == '{') {
			macro->specifies &= depth || (c == '(' && previous.kind == TOKEN_NAME);
			macro->unbalanced |= depth == DEPTH_MAX;
			if (depth < DEPTH_MAX)
				stack[depth++] = c == '(' ? ')' : c == '[' ? ']' : '}';
		} else if (c == ')' || c == ']' || c == '}') {
			if (depth && stack[depth - 1] == c)
				depth--;
			else
				macro->unbalanced = true;
		} else {
			macro->specifies &= depth > 0;
		}
		macro->pastes |=
			c == '#' && previous.kind == TOKEN_UNKNOWN && *previous.text == '#';
		previous = token;
	}
	item_at(scan, item)->unbalanced |= depth > 0;
}

static void read_macro(struct scan *scan, struct cursor *line, uint32_t item, bool define)
{
	struct token token;
	uint32_t name;

	if (!next_token(line, &token) || token.kind != TOKEN_NAME)
		return;
	add_hash(item_at(scan, item), &token);
	name = token_name(scan, &token);
	item_at(scan, item)->name = name;
	item_at(scan, item)->is_undef = !define;
	item_at(scan, item)->next_macro = scan->index->names.list[name].macros;
	scan->index->names.list[name].macros = item;
	if (define && line->at < line->end && *line->at == '(') {
		item_at(scan, item)->takes_arguments = true;
		item_at(scan, item)->hash ^= TAKES_ARGUMENTS; /* "F(x) y" is not "F (x) y" */
		read_parameters(scan, line, item);
	}
	if (define)
		read_body(scan, line, item);
}

static void leave_out(struct scan *scan, struct group *group, bool left_out)
{
	scan->left_out += left_out;
	scan->left_out -= group->left_out;
	group->left_out = left_out;
}

static void begin_group(struct scan *scan, int known)
{
	struct group *group = vec_push(&scan->groups);

	*group = (struct group){.item = INDEX_NONE, .depth = scan->depth};
	group->certain = known != 0;
	group->taken = known > 0;
	leave_out(scan, group, known < 0);
}

/*
 * At #else and #elif.  If more branches than one count, each begins with the same brackets, and
 * must end with the same.
 */
static void next_branch(struct scan *scan, struct group *group, int known)
{
	struct indexed_file *file = &scan->index->files.list[scan->file];

	if (!group->left_out && !group->certain) {
		file->opaque |= group->other && group->other_depth != scan->depth;
		file->opaque |= scan->depth < group->depth;
		group->other = true;
		group->other_depth = scan->depth;
		while (scan->depth > group->depth)
			scan->expressions -= scan->stack[--scan->depth].expression;
	}
	leave_out(scan, group, group->taken || known < 0);
	group->certain &= group->taken || known;
	group->taken |= known > 0;
}

static void end_group(struct scan *scan, struct group *group)
{
	struct indexed_file *file = &scan->index->files.list[scan->file];

	if (!group->certain && !group->left_out)
		file->opaque |= scan->depth != (group->other ? group->other_depth : group->depth);
	else if (!group->certain)
		file->opaque |= group->other && group->other_depth != scan->depth;
	leave_out(scan, group, false);
	scan->groups.count--;
}

/*
 * Read a condition's line.
 * @ret_certain: whether it is known for each branch up to here if units have it
 * Return: whether the word is a condition's
 */
static bool read_condition(struct scan *scan, const struct token *word, const struct cursor *line,
			   bool *ret_certain)
{
	struct group *group =
		scan->groups.count ? &scan->groups.list[scan->groups.count - 1] : NULL;
	bool is_if = token_is(word, "if") || token_is(word, "ifdef") || token_is(word, "ifndef");
	bool is_elif = token_is(word, "elif"), is_else = token_is(word, "else");

	if (!is_if && !is_elif && !is_else && !token_is(word, "endif"))
		return false;
	*ret_certain = false;
	if (is_if) {
		begin_group(scan, known_condition(scan->index, word, *line));
		*ret_certain = scan->groups.list[scan->groups.count - 1].certain;
	} else if (group && (is_elif || is_else)) {
		next_branch(scan, group, is_else ? 1 : known_condition(scan->index, word, *line));
		*ret_certain = group->certain;
	} else if (group) {
		*ret_certain = group->certain;
		end_group(scan, group);
	}
	return true;
}

/*
 * Note the group of a condition that was read.
 * @groups: how many groups were open in front of it
 * @begun: the #if of the innermost of these
 */
static void note_group(struct scan *scan, uint32_t item, size_t groups, uint32_t begun)
{
	if (scan->groups.count > groups) {
		begun = scan->groups.list[groups].item = item;
		item_at(scan, item)->around = scan->item;
	} else if (scan->groups.count < groups && begun != INDEX_NONE) {
		item_at(scan, begun)->group_end = item;
	}
	item_at(scan, item)->group = begun;
}

static void end_text(struct scan *scan)
{
	scan->item = INDEX_NONE;
	scan->depth = scan->expressions = 0;
	scan->value[0] = scan->had_paren = false;
	scan->aggregate = AGGREGATE_NONE;
	scan->previous = INDEX_NONE;
}

static void add_mentions(struct scan *scan, struct cursor *line, uint32_t item)
{
	struct token token;

	while (next_token(line, &token)) {
		add_hash(item_at(scan, item), &token);
		if (token.kind == TOKEN_NAME)
			add_mention(scan->index, item, token_name(scan, &token), false);
	}
}

static void begin_text(struct scan *scan, const struct token *token)
{
	scan->item = new_item(scan, ITEM_TEXT, token);
}

/* Take a token out of the text that items are read from later.  Lines keep their numbers. */
static void blank(struct scan *scan, const struct token *token)
{
	char *text = scan->index->files.list[scan->file].flat.text + (token->text - scan->text);

	for (size_t i = 0; i < token->length; i++)
		if (text[i] != '\n' && text[i] != '\v')
			text[i] = ' ';
}

/* A declaration that is begun when text is left out goes on behind it. */
static void read_left_out(struct scan *scan, const struct token *token)
{
	if (scan->out == INDEX_NONE)
		scan->out = new_item(scan, ITEM_LEFT_OUT, token);
	add_hash(item_at(scan, scan->out), token);
	blank(scan, token);
}

static uint32_t uncertain_groups(const struct scan *scan)
{
	uint32_t count = 0;

	for (size_t i = 0; i < scan->groups.count; i++)
		count += !scan->groups.list[i].certain;
	return count;
}

static void read_directive(struct scan *scan, const struct token *directive)
{
	struct cursor line = {directive->text + 1, directive->text + directive->length, false};
	size_t left_out = scan->left_out, groups = scan->groups.count;
	uint32_t begun = groups ? scan->groups.list[groups - 1].item : INDEX_NONE;
	struct token word;
	uint32_t item;

	if (!next_token(&line, &word))
		return;
	bool certain = false, condition = read_condition(scan, &word, &line, &certain);
	bool message = token_is(&word, "error") || token_is(&word, "warning");

	/* Nothing but the ends of what is left out counts in it. */
	if (scan->left_out != left_out)
		scan->out = INDEX_NONE;
	if (left_out && scan->left_out) {
		read_left_out(scan, directive);
		return;
	}
	if (condition && !certain && scan->item != INDEX_NONE && !scan->depth)
		item_at(scan, scan->item)->opaque = true;
	/* Where it stands in a function or structure decides what is compiled of that. */
	if (condition && !certain && scan->item != INDEX_NONE)
		add_hash(item_at(scan, scan->item), directive);
	item = new_item(scan, ITEM_DIRECTIVE, directive);
	add_hash(item_at(scan, item), &word);
	if (token_is(&word, "define") || token_is(&word, "undef")) {
		item_at(scan, item)->kind = ITEM_MACRO;
		read_macro(scan, &line, item, token_is(&word, "define"));
	} else if (token_is(&word, "include") || token_is(&word, "include_next")) {
		skip_blanks(&line);
		bool by_macro = line.at < line.end && *line.at != '<' && *line.at != '"';

		item_at(scan, item)->kind = by_macro ? ITEM_CONDITION : ITEM_INCLUDE;
		item_at(scan, item)->uncertain = uncertain_groups(scan);
		if (by_macro)
			add_mentions(scan, &line, item);
		else
			item_at(scan, item)->hash = directive->hash;
	} else if (message) {
		item_at(scan, item)->kind = ITEM_NEUTRAL;
	} else {
		if (condition) {
			item_at(scan, item)->kind = certain ? ITEM_NEUTRAL : ITEM_CONDITION;
			note_group(scan, item, groups, begun);
		}
		if (!certain)
			add_mentions(scan, &line, item);
	}
	item_at(scan, item)->nr_mentions =
		(uint32_t)scan->index->mentions.count - item_at(scan, item)->first_mention;
}

/* ---- text ------------------------------------------------------------------- */

static void open_bracket(struct scan *scan, char c)
{
	bool body =
		c == '{' && !scan->depth && scan->had_paren && !scan->aggregate && !scan->value[0];
	bool expression = c != '{' || body || scan->expressions || scan->value[scan->depth];

	if (!scan->depth && c == '(' &&
	    !(scan->previous != INDEX_NONE &&
	      scan->index->names.list[scan->previous].words & WORD_SPECIFIER)) {
		scan->had_paren = true;
		scan->aggregate = AGGREGATE_NONE;
	}
	if (scan->depth == DEPTH_MAX) {
		scan->index->files.list[scan->file].opaque = true;
		return;
	}
	scan->stack[scan->depth].closing = c == '(' ? ')' : c == '[' ? ']' : '}';
	scan->stack[scan->depth].expression = expression;
	scan->stack[scan->depth].body = body;
	scan->expressions += expression;
	scan->depth++;
	scan->value[scan->depth] = false;
}

static void close_bracket(struct scan *scan, char c)
{
	if (!scan->depth || scan->stack[scan->depth - 1].closing != c) {
		scan->index->files.list[scan->file].opaque = true;
		return;
	}
	scan->depth--;
	scan->expressions -= scan->stack[scan->depth].expression;
	scan->aggregate = AGGREGATE_NONE;
	if (scan->stack[scan->depth].body)
		end_text(scan);
}

static void read_operator(struct scan *scan, const struct token *token)
{
	char c = token->length == 1 ? *token->text : '\0';

	switch (c) {
	case '(':
	case '[':
	case '{':
		open_bracket(scan, c);
		break;
	case ')':
	case ']':
	case '}':
		close_bracket(scan, c);
		break;
	case '=':
	case ':':
		scan->value[scan->depth] = true;
		break;
	case ';':
	case ',':
		scan->value[scan->depth] = false;
		if (c == ';' && !scan->depth)
			end_text(scan);
		break;
	}
	if (c != '(' && c != '{')
		scan->aggregate = AGGREGATE_NONE;
}

static void read_name(struct scan *scan, const struct token *token)
{
	uint32_t name = token_name(scan, token);
	unsigned int words = scan->index->names.list[name].words;

	add_mention(scan->index, scan->item, name, !scan->expressions && !scan->value[scan->depth]);
	scan->previous = name;
	if (scan->depth)
		return;
	if (words & WORD_TAG)
		scan->aggregate = AGGREGATE_BEGUN;
	else if (scan->aggregate == AGGREGATE_BEGUN && !(words & WORD_SPECIFIER))
		scan->aggregate = AGGREGATE_TAGGED;
	else if (scan->aggregate == AGGREGATE_TAGGED && !(words & WORD_SPECIFIER))
		scan->aggregate = AGGREGATE_NONE;
}

/* A string that is a name may be one: __attribute__((alias("name"))). */
static void read_quoted(struct scan *scan, const struct token *token)
{
	const char *text = token->text + 1;
	size_t length = token->length - 2;

	if (*token->text == '"' && is_word(text, length))
		add_mention(scan->index, scan->item,
			    add_name(scan->index, text, length, token_name_hash(text, length)),
			    false);
}

static void read_token(struct scan *scan, const struct token *token)
{
	struct item *item;

	if (scan->item == INDEX_NONE) {
		if (token_is(token, ";"))
			return;
		begin_text(scan, token);
	}
	item = item_at(scan, scan->item);
	item->end = (uint32_t)(token->text + token->length - scan->text);
	item->last_line = line_of(scan, token->text + token->length);
	add_hash(item, token);
	item->opaque |= token->kind == TOKEN_UNKNOWN;
	if (is_name(token)) {
		read_name(scan, token);
		return;
	}
	if (token->kind == TOKEN_OPERATOR)
		read_operator(scan, token);
	else if (token->kind == TOKEN_QUOTED)
		read_quoted(scan, token);
	scan->previous = INDEX_NONE;
}

/*
 * The macro of a file that begins with "#ifndef NAME" and "#define NAME", and ends with the #endif
 * of that without an #else; or INDEX_NONE.
 */
static uint32_t find_guard(const struct item_index *index, const struct indexed_file *file)
{
	const struct item *items = index->items.list;
	uint32_t at = file->first_item, end = at + file->nr_items, begin;
	struct token word;

	while (at < end && items[at].kind == ITEM_NEUTRAL)
		at++;
	begin = at++;
	if (at >= end || items[begin].kind != ITEM_CONDITION || items[begin].group != begin ||
	    items[at].kind != ITEM_MACRO || items[at].is_undef)
		return INDEX_NONE;
	struct cursor line = {file->flat.text + items[begin].start + 1,
			      file->flat.text + items[begin].end, false};
	if (!next_token(&line, &word) || !token_is(&word, "ifndef") || !next_token(&line, &word) ||
	    item_index_find(index, word.text, word.length, word.hash) != items[at].name)
		return INDEX_NONE;
	for (uint32_t i = at + 1; i < end; i++)
		if (items[i].kind == ITEM_CONDITION && items[i].group == begin &&
		    i != items[begin].group_end)
			return INDEX_NONE;
	for (at = end; items[at - 1].kind == ITEM_NEUTRAL;)
		at--;
	return items[begin].group_end == at - 1 ? items[begin + 1].name : INDEX_NONE;
}

uint32_t item_index_add(struct item_index *index, const char *path, const char *text, size_t length)
{
	struct scan scan = {.index = index, .file = (uint32_t)index->files.count};
	struct indexed_file *file = vec_push(&index->files);
	struct token token;

	*file = (struct indexed_file){.path = path, .first_item = (uint32_t)index->items.count};
	source_flatten(text, length, &file->flat);
	buffer_add(&file->flat, "", 0);
	scan.text = scan.counted = file->flat.text ?: "";
	scan.cursor = (struct cursor){scan.text, scan.text + file->flat.length, true};
	scan.out = INDEX_NONE;
	end_text(&scan);
	while (next_token(&scan.cursor, &token)) {
		/* A quote without its other one, as in an assembler's comment. */
		if (token.kind == TOKEN_UNKNOWN && (*token.text == '"' || *token.text == '\'')) {
			token.length = 1;
			scan.cursor.at = token.text + 1;
		}
		if (token.kind == TOKEN_DIRECTIVE)
			read_directive(&scan, &token);
		else if (scan.left_out)
			read_left_out(&scan, &token);
		else
			read_token(&scan, &token);
	}
	file = &index->files.list[scan.file];
	file->opaque |= scan.depth || scan.groups.count;
	if (scan.item != INDEX_NONE)
		item_at(&scan, scan.item)->opaque = true;
	file->nr_items = (uint32_t)index->items.count - file->first_item;
	file->guard = find_guard(index, file);
	vec_deinit(&scan.groups);
	return scan.file;
}
