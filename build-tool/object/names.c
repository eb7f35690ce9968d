// SPDX-License-Identifier: GPL-2.0-or-later
/* Takes compilers' additions off the names of symbols. */
#include "object/names.h"

#include <ctype.h>
#include <string.h>

#include "common/util.h"

/* Length of a name without ".12" or ".12.3" at its end. */
static size_t without_numbers(const char *name, size_t length)
{
	for (;;) {
		size_t end = length;

		while (end && isdigit((unsigned char)name[end - 1]))
			end--;
		if (end == length || end < 2 || name[end - 1] != '.')
			return length;
		length = end - 1;
	}
}

size_t unpromoted_length(const char *symbol)
{
	static const char promoted[] = ".llvm";
	const size_t suffix = strlen(promoted);
	size_t full = strlen(symbol), length = without_numbers(symbol, full);

	return length < full && length > suffix &&
			       !strncmp(symbol + length - suffix, promoted, suffix)
		       ? length - suffix
		       : full;
}

/* The text behind leading digits and a "_", or NULL. */
static const char *behind_number(const char *text)
{
	const char *end = text;

	while (isdigit((unsigned char)*end))
		end++;
	return end > text && *end == '_' ? end + 1 : NULL;
}

/*
 * Where initcalls are variables and not relative addresses (MIPS, powerpc, s390), their names have
 * a counter and the line: "__initcall__kmod_sock__979_3842_net_inuse_init1".  Returns the part
 * behind these, or NULL for other names.
 */
static const char *initcall_function(const char *symbol)
{
	static const char prefix[] = "__initcall__kmod_";

	if (!has_prefix(symbol, prefix))
		return NULL;
	for (const char *at = symbol + strlen(prefix); (at = strstr(at, "__")); at++) {
		const char *line = behind_number(at + 2), *name = line ? behind_number(line) : NULL;

		if (name)
			return name;
	}
	return NULL;
}

struct source_name source_name_of(const char *symbol)
{
	/*
	 * clang's names of tables, with the function's name at the end; "reltable" is one of
	 * addresses in position-independent code.
	 */
	static const char *const function_tables[] = {"switch.table", "reltable"};
	size_t full = unpromoted_length(symbol), length = without_numbers(symbol, full);
	struct source_name name = {.text = symbol};

	name.local = length < full;
	const char *function = initcall_function(symbol);
	if (function) {
		name.text = function;
		name.length = strlen(function);
		return name;
	}
	for (size_t i = 0; i < ARRAY_SIZE(function_tables); i++) {
		size_t prefix = strlen(function_tables[i]);

		if (has_prefix(symbol, function_tables[i]) && symbol[prefix] == '.')
			return (struct source_name){
				.text = symbol, .length = prefix, .local = true};
	}
	if (symbol[0] == '.' && length > 1) { /* clang: ".compoundliteral" of the file */
		name.text = symbol + 1;
		name.length = length - 1;
		name.local = true;
		return name;
	}
	const char *dot = memchr(symbol, '.', length);
	if (dot && dot > symbol && dot + 1 < symbol + length) {
		name.owner = symbol;
		name.owner_length = dot - symbol;
		name.text = dot + 1;
		name.local = true;
	}
	name.length = symbol + length - name.text;
	/*
	 * Macros number: "__UNIQUE_ID_ddebug412", "__BTF_ID__func__tcp_reno_ssthresh__803205".
	 * Sets of ids have no number: "__BTF_ID__set8__name".
	 */
	if (has_prefix(name.text, "__UNIQUE_ID_") ||
	    (has_prefix(name.text, "__BTF_ID__") && !has_prefix(name.text, "__BTF_ID__set")))
		while (name.length && isdigit((unsigned char)name.text[name.length - 1]))
			name.length--;
	return name;
}

char *clone_family(const char *symbol)
{
	char *name = xstrndup(symbol, unpromoted_length(symbol)), *to = name;

	for (const char *from = name; *from;) {
		size_t digits = *from == '.' && to > name
					? strspn(from + 1, "0123456789")
					: 0;

		if (digits && (from[digits + 1] == '.' || !from[digits + 1]))
			from += digits + 1;
		else
			*to++ = *from++;
	}
	*to = 0;
	return name;
}

bool is_device_table_name(const char *symbol)
{
	return has_prefix(symbol, "__mod_") && (has_suffix(symbol, "_device_table") ||
						has_prefix(symbol, "__mod_device_table__"));
}
