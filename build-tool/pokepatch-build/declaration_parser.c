// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Splitting preprocessed text into its top-level declarations; see declaration_parser.h.
 *
 * The split knows brackets, and just enough C to tell a function's body from a structure's and to
 * find the names that a declaration declares.  It need not know types: a name leads to every
 * declaration of that name, be it a function, a type, a tag or an enumerator.
 */
#include "pokepatch-build/declaration_parser.h"

#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/c_tokens.h"
#include "pokepatch-build/counted_names.h"

#define NONE DECLARATIONS_NONE

enum keyword {
	NOT_KEYWORD,
	KEYWORD, /* one without a part to play here: const, int, if */
	KEYWORD_AGGREGATE,
	KEYWORD_ENUM,
	KEYWORD_TYPEDEF,
	KEYWORD_STATIC,
	KEYWORD_EXTERN,
	KEYWORD_INLINE,
	KEYWORD_ATTRIBUTE,
	KEYWORD_ASM,
	KEYWORD_GROUP, /* takes a group in parentheses, which declares nothing: typeof(x) */
	KEYWORD_STATIC_ASSERT,
};

static const struct {
	const char *name;
	enum keyword keyword;
} keywords[] = {
	{"struct", KEYWORD_AGGREGATE},
	{"union", KEYWORD_AGGREGATE},
	{"enum", KEYWORD_ENUM},
	{"typedef", KEYWORD_TYPEDEF},
	{"static", KEYWORD_STATIC},
	{"extern", KEYWORD_EXTERN},
	{"register", KEYWORD},
	{"inline", KEYWORD_INLINE},
	{"__inline", KEYWORD_INLINE},
	{"__inline__", KEYWORD_INLINE},
	{"__attribute__", KEYWORD_ATTRIBUTE},
	{"__attribute", KEYWORD_ATTRIBUTE},
	{"asm", KEYWORD_ASM},
	{"__asm", KEYWORD_ASM},
	{"__asm__", KEYWORD_ASM},
	{"typeof", KEYWORD_GROUP},
	{"__typeof", KEYWORD_GROUP},
	{"__typeof__", KEYWORD_GROUP},
	{"_Alignas", KEYWORD_GROUP},
	{"_Static_assert", KEYWORD_STATIC_ASSERT},
	{"auto", KEYWORD},
	{"break", KEYWORD},
	{"case", KEYWORD},
	{"char", KEYWORD},
	{"const", KEYWORD},
	{"__const", KEYWORD},
	{"__const__", KEYWORD},
	{"continue", KEYWORD},
	{"default", KEYWORD},
	{"do", KEYWORD},
	{"double", KEYWORD},
	{"else", KEYWORD},
	{"float", KEYWORD},
	{"for", KEYWORD},
	{"goto", KEYWORD},
	{"if", KEYWORD},
	{"int", KEYWORD},
	{"long", KEYWORD},
	{"restrict", KEYWORD},
	{"__restrict", KEYWORD},
	{"__restrict__", KEYWORD},
	{"return", KEYWORD},
	{"short", KEYWORD},
	{"signed", KEYWORD},
	{"__signed", KEYWORD},
	{"__signed__", KEYWORD},
	{"sizeof", KEYWORD},
	{"switch", KEYWORD},
	{"unsigned", KEYWORD},
	{"void", KEYWORD},
	{"volatile", KEYWORD},
	{"__volatile", KEYWORD},
	{"__volatile__", KEYWORD},
	{"while", KEYWORD},
	{"_Alignof", KEYWORD},
	{"__alignof__", KEYWORD},
	{"_Bool", KEYWORD},
	{"_Complex", KEYWORD},
	{"_Generic", KEYWORD},
	{"_Noreturn", KEYWORD},
	{"__extension__", KEYWORD},
	{"__int128", KEYWORD},
	{"__auto_type", KEYWORD},
	{"__thread", KEYWORD},
	{"_Thread_local", KEYWORD},
	{"__label__", KEYWORD},
};

/* What attributes' words say about the declaration that has them. */
enum attribute_word {
	NO_ATTRIBUTE,
	ATTRIBUTE_ROOT, /* emitted without a use, or by another name */
	ATTRIBUTE_SECTION,
	ATTRIBUTE_GNU_INLINE,
};

