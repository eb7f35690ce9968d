// SPDX-License-Identifier: GPL-2.0-or-later
/* What a changed #include changes; see filter_files.h. */
#include "pokepatch-build/filter_files.h"

#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/c_tokens.h"
#include "pokepatch-build/declared_names.h"

/* What every unit includes first (Makefile, USERINCLUDE and scripts/Makefile.lib). */
static const char *const always[] = {"include/linux/kconfig.h", "include/linux/compiler_types.h"};

static const struct indexed_file *indexed(const struct name_filter *filter, uint32_t header)
{
	return &filter->index.files.list[header];
}

/* The name in an #include, as "linux/err.h". */
static char *included_name(const struct item_index *index, const struct item *item)
{
	const char *text = index->files.list[item->file].flat.text + item->start;
	const char *end = text + (item->end - item->start), *close;

	while (text < end && *text != '<' && *text != '"')
		text++;
	if (text == end)
		return xstrdup("");
	close = memchr(text + 1, *text == '<' ? '>' : '"', (size_t)(end - text - 1)) ?: end;
	return xstrndup(text + 1, (size_t)(close - text - 1));
}

static bool names_file(const char *name, const char *path)
{
	size_t length = strlen(name), whole = strlen(path);

	while (has_prefix(name, "../")) {
		name += strlen("../");
		length -= strlen("../");
	}
	return whole >= length && !strcmp(path + whole - length, name) &&
	       (whole == length || path[whole - length - 1] == '/');
}

/* Append the files that an #include of a file may mean. */
static void find_files(const struct name_filter *filter, const struct filter_file *file,
		       const struct item *item, name_list *ret)
{
	_free_ char *name = included_name(&filter->index, item);

	for (size_t i = 0; *name && i < file->includes.count; i++) {
		uint32_t number = file->includes.list[i];

		/* A changed header may have it twice. */
		if (names_file(name, filter->files.list[number].path) &&
		    !(ret->count && ret->list[ret->count - 1] == number))
			*vec_push(ret) = number;
	}
}

/* Whether a condition is that of an include guard: "#ifndef X", and then "#define X". */
static bool is_guard(const struct item_index *index, uint32_t number)
{
	const struct item *guard = &index->items.list[number], *define = guard + 1;

	return guard->nr_mentions == 1 && number + 1 < index->items.count &&
	       define->kind == ITEM_MACRO && define->file == guard->file &&
	       index->mentions.list[guard->first_mention].name == define->name &&
	       !memcmp(index->files.list[guard->file].flat.text + guard->start, "#ifndef",
		       strlen("#ifndef"));
}

/* Whether all of a header is in an include guard, so that it counts once. */
static bool is_guarded(const struct name_filter *filter, const struct filter_file *file)
{
	const struct indexed_file *header;

	if (!file->loaded || file->headers[0] == INDEX_NONE || file->headers[1] != INDEX_NONE)
		return false;
	header = indexed(filter, file->headers[0]);
	return header->nr_items &&
	       filter->index.items.list[header->first_item].kind == ITEM_CONDITION &&
	       is_guard(&filter->index, header->first_item) &&
	       filter->index.items.list[header->first_item].group_end ==
		       header->first_item + header->nr_items - 1;
}

/* Append the files that a header includes whatever the unit is, by the items up to @end. */
static void find_sure(const struct name_filter *filter, const struct filter_file *file,
		      uint32_t header, uint32_t end, name_list *ret)
{
	const struct item_index *index = &filter->index;
	uint32_t behind = 0; /* items before this one are in a group */

	for (uint32_t i = indexed(filter, header)->first_item; i < end; i++) {
		const struct item *item = &index->items.list[i];
		name_list found = {};

		if (item->kind == ITEM_CONDITION && item->group == i && !is_guard(index, i) &&
		    i >= behind)
			behind = item->group_end == INDEX_NONE ? end : item->group_end;
		if (item->kind != ITEM_INCLUDE || i < behind)
			continue;
		find_files(filter, file, item, &found);
		if (found.count == 1)
			*vec_push(ret) = found.list[0];
		vec_deinit(&found);
	}
}

