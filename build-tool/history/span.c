// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of address ranges; see span.h. */
#include <stdlib.h>

#include "history/span.h"

#include "common/search.h"

void span_list_add(struct span_list *list, uint64_t start, uint64_t size, size_t item)
{
	if (!size || start + size < start)
		return;
	*vec_push(&list->spans) =
		(struct span){.start = start, .end = start + size, .item = item};
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

void span_list_sort(struct span_list *list)
{
	uint64_t reach = 0;

	if (list->spans.count)
		qsort(list->spans.list, list->spans.count, sizeof(*list->spans.list),
		      compare_spans);
	for (size_t i = 0; i < list->spans.count; i++) {
		struct span *span = &list->spans.list[i];

		reach = span->end > reach ? span->end : reach;
		span->reach = reach;
	}
}

/* The number of spans that begin below an address. */
static size_t count_below(const struct span_list *list, uint64_t address)
{
	return first_index(i, list->spans.count, list->spans.list[i].start >= address);
}

const struct span *span_list_each(const struct span_list *list, uint64_t start, uint64_t end,
				  size_t *index)
{
	if (*index && list->spans.list[*index - 1].start >= end)
		*index = count_below(list, end);
	while (*index && list->spans.list[*index - 1].reach > start) {
		const struct span *span = &list->spans.list[--*index];

		if (span->end > start)
			return span;
	}
	return NULL;
}

void span_list_deinit(struct span_list *list)
{
	vec_deinit(&list->spans);
}
