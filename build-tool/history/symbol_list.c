// SPDX-License-Identifier: GPL-2.0-or-later
/* Symbols of text; see symbol_list.h. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "history/symbol_list.h"

#include "common/search.h"

#define SHOWN_MAX 4 /* so many addresses of symbols of one name are listed */

static int compare_names(const void *a, const void *b, void *context)
{
	const struct text_symbol *symbols = context;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int order = strcmp(symbols[x].name, symbols[y].name);

	return order ? order : x < y ? -1 : x > y;
}

void symbol_list_settle(struct symbol_list *list)
{
	for (size_t i = 0; i < list->symbols.count; i++) {
		const struct text_symbol *symbol = &list->symbols.list[i];

		span_list_add(&list->by_place, symbol->address, symbol->size ? symbol->size : 1,
			      i);
		*vec_push(&list->by_name) = i;
	}
	span_list_sort(&list->by_place);
	if (list->by_name.count)
		qsort_r(list->by_name.list, list->by_name.count, sizeof(*list->by_name.list),
			compare_names, list->symbols.list);
}

void symbol_list_deinit(struct symbol_list *list)
{
	vec_deinit(&list->symbols);
	vec_deinit(&list->by_name);
	span_list_deinit(&list->by_place);
}

static bool was_there(const struct text_symbol *symbol, uint64_t time)
{
	return time >= symbol->born && time <= symbol->died;
}

const struct text_symbol *symbol_list_at(const struct symbol_list *list, uint64_t address,
					 uint64_t time)
{
	size_t index = list->by_place.spans.count;
	const struct text_symbol *best = NULL;
	const struct span *span;

	if (address == UINT64_MAX)
		return NULL;
	while ((span = span_list_each(&list->by_place, address, address + 1, &index))) {
		const struct text_symbol *symbol = &list->symbols.list[span->item];

		if (best && span->start < best->address)
			break;
		/* The first of several names of a place counts: it comes last. */
		if (was_there(symbol, time))
			best = symbol;
	}
	return best;
}

/* An address of full length without 0x, as perf and kallsyms write it. */
static bool is_bare(const char *text)
{
	return strlen(text) == 16 && strspn(text, "0123456789abcdef") == 16;
}

bool parse_address(const char *text, uint64_t *ret)
{
	bool hex = is_bare(text) || has_prefix(text, "0x") || has_prefix(text, "0X");
	char *end;

	if (!hex && !isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*ret = strtoull(text, &end, hex ? 16 : 10);
	return !*end && !errno;
}

/* The index in by_name of the first symbol whose name is not before this one. */
static size_t first_named(const struct symbol_list *list, const char *name)
{
	return first_index(i, list->by_name.count,
			   strcmp(list->symbols.list[list->by_name.list[i]].name, name) >= 0);
}

static bool module_is(const struct text_symbol *symbol, const char *module)
{
	return !module || strcmp(symbol->module ? symbol->module : "vmlinux", module) == 0;
}

static struct error *several(const char *text, size_t count, const struct buffer *addresses)
{
	return error_new(STATUS_FAILED,
			 "%zu symbols are called '%s': give one of their addresses:%s%s", count,
			 text, addresses->text, count > SHOWN_MAX ? " ..." : "");
}

/*
 * Does the symbol lie in a patch's module?  New functions have the names of those that they
 * replace.  A name without a module means the replaced function.
 */
static bool is_patch(const struct text_symbol *symbol)
{
	return symbol->module && has_prefix(symbol->module, "pokepatch_");
}

/* The number of symbols that had this name at a time; *ret is one of them. */
static size_t count_name(const struct symbol_list *list, const char *module, const char *name,
			 uint64_t time, bool patches, const struct text_symbol **ret,
			 struct buffer *addresses)
{
	size_t count = 0;

	*ret = NULL;
	for (size_t i = first_named(list, name); i < list->by_name.count; i++) {
		const struct text_symbol *symbol = &list->symbols.list[list->by_name.list[i]];

		if (strcmp(symbol->name, name) != 0)
			break;
		if (!module_is(symbol, module) || !was_there(symbol, time) ||
		    is_patch(symbol) != patches || (*ret && (*ret)->address == symbol->address))
			continue;
		*ret = symbol;
		if (++count <= SHOWN_MAX)
			buffer_printf(addresses, " 0x%" PRIx64, symbol->address);
	}
	return count;
}

/* The only symbol that had this name at a time. */
static struct error *find_name(const struct symbol_list *list, const char *module,
			       const char *name, uint64_t time, const struct text_symbol **ret)
{
	struct buffer addresses = {0};
	struct error *error = NULL;
	size_t count = count_name(list, module, name, time, false, ret, &addresses);

	if (!count)
		count = count_name(list, module, name, time, true, ret, &addresses);
	if (count > 1)
		error = several(name, count, &addresses);
	else if (!count)
		error = error_new(STATUS_FAILED,
				  "no function is called '%s'%s%s at that time: give an address, "
				  "or look at /proc/kallsyms",
				  name, module ? " in " : "", module ? module : "");
	buffer_deinit(&addresses);
	return error;
}

struct error *symbol_list_find(const struct symbol_list *list, const char *text, uint64_t time,
			       uint64_t *ret, const struct text_symbol **ret_symbol)
{
	const char *plus = strchr(text, '+');
	_free_ char *place = plus ? xstrndup(text, plus - text) : xstrdup(text);
	char *colon = strchr(place, ':');
	uint64_t offset = 0;

	if (plus && !parse_address(plus + 1, &offset))
		return error_new(STATUS_FAILED, "'%s' in '%s' is not a number", plus + 1, text);
	if (parse_address(place, ret)) {
		*ret += offset;
		*ret_symbol = symbol_list_at(list, *ret, time);
		return NULL;
	}
	if (isdigit((unsigned char)place[0]))
		return error_new(STATUS_FAILED,
				 "'%s' is not an address: write 0x and hexadecimal digits", text);
	if (colon)
		*colon++ = '\0';
	TRY(find_name(list, colon ? place : NULL, colon ? colon : place, time, ret_symbol));
	*ret = (*ret_symbol)->address + offset;
	return NULL;
}

char *symbol_text(const struct symbol_list *list, uint64_t address, uint64_t time)
{
	const struct text_symbol *symbol = symbol_list_at(list, address, time);
	_free_ char *module = NULL;

	if (!symbol)
		return NULL;
	module = symbol->module ? xasprintf(" [%s]", symbol->module) : xstrdup("");
	if (address == symbol->address)
		return xasprintf("%s%s", symbol->name, module);
	return xasprintf("%s+0x%" PRIx64 "%s", symbol->name, address - symbol->address, module);
}
