/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of address ranges, called spans, which may overlap, for lookups by range.  The spans are
 * sorted by their start.  Each has the highest end of all spans up to it, so that a walk backwards
 * from the last span that can overlap knows where to stop.
 */
#ifndef POKEPATCH_SPAN_H
#define POKEPATCH_SPAN_H

#include "common/util.h"

struct span {
	uint64_t start, end; /* [start, end) */
	uint64_t reach;	     /* the highest end so far; made by span_list_sort() */
	size_t item;	     /* the caller's own number for the span */
};
struct span_list {
	VEC(struct span) spans;
};

/* span_list_add - add a span, unless it is empty or wraps around. */
void span_list_add(struct span_list *list, uint64_t start, uint64_t size, size_t item);
/* span_list_sort - call it after the last addition and before the first lookup. */
void span_list_sort(struct span_list *list);
/*
 * span_list_each - iterate over the spans that overlap [start, end).  Begin with *index =
 * list->spans.count.  Each call returns the next span and moves *index on; NULL: no more.  Spans
 * with higher starts come first; of those with equal starts, higher items come first.
 */
const struct span *span_list_each(const struct span_list *list, uint64_t start, uint64_t end,
				  size_t *index);
void span_list_deinit(struct span_list *list);

#endif /* POKEPATCH_SPAN_H */