/* What a file includes whatever the unit is; of a changed header, both of its versions do. */
static void learn_sure(struct name_filter *filter, struct filter_file *file)
{
	uint32_t header = file->headers[0];
	name_list sure = {};

	if (file->sure_known)
		return;
	file->sure_known = true;
	if (!file->is_header || header == INDEX_NONE || file->headers[1] != INDEX_NONE)
		return;
	find_sure(filter, file, header,
		  indexed(filter, header)->first_item + indexed(filter, header)->nr_items, &sure);
	for (size_t i = 0; i < sure.count; i++)
		*vec_push(&file->sure) = sure.list[i];
	vec_deinit(&sure);
}

/* Mark the files of a list, and those that they surely include, with a new search. */
static void mark_sure(struct name_filter *filter, name_list *waiting)
{
	filter->search++;
	while (waiting->count) {
		struct filter_file *file =
			&filter->files.list[waiting->list[--waiting->count]];

		if (file->search == filter->search)
			continue;
		file->search = filter->search;
		learn_sure(filter, file);
		for (size_t i = 0; i < file->sure.count; i++)
			*vec_push(waiting) = file->sure.list[i];
	}
}

/*
 * The files that an #include may bring which its header does not surely have before it.
 * Return: false if the tree does not have the file, or if it has no include guard
 */
static bool find_brought(struct name_filter *filter, uint32_t number, uint32_t at, name_list *ret)
{
	const struct filter_file *file = &filter->files.list[number];
	const struct item *item = &filter->index.items.list[at];
	name_list waiting = {}, files = {};
	bool found;

	find_files(filter, file, item, &files);
	found = files.count != 0;
	for (size_t i = 0; i < files.count; i++)
		found &= is_guarded(filter, &filter->files.list[files.list[i]]);
	for (size_t i = 0; i < ARRAY_SIZE(always); i++) {
		const void *known = map_get(&filter->by_path, always[i]);

		if (known)
			*vec_push(&waiting) = (uint32_t)(uintptr_t)known - 1;
	}
	find_sure(filter, file, item->file, at, &waiting);
	mark_sure(filter, &waiting);
	while (files.count) {
		uint32_t brought = files.list[--files.count];
		struct filter_file *next = &filter->files.list[brought];

		if (next->search == filter->search)
			continue;
		next->search = filter->search;
		*vec_push(ret) = brought;
		for (size_t i = 0; i < next->includes.count; i++)
			*vec_push(&files) = next->includes.list[i];
	}
	vec_deinit(&waiting);
	vec_deinit(&files);
	return found;
}

/* Whether all definitions of a macro are in a header. */
static bool is_defined_in(const struct item_index *index, uint32_t name, uint32_t header)
{
	for (uint32_t at = index->names.list[name].macros; at != INDEX_NONE;
	     at = index->items.list[at].next_macro)
		if (index->items.list[at].file != header)
			return false;
	return true;
}

/* Whether a token in front of a name lets the name be a member or a local variable. */
static bool may_declare(const struct token *token)
{
	static const char *const others[] = {"return", "else", "case", "sizeof", "typeof"};

	if (token->kind == TOKEN_OPERATOR)
		return (token->length == 1 && strchr(".*", *token->text)) ||
		       (token->length == 2 && !memcmp(token->text, "->", 2));
	if (token->kind != TOKEN_NAME)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (token->length == strlen(others[i]) &&
		    !memcmp(token->text, others[i], token->length))
			return false;
	return true;
}

/*
 * Whether an item may mention a macro's name as something else, which the macro would replace.  A
 * macro that takes arguments replaces only what a parenthesis follows.
 */
static bool may_replace(const struct item_index *index, const struct item *item,
			const struct item *macro)
{
	const struct indexed_name *name = &index->names.list[macro->name];
	const char *text = index->files.list[item->file].flat.text;
	/* The # of a directive is not read. */
	struct cursor cursor = {text + item->start + (item->kind != ITEM_TEXT), text + item->end,
				false};
	struct token token, previous = {.kind = TOKEN_END};

	while (next_token(&cursor, &token)) {
		struct cursor next = cursor;
		bool is_name = token.kind == TOKEN_NAME && token.length == name->length &&
			       !memcmp(token.text, name->text, token.length);

		skip_blanks(&next);
		if (is_name && may_declare(&previous) &&
		    (!macro->takes_arguments || (next.at < next.end && *next.at == '(')))
			return true;
		previous = token;
	}
	return false;
}