static const struct {
	const char *name;
	enum attribute_word word;
} attribute_words[] = {
	{"used", ATTRIBUTE_ROOT},
	{"__used__", ATTRIBUTE_ROOT},
	{"retain", ATTRIBUTE_ROOT},
	{"__retain__", ATTRIBUTE_ROOT},
	{"alias", ATTRIBUTE_ROOT},
	{"__alias__", ATTRIBUTE_ROOT},
	{"ifunc", ATTRIBUTE_ROOT},
	{"__ifunc__", ATTRIBUTE_ROOT},
	{"symver", ATTRIBUTE_ROOT},
	{"__symver__", ATTRIBUTE_ROOT},
	{"constructor", ATTRIBUTE_ROOT},
	{"__constructor__", ATTRIBUTE_ROOT},
	{"destructor", ATTRIBUTE_ROOT},
	{"__destructor__", ATTRIBUTE_ROOT},
	{"externally_visible", ATTRIBUTE_ROOT},
	{"__externally_visible__", ATTRIBUTE_ROOT},
	{"section", ATTRIBUTE_SECTION},
	{"__section__", ATTRIBUTE_SECTION},
	{"gnu_inline", ATTRIBUTE_GNU_INLINE},
	{"__gnu_inline__", ATTRIBUTE_GNU_INLINE},
};

/*
 * What the compiler may call without an identifier in the text: it copies structures with memcpy()
 * and makes strlen() of strcat().
 */
static const char *const implicit_names[] = {
	"abort",  "bcmp",    "bcopy",	"bzero",   "calloc",  "exit",	  "ffs",     "free",
	"index",  "malloc",  "memchr",	"memcmp",  "memcpy",  "memmove",  "mempcpy", "memset",
	"printf", "putchar", "puts",	"rindex",  "snprintf", "sprintf", "stpcpy",  "stpncpy",
	"strcat", "strchr",  "strcmp",	"strcpy",  "strcspn", "strlen",	  "strncat", "strncmp",
	"strncpy", "strnlen", "strpbrk", "strrchr", "strspn", "strstr",	  "vsnprintf", "vsprintf",
};
static const char *const implicit_prefixes[] = {
	"__asan_", "__hwasan_", "__kasan_",	"__kcsan_", "__msan_",	"__sanitizer_",
	"__tsan_", "__ubsan_",	"__stack_chk_", "__cyg_",   "__fentry", "mcount",
};

static void names_rehash(struct parser *parser)
{
	free(parser->slots);
	parser->nr_slots = parser->nr_slots ? parser->nr_slots * 2 : 1 << 15;
	parser->slots = xmalloc(parser->nr_slots * sizeof(*parser->slots));
	memset(parser->slots, 0xff, parser->nr_slots * sizeof(*parser->slots));
	for (uint32_t i = 0; i < parser->names.count; i++) {
		struct name *name = &parser->names.list[i];
		size_t slot = token_name_hash(name->text, name->length);

		for (slot &= parser->nr_slots - 1; parser->slots[slot] != NONE;)
			slot = (slot + 1) & (parser->nr_slots - 1);
		parser->slots[slot] = i;
	}
}

/* The index of a name; @hash is a name token's. */
static uint32_t name_index(struct parser *parser, const char *text, size_t length, uint64_t hash)
{
	size_t slot;
	struct name *name;

	if (parser->names.count * 2 >= parser->nr_slots)
		names_rehash(parser);
	for (slot = hash & (parser->nr_slots - 1); parser->slots[slot] != NONE;
	     slot = (slot + 1) & (parser->nr_slots - 1)) {
		name = &parser->names.list[parser->slots[slot]];
		if (name->length == length && !memcmp(name->text, text, length))
			return parser->slots[slot];
	}
	parser->slots[slot] = (uint32_t)parser->names.count;
	name = vec_push(&parser->names);
	*name = (struct name){.text = text,
			      .length = (uint32_t)length,
			      .declarations = NONE,
			      .seen_in = NONE};
	for (size_t i = 0; i < ARRAY_SIZE(implicit_prefixes); i++)
		name->implicit |= length >= strlen(implicit_prefixes[i]) &&
				  !memcmp(text, implicit_prefixes[i], strlen(implicit_prefixes[i]));
	return parser->slots[slot];
}

