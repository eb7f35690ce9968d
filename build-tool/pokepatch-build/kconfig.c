// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether a change to a Kconfig file can change the configuration; see kconfig.h. */
#include "pokepatch-build/kconfig.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/kconfig_text.h"

/* One of the two texts, in the configuration. */
struct side {
	const struct kconfig_values *values;
	struct kconfig_text text;
};

/* ---- what a text says, in the configuration --------------------------------- */

static const char *const value_names[] = {[KCONFIG_N] = "n", [KCONFIG_M] = "m", [KCONFIG_Y] = "y"};

/* An unknown value equals only the value of the same expression. */
static void print_value(struct buffer *out, enum kconfig_value value, const char *first,
			const char *second)
{
	if (value == KCONFIG_UNKNOWN)
		buffer_printf(out, " {%s; %s}", first ?: "", second ?: "");
	else
		buffer_printf(out, " %s", value_names[value]);
}

static bool is_switch(const char *type)
{
	return !type || !strcmp(type, "bool") || !strcmp(type, "tristate");
}

static bool is_expression(const char *type, const char *value)
{
	return is_switch(type) && *value != '"' && !isdigit((unsigned char)*value);
}

/* A symbol, when it is used as a number or string; or a constant. */
static const char *literal(const struct side *side, const char *value)
{
	return map_get(&side->values->by_symbol, value) ?: value;
}

