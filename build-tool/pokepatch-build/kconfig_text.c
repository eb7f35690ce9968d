// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading the text of a Kconfig file; see kconfig_text.h. */
#include "pokepatch-build/kconfig_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* What encloses an entry: if, menu, choice. */
struct frame {
	const char *end;         /* "endif" */
	char *depends, *visible; /* its own, and those of the frames around it */
	size_t choice;           /* as in a definition */
};

/* What the properties that follow belong to. */
enum subject {
	SUBJECT_NONE, /* a comment or the main menu, which do not set anything */
	SUBJECT_DEFINITION,
	SUBJECT_CHOICE,
	SUBJECT_MENU,
};

struct parser {
	struct kconfig_text *text;
	const char *rest; /* the lines that are not read yet */
	size_t line;      /* number of the line that was read last, from 1 */
	VEC(struct frame) frames;
	enum subject subject; /* the definition or choice is the last one, the menu's frame too */
};

/* ---- lines ------------------------------------------------------------------ */

static size_t indentation(const char *line)
{
	size_t columns = 0;

	for (; *line == ' ' || *line == '\t'; line++)
		columns = *line == '\t' ? (columns | 7) + 1 : columns + 1;
	return columns;
}

static bool is_blank(const char *line)
{
	return line[strspn(line, " \t\r")] == '\n' || !line[strspn(line, " \t\r")];
}

static void skip_line(struct parser *parser)
{
	parser->rest += strcspn(parser->rest, "\n");
	parser->rest += *parser->rest == '\n';
	parser->line++;
}

/* A help text ends before the first line that is indented less than its first line. */
static void skip_help(struct parser *parser)
{
	size_t columns;

	while (*parser->rest && is_blank(parser->rest))
		skip_line(parser);
	columns = indentation(parser->rest);
	while (*parser->rest && columns &&
	       (is_blank(parser->rest) || indentation(parser->rest) >= columns))
		skip_line(parser);
}

/* The end of a quoted string or of a $(macro) that begins at p; p + 1 if neither does. */
static const char *skip_quoted(const char *p)
{
	if (*p == '"' || *p == '\'') {
		char quote = *p++;

		for (; *p && *p != quote; p++)
			if (*p == '\\' && p[1])
				p++;
		return *p ? p + 1 : p;
	}
	if (p[0] == '$' && p[1] == '(') {
		size_t depth = 0;

		for (p++; *p; p++) {
			depth += *p == '(';
			depth -= *p == ')';
			if (!depth)
				return p + 1;
		}
		return p;
	}
	return p + 1;
}

/*
 * The next line without its comment, with one space for each run of blanks, and joined with the
 * next one where it ends with a backslash.  NULL: there is none.  The caller frees it.
 */
static char *next_line(struct parser *parser)
{
	struct buffer line = {};

	if (!*parser->rest)
		return NULL;
	buffer_add(&line, "", 0);
	for (bool joined = true; joined && *parser->rest;) {
		size_t length = strcspn(parser->rest, "\n");

		joined = length && parser->rest[length - 1] == '\\';
		buffer_add(&line, parser->rest, length - joined);
		skip_line(parser);
	}

	char *out = xcalloc(line.length + 1, 1), *to = out;
	for (const char *p = line.text ?: ""; *p && *p != '#';) {
		const char *end = skip_quoted(p);

		if (isspace((unsigned char)*p)) {
			if (to > out && to[-1] != ' ')
				*to++ = ' ';
		} else {
			memcpy(to, p, (size_t)(end - p));
			to += end - p;
		}
		p = end;
	}
	while (to > out && to[-1] == ' ')
		to--;
	*to = '\0';
	buffer_deinit(&line);
	return out;
}

/* ---- conditions ------------------------------------------------------------- */

/* Make *condition "(*condition) && (more)"; NULL stands for y. */
static void add_condition(char **condition, const char *more)
{
	char *both;

	if (!more)
		return;
	both = *condition ? xasprintf("%s && (%s)", *condition, more) : xasprintf("(%s)", more);
	free(*condition);
	*condition = both;
}

static char *copy_condition(const char *condition)
{
	return condition ? xstrdup(condition) : NULL;
}