static struct name *known_name(struct parser *parser, const char *text)
{
	size_t length = strlen(text);
	uint32_t index = name_index(parser, text, length, token_name_hash(text, length));

	return &parser->names.list[index];
}

void parser_init(struct parser *parser)
{
	*parser = (struct parser){};
	for (size_t i = 0; i < ARRAY_SIZE(keywords); i++)
		known_name(parser, keywords[i].name)->keyword = keywords[i].keyword;
	for (size_t i = 0; i < ARRAY_SIZE(attribute_words); i++)
		known_name(parser, attribute_words[i].name)->attribute = attribute_words[i].word;
	for (size_t i = 0; i < ARRAY_SIZE(implicit_names); i++)
		known_name(parser, implicit_names[i])->implicit = true;
}

void parser_deinit(struct parser *parser)
{
	free(parser->slots);
	vec_deinit(&parser->names);
	vec_deinit(&parser->links);
	vec_deinit(&parser->mentions);
	vec_deinit(&parser->declarations);
}

/* ---- reading one declaration --------------------------------------------------- */

/* What a bracket opens. */
enum bracket {
	BRACKET_PAREN,
	BRACKET_INDEX,
	BRACKET_BRACE,
	BRACKET_BODY,	   /* of a function */
	BRACKET_ENUM,	   /* the list of enumerators */
	BRACKET_ATTRIBUTE, /* the parentheses of __attribute__((...)) */
	BRACKET_GROUP,	   /* those of typeof() and asm() */
};

struct reading {
	struct parser *parser;
	uint32_t index; /* of the declaration */
	unsigned char stack[256];
	size_t depth, attributes; /* brackets that are open; those of them that are attributes' */
	struct token previous;
	bool is_typedef, is_static, is_extern, is_inline, is_gnu_inline, is_asm;
	bool has_section, has_object, has_initializer, has_body;
	/* The declarator: "*b[3]" in "int a, *b[3];". */
	uint32_t last_name; /* the last identifier outside brackets, or NONE */
	bool declared;	    /* its name was found */
	bool is_function, in_initializer;
	bool at_paren;	 /* the last token was its first parenthesis */
	bool wants_name; /* the name is the next identifier: int (*name)(void) */
	unsigned long counted; /* 1 + the first number of __COUNTER__ in a name, or 0 */
	uint32_t alone;	 /* NAME in "x (NAME", which is a name if "x (NAME)(" follows, or NONE */
	/* After struct, union or enum: */
	enum keyword aggregate;
	uint32_t tag;
	unsigned char group; /* what the next parenthesis opens, or 0 */
};

static struct declaration *this_declaration(struct reading *reading)
{
	return &reading->parser->declarations.list[reading->index];
}

static void declare(struct reading *reading, uint32_t name)
{
	struct parser *parser = reading->parser;
	struct link *link;

	if (name == NONE)
		return;
	link = vec_push(&parser->links);
	link->declaration = reading->index;
	link->next = parser->names.list[name].declarations;
	parser->names.list[name].declarations = (uint32_t)parser->links.count - 1;
	this_declaration(reading)->names = true;
	this_declaration(reading)->implicit |= parser->names.list[name].implicit;
}

static void mention(struct reading *reading, uint32_t index)
{
	static const char builtin[] = "__builtin_";
	struct parser *parser = reading->parser;
	struct name *name = &parser->names.list[index];
	const char *rest = name->text + strlen(builtin);
	size_t length = name->length;

	if (name->seen_in == reading->index)
		return;
	name->seen_in = reading->index;
	*(uint32_t *)vec_push(&parser->mentions) = index;
	if (length <= strlen(builtin) || memcmp(name->text, builtin, strlen(builtin)))
		return;
	length -= strlen(builtin);
	/* __builtin_LINE() and its like take their values from line markers. */
	if ((length == 4 && (!memcmp(rest, "LINE", 4) || !memcmp(rest, "FILE", 4))) ||
	    (length == 6 && !memcmp(rest, "COLUMN", 6)))
		parser->unsure = true;
	/* The compiler may call memcpy() for __builtin_memcpy(). */
	mention(reading, name_index(parser, rest, length, token_name_hash(rest, length)));
}

static void declarator_name(struct reading *reading)
{
	if (reading->declared || reading->last_name == NONE)
		return;
	declare(reading, reading->last_name);
	reading->declared = true;
}