static bool is_declared_in(struct item_index *index, uint32_t name, uint32_t header);

/*
 * Whether a macro of a brought file means the same wherever headers mention it.  What other files
 * mention is judged for each unit.
 */
static bool macro_is_same(struct item_index *index, const struct item *macro)
{
	if (!is_defined_in(index, macro->name, macro->file) ||
	    !is_declared_in(index, macro->name, macro->file))
		return false;
	for (uint32_t at = index->names.list[macro->name].mentions; at != INDEX_NONE;
	     at = index->mentions.list[at].next) {
		const struct item *item = &index->items.list[index->mentions.list[at].item];

		if (item->file == macro->file ||
		    !has_suffix(index->files.list[item->file].path, ".h"))
			continue;
		if (item->kind == ITEM_CONDITION || may_replace(index, item, macro))
			return false;
	}
	return true;
}

static bool declares(struct item_index *index, uint32_t number, uint32_t name)
{
	const struct item *item = &index->items.list[number];

	item_understand(index, number);
	if (item->opaque)
		return true;
	for (uint32_t i = 0; i < item->nr_declared; i++)
		if (index->declared.list[item->first_declared + i] == name)
			return true;
	return false;
}

/* Whether no header but one declares a name. */
static bool is_declared_in(struct item_index *index, uint32_t name, uint32_t header)
{
	for (uint32_t at = index->names.list[name].mentions; at != INDEX_NONE;
	     at = index->mentions.list[at].next) {
		const struct mention mention = index->mentions.list[at];

		if (index->items.list[mention.item].file != header && mention.structural &&
		    index->items.list[mention.item].kind == ITEM_TEXT &&
		    declares(index, mention.item, name))
			return false;
	}
	return true;
}

/* Whether the conditions of a header depend on nothing but its own macros. */
static bool is_own_condition(const struct item_index *index, const struct item *item)
{
	for (uint32_t i = 0; i < item->nr_mentions; i++)
		if (!is_defined_in(index, index->mentions.list[item->first_mention + i].name,
				   item->file))
			return false;
	return true;
}

/* Whether an item of a brought file means the same wherever the file is included. */
static bool item_is_same(struct name_filter *filter, uint32_t at, name_list *ret)
{
	struct item_index *index = &filter->index;
	const struct item *item = &index->items.list[at];

	switch (item->kind) {
	case ITEM_MACRO:
		if (!macro_is_same(index, item))
			return false;
		*vec_push(ret) = item->name;
		return true;
	case ITEM_TEXT:
		item_understand(index, at);
		for (uint32_t i = 0; i < item->nr_declared; i++) {
			uint32_t name = index->declared.list[item->first_declared + i];

			if (!is_defined_in(index, name, item->file) ||
			    !is_declared_in(index, name, item->file))
				return false;
		}
		return !item->opaque && !item->counts;
	case ITEM_CONDITION:
		return item->group != INDEX_NONE && is_own_condition(index, item);
	case ITEM_DIRECTIVE:
		return false;
	default:
		return true;
	}
}

bool moved_include(struct name_filter *filter, uint32_t file, uint32_t item, name_list *ret)
{
	name_list brought = {};
	bool same = find_brought(filter, file, item, &brought);

	for (size_t i = 0; same && i < brought.count; i++) {
		const struct filter_file *found = &filter->files.list[brought.list[i]];
		uint32_t header = found->headers[0];

		same = is_guarded(filter, found) && !found->incomplete &&
		       !indexed(filter, header)->opaque;
		for (uint32_t j = 0; same && j < indexed(filter, header)->nr_items; j++)
			same = item_is_same(filter, indexed(filter, header)->first_item + j, ret);
	}
	vec_deinit(&brought);
	return same;
}
