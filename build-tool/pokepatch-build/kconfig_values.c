// SPDX-License-Identifier: GPL-2.0-or-later
/* The values of a configuration, and of Kconfig's expressions in it; see kconfig_text.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/kconfig_text.h"

/* ---- the configuration ------------------------------------------------------ */

/* Take the quotes from a string in place, and undo its escapes. */
static char *unquote(char *value)
{
	char *to = value;

	if (*value != '"')
		return value;
	for (const char *p = value + 1; *p && *p != '"'; p++) {
		if (*p == '\\' && p[1])
			p++;
		*to++ = *p;
	}
	*to = '\0';
	return value;
}

struct error *kconfig_values_read(const char *path, struct kconfig_values *ret)
{
	size_t length;

	*ret = (struct kconfig_values){};
	TRY(file_read(path, &ret->text, &length));
	for (char *line = ret->text, *next; line && *line; line = next) {
		char *value;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		value = strchr(line, '=');
		if (!has_prefix(line, "CONFIG_") || !value)
			continue;
		*value++ = '\0';
		*map_slot(&ret->by_symbol, line + strlen("CONFIG_")) = unquote(value);
	}
	return NULL;
}

void kconfig_values_deinit(struct kconfig_values *values)
{
	map_deinit(&values->by_symbol);
	free(values->text);
	*values = (struct kconfig_values){};
}

/* ---- expressions ------------------------------------------------------------ */

/* A symbol or constant of an expression. */
struct operand {
	char *text;  /* the symbol's value, "n" if it has none; or the constant */
	bool quoted; /* a constant in quotes */
	bool unknown;
};

struct scanner {
	const struct kconfig_values *values;
	const char *p;
	bool failed; /* not an expression */
};

static enum kconfig_value scan_or(struct scanner *scanner);

enum kconfig_value kconfig_and(enum kconfig_value a, enum kconfig_value b)
{
	if (a == KCONFIG_N || b == KCONFIG_N)
		return KCONFIG_N;
	if (a == KCONFIG_UNKNOWN || b == KCONFIG_UNKNOWN)
		return KCONFIG_UNKNOWN;
	return a < b ? a : b;
}

static enum kconfig_value value_or(enum kconfig_value a, enum kconfig_value b)
{
	if (a == KCONFIG_Y || b == KCONFIG_Y)
		return KCONFIG_Y;
	return a > b ? a : b; /* unknown is the highest */
}

static enum kconfig_value value_not(enum kconfig_value a)
{
	return a == KCONFIG_UNKNOWN ? a : KCONFIG_Y - a;
}

static bool take(struct scanner *scanner, const char *token)
{
	scanner->p += strspn(scanner->p, " ");
	if (!has_prefix(scanner->p, token))
		return false;
	scanner->p += strlen(token);
	return true;
}

static const char *skip_macro(const char *p)
{
	size_t depth = 0;

	for (; *p; p++) {
		depth += *p == '(';
		if (*p == ')' && !--depth)
			return p + 1;
	}
	return p;
}

static char *scan_quoted(struct scanner *scanner)
{
	const char *start = scanner->p + 1;
	char quote = *scanner->p;

	scanner->p = strchr(start, quote);
	if (!scanner->p) {
		scanner->p = start + strlen(start);
		scanner->failed = true;
		return xstrdup(start);
	}
	return xstrndup(start, (size_t)(scanner->p++ - start));
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_-./", c));
}

/* A number is a constant, and "64BIT" a symbol. */
static bool is_constant(const char *word)
{
	char *end;

	strtoll(word, &end, 0);
	return (end > word && !*end) || !strcmp(word, "y") || !strcmp(word, "n");
}

static struct operand scan_operand(struct scanner *scanner)
{
	struct operand operand = {};
	const char *value, *start;