static void declarator_end(struct reading *reading)
{
	declarator_name(reading);
	/* struct s; */
	if (reading->aggregate && !reading->declared)
		declare(reading, reading->tag);
	reading->has_object |= reading->declared && !reading->is_function;
	reading->last_name = NONE;
	reading->declared = reading->is_function = reading->in_initializer = false;
	reading->wants_name = false;
}

/* After the first parenthesis of a declarator: does it begin parameters? */
static void judge_paren(struct reading *reading, const struct token *token, enum keyword keyword)
{
	bool is_operator = token->kind == TOKEN_OPERATOR;

	reading->at_paren = false;
	if (reading->last_name == NONE ||
	    (is_operator && (*token->text == '*' || *token->text == '^' || *token->text == '('))) {
		reading->wants_name = true;
		return;
	}
	/* "u32 (__attribute__((x)) *name)" or "name(__attribute__((x)) int a)" */
	reading->wants_name = keyword == KEYWORD_ATTRIBUTE;
	reading->has_object |= reading->wants_name;
	declarator_name(reading);
	reading->is_function = true;
}

static void read_keyword(struct reading *reading, enum keyword keyword)
{
	switch (keyword) {
	case KEYWORD_AGGREGATE:
	case KEYWORD_ENUM:
		if (!reading->attributes) {
			reading->aggregate = keyword;
			reading->tag = NONE;
		}
		break;
	case KEYWORD_ATTRIBUTE:
		reading->group = BRACKET_ATTRIBUTE;
		break;
	case KEYWORD_STATIC_ASSERT:
		if (reading->previous.kind == TOKEN_END)
			this_declaration(reading)->harmless = true;
		reading->group = BRACKET_GROUP;
		break;
	case KEYWORD_ASM:
		reading->is_asm |= reading->previous.kind == TOKEN_END;
		reading->group = BRACKET_GROUP;
		break;
	case KEYWORD_GROUP:
		reading->group = BRACKET_GROUP;
		break;
	default:
		if (reading->depth)
			break;
		reading->is_typedef |= keyword == KEYWORD_TYPEDEF;
		reading->is_static |= keyword == KEYWORD_STATIC;
		reading->is_extern |= keyword == KEYWORD_EXTERN;
		reading->is_inline |= keyword == KEYWORD_INLINE;
	}
}

static void read_attribute_word(struct reading *reading, enum attribute_word word)
{
	bool of_declaration = reading->stack[0] == BRACKET_ATTRIBUTE;

	/* A local variable that is kept in a function that is not may be kept, too. */
	this_declaration(reading)->root |= word == ATTRIBUTE_ROOT;
	reading->has_section |= word == ATTRIBUTE_SECTION && of_declaration;
	reading->is_gnu_inline |= word == ATTRIBUTE_GNU_INLINE && of_declaration;
}

static bool previous_is(const struct reading *reading, char operator)
{
	return reading->previous.kind == TOKEN_OPERATOR && reading->previous.length == 1 &&
	       *reading->previous.text == operator;
}

static void read_identifier(struct reading *reading, uint32_t index)
{
	mention(reading, index);
	if (reading->attributes) {
		read_attribute_word(reading, reading->parser->names.list[index].attribute);
		return;
	}
	if (reading->depth && reading->stack[reading->depth - 1] == BRACKET_ENUM &&
	    (previous_is(reading, '{') || previous_is(reading, ',')))
		declare(reading, index);
	if (reading->aggregate && reading->tag == NONE) {
		reading->tag = index;
		return;
	}
	reading->aggregate = NOT_KEYWORD;
	if (reading->wants_name && reading->stack[reading->depth - 1] == BRACKET_PAREN) {
		reading->wants_name = false;
		reading->declared = true;
		declare(reading, index);
	} else if (!reading->depth && !reading->in_initializer) {
		reading->last_name = index;
	}
}

