// SPDX-License-Identifier: GPL-2.0-or-later
/* Comparing the items of two versions of a header; see item_changes.h. */
#include "pokepatch-build/item_changes.h"

#include <stdlib.h>
#include <string.h>

#include "pokepatch-build/c_tokens.h"
#include "pokepatch-build/lines.h"

/* The items of both versions, and which are changed. */
struct sides {
	const struct item *old, *new; /* arrays */
	uint32_t nr_old, nr_new;
	bool *old_changed, *new_changed;
};

static int by_hash(const void *a, const void *b)
{
	const struct item *x = *(const struct item *const *)a, *y = *(const struct item *const *)b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x < y ? -1 : x > y;
}

static const struct item **sorted(const struct item *items, uint32_t from, uint32_t to)
{
	const struct item **list = xcalloc(to - from + 1, sizeof(*list));

	for (uint32_t i = from; i < to; i++)
		list[i - from] = &items[i];
	qsort(list, to - from, sizeof(*list), by_hash);
	return list;
}

/* Items that are in both lists are unchanged. */
static void pair(const struct sides *sides, uint32_t first, uint32_t old_end, uint32_t new_end)
{
	_free_ const struct item **old = sorted(sides->old, first, old_end);
	_free_ const struct item **new = sorted(sides->new, first, new_end);
	uint32_t i = 0, j = 0;

	while (i < old_end - first && j < new_end - first) {
		if (old[i]->hash == new[j]->hash) {
			sides->old_changed[old[i++] - sides->old] = false;
			sides->new_changed[new[j++] - sides->new] = false;
		} else if (old[i]->hash < new[j]->hash) {
			i++;
		} else {
			j++;
		}
	}
}

/* Whether the unchanged items of both versions are in the same order. */
static bool same_order(const struct sides *sides)
{
	uint32_t i = 0, j = 0;

	for (;;) {
		while (i < sides->nr_old && sides->old_changed[i])
			i++;
		while (j < sides->nr_new && sides->new_changed[j])
			j++;
		if (i == sides->nr_old || j == sides->nr_new)
			return i == sides->nr_old && j == sides->nr_new;
		if (sides->old[i++].hash != sides->new[j++].hash)
			return false;
	}
}

static void compare(const struct sides *sides)
{
	uint32_t first = 0, old_end = sides->nr_old, new_end = sides->nr_new;

	while (first < old_end && first < new_end &&
	       sides->old[first].hash == sides->new[first].hash)
		first++;
	while (old_end > first && new_end > first &&
	       sides->old[old_end - 1].hash == sides->new[new_end - 1].hash)
		old_end--, new_end--;
	for (uint32_t i = first; i < old_end; i++)
		sides->old_changed[i] = true;
	for (uint32_t i = first; i < new_end; i++)
		sides->new_changed[i] = true;
	pair(sides, first, old_end, new_end);
	if (same_order(sides))
		return;
	for (uint32_t i = first; i < old_end; i++)
		sides->old_changed[i] = true;
	for (uint32_t i = first; i < new_end; i++)
		sides->new_changed[i] = true;
}

/* Mark unchanged text as changed if a line of it has another number than in the original. */
static void find_moved(const struct sides *sides, const struct text_lines *lines)
{
	_free_ size_t *numbers = xcalloc(lines->count + 1, sizeof(*numbers));

	text_lines_numbers(lines, numbers);
	for (uint32_t i = 0; i < sides->nr_new; i++) {
		const struct item *item = &sides->new[i];

		for (size_t at = item->first_line; at <= item->last_line && at < lines->count; at++)
			if (item->kind == ITEM_TEXT && lines->list[at].origin &&
			    lines->list[at].origin != numbers[at])
				sides->new_changed[i] = true;
	}
}

/* The numbers of a version's lines. */
struct numbers {
	size_t *list, count;
};

static void numbers_init(struct numbers *numbers, const struct text_lines *lines)
{
	numbers->count = lines->count;
	numbers->list = xcalloc(lines->count + 1, sizeof(*numbers->list));
	text_lines_numbers(lines, numbers->list);
}

/* Have the items' lines the same numbers?  To items, a vertical tab ends a line, too. */
static bool same_numbers(const struct item *old, const struct numbers *old_numbers,
			 const struct item *new, const struct numbers *new_numbers)
{
	const size_t count = old->last_line - old->first_line + 1;

	return old->last_line < old_numbers->count && new->last_line < new_numbers->count &&
	       new->last_line - new->first_line + 1 == count &&
	       !memcmp(&old_numbers->list[old->first_line], &new_numbers->list[new->first_line],
		       count * sizeof(*old_numbers->list));
}