	scanner->p += strspn(scanner->p, " ");
	start = scanner->p;
	if (*start == '"' || *start == '\'') {
		operand.text = scan_quoted(scanner);
		operand.quoted = true;
		operand.unknown = strstr(operand.text, "$(") != NULL;
		return operand;
	}
	while (is_word(*scanner->p) || has_prefix(scanner->p, "$(")) {
		operand.unknown |= *scanner->p == '$';
		scanner->p = *scanner->p == '$' ? skip_macro(scanner->p) : scanner->p + 1;
	}
	operand.text = xstrndup(start, (size_t)(scanner->p - start));
	scanner->failed |= scanner->p == start;
	if (operand.unknown || is_constant(operand.text))
		return operand;
	if (!strcmp(operand.text, "m"))
		value = map_has(&scanner->values->by_symbol, "MODULES") ? "m" : "n";
	else
		value = map_get(&scanner->values->by_symbol, operand.text) ?: "n";
	free(operand.text);
	operand.text = xstrdup(value);
	return operand;
}

static enum kconfig_value operand_value(const struct operand *operand)
{
	if (operand->unknown)
		return KCONFIG_UNKNOWN;
	if (!strcmp(operand->text, "y"))
		return KCONFIG_Y;
	return strcmp(operand->text, "m") ? KCONFIG_N : KCONFIG_M;
}

/* The longer ones first. */
static const struct comparison {
	const char *sign;
	bool less, equal, more; /* what makes it true */
} comparisons[] = {
	{"!=", true, false, true}, {"<=", true, true, false}, {">=", false, true, true},
	{"=", false, true, false}, {"<", true, false, false}, {">", false, false, true},
};

static enum kconfig_value compare(const struct comparison *comparison, const struct operand *left,
				  const struct operand *right)
{
	char *left_end, *right_end;
	long long a, b;
	int order;

	if (left->unknown || right->unknown)
		return KCONFIG_UNKNOWN;
	/* A symbol without a value is "n" if it is bool, and "" if it is a string: we cannot tell.
	 */
	if ((left->quoted && !*left->text) || (right->quoted && !*right->text))
		return KCONFIG_UNKNOWN;
	a = strtoll(left->text, &left_end, 0);
	b = strtoll(right->text, &right_end, 0);
	if (left_end > left->text && right_end > right->text && !*left_end && !*right_end)
		order = (a > b) - (a < b);
	else if (comparison->less == comparison->more)
		order = strcmp(left->text, right->text);
	else
		return KCONFIG_UNKNOWN;
	if (!order)
		return comparison->equal ? KCONFIG_Y : KCONFIG_N;
	return (order < 0 ? comparison->less : comparison->more) ? KCONFIG_Y : KCONFIG_N;
}

static enum kconfig_value scan_comparison(struct scanner *scanner)
{
	struct operand left = scan_operand(scanner);
	enum kconfig_value value = operand_value(&left);

	for (size_t i = 0; i < ARRAY_SIZE(comparisons); i++) {
		if (!take(scanner, comparisons[i].sign))
			continue;
		struct operand right = scan_operand(scanner);

		value = compare(&comparisons[i], &left, &right);
		free(right.text);
		break;
	}
	free(left.text);
	return value;
}

static enum kconfig_value scan_not(struct scanner *scanner)
{
	enum kconfig_value value;

	if (take(scanner, "!"))
		return value_not(scan_not(scanner));
	if (!take(scanner, "("))
		return scan_comparison(scanner);
	value = scan_or(scanner);
	scanner->failed |= !take(scanner, ")");
	return value;
}

static enum kconfig_value scan_and(struct scanner *scanner)
{
	enum kconfig_value value = scan_not(scanner);

	while (take(scanner, "&&"))
		value = kconfig_and(value, scan_not(scanner));
	return value;
}

static enum kconfig_value scan_or(struct scanner *scanner)
{
	enum kconfig_value value = scan_and(scanner);

	while (take(scanner, "||"))
		value = value_or(value, scan_and(scanner));
	return value;
}

enum kconfig_value kconfig_evaluate(const struct kconfig_values *values, const char *expression)
{
	struct scanner scanner = {.values = values, .p = expression};
	enum kconfig_value value;

	if (!expression)
		return KCONFIG_Y;
	value = scan_or(&scanner);
	take(&scanner, "");
	return scanner.failed || *scanner.p ? KCONFIG_UNKNOWN : value;
}