/* Split "VALUE if CONDITION", outside of quotes and macros. */
static void split_condition(const char *text, char **ret_value, char **ret_condition)
{
	const char *p = text;
	size_t length;

	while (*p &&
	       (p == text || !strchr(" \")", p[-1]) || strncmp(p, "if", 2) || !strchr(" (", p[2])))
		p = skip_quoted(p);
	*ret_condition = *p ? xstrdup(p + strlen("if")) : NULL;
	length = (size_t)(p - text);
	while (length && text[length - 1] == ' ')
		length--;
	*ret_value = xstrndup(text, length);
}

/* ---- entries ---------------------------------------------------------------- */

static struct frame *last_frame(struct parser *parser)
{
	return parser->frames.count ? &parser->frames.list[parser->frames.count - 1] : NULL;
}

static void push_frame(struct parser *parser, const char *end, const char *condition)
{
	const struct frame *outer = last_frame(parser);
	struct frame frame = {.end = end};

	if (outer) {
		frame.depends = copy_condition(outer->depends);
		frame.visible = copy_condition(outer->visible);
		frame.choice = outer->choice;
	}
	add_condition(&frame.depends, condition);
	*vec_push(&parser->frames) = frame;
}

static void drop_frame(struct parser *parser)
{
	struct frame *frame = last_frame(parser);

	free(frame->depends);
	free(frame->visible);
	parser->frames.count--;
}

static bool read_config(struct parser *parser, const char *rest)
{
	struct kconfig_text *text = parser->text;
	const struct frame *outer = last_frame(parser);
	struct kconfig_definition *definition = vec_push(&text->definitions);

	definition->symbol = xstrdup(rest);
	if (outer) {
		definition->depends = copy_condition(outer->depends);
		definition->visible = copy_condition(outer->visible);
		definition->choice = outer->choice;
	}
	parser->subject = SUBJECT_DEFINITION;
	return *rest && !strchr(rest, ' ');
}

static bool read_choice(struct parser *parser, const char *rest)
{
	const struct frame *outer = last_frame(parser);
	struct kconfig_choice *choice = vec_push(&parser->text->choices);

	(void)rest;
	if (outer) {
		choice->depends = copy_condition(outer->depends);
		choice->visible = copy_condition(outer->visible);
	}
	push_frame(parser, "endchoice", NULL);
	last_frame(parser)->choice = parser->text->choices.count;
	parser->subject = SUBJECT_CHOICE;
	return true;
}

static bool read_menu(struct parser *parser, const char *rest)
{
	(void)rest;
	push_frame(parser, "endmenu", NULL);
	parser->subject = SUBJECT_MENU;
	return true;
}

static bool read_if(struct parser *parser, const char *rest)
{
	push_frame(parser, "endif", rest);
	parser->subject = SUBJECT_NONE;
	return *rest;
}

static bool read_comment(struct parser *parser, const char *rest)
{
	(void)rest;
	parser->subject = SUBJECT_NONE;
	return true;
}

static bool read_source(struct parser *parser, const char *rest)
{
	const struct frame *outer = last_frame(parser);
	struct kconfig_source *source = vec_push(&parser->text->sources);
	size_t length = strlen(rest);

	if (length > 1 && *rest == '"' && rest[length - 1] == '"')
		source->path = xstrndup(rest + 1, length - 2);
	else
		source->path = xstrdup(rest);
	if (outer) {
		source->depends = copy_condition(outer->depends);
		source->visible = copy_condition(outer->visible);
	}
	parser->subject = SUBJECT_NONE;
	return true;
}

/* ---- properties ------------------------------------------------------------- */

static bool add_property(struct parser *parser, enum kconfig_property_kind kind, const char *text)
{
	struct kconfig_text *all = parser->text;
	struct kconfig_property *property = NULL;

	if (parser->subject == SUBJECT_DEFINITION)
		property = vec_push(&all->definitions.list[all->definitions.count - 1].properties);
	else if (parser->subject == SUBJECT_CHOICE)
		property = vec_push(&all->choices.list[all->choices.count - 1].properties);
	else
		return false;
	property->kind = kind;
	split_condition(text, &property->value, &property->condition);
	if (kind == KCONFIG_PROMPT) /* users read the text, nothing else */
		property->value[0] = '\0';
	return true;
}

static bool set_type(struct parser *parser, const char *type)
{
	struct kconfig_text *all = parser->text;
	struct kconfig_definition *definition;

	if (parser->subject == SUBJECT_CHOICE)
		return true;
	if (parser->subject != SUBJECT_DEFINITION)
		return false;
	definition = &all->definitions.list[all->definitions.count - 1];
	free(definition->type);
	definition->type = xstrdup(type);
	return true;
}