static void open_bracket(struct reading *reading, char c)
{
	enum bracket bracket = c == '(' ? BRACKET_PAREN : c == '[' ? BRACKET_INDEX : BRACKET_BRACE;
	bool in_declarator = !reading->depth && !reading->in_initializer;

	if (c == '(' && reading->group) {
		bracket = reading->group;
	} else if (c == '{' && reading->aggregate) {
		declare(reading, reading->tag);
		if (reading->aggregate == KEYWORD_ENUM)
			bracket = BRACKET_ENUM;
	} else if (c == '{' && in_declarator) {
		bracket = BRACKET_BODY;
		reading->has_body = true;
		reading->parser->unsure |= !reading->is_function;
	} else if (c == '(' && in_declarator && !reading->declared) {
		reading->at_paren = true;
	} else if (c == '[' && in_declarator) {
		declarator_name(reading);
		reading->parser->unsure |= !reading->declared;
	}
	if (bracket != BRACKET_ATTRIBUTE && !reading->attributes)
		reading->aggregate = NOT_KEYWORD;
	if (reading->depth == ARRAY_SIZE(reading->stack)) {
		reading->parser->unsure = true;
		return;
	}
	reading->stack[reading->depth++] = bracket;
	reading->attributes += bracket == BRACKET_ATTRIBUTE;
}

/* Return: whether the declaration ends here, as a function's body does. */
static bool close_bracket(struct reading *reading, char c)
{
	static const char closing[] = {
		[BRACKET_PAREN] = ')', [BRACKET_INDEX] = ']', [BRACKET_BRACE] = '}',
		[BRACKET_BODY] = '}',  [BRACKET_ENUM] = '}',  [BRACKET_ATTRIBUTE] = ')',
		[BRACKET_GROUP] = ')',
	};
	enum bracket bracket;

	if (!reading->depth || closing[reading->stack[reading->depth - 1]] != c) {
		reading->parser->unsure = true;
		return false;
	}
	bracket = reading->stack[--reading->depth];
	if (!reading->attributes)
		reading->aggregate = NOT_KEYWORD;
	reading->attributes -= bracket == BRACKET_ATTRIBUTE;
	return bracket == BRACKET_BODY;
}

/* Return: whether the declaration ends here. */
static bool read_operator(struct reading *reading, const struct token *token)
{
	char c = token->length == 1 ? *token->text : '\0';

	switch (c) {
	case '(':
	case '[':
	case '{':
		open_bracket(reading, c);
		return false;
	case ')':
	case ']':
	case '}':
		return close_bracket(reading, c);
	}
	if (!reading->depth) {
		switch (c) {
		case ';':
			return true;
		case ',':
			declarator_end(reading);
			break;
		case '=':
			declarator_name(reading);
			reading->in_initializer = reading->has_initializer = true;
			break;
		case '*':
			break;
		default:
			reading->parser->unsure |= !reading->in_initializer;
		}
	}
	if (!reading->attributes)
		reading->aggregate = NOT_KEYWORD;
	return false;
}

/* A string may be a name: __attribute__((alias("name"))). */
static void read_quoted(struct reading *reading, const struct token *token)
{
	const char *text = token->text + 1;
	size_t length = token->length - 2;

	reading->parser->unsure |= !reading->depth && !reading->in_initializer;
	if (*token->text == '"' && is_word(text, length))
		mention(reading, name_index(reading->parser, text, length,
					    token_name_hash(text, length)));
}

/* #pragma pack and #pragma GCC matter to what follows.  Others may name something. */
static void read_directive(struct reading *reading, const struct token *token)
{
	static const char *const known[] = {"#pragma pack", "#pragma GCC "};

	this_declaration(reading)->directive = true;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (token->length > strlen(known[i]) &&
		    !memcmp(token->text, known[i], strlen(known[i])))
			return;
	reading->parser->unsure = true;
}

/* The NAME of "x (NAME)(" is what is declared, x being its type. */
static void judge_alone(struct reading *reading, const struct token *token)
{
	char c = token->kind == TOKEN_OPERATOR ? *token->text : '\0';

	if (reading->alone == NONE || (c == ')' && reading->depth == 1))
		return;
	if (c == '(' && !reading->depth)
		declare(reading, reading->alone);
	reading->alone = NONE;
}