/* The same for two versions that are both changed: if a line has another number than it had. */
static void find_renumbered(const struct sides *sides, const struct text_lines *old_lines,
			    const struct text_lines *lines)
{
	struct numbers old_numbers, numbers;
	uint32_t i = 0, j = 0;

	numbers_init(&old_numbers, old_lines);
	numbers_init(&numbers, lines);
	/* Unchanged items are in the same order: same_order(). */
	for (;; i++, j++) {
		while (i < sides->nr_old && sides->old_changed[i])
			i++;
		while (j < sides->nr_new && sides->new_changed[j])
			j++;
		if (i == sides->nr_old || j == sides->nr_new)
			break;
		if (sides->old[i].kind == ITEM_TEXT &&
		    !same_numbers(&sides->old[i], &old_numbers, &sides->new[j], &numbers))
			sides->old_changed[i] = sides->new_changed[j] = true;
	}
	free(old_numbers.list);
	free(numbers.list);
}

/* Mark what is in the branches of a condition's group, and the text that the group is within. */
static void mark_group(const struct item_index *index, const struct indexed_file *file,
		       const struct item *condition, bool *changed)
{
	const struct item *begin;

	if (condition->group == INDEX_NONE)
		return;
	begin = &index->items.list[condition->group];
	if (begin->around != INDEX_NONE)
		changed[begin->around - file->first_item] = true;
	if (begin->group_end == INDEX_NONE)
		return;
	for (uint32_t i = condition->group; i <= begin->group_end; i++)
		changed[i - file->first_item] = true;
}

/* A changed condition changes all that its group has. */
static void find_grouped(const struct item_index *index, const struct indexed_file *file,
			 bool *changed)
{
	const struct item *items = &index->items.list[file->first_item];
	_free_ bool *before = xcalloc(file->nr_items + 1, sizeof(*before));

	memcpy(before, changed, file->nr_items * sizeof(*before));
	for (uint32_t i = 0; i < file->nr_items; i++)
		if (before[i] && items[i].kind == ITEM_CONDITION)
			mark_group(index, file, &items[i], changed);
}

void item_changes_find(const struct item_index *index, uint32_t old, uint32_t new,
		       const struct text_lines *old_lines, const struct text_lines *lines,
		       item_list *ret)
{
	const struct indexed_file *files = index->files.list;
	_free_ bool *old_changed = xcalloc(files[old].nr_items + 1, sizeof(bool));
	_free_ bool *new_changed = xcalloc(files[new].nr_items + 1, sizeof(bool));
	const struct sides sides = {
		.old = index->items.list + files[old].first_item,
		.new = index->items.list + files[new].first_item,
		.nr_old = files[old].nr_items,
		.nr_new = files[new].nr_items,
		.old_changed = old_changed,
		.new_changed = new_changed,
	};

	compare(&sides);
	if (old_lines)
		find_renumbered(&sides, old_lines, lines);
	else
		find_moved(&sides, lines);
	find_grouped(index, &files[old], old_changed);
	find_grouped(index, &files[new], new_changed);
	for (uint32_t i = 0; i < sides.nr_old; i++)
		if (old_changed[i])
			*vec_push(ret) = files[old].first_item + i;
	for (uint32_t i = 0; i < sides.nr_new; i++)
		if (new_changed[i])
			*vec_push(ret) = files[new].first_item + i;
}

/* Append the names of changed text that count __COUNTER__, as often as it has them. */
static void add_counters(const struct item_index *index, const struct item *item, item_list *ret)
{
	const char *text = index->files.list[item->file].flat.text;
	struct cursor cursor = {text + item->start, text + item->end, false};
	struct token token;

	while (next_token(&cursor, &token)) {
		uint32_t name = token.kind == TOKEN_NAME ? item_index_find(index, token.text,
									   token.length, token.hash)
							 : INDEX_NONE;

		if (name != INDEX_NONE && index->names.list[name].words & WORD_COUNTER)
			*vec_push(ret) = name;
	}
}

bool item_changes_count(const struct item_index *index, const uint32_t *changed, size_t count)
{
	item_list counters[2] = {};
	bool differ, conditional = false;

	for (size_t i = 0; i < count; i++) {
		const struct item *item = &index->items.list[changed[i]];

		if (item->kind == ITEM_TEXT && item->counts)
			add_counters(index, item, &counters[item->file % 2]);
		conditional |= item->kind == ITEM_CONDITION;
	}
	differ = counters[0].count != counters[1].count ||
		 (counters[0].count && (conditional || memcmp(counters[0].list, counters[1].list,
							      counters[0].count *
								      sizeof(*counters[0].list))));
	vec_deinit(&counters[0]);
	vec_deinit(&counters[1]);
	return differ;
}
