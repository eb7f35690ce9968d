// SPDX-License-Identifier: GPL-2.0-or-later
/* Routes of calls; see route.h. */
#include <stdlib.h>

#include "history/route.h"

#include "common/search.h"

#define ENTRY_MAX 64 /* bytes; a site farther in is not part of the entry */

static struct past_point point_of(const struct route_change *change)
{
	return (struct past_point){true, change->begin, change->end, change->order};
}

static int compare_changes(const void *a, const void *b)
{
	const struct route_change *x = a, *y = b;
	const struct past_point p = point_of(x), q = point_of(y);

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return past_point_before(&p, &q) ? -1 : past_point_before(&q, &p);
}

/* A function's entry: its first byte, and all bytes up to the site. */
static void add_entry(struct routes *routes, size_t number)
{
	size_t first = routes->firsts.list[number], end = routes->firsts.list[number + 1];
	uint64_t function = routes->changes.list[first].function, reach = 1;

	for (size_t i = first; i < end; i++) {
		uint64_t behind = routes->changes.list[i].site - function;

		if (behind >= reach && behind < ENTRY_MAX)
			reach = behind + 1;
	}
	span_list_add(&routes->by_place, function, reach, number);
}

void routes_settle(struct routes *routes)
{
	size_t count = routes->changes.count;

	if (count)
		qsort(routes->changes.list, count, sizeof(*routes->changes.list), compare_changes);
	for (size_t i = 0; i < count; i++)
		if (!i || routes->changes.list[i].function != routes->changes.list[i - 1].function)
			*vec_push(&routes->firsts) = i;
	*vec_push(&routes->firsts) = count;
	for (size_t i = 0; i + 1 < routes->firsts.count; i++)
		add_entry(routes, i);
	span_list_sort(&routes->by_place);
}

void routes_deinit(struct routes *routes)
{
	vec_deinit(&routes->changes);
	vec_deinit(&routes->firsts);
	span_list_deinit(&routes->by_place);
}

/* The index behind the last of [first, end) that had begun at a time. */
static size_t count_begun(const struct routes *routes, size_t first, size_t end, uint64_t time)
{
	return first + first_index(i, end - first, routes->changes.list[first + i].begin > time);
}

struct route route_at(const struct routes *routes, const struct past *past, uint64_t time,
		      uint64_t address)
{
	size_t index = routes->by_place.spans.count;
	const struct span *span =
		address == UINT64_MAX
			? NULL
			: span_list_each(&routes->by_place, address, address + 1, &index);
	struct past_point last = {0}, next = {0};
	struct route route = {.state = ROUTE_NONE};

	if (!span)
		return route;

	size_t first = routes->firsts.list[span->item], end = routes->firsts.list[span->item + 1];
	size_t begun = count_begun(routes, first, end, time);
	uint64_t left = 0, found = 0;
	bool sure;

	route.function = routes->changes.list[first].function;
	if (begun > first) {
		route.last = &routes->changes.list[begun - 1];
		last = point_of(route.last);
		left = route.last->to;
	}
	if (begun < end) {
		route.next = &routes->changes.list[begun];
		next = point_of(route.next);
		found = route.next->from;
	}
	route.state = ROUTE_KNOWN;
	/* Only pokepatch switches functions, so other writers' changes do not matter here. */
	switch (past_judge(past, &last, &next, time, left == found, true, &sure)) {
	case PAST_BY_LAST:
		route.taken = left;
		break;
	case PAST_BY_NEXT:
		route.taken = found;
		break;
	case PAST_WITHIN:
		route.state = ROUTE_EITHER;
		route.taken = route.last->from;
		route.other = route.last->to;
		break;
	case PAST_BY_NEITHER:
		route.state = ROUTE_UNKNOWN;
		break;
	}
	return route;
}
