// SPDX-License-Identifier: GPL-2.0-or-later
/* The values of conditions that do not depend on the unit; see known_conditions.h. */
#include "pokepatch-build/known_conditions.h"

#include <stdlib.h>
#include <string.h>

/* A condition that is read.  Values are 1, -1 or 0 (not known). */
struct reading {
	struct item_index *index;
	struct cursor line;
	struct token token; /* the next one; TOKEN_END at the end */
};

static const char config_prefix[] = "CONFIG_";

static bool is_config(const struct token *token)
{
	return token->length > strlen(config_prefix) &&
	       !memcmp(token->text, config_prefix, strlen(config_prefix));
}

void known_conditions_init(struct item_index *index, const char *autoconf, size_t length)
{
	struct cursor cursor = {autoconf, autoconf + length, true};
	struct token token;

	index->configured = true;
	while (next_token(&cursor, &token)) {
		struct cursor line = {token.text + 1, token.text + token.length, false};
		struct token word, name, value;
		uint32_t found;

		if (token.kind != TOKEN_DIRECTIVE || !next_token(&line, &word) ||
		    !token_is(&word, "define") || !next_token(&line, &name) || !is_config(&name))
			continue;
		found = item_index_name_hashed(index, name.text, name.length, name.hash);
		index->names.list[found].words |= WORD_SET;
		if (next_token(&line, &value) && token_is(&value, "1") &&
		    !next_token(&line, &value))
			index->names.list[found].words |= WORD_ONE;
	}
}

static void advance(struct reading *reading)
{
	if (!next_token(&reading->line, &reading->token))
		reading->token.kind = TOKEN_END;
}

/* Ask for a symbol, with "_MODULE" or nothing behind its name.  Return: the words of the name. */
static unsigned int ask(struct reading *reading, const struct token *name, const char *suffix)
{
	_free_ char *text = xasprintf("%.*s%s", (int)name->length, name->text, suffix);
	uint32_t found = item_index_name(reading->index, text, strlen(text));

	reading->index->names.list[found].words |= WORD_ASKED;
	return reading->index->names.list[found].words;
}

static bool is_symbol(const struct reading *reading, const struct token *token)
{
	return token->kind == TOKEN_NAME && reading->index->configured && is_config(token);
}

/* Whether a macro is defined. */
static int is_defined(struct reading *reading, const struct token *name)
{
	static const char *const never[] = {"__cplusplus", "__ASSEMBLY__", "__ASSEMBLER__"};

	for (size_t i = 0; i < ARRAY_SIZE(never); i++)
		if (token_is(name, never[i]))
			return -1;
	if (reading->index->configured && token_is(name, "__KERNEL__"))
		return ask(reading, name, "") ? 1 : 0;
	if (!is_symbol(reading, name))
		return 0;
	return ask(reading, name, "") & WORD_SET ? 1 : -1;
}

/* IS_ENABLED(CONFIG_X) and its like (linux/kconfig.h); the macro's name was read. */
static int read_enabled(struct reading *reading, const struct token *macro)
{
	struct token name;
	bool built_in, module;

	if (!token_is(&reading->token, "("))
		return 0;
	advance(reading);
	name = reading->token;
	advance(reading);
	if (!token_is(&reading->token, ")") || !is_symbol(reading, &name))
		return 0;
	advance(reading);
	built_in = ask(reading, &name, "") & WORD_ONE;
	module = ask(reading, &name, "_MODULE") & WORD_ONE;
	if (token_is(macro, "IS_BUILTIN"))
		return built_in ? 1 : -1;
	if (token_is(macro, "IS_MODULE"))
		return module ? 1 : -1;
	if (token_is(macro, "IS_REACHABLE") && module)
		return built_in ? 1 : 0; /* from a module it is, from vmlinux it is not */
	return built_in || module ? 1 : -1;
}

static int read_defined(struct reading *reading)
{
	bool in_parens = token_is(&reading->token, "(");
	struct token name;

	if (in_parens)
		advance(reading);
	name = reading->token;
	advance(reading);
	if (in_parens && token_is(&reading->token, ")"))
		advance(reading);
	else if (in_parens)
		return 0;
	return name.kind == TOKEN_NAME ? is_defined(reading, &name) : 0;
}

static int read_name(struct reading *reading)
{
	static const char *const enabled[] = {"IS_ENABLED", "IS_BUILTIN", "IS_MODULE",
					      "IS_REACHABLE"};
	const struct token name = reading->token;

	advance(reading);
	if (token_is(&name, "defined"))
		return read_defined(reading);
	for (size_t i = 0; i < ARRAY_SIZE(enabled); i++)
		if (token_is(&name, enabled[i]))
			return read_enabled(reading, &name);
	if (!is_symbol(reading, &name))
		return 0;
	unsigned int words = ask(reading, &name, "");

	return words & WORD_ONE ? 1 : words & WORD_SET ? 0 : -1;
}

static int read_or(struct reading *reading);

/* Pass what is not understood, up to && or || or the end of the parentheses it is in. */
static void pass_operand(struct reading *reading)
{
	int depth = 0;

	while (reading->token.kind != TOKEN_END) {
		if (!depth && (token_is(&reading->token, "&&") ||
			       token_is(&reading->token, "||") || token_is(&reading->token, ")")))
			return;
		depth += token_is(&reading->token, "(");
		depth -= token_is(&reading->token, ")");
		advance(reading);
	}
}

static int read_operand(struct reading *reading)
{
	int value = 0;

	if (token_is(&reading->token, "!")) {
		advance(reading);
		return -read_operand(reading);
	}
	if (token_is(&reading->token, "(")) {
		advance(reading);
		value = read_or(reading);
		if (token_is(&reading->token, ")"))
			advance(reading);
		return value;
	}
	if (reading->token.kind == TOKEN_NAME)
		return read_name(reading);
	if (token_is(&reading->token, "0") || token_is(&reading->token, "1")) {
		value = token_is(&reading->token, "1") ? 1 : -1;
		advance(reading);
	}
	return value;
}

/* An operand that an operator other than && and || follows is not understood. */
static int read_whole_operand(struct reading *reading)
{
	int value = read_operand(reading);

	if (reading->token.kind == TOKEN_END || token_is(&reading->token, "&&") ||
	    token_is(&reading->token, "||") || token_is(&reading->token, ")"))
		return value;
	pass_operand(reading);
	return 0;
}

static int read_and(struct reading *reading)
{
	int value = read_whole_operand(reading);

	while (token_is(&reading->token, "&&")) {
		advance(reading);
		int other = read_whole_operand(reading);

		value = value < other ? value : other;
	}
	return value;
}

static int read_or(struct reading *reading)
{
	int value = read_and(reading);

	while (token_is(&reading->token, "||")) {
		advance(reading);
		int other = read_and(reading);

		value = value > other ? value : other;
	}
	return value;
}

int known_condition(struct item_index *index, const struct token *word, struct cursor line)
{
	struct reading reading = {.index = index, .line = line};
	int value;

	advance(&reading);
	if (token_is(word, "ifdef"))
		return is_defined(&reading, &reading.token);
	if (token_is(word, "ifndef"))
		return -is_defined(&reading, &reading.token);
	/* ?: binds looser than && and ||, and is not understood. */
	if (memchr(line.at, '?', (size_t)(line.end - line.at)))
		return 0;
	value = read_or(&reading);
	return reading.token.kind == TOKEN_END ? value : 0;
}
