/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges of addresses that may overlap, to be looked up by a range: sorted by their
 * start, each with the highest end of it and all before it, so that a walk backwards
 * from the last that can overlap knows when to stop.
 */
#ifndef POKEPATCH_SPAN_H
#define POKEPATCH_SPAN_H

#include "common/util.h"

struct span {
	uint64_t start, end; /* without the end */
	uint64_t reach;	     /* the highest end so far; made by span_list_sort() */
	size_t item;	     /* the user's */
};
struct span_list {
	VEC(struct span) spans;
};

/* span_list_add - nothing is added that is empty or wraps around. */
void span_list_add(struct span_list *list, uint64_t start, uint64_t size, size_t item);
/* span_list_sort - after the last was added, before any is looked for. */
void span_list_sort(struct span_list *list);
/*
 * span_list_each - those that overlap [start, end): begin with index = list->spans.count;
 * each call gives the next and moves index on; NULL: no more.  Those of higher starts come
 * first, and of equal ones those added later.
 */
const struct span *span_list_each(const struct span_list *list, uint64_t start, uint64_t end,
				  size_t *index);
void span_list_deinit(struct span_list *list);

#endif /* POKEPATCH_SPAN_H */