static bool read_depends(struct parser *parser, const char *rest)
{
	struct kconfig_text *all = parser->text;

	if (!has_prefix(rest, "on ") && !has_prefix(rest, "on("))
		return false;
	rest += strlen("on");
	switch (parser->subject) {
	case SUBJECT_NONE:
		return true;
	case SUBJECT_DEFINITION:
		add_condition(&all->definitions.list[all->definitions.count - 1].depends, rest);
		return true;
	case SUBJECT_CHOICE:
		add_condition(&all->choices.list[all->choices.count - 1].depends, rest);
		/* fallthrough */
	case SUBJECT_MENU:
		add_condition(&last_frame(parser)->depends, rest);
		return true;
	}
	return false;
}

static bool read_visible(struct parser *parser, const char *rest)
{
	if (parser->subject != SUBJECT_MENU || !has_prefix(rest, "if"))
		return false;
	add_condition(&last_frame(parser)->visible, rest + strlen("if"));
	return true;
}

static bool read_help(struct parser *parser, const char *rest)
{
	(void)rest;
	skip_help(parser);
	return true;
}

static bool read_optional(struct parser *parser, const char *rest)
{
	struct kconfig_text *all = parser->text;

	(void)rest;
	if (parser->subject != SUBJECT_CHOICE)
		return false;
	all->choices.list[all->choices.count - 1].optional = true;
	return true;
}

/* ---- the language ----------------------------------------------------------- */

enum word_kind {
	WORD_ENTRY,    /* read() gets what follows the word */
	WORD_PROPERTY, /* the rest is the property's value */
	WORD_TYPE,     /* the rest, if any, is a prompt */
	WORD_DEFAULT,  /* a type, and the rest is a default */
	WORD_END,
};

static const struct word {
	const char *name;
	enum word_kind kind;
	bool (*read)(struct parser *parser, const char *rest); /* false: not understood */
	enum kconfig_property_kind property;
	const char *type;
} words[] = {
	{"config", WORD_ENTRY, .read = read_config},
	{"menuconfig", WORD_ENTRY, .read = read_config},
	{"choice", WORD_ENTRY, .read = read_choice},
	{"menu", WORD_ENTRY, .read = read_menu},
	{"if", WORD_ENTRY, .read = read_if},
	{"comment", WORD_ENTRY, .read = read_comment},
	{"mainmenu", WORD_ENTRY, .read = read_comment},
	{"source", WORD_ENTRY, .read = read_source},
	{"osource", WORD_ENTRY, .read = read_source},
	{"rsource", WORD_ENTRY, .read = read_source},
	{"orsource", WORD_ENTRY, .read = read_source},
	{"depends", WORD_ENTRY, .read = read_depends},
	{"visible", WORD_ENTRY, .read = read_visible},
	{"help", WORD_ENTRY, .read = read_help},
	{"---help---", WORD_ENTRY, .read = read_help},
	{"optional", WORD_ENTRY, .read = read_optional},
	{"endif", WORD_END, .read = NULL},
	{"endmenu", WORD_END, .read = NULL},
	{"endchoice", WORD_END, .read = NULL},
	{"prompt", WORD_PROPERTY, .property = KCONFIG_PROMPT},
	{"default", WORD_PROPERTY, .property = KCONFIG_DEFAULT},
	{"range", WORD_PROPERTY, .property = KCONFIG_RANGE},
	{"select", WORD_PROPERTY, .property = KCONFIG_SELECT},
	{"imply", WORD_PROPERTY, .property = KCONFIG_IMPLY},
	{"option", WORD_PROPERTY, .property = KCONFIG_OPTION},
	{"modules", WORD_PROPERTY, .property = KCONFIG_OPTION},
	{"transitional", WORD_PROPERTY, .property = KCONFIG_OPTION},
	{"bool", WORD_TYPE, .type = "bool"},
	{"tristate", WORD_TYPE, .type = "tristate"},
	{"int", WORD_TYPE, .type = "int"},
	{"hex", WORD_TYPE, .type = "hex"},
	{"string", WORD_TYPE, .type = "string"},
	{"def_bool", WORD_DEFAULT, .type = "bool"},
	{"def_tristate", WORD_DEFAULT, .type = "tristate"},
};