/* Return: whether the declaration ends with this token. */
static bool read_token(struct reading *reading, const struct token *token)
{
	struct parser *parser = reading->parser;
	enum keyword keyword = NOT_KEYWORD;
	uint32_t index = NONE;
	bool ends = false;

	if (token->kind == TOKEN_NAME) {
		index = name_index(parser, token->text, token->length, token->hash);
		keyword = parser->names.list[index].keyword;
	}
	judge_alone(reading, token);
	if (reading->at_paren) {
		judge_paren(reading, token, keyword);
		if (index != NONE && !keyword && reading->is_function)
			reading->alone = index;
	}
	switch (token->kind) {
	case TOKEN_NAME:
		if (keyword)
			read_keyword(reading, keyword);
		else
			read_identifier(reading, index);
		break;
	case TOKEN_OPERATOR:
		ends = read_operator(reading, token);
		break;
	case TOKEN_QUOTED:
		read_quoted(reading, token);
		break;
	case TOKEN_NUMBER:
		parser->unsure |= !reading->depth && !reading->in_initializer;
		break;
	case TOKEN_DIRECTIVE:
		read_directive(reading, token);
		ends = reading->previous.kind == TOKEN_END;
		break;
	default:
		parser->unsure = true;
	}
	if (!keyword)
		reading->group = 0;
	reading->previous = *token;
	return ends || parser->unsure;
}

/* Whether the compiler may emit the declared function or object without a use of it. */
static bool emits(const struct reading *reading)
{
	if (reading->is_asm)
		return true;
	if (reading->is_typedef)
		return false;
	if (reading->has_body && reading->is_inline)
		return !reading->is_static && !(reading->is_extern && reading->is_gnu_inline);
	if (reading->has_body || reading->has_object) {
		if (reading->is_static)
			return reading->has_section;
		return reading->has_body || reading->has_initializer || !reading->is_extern;
	}
	return false;
}

/*
 * The hash of a token.  Of a number that __COUNTER__ gave a name, only the distance from the first
 * in the declaration counts.
 */
static uint64_t token_meaning(struct reading *reading, const struct token *token)
{
	const bool quoted = token->kind == TOKEN_QUOTED;
	const char *text = token->text + quoted;
	size_t length = token->length - 2 * quoted, at, digits;
	unsigned long number;

	if ((!quoted && token->kind != TOKEN_NAME) || length < 2 || text[0] != '_' ||
	    text[1] != '_' || !counted_number(text, length, &at, &digits) || digits > 9)
		return token->hash;
	number = strtoul(text + at, NULL, 10);
	if (!reading->counted)
		reading->counted = number + 1;
	number -= reading->counted - 1;
	return token_name_hash(text, at) * 31 +
	       token_name_hash(text + at + digits, length - at - digits) * 17 + number + quoted;
}

static void read_declaration(struct parser *parser, struct cursor *cursor, const char *text)
{
	struct reading reading = {.parser = parser, .last_name = NONE, .alone = NONE, .tag = NONE};
	struct declaration *declaration = vec_push(&parser->declarations);
	uint64_t hash = 0;
	size_t nr_tokens = 0;
	struct token token;

	reading.index = (uint32_t)parser->declarations.count - 1;
	declaration->start = (size_t)(cursor->at - text);
	declaration->first_mention = (uint32_t)parser->mentions.count;
	do {
		if (!next_token(cursor, &token)) {
			parser->unsure = true;
			return;
		}
		hash = (hash ^ token_meaning(&reading, &token)) * 0x9e3779b97f4a7c15;
		hash ^= hash >> 29;
		nr_tokens++;
	} while (!read_token(&reading, &token));
	declarator_end(&reading);
	declaration = this_declaration(&reading);
	declaration->root |= emits(&reading);
	declaration->forward = nr_tokens == 3 && reading.aggregate == KEYWORD_AGGREGATE &&
			       reading.tag != NONE;
	declaration->end = (size_t)(cursor->at - text);
	declaration->hash = hash;
	declaration->nr_mentions = (uint32_t)parser->mentions.count - declaration->first_mention;
}

bool parser_read(struct parser *parser, const char *text, size_t length, size_t from, size_t limit)
{
	struct cursor cursor = {text + from, text + length, from == 0};
	bool aligned = true;

	while (!parser->unsure) {
		size_t at;

		skip_blanks(&cursor);
		at = (size_t)(cursor.at - text);
		if (at > limit) {
			aligned = false;
			limit = length;
		}
		if (at == limit)
			break;
		if (*cursor.at == ';')
			cursor.at++;
		else
			read_declaration(parser, &cursor, text);
	}
	return aligned;
}