/* Print "4 VALUE" for a number; "64 m VALUE" for a range of symbols. */
static void print_literals(const struct side *side, const char *value, struct buffer *out)
{
	_free_ char *copy = xstrdup(value);
	char *rest, *word;

	if (*value == '"') {
		buffer_printf(out, " %s", value);
		return;
	}
	for (word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
		buffer_printf(out, " %s", literal(side, word));
}

/*
 * Print the defaults or ranges of an entry that can come into effect: the first one whose condition
 * is not n is used.  *ret_sets is set if one of them gives a symbol another value than n.
 */
static void print_first(const struct side *side, const struct kconfig_definition *definition,
			enum kconfig_property_kind kind, struct buffer *out, bool *ret_sets)
{
	enum kconfig_value depends = kconfig_evaluate(side->values, definition->depends);

	for (size_t i = 0; i < definition->properties.count; i++) {
		const struct kconfig_property *property = &definition->properties.list[i];
		enum kconfig_value value = KCONFIG_Y, condition;

		if (property->kind != kind)
			continue;
		condition = kconfig_evaluate(side->values, property->condition);
		if (condition == KCONFIG_N)
			continue;
		buffer_add_string(out, " if");
		print_value(out, kconfig_and(condition, depends), property->condition,
			    definition->depends);
		if (kind == KCONFIG_DEFAULT && is_expression(definition->type, property->value)) {
			value = kconfig_evaluate(side->values, property->value);
			print_value(out, value, property->value, NULL);
		} else {
			print_literals(side, property->value, out);
		}
		*ret_sets |= value != KCONFIG_N;
		/* If it is not known whether this one is used, the next one may be. */
		if (condition != KCONFIG_UNKNOWN)
			break;
	}
}

/* Print when the user can choose: the prompts' conditions. */
static void print_prompts(const struct side *side, const struct kconfig_definition *definition,
			  struct buffer *out)
{
	enum kconfig_value depends = kconfig_evaluate(side->values, definition->depends);

	depends = kconfig_and(depends, kconfig_evaluate(side->values, definition->visible));
	for (size_t i = 0; i < definition->properties.count; i++) {
		const struct kconfig_property *property = &definition->properties.list[i];
		enum kconfig_value value;

		if (property->kind != KCONFIG_PROMPT)
			continue;
		value = kconfig_evaluate(side->values, property->condition);
		value = kconfig_and(value, depends);
		if (value == KCONFIG_N)
			continue;
		print_value(out, value, property->condition, definition->depends);
		if (value == KCONFIG_UNKNOWN)
			buffer_printf(out, "{%s}", definition->visible ?: "");
	}
}

/* Print a choice: what decides which of its members is set. */
static void print_choice(const struct side *side, size_t number, struct buffer *out)
{
	const struct kconfig_text *text = &side->text;
	const struct kconfig_choice *choice = &text->choices.list[number];
	enum kconfig_value depends = kconfig_evaluate(side->values, choice->depends);

	print_value(out, depends, choice->depends, choice->visible);
	buffer_add_string(out, choice->optional ? " optional" : "");
	for (size_t i = 0; i < choice->properties.count; i++) {
		const struct kconfig_property *property = &choice->properties.list[i];
		enum kconfig_value condition = kconfig_evaluate(side->values, property->condition);

		if (condition == KCONFIG_N)
			continue;
		buffer_printf(out, " %d %s", property->kind, property->value);
		print_value(out, condition, property->condition, NULL);
	}
	for (size_t i = 0; i < text->definitions.count; i++) {
		const struct kconfig_definition *definition = &text->definitions.list[i];

		if (definition->choice != number + 1 ||
		    kconfig_evaluate(side->values, definition->depends) == KCONFIG_N)
			continue;
		buffer_printf(out, " %s", definition->symbol);
		print_prompts(side, definition, out);
	}
}

/* ---- symbols ---------------------------------------------------------------- */

enum aspect {
	ASPECT_TYPE,
	ASPECT_DEPENDS,
	ASPECT_DEFAULT,
	ASPECT_RANGE,
	ASPECT_PROMPT,
	ASPECT_CHOICE,
	ASPECT_OPTION,
	NR_ASPECTS,
};

static const char *const aspect_names[] = {
	[ASPECT_TYPE] = "its type",
	[ASPECT_DEPENDS] = "what it depends on",
	[ASPECT_DEFAULT] = "its default",
	[ASPECT_RANGE] = "its range",
	[ASPECT_PROMPT] = "when it can be chosen",
	[ASPECT_CHOICE] = "the choice that it belongs to",
	[ASPECT_OPTION] = "its options",
};

/* What a text says about a symbol. */
struct facts {
	struct buffer aspects[NR_ASPECTS];
	bool defined; /* by an entry whose dependencies are not n */
	bool sets;    /* a default can set it */
};

static void facts_deinit(struct facts *facts)
{
	for (size_t i = 0; i < NR_ASPECTS; i++)
		buffer_deinit(&facts->aspects[i]);
}

static void print_options(const struct kconfig_definition *definition, struct buffer *out)
{
	for (size_t i = 0; i < definition->properties.count; i++)
		if (definition->properties.list[i].kind == KCONFIG_OPTION)
			buffer_printf(out, " %s", definition->properties.list[i].value);
}

/* Read what the text says about a symbol.  An entry whose dependencies are n says nothing. */
static void facts_read(const struct side *side, const char *symbol, struct facts *ret)
{
	*ret = (struct facts){};
	for (size_t i = 0; i < NR_ASPECTS; i++)
		buffer_add(&ret->aspects[i], "", 0);
	for (const struct kconfig_definition *definition = kconfig_first(&side->text, symbol);
	     definition; definition = kconfig_next(&side->text, definition)) {
		enum kconfig_value depends = kconfig_evaluate(side->values, definition->depends);
		bool ignored = false;

		if (depends == KCONFIG_N)
			continue;
		ret->defined = true;
		buffer_printf(&ret->aspects[ASPECT_TYPE], " %s", definition->type ?: "");
		print_value(&ret->aspects[ASPECT_DEPENDS], depends, definition->depends, NULL);
		print_first(side, definition, KCONFIG_DEFAULT, &ret->aspects[ASPECT_DEFAULT],
			    &ret->sets);
		print_first(side, definition, KCONFIG_RANGE, &ret->aspects[ASPECT_RANGE], &ignored);
		print_prompts(side, definition, &ret->aspects[ASPECT_PROMPT]);
		print_options(definition, &ret->aspects[ASPECT_OPTION]);
		if (definition->choice)
			print_choice(side, definition->choice - 1, &ret->aspects[ASPECT_CHOICE]);
		/* A number or string that can be chosen has a value. */
		ret->sets |= !is_switch(definition->type) && ret->aspects[ASPECT_PROMPT].length;
	}
}

static bool same(const struct buffer *a, const struct buffer *b)
{
	return !strcmp(a->text ?: "", b->text ?: "");
}

/* Is no member of the choices of this symbol set? */
static bool choice_is_open(const struct side *side, const char *symbol)
{
	const struct kconfig_definition *definition = kconfig_first(&side->text, symbol);
	const struct kconfig_text *text = &side->text;

	for (size_t i = 0; definition && i < text->definitions.count; i++)
		if (text->definitions.list[i].choice == definition->choice &&
		    map_has(&side->values->by_symbol, text->definitions.list[i].symbol))
			return false;
	return definition && definition->choice;
}

static char *judge_facts(const struct side *new, const char *symbol, const char *value,
			 const struct facts *before, const struct facts *after)
{
	enum aspect aspect = 0;

	while (aspect < NR_ASPECTS && same(&before->aspects[aspect], &after->aspects[aspect]))
		aspect++;
	if (aspect == NR_ASPECTS)
		return NULL;
	if (value && !after->defined)
		return xasprintf("CONFIG_%s=%s would be removed", symbol, value);
	if (value)
		return xasprintf("CONFIG_%s=%s: %s changes", symbol, value, aspect_names[aspect]);
	/* The symbol is n.  It stays so, unless a default or a choice sets it. */
	if (after->sets)
		return xasprintf("CONFIG_%s is not set, and would be by its default", symbol);
	if (!same(&before->aspects[ASPECT_CHOICE], &after->aspects[ASPECT_CHOICE]) &&
	    after->aspects[ASPECT_CHOICE].length && choice_is_open(new, symbol))
		return xasprintf("CONFIG_%s is not set, and the choice that it belongs to changes",
				 symbol);
	return NULL;
}

static char *judge_symbol(const struct side *old, const struct side *new, const char *symbol)
{
	const char *value = map_get(&new->values->by_symbol, symbol);
	struct facts before, after;
	char *reason;

	facts_read(old, symbol, &before);
	facts_read(new, symbol, &after);
	reason = judge_facts(new, symbol, value, &before, &after);
	facts_deinit(&before);
	facts_deinit(&after);
	return reason;
}

/* ---- select and imply ------------------------------------------------------- */

/* How high a symbol selects, or implies, another one; *out gets what is not known. */
static enum kconfig_value selected(const struct side *side, const char *symbol, const char *target,
				   enum kconfig_property_kind kind, struct buffer *out)
{
	const char *own = map_get(&side->values->by_symbol, symbol);
	enum kconfig_value highest = KCONFIG_N, limit = KCONFIG_Y;

	if (!own)
		return KCONFIG_N;
	if (!strcmp(own, "m"))
		limit = KCONFIG_M;
	for (const struct kconfig_definition *definition = kconfig_first(&side->text, symbol);
	     definition; definition = kconfig_next(&side->text, definition))
		for (size_t i = 0; i < definition->properties.count; i++) {
			const struct kconfig_property *property = &definition->properties.list[i];
			enum kconfig_value value;

			if (property->kind != kind || strcmp(property->value, target))
				continue;
			value = kconfig_evaluate(side->values, property->condition);
			value = kconfig_and(value,
					    kconfig_evaluate(side->values, definition->depends));
			value = kconfig_and(value, limit);
			if (value == KCONFIG_UNKNOWN)
				print_value(out, value, property->condition, definition->depends);
			highest = value > highest ? value : highest;
		}
	return highest;
}

static char *judge_target(const struct side *old, const struct side *new, const char *symbol,
			  const struct kconfig_property *property)
{
	static const char *const verbs[] = {[KCONFIG_SELECT] = "select", [KCONFIG_IMPLY] = "imply"};
	enum kconfig_value now = kconfig_evaluate(new->values, property->value);
	const char *verb = verbs[property->kind];
	enum kconfig_value before, after;
	struct buffer old_unknown = {}, new_unknown = {};
	bool equal;

	before = selected(old, symbol, property->value, property->kind, &old_unknown);
	after = selected(new, symbol, property->value, property->kind, &new_unknown);
	equal = same(&old_unknown, &new_unknown);
	buffer_deinit(&old_unknown);
	buffer_deinit(&new_unknown);
	if (before == after && (equal || before != KCONFIG_UNKNOWN))
		return NULL;
	if (after == KCONFIG_UNKNOWN || after > before)
		return now >= after ? NULL
				    : xasprintf("CONFIG_%s: CONFIG_%s would %s it", property->value,
						symbol, verb);
	return now == KCONFIG_N ? NULL
				: xasprintf("CONFIG_%s: CONFIG_%s would no longer %s it",
					    property->value, symbol, verb);
}

/* Judge everything that the symbol selects or implies in one of the texts. */
static char *judge_targets(const struct side *old, const struct side *new,
			   const struct kconfig_definition *definition)
{
	for (size_t i = 0; i < definition->properties.count; i++) {
		const struct kconfig_property *property = &definition->properties.list[i];
		char *reason;

		if (property->kind != KCONFIG_SELECT && property->kind != KCONFIG_IMPLY)
			continue;
		reason = judge_target(old, new, definition->symbol, property);
		if (reason)
			return reason;
	}
	return NULL;
}

/* ---- source lines ----------------------------------------------------------- */

/* Under which conditions does the text read that file? */
static void print_sources(const struct side *side, const char *path, struct buffer *out)
{
	buffer_add(out, "", 0);
	for (size_t i = 0; i < side->text.sources.count; i++) {
		const struct kconfig_source *source = &side->text.sources.list[i];
		enum kconfig_value depends = kconfig_evaluate(side->values, source->depends);

		if (strcmp(source->path, path))
			continue;
		print_value(out, depends, source->depends, NULL);
		if (depends != KCONFIG_N)
			print_value(out, kconfig_evaluate(side->values, source->visible),
				    source->visible, NULL);
	}
}

/* Judge the files that one of the texts reads. */
static char *judge_sources(const struct side *old, const struct side *new, const char *tree,
			   const struct kconfig_text *text)
{
	for (size_t i = 0; i < text->sources.count; i++) {
		const char *path = text->sources.list[i].path;
		_free_ char *full = xasprintf("%s/%s", tree, path);
		struct buffer before = {}, after = {};
		bool equal;

		print_sources(old, path, &before);
		print_sources(new, path, &after);
		equal = same(&before, &after);
		buffer_deinit(&before);
		buffer_deinit(&after);
		if (equal)
			continue;
		if (strpbrk(path, "$*?[") || file_exists(full))
			return xasprintf("\"%s\": whether this file is read changes", path);
	}
	return NULL;
}

/* ---- both ------------------------------------------------------------------- */

static char *judge(const struct side *old, const struct side *new, const char *tree)
{
	const struct side *const sides[] = {old, new};
	char *reason = NULL;

	if (new->text.bad_line)
		return xasprintf("line %zu is not understood", new->text.bad_line);
	if (old->text.bad_line)
		return xasprintf("line %zu of the kernel's file is not understood",
				 old->text.bad_line);
	if (!same(&old->text.macros, &new->text.macros))
		return xstrdup("its macros change");
	for (size_t i = 0; !reason && i < ARRAY_SIZE(sides); i++) {
		const struct kconfig_text *text = &sides[i]->text;

		for (size_t j = 0; !reason && j < text->definitions.count; j++)
			reason = judge_symbol(old, new, text->definitions.list[j].symbol);
		for (size_t j = 0; !reason && j < text->definitions.count; j++)
			reason = judge_targets(old, new, &text->definitions.list[j]);
		if (!reason)
			reason = judge_sources(old, new, tree, text);
	}
	return reason;
}

char *kconfig_judge(const struct kconfig_values *values, const char *tree, const char *old_text,
		    const char *new_text)
{
	struct side old = {.values = values}, new = {.values = values};
	char *reason;

	kconfig_parse(old_text, &old.text);
	kconfig_parse(new_text, &new.text);
	reason = judge(&old, &new, tree);
	kconfig_text_deinit(&old.text);
	kconfig_text_deinit(&new.text);
	return reason;
}
