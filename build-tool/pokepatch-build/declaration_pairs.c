// SPDX-License-Identifier: GPL-2.0-or-later
/* Pairing the declarations of two texts; see declaration_pairs.h. */
#include "pokepatch-build/declaration_pairs.h"

#include <stdlib.h>

#define NONE DECLARATIONS_NONE

/* What is compared: the declarations between those that are equal at both ends. */
struct pairs {
	struct parser *parser;
	struct declaration *a, *b;
	size_t a_first; /* a's index in the parser */
	size_t a_all;   /* how many declarations the first text has */
	size_t a_count, b_count;
	uint32_t *partners; /* for each of a its place in b, or NONE */
	bool *fixed;        /* for each of a: a pair of which the order is the same on both sides */
};

struct place {
	uint64_t hash;
	size_t index;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static struct place *sorted_places(const struct declaration *list, size_t count)
{
	struct place *places = xcalloc(count + 1, sizeof(*places));

	for (size_t i = 0; i < count; i++)
		places[i] = (struct place){list[i].hash, i};
	qsort(places, count, sizeof(*places), compare_places);
	return places;
}

/* Pair declarations of the same tokens, the first with the first and so on. */
static void find_partners(struct pairs *pairs)
{
	_free_ struct place *left = sorted_places(pairs->a, pairs->a_count);
	_free_ struct place *right = sorted_places(pairs->b, pairs->b_count);
	size_t i = 0, j = 0;

	for (size_t k = 0; k < pairs->a_count; k++)
		pairs->partners[k] = NONE;
	while (i < pairs->a_count && j < pairs->b_count) {
		if (left[i].hash == right[j].hash)
			pairs->partners[left[i++].index] = (uint32_t)right[j++].index;
		else if (left[i].hash < right[j].hash)
			i++;
		else
			j++;
	}
}

/*
 * Find the most pairs that are in the same order on both sides: a longest increasing subsequence of
 * the partners.  tails[n] is the end of a subsequence of n + 1 pairs, the one with the smallest
 * partner.
 */
static void find_fixed(struct pairs *pairs)
{
	_free_ uint32_t *tails = xcalloc(pairs->a_count + 1, sizeof(*tails));
	_free_ uint32_t *before = xcalloc(pairs->a_count + 1, sizeof(*before));
	size_t length = 0;

	for (uint32_t i = 0; i < pairs->a_count; i++) {
		size_t low = 0, high = length;

		if (pairs->partners[i] == NONE)
			continue;
		while (low < high) {
			size_t middle = (low + high) / 2;

			if (pairs->partners[tails[middle]] < pairs->partners[i])
				low = middle + 1;
			else
				high = middle;
		}
		before[i] = low ? tails[low - 1] : NONE;
		tails[low] = i;
		length += low == length;
	}
	for (uint32_t i = length ? tails[length - 1] : NONE; i != NONE; i = before[i])
		pairs->fixed[i] = true;
}

/* For each declaration, how many #pragma of the list come before it. */
static uint32_t *count_directives(const struct declaration *list, size_t count)
{
	uint32_t *before = xcalloc(count + 1, sizeof(*before));

	for (size_t i = 0; i < count; i++)
		before[i + 1] = before[i] + list[i].directive;
	return before;
}

/*
 * Whether a name has several declarations, and the moved one is one of them, past which mentions
 * may have come, or has passed one of them.
 */
static bool passes_declaration(const struct pairs *pairs, size_t moved, uint32_t name)
{
	const struct parser *parser = pairs->parser;
	bool passes = false;
	size_t count = 0;

	for (uint32_t at = parser->names.list[name].declarations; at != NONE;
	     at = parser->links.list[at].next) {
		uint32_t declaration = parser->links.list[at].declaration;
		size_t other = declaration - pairs->a_first;

		/* The other text's, which are the same ones or changed. */
		if (declaration >= pairs->a_all || parser->declarations.list[declaration].forward)
			continue;
		count++;
		if (declaration < pairs->a_first || other >= pairs->a_count ||
		    pairs->partners[other] == NONE)
			continue;
		passes |= other == moved ||
			  (other < moved) != (pairs->partners[other] < pairs->partners[moved]);
	}
	return passes && count > 1;
}

/* Whether the place of a declaration that is equal on both sides may matter. */
static bool place_matters(const struct pairs *pairs, size_t moved)
{
	const struct declaration *declaration = &pairs->a[moved];
	const uint32_t *mentions = &pairs->parser->mentions.list[declaration->first_mention];

	for (uint32_t i = 0; i < declaration->nr_mentions; i++)
		if (passes_declaration(pairs, moved, mentions[i]))
			return true;
	return false;
}

static void mark_pairs(const struct pairs *pairs)
{
	_free_ uint32_t *a_directives = count_directives(pairs->a, pairs->a_count);
	_free_ uint32_t *b_directives = count_directives(pairs->b, pairs->b_count);

	for (size_t i = 0; i < pairs->b_count; i++)
		pairs->b[i].changed = !pairs->b[i].forward;
	for (size_t i = 0; i < pairs->a_count; i++) {
		uint32_t partner = pairs->partners[i];
		struct declaration *declaration = &pairs->a[i];

		declaration->changed =
			!declaration->forward &&
			(partner == NONE ||
			 (!pairs->fixed[i] &&
			  (declaration->root || declaration->directive || declaration->implicit ||
			   a_directives[i] != b_directives[partner] || place_matters(pairs, i))));
		if (partner != NONE)
			pairs->b[partner].changed = declaration->changed;
	}
}

void declarations_mark_changed(struct parser *parser, struct declaration_range a,
			       struct declaration_range b)
{
	struct declaration *list = parser->declarations.list;
	struct pairs pairs = {.parser = parser, .a_all = b.first};

	while (a.first < a.end && b.first < b.end && list[a.first].hash == list[b.first].hash)
		a.first++, b.first++;
	while (a.first < a.end && b.first < b.end && list[a.end - 1].hash == list[b.end - 1].hash)
		a.end--, b.end--;
	pairs.a = list + a.first;
	pairs.b = list + b.first;
	pairs.a_first = a.first;
	pairs.a_count = a.end - a.first;
	pairs.b_count = b.end - b.first;
	pairs.partners = xcalloc(pairs.a_count + 1, sizeof(*pairs.partners));
	pairs.fixed = xcalloc(pairs.a_count + 1, sizeof(*pairs.fixed));
	find_partners(&pairs);
	find_fixed(&pairs);
	mark_pairs(&pairs);
	free(pairs.partners);
	free(pairs.fixed);
}
