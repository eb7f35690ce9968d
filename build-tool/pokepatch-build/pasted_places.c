// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding the text of headers that may paste a name; see pasted_names.h. */
#include "pokepatch-build/pasted_names.h"

#include <stdlib.h>

static uint32_t *mark_of(struct pastes *pastes, uint32_t name)
{
	while (pastes->marks.count <= name)
		*vec_push(&pastes->marks) = 0;
	return &pastes->marks.list[name];
}

static void add_lead(struct pastes *pastes, uint32_t name)
{
	if (*mark_of(pastes, name) == pastes->search)
		return;
	*mark_of(pastes, name) = pastes->search;
	*vec_push(&pastes->leads) = name;
}

static size_t count_mentions(const struct item_index *index, uint32_t name)
{
	uint32_t at = index->names.list[name].mentions;
	size_t count = 0;

	for (; at != INDEX_NONE; at = index->mentions.list[at].next)
		count++;
	return count;
}

static struct starting find_starting(struct pastes *pastes, uint32_t name);

/* What the fewest items mention, of what a text has that pastes a name in a way. */
static void add_rarest(struct pastes *pastes, const struct pasting_way *way, name_list *ret)
{
	size_t fewest = count_mentions(pastes->index, way->names[0]), count;
	struct starting starting;
	uint32_t best = 0;

	for (uint32_t i = 1; i < way->nr_names; i++) {
		count = find_starting(pastes, way->names[i]).cost;
		if (count < fewest) {
			fewest = count;
			best = i;
		}
	}
	if (!best) {
		*vec_push(ret) = way->names[0];
		return;
	}
	starting = find_starting(pastes, way->names[best]);
	for (uint32_t i = 0; i < starting.count; i++)
		*vec_push(ret) = pastes->starts.list[starting.first + i];
}

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The name, if some file has it, and something of each way in which it may be pasted. */
static struct starting find_starting(struct pastes *pastes, uint32_t name)
{
	struct pasting pasting = pastes_ways(pastes, name);
	struct starting starting = {};
	name_list list = {};

	while (pastes->starting_of.count <= name)
		*vec_push(&pastes->starting_of) = 0;
	if (pastes->starting_of.list[name])
		return pastes->startings.list[pastes->starting_of.list[name] - 1];
	if (pastes_name_exists(pastes, name))
		*vec_push(&list) = name;
	for (uint32_t i = 0; i < pasting.nr_ways; i++) {
		struct pasting_way way = pastes->ways.list[pasting.first_way + i];

		add_rarest(pastes, &way, &list);
	}
	if (list.count)
		qsort(list.list, list.count, sizeof(*list.list), compare_numbers);
	starting.first = (uint32_t)pastes->starts.count;
	/* Each once: ways have parts in common, and so have these. */
	for (size_t i = 0; i < list.count; i++) {
		if (i && list.list[i] == list.list[i - 1])
			continue;
		starting.cost += count_mentions(pastes->index, list.list[i]);
		*vec_push(&pastes->starts) = list.list[i];
	}
	starting.count = (uint32_t)pastes->starts.count - starting.first;
	vec_deinit(&list);
	*vec_push(&pastes->startings) = starting;
	pastes->starting_of.list[name] = (uint32_t)pastes->startings.count;
	return starting;
}

static void add_starts(struct pastes *pastes, uint32_t name)
{
	struct starting starting = find_starting(pastes, name);

	for (uint32_t i = 0; i < starting.count; i++)
		add_lead(pastes, pastes->starts.list[starting.first + i]);
}

uint32_t pastes_leading(struct pastes *pastes, uint32_t name)
{
	const struct item_index *index = pastes->index;
	struct leading *leading;
	uint32_t first = (uint32_t)pastes->leads.count;

	while (pastes->leading_of.count <= name)
		*vec_push(&pastes->leading_of) = 0;
	if (pastes->leading_of.list[name])
		return pastes->leading_of.list[name] - 1;
	pastes->search++;
	add_starts(pastes, name);
	for (size_t i = first; i < pastes->leads.count; i++) {
		uint32_t at = index->names.list[pastes->leads.list[i]].mentions;

		for (; at != INDEX_NONE; at = index->mentions.list[at].next) {
			const struct item *item = &index->items.list[index->mentions.list[at].item];

			if (item->kind == ITEM_MACRO &&
			    *mark_of(pastes, item->name) != pastes->search)
				add_starts(pastes, item->name);
		}
	}
	leading = vec_push(&pastes->leadings);
	leading->first = first;
	leading->count = (uint32_t)pastes->leads.count - first;
	pastes->leading_of.list[name] = (uint32_t)pastes->leadings.count;
	return (uint32_t)pastes->leadings.count - 1;
}

/* Let the items go one step on that lead to a name, of those that have come as far as @from. */
static void step(struct pastes *pastes, uint32_t name, uint32_t from, bool first)
{
	const struct item_index *index = pastes->index;
	uint32_t number = pastes_leading(pastes, name);
	const struct leading leading = pastes->leadings.list[number];

	for (uint32_t i = 0; i < leading.count; i++) {
		uint32_t at = index->names.list[pastes->leads.list[leading.first + i]].mentions;

		for (; at != INDEX_NONE; at = index->mentions.list[at].next) {
			uint32_t item = index->mentions.list[at].item;

			if (index->items.list[item].kind != ITEM_MACRO &&
			    (first || pastes->steps.list[item] == from))
				pastes->steps.list[item] = from + 1;
		}
	}
}

void pastes_find_places(struct pastes *pastes, uint32_t number)
{
	const struct item_index *index = pastes->index;
	const struct pasting_way way = pastes->ways.list[number];
	uint32_t first_place = (uint32_t)pastes->places.count, last = way.nr_names - 1;

	if (way.searched)
		return;
	while (pastes->steps.count < index->items.count)
		*vec_push(&pastes->steps) = 0;
	for (uint32_t i = 0; i < way.nr_names; i++)
		step(pastes, way.names[last - i], pastes->step + i, i == 0);
	pastes->step += way.nr_names;
	/* The macro came last; an item may be found by several names that lead to it. */
	uint32_t macro = pastes_leading(pastes, way.names[0]);
	const struct leading leading = pastes->leadings.list[macro];
	for (uint32_t i = 0; i < leading.count; i++) {
		uint32_t at = index->names.list[pastes->leads.list[leading.first + i]].mentions;

		for (; at != INDEX_NONE; at = index->mentions.list[at].next) {
			uint32_t item = index->mentions.list[at].item;

			if (pastes->steps.list[item] != pastes->step)
				continue;
			pastes->steps.list[item] = 0;
			*vec_push(&pastes->places) = item;
		}
	}
	pastes->ways.list[number].searched = true;
	pastes->ways.list[number].first_place = first_place;
	pastes->ways.list[number].nr_places = (uint32_t)pastes->places.count - first_place;
}
