// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading the argument of --return, and judging its value by a type; see return_value.h. */
#include "pokepatch-build/return_value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
static const char name_characters[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.";

static struct error *unusable(const char *text, const char *why)
{
	return error_new(STATUS_FAILED,
			 "--return %s: %s; it wants [MODULE:][FILE:]FUNCTION=VALUE, and VALUE is a "
			 "number, -ENAME, true, false, NULL, ERR_PTR(-ENAME) or void",
			 text, why);
}

/* ---- the value ---------------------------------------------------------------------- */

static const struct word {
	const char *text;
	enum value_kind kind;
	uint64_t number;
} words[] = {
	{"void", VALUE_VOID, 0},
	{"NULL", VALUE_NULL, 0},
	{"true", VALUE_BOOL, 1},
	{"false", VALUE_BOOL, 0},
};

/* "EPERM" */
static bool is_error_name(const char *text, size_t length)
{
	return length > 1 && text[0] == 'E' &&
	       strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") >= length;
}

static bool parse_number(const char *text, struct return_value *ret)
{
	const char *digits = text;
	char *end;

	ret->negative = *digits == '-';
	digits += ret->negative;
	const bool hex = has_prefix(digits, "0x") || has_prefix(digits, "0X");
	if (hex ? !isxdigit((unsigned char)digits[2]) : !isdigit((unsigned char)*digits))
		return false;
	errno = 0;
	ret->kind = VALUE_NUMBER;
	ret->number = strtoull(digits, &end, hex ? 16 : 10);
	return !*end && !errno;
}

static bool parse_value(const char *text, struct return_value *ret)
{
	static const char begin[] = "ERR_PTR(-";
	const size_t length = strlen(text);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(text, words[i].text)) {
			ret->kind = words[i].kind;
			ret->number = words[i].number;
			return true;
		}
	if (text[0] == '-' && is_error_name(text + 1, length - 1)) {
		ret->kind = VALUE_ERROR;
		ret->error = xstrdup(text + 1);
		return true;
	}
	if (has_prefix(text, begin) && text[length - 1] == ')' &&
	    is_error_name(text + strlen(begin), length - strlen(begin) - 1)) {
		ret->kind = VALUE_POINTER;
		ret->error = xstrndup(text + strlen(begin), length - strlen(begin) - 1);
		return true;
	}
	return parse_number(text, ret);
}

bool return_value_equal(const struct return_value *a, const struct return_value *b)
{
	return a->kind == b->kind && a->number == b->number &&
	       (a->negative == b->negative || !a->number) &&
	       !strcmp(a->error ?: "", b->error ?: "");
}

/* ---- the function ------------------------------------------------------------------- */

static bool is_file(const char *name)
{
	return strchr(name, '/') || has_suffix(name, ".c");
}

static bool is_name(const char *name)
{
	return name[0] && strspn(name, name_characters) == strlen(name) &&
	       (name[0] == '_' || strchr(letters, name[0]));
}

/* Take one part in front of a colon: first the module, then the file. */
static struct error *take_place(const char *part, struct return_request *ret)
{
	if (!*part)
		return unusable(ret->text, "there is nothing in front of a colon");
	if (is_file(part)) {
		if (ret->file)
			return unusable(ret->text, "it names two files");
		ret->file = xstrdup(part);
		return NULL;
	}
	if (ret->module || ret->file)
		return unusable(ret->text, ret->file ? "a module's name comes in front of the file"
						     : "it names two modules");
	ret->module = underscored(part);
	return NULL;
}

struct error *return_request_parse(const char *text, struct return_request *ret)
{
	const char *equals = strchr(text, '=');
	char *place _free_ = equals ? xstrndup(text, (size_t)(equals - text)) : xstrdup(text);
	char *function = strrchr(place, ':'), *rest = place, *part;

	*ret = (struct return_request){.text = text};
	if (function) {
		*function++ = '\0';
		while ((part = strsep(&rest, ":")))
			TRY(take_place(part, ret));
	} else {
		function = place;
	}
	if (!is_name(function))
		return unusable(text, *function ? "that is no function's name" : "no function is named");
	ret->function = xstrdup(function);
	if (equals && !parse_value(equals + 1, &ret->value))
		return unusable(text, equals[1] ? "the value is none of these, or has more than 64 bits"
						: "there is no value behind the =");
	return NULL;
}

void return_request_deinit(struct return_request *request)
{
	free(request->module);
	free(request->file);
	free(request->function);
	free(request->value.error);
}

/* ---- values and types --------------------------------------------------------------- */

/* Which kinds of values a class of types takes, and what to say about others. */
static const struct class_rule {
	unsigned int kinds; /* bits of enum value_kind */
	const char *wants;
} rules[] = {
	[RETURN_VOID] = {1 << VALUE_VOID, "give no value, or void"},
	[RETURN_SIGNED] = {1 << VALUE_NUMBER | 1 << VALUE_ERROR, "give a number or -ENAME"},
	[RETURN_UNSIGNED] = {1 << VALUE_NUMBER | 1 << VALUE_ERROR, "give a number"},
	[RETURN_BOOL] = {1 << VALUE_BOOL | 1 << VALUE_NUMBER, "give true or false"},
	/* Callers test a pointer for NULL or with IS_ERR(), seldom both: the author says which. */
	[RETURN_POINTER] = {1 << VALUE_NULL | 1 << VALUE_POINTER,
			    "give NULL or ERR_PTR(-ENAME), whichever its callers test for"},
	[RETURN_OTHER] = {0, "--return makes integers, pointers and bool only"},
};

static bool is_in_range(bool negative, uint64_t number, const struct return_type *type)
{
	const unsigned int bits = type->class == RETURN_BOOL ? 1 : 8 * type->size;
	const bool is_signed = type->class == RETURN_SIGNED;
	const uint64_t most = UINT64_MAX >> (64 - bits + is_signed);

	return negative ? !number || (is_signed && number <= most + 1) : number <= most;
}

char *return_value_fit(const struct return_value *value, const struct return_type *type,
		       const struct arch *arch, uint64_t *ret)
{
	const struct class_rule *rule = &rules[type->class];
	uint64_t number = value->number;
	bool negative = value->negative;

	*ret = 0;
	if (!(rule->kinds >> value->kind & 1) || type->size > sizeof(*ret))
		return xasprintf("it returns %s: %s", type->name,
				 type->size > sizeof(*ret) ? rules[RETURN_OTHER].wants : rule->wants);
	if (value->error) {
		number = arch_error_number(arch, value->error);
		negative = true;
		if (!number)
			return xasprintf("the kernel has no error %s", value->error);
	}
	if (type->class != RETURN_VOID && type->class != RETURN_POINTER &&
	    !is_in_range(negative, number, type))
		return xasprintf("it returns %s, which does not hold %s%" PRIu64 ": %s",
				 type->name, negative ? "-" : "", number, rule->wants);
	*ret = negative ? -number : number;
	return NULL;
}