static bool read_word(struct parser *parser, const struct word *word, const char *rest)
{
	switch (word->kind) {
	case WORD_ENTRY:
		return word->read(parser, rest);
	case WORD_PROPERTY:
		return add_property(parser, word->property, rest);
	case WORD_TYPE:
		return set_type(parser, word->type) &&
		       (!*rest || add_property(parser, KCONFIG_PROMPT, rest));
	case WORD_DEFAULT:
		return set_type(parser, word->type) && add_property(parser, KCONFIG_DEFAULT, rest);
	case WORD_END:
		if (!parser->frames.count || strcmp(last_frame(parser)->end, word->name))
			return false;
		drop_frame(parser);
		parser->subject = SUBJECT_NONE;
		return true;
	}
	return false;
}

/* "NAME = value", "NAME := value", "NAME += value", or a line that begins with a macro. */
static bool is_macro(const char *line)
{
	const char *p = line + strspn(line, "abcdefghijklmnopqrstuvwxyz"
					    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

	if (has_prefix(line, "$("))
		return true;
	if (p == line)
		return false;
	p += *p == ' ';
	p += *p == ':' || *p == '+';
	return *p == '=';
}

static bool read_line(struct parser *parser, const char *line)
{
	size_t length = strcspn(line, " (\"");

	if (!*line)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const char *rest = line + length;

		if (strlen(words[i].name) != length || strncmp(words[i].name, line, length))
			continue;
		rest += *rest == ' ';
		if (*rest != '=' && strncmp(rest, ":=", 2))
			return read_word(parser, &words[i], rest);
	}
	if (!is_macro(line))
		return false;
	buffer_printf(&parser->text->macros, "%s\n", line);
	return true;
}

/* Chain the definitions of each symbol, the first one first. */
static void chain_definitions(struct kconfig_text *text)
{
	for (size_t i = text->definitions.count; i-- > 0;) {
		struct kconfig_definition *definition = &text->definitions.list[i];
		void **first = map_slot(&text->symbols, definition->symbol);

		definition->next = (uintptr_t)*first;
		*first = (void *)(uintptr_t)(i + 1);
	}
}

void kconfig_parse(const char *text, struct kconfig_text *ret)
{
	struct parser parser = {.text = ret, .rest = text};
	char *line;

	*ret = (struct kconfig_text){};
	buffer_add(&ret->macros, "", 0);
	while ((line = next_line(&parser))) {
		size_t number = parser.line;

		if (!read_line(&parser, line) && !ret->bad_line)
			ret->bad_line = number;
		free(line);
	}
	if (parser.frames.count && !ret->bad_line)
		ret->bad_line = parser.line;
	while (parser.frames.count)
		drop_frame(&parser);
	vec_deinit(&parser.frames);
	chain_definitions(ret);
}

const struct kconfig_definition *kconfig_first(const struct kconfig_text *text, const char *symbol)
{
	uintptr_t number = (uintptr_t)map_get(&text->symbols, symbol);

	return number ? &text->definitions.list[number - 1] : NULL;
}

const struct kconfig_definition *kconfig_next(const struct kconfig_text *text,
					      const struct kconfig_definition *definition)
{
	return definition->next ? &text->definitions.list[definition->next - 1] : NULL;
}

static void property_deinit(struct kconfig_property *property)
{
	free(property->value);
	free(property->condition);
}

void kconfig_text_deinit(struct kconfig_text *text)
{
	for (size_t i = 0; i < text->definitions.count; i++) {
		struct kconfig_definition *definition = &text->definitions.list[i];

		for (size_t j = 0; j < definition->properties.count; j++)
			property_deinit(&definition->properties.list[j]);
		vec_deinit(&definition->properties);
		free(definition->symbol);
		free(definition->type);
		free(definition->depends);
		free(definition->visible);
	}
	for (size_t i = 0; i < text->choices.count; i++) {
		struct kconfig_choice *choice = &text->choices.list[i];

		for (size_t j = 0; j < choice->properties.count; j++)
			property_deinit(&choice->properties.list[j]);
		vec_deinit(&choice->properties);
		free(choice->depends);
		free(choice->visible);
	}
	for (size_t i = 0; i < text->sources.count; i++) {
		free(text->sources.list[i].path);
		free(text->sources.list[i].depends);
		free(text->sources.list[i].visible);
	}
	vec_deinit(&text->definitions);
	vec_deinit(&text->choices);
	vec_deinit(&text->sources);
	buffer_deinit(&text->macros);
	map_deinit(&text->symbols);
}
