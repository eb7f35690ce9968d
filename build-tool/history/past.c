// SPDX-License-Identifier: GPL-2.0-or-later
/* Text as it was at some time; see past.h. */
#include <stdlib.h>
#include <string.h>

#include "history/past.h"

#include "common/search.h"

enum {
	CHANGES,
	SIGHTS,
	LIVES,
};

static int compare_blinds(const void *a, const void *b)
{
	const struct past_blind *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

void past_settle(struct past *past)
{
	for (size_t i = 0; i < past->changes.count; i++)
		span_list_add(&past->by_place[CHANGES], past->changes.list[i].address,
			      past->changes.list[i].size, i);
	for (size_t i = 0; i < past->sights.count; i++)
		span_list_add(&past->by_place[SIGHTS], past->sights.list[i].address,
			      past->sights.list[i].size, i);
	for (size_t i = 0; i < past->lives.count; i++)
		span_list_add(&past->by_place[LIVES], past->lives.list[i].address,
			      past->lives.list[i].size, i);
	for (size_t i = 0; i < ARRAY_SIZE(past->by_place); i++)
		span_list_sort(&past->by_place[i]);
	if (past->blinds.count)
		qsort(past->blinds.list, past->blinds.count, sizeof(*past->blinds.list),
		      compare_blinds);
}

void past_deinit(struct past *past)
{
	for (size_t i = 0; i < ARRAY_SIZE(past->by_place); i++)
		span_list_deinit(&past->by_place[i]);
	vec_deinit(&past->changes);
	vec_deinit(&past->sights);
	vec_deinit(&past->lives);
	vec_deinit(&past->blinds);
}

/* ---- the rule -------------------------------------------------------------------------- */

bool past_point_before(const struct past_point *x, const struct past_point *y)
{
	return x->begin != y->begin ? x->begin < y->begin : x->order < y->order;
}

/* The number of blind times of at most this order. */
static size_t count_blinds(const struct past *past, uint64_t order)
{
	return first_index(i, past->blinds.count, past->blinds.list[i].order > order);
}

enum past_verdict past_judge(const struct past *past, const struct past_point *last,
			     const struct past_point *next, uint64_t time, bool same, bool ours,
			     bool *ret_sure)
{
	*ret_sure = true;
	if (!last->set && !next->set)
		return PAST_BY_NEITHER;
	if (last->set && time <= last->end)
		return time < last->end ? PAST_WITHIN : PAST_BY_LAST;
	/* The last holds until the first gap between the two, the next from the last gap on. */
	const struct past_blind *blinds = past->blinds.list;
	size_t first = last->set ? count_blinds(past, last->order) : 0;
	size_t end = next->set ? count_blinds(past, next->order) : past->blinds.count;
	bool last_holds = last->set && (first >= end || time <= blinds[first].begin);
	bool next_holds = next->set && (first >= end || time >= blinds[end - 1].end);

	if (last_holds && next_holds && !same)
		return PAST_BY_NEITHER;
	*ret_sure = ours || (last_holds && last->end >= past->others_since) ||
		    (next_holds && time >= past->others_since);
	return last_holds ? PAST_BY_LAST : next_holds ? PAST_BY_NEXT : PAST_BY_NEITHER;
}

/* ---- bytes ----------------------------------------------------------------------------- */

/* What is known of one byte around the time in question. */
struct around {
	const struct past_life *life;
	struct past_point last, next;
	uint8_t old, new; /* values of the last */
	uint8_t found;	  /* the old value of the next */
};

struct question {
	uint64_t time, address;
	size_t size;
	struct around *around; /* one for each byte */
};

/* The part of [start, end) in the question, as indexes of bytes. */
static void clip(const struct question *q, uint64_t start, uint64_t end, size_t *ret_first,
		 size_t *ret_end)
{
	*ret_first = start > q->address ? start - q->address : 0;
	*ret_end = end - q->address < q->size ? end - q->address : q->size;
}

static void find_lives(const struct past *past, const struct question *q)
{
	const struct span_list *list = &past->by_place[LIVES];
	const struct span *span;
	size_t index = list->spans.count, i, end;

	while ((span = span_list_each(list, q->address, q->address + q->size, &index))) {
		const struct past_life *life = &past->lives.list[span->item];

		if (q->time < life->born || q->time > life->died)
			continue;
		for (clip(q, span->start, span->end, &i, &end); i < end; i++)
			if (!q->around[i].life || q->around[i].life->born < life->born)
				q->around[i].life = life;
	}
}

/* Does something that happened from begin to end overlap this byte's life? */
static bool in_life(const struct around *around, uint64_t begin, uint64_t end)
{
	return around->life && end >= around->life->born && begin <= around->life->died;
}

/* Keep a change or sight of a byte if it is nearer to the time than those so far. */
static void around_add(struct around *around, uint64_t time, const struct past_point *point,
		       uint8_t old, uint8_t new)
{
	if (!in_life(around, point->begin, point->end))
		return;
	if (point->begin <= time) {
		if (around->last.set && past_point_before(point, &around->last))
			return;
		around->last = *point;
		around->old = old;
		around->new = new;
	} else if (!around->next.set || past_point_before(point, &around->next)) {
		around->next = *point;
		around->found = old;
	}
}

static void take_changes(const struct past *past, const struct question *q)
{
	const struct span_list *list = &past->by_place[CHANGES];
	const struct span *span;
	size_t index = list->spans.count, i, end;

	while ((span = span_list_each(list, q->address, q->address + q->size, &index))) {
		const struct past_change *change = &past->changes.list[span->item];
		const struct past_point point = {true, change->begin, change->end, change->order};

		for (clip(q, span->start, span->end, &i, &end); i < end; i++) {
			size_t at = q->address + i - change->address;

			around_add(&q->around[i], q->time, &point, change->before[at],
				   change->after[at]);
		}
	}
}

/* A sight counts as a change from a value to the same value. */
static void take_sights(const struct past *past, const struct question *q)
{
	const struct span_list *list = &past->by_place[SIGHTS];
	const struct span *span;
	size_t index = list->spans.count, i, end;

	while ((span = span_list_each(list, q->address, q->address + q->size, &index))) {
		const struct past_sight *sight = &past->sights.list[span->item];
		const struct past_point point = {true, sight->time, sight->time, sight->order};

		for (clip(q, span->start, span->end, &i, &end); i < end; i++) {
			uint8_t value = sight->bytes[q->address + i - sight->address];

			around_add(&q->around[i], q->time, &point, value, value);
		}
	}
}

static struct past_byte around_judge(const struct past *past, const struct around *around,
				     uint64_t time)
{
	struct past_byte byte = {.state = PAST_KNOWN};
	bool sure;

	if (!around->life)
		return (struct past_byte){.state = PAST_NONE};
	switch (past_judge(past, &around->last, &around->next, time, around->new == around->found,
			   false, &sure)) {
	case PAST_BY_LAST:
		byte.value = around->new;
		break;
	case PAST_BY_NEXT:
		byte.value = around->found;
		break;
	case PAST_WITHIN:
		byte.value = around->old;
		byte.other = around->new;
		if (byte.value != byte.other)
			byte.state = PAST_EITHER;
		break;
	case PAST_BY_NEITHER:
		byte.state = PAST_UNKNOWN;
		break;
	}
	if (!sure && byte.state == PAST_KNOWN)
		byte.state = PAST_ASSUMED;
	return byte;
}

void past_bytes(const struct past *past, uint64_t time, uint64_t address, size_t size,
		struct past_byte *ret)
{
	struct question q = {.time = time, .address = address};
	_free_ struct around *around = xcalloc(size, sizeof(*around));

	/* There is no text beyond the last address. */
	for (size_t i = 0; i < size; i++)
		ret[i] = (struct past_byte){.state = PAST_NONE};
	q.size = address + size < address ? -address : size;
	q.around = around;
	find_lives(past, &q);
	take_changes(past, &q);
	take_sights(past, &q);
	for (size_t i = 0; i < q.size; i++)
		ret[i] = around_judge(past, &around[i], time);
}

const struct past_life *past_life_at(const struct past *past, uint64_t time, uint64_t address)
{
	struct around around = {0};
	const struct question q = {.time = time, .address = address, .size = 1, .around = &around};

	if (address == UINT64_MAX)
		return NULL;
	find_lives(past, &q);
	return around.life;
}
