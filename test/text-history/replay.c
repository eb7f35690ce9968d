// SPDX-License-Identifier: GPL-2.0-or-later
/* Replaying a history, in the plain way and by the library; see replay.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

#define SHOWN 5 /* wrong ones that are printed */
bool replay_shows = true;
bool replay_alone;

/* A change, of which there may be two records. */
static bool is_change(const struct history_record *record)
{
	return record->type == POKEPATCH_HISTORY_TEXT && record->phase == POKEPATCH_HISTORY_AFTER;
}

static int compare_changes(const void *a, const void *b)
{
	const struct history_record *x = *(const struct history_record *const *)a;
	const struct history_record *y = *(const struct history_record *const *)b;
	uint64_t s = x->begin.ns[HISTORY_MONOTONIC], t = y->begin.ns[HISTORY_MONOTONIC];

	if (s != t)
		return s < t ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

struct changes {
	VEC(const struct history_record *) list; /* by time */
};

/* What stands in memory is whole only outside of [touched_at, over_at]. */
static uint64_t over_at(const struct history_record *record)
{
	return record->time.ns[HISTORY_MONOTONIC];
}

/* Those that have bytes in common with a place. */
static struct changes changes_of(const struct looks *looks, const struct history *history,
				 const struct place *place)
{
	struct changes changes = {0};

	for (size_t i = 0; i < history->records.count; i++) {
		const struct history_record *record = &history->records.list[i];

		if (is_change(record) && over_at(record) >= looks->start &&
		    record->address < place->address + place->size &&
		    record->address + record->size > place->address)
			*vec_push(&changes.list) = record;
	}
	if (changes.list.count)
		qsort(changes.list.list, changes.list.count, sizeof(*changes.list.list),
		      compare_changes);
	return changes;
}

static uint64_t begin_of(const struct history_record *record)
{
	return record->begin.ns[HISTORY_MONOTONIC];
}

/* A breakpoint may stand there before the change itself. */
static uint64_t touched_at(const struct history *history, const struct history_record *record)
{
	for (const struct history_record *other = record; record->change; other--) {
		if (other->seq == record->change)
			return other->time.ns[HISTORY_MONOTONIC];
		if (other == history->records.list || other->seq < record->change)
			break;
	}
	return begin_of(record);
}

static bool in_the_middle(const struct history *history, const struct changes *changes,
			  const struct look *look)
{
	for (size_t i = 0; i < changes->list.count; i++)
		if (touched_at(history, changes->list.list[i]) <= look->after &&
		    over_at(changes->list.list[i]) >= look->before)
			return true;
	return false;
}

static void show(const char *what, const struct place *place, const struct look *look,
		 const uint8_t *said, struct verdict *verdict)
{
	if (verdict->wrong++ >= SHOWN || !replay_shows)
		return;
	printf("%s: 0x%" PRIx64 " at %" PRIu64 ": said", what, place->address, look->before);
	for (uint32_t i = 0; i < place->size; i++)
		printf(" %02x", said[i]);
	printf(", was");
	for (uint32_t i = 0; i < place->size; i++)
		printf(" %02x", look->bytes[i]);
	printf("\n");
}

/* Put the old or the new bytes there; are the others there now? */
static void apply(const struct history_record *record, bool back, const struct place *place,
		  uint8_t *bytes, struct verdict *verdict)
{
	const uint8_t *from = back ? record->new : record->old;
	const uint8_t *to = back ? record->old : record->new;

	for (uint32_t i = 0; i < place->size; i++) {
		uint64_t at = place->address + i - record->address;

		if (at >= record->size)
			continue;
		verdict->gaps += bytes[i] != from[at];
		bytes[i] = to[at];
	}
}

static void compare(const char *what, const struct place *place, const struct look *look,
		    const uint8_t *said, struct verdict *verdict)
{
	if (memcmp(said, look->bytes, place->size) == 0)
		verdict->equal++;
	else
		show(what, place, look, said, verdict);
}

/* The file's text, of the beginning or of the end; false: it has none. */
static bool from_file(const struct history *history, const struct place *place, bool base,
		      uint8_t *ret)
{
	for (size_t i = 0; i < history->sights.count; i++) {
		const struct history_sight *sight = &history->sights.list[i];

		if (sight->base != base || place->address < sight->address ||
		    place->address + place->size > sight->address + sight->size)
			continue;
		memcpy(ret, sight->bytes + (place->address - sight->address), place->size);
		return true;
	}
	return false;
}

static bool at_boot(const struct looks *looks, const struct place *place, uint8_t *ret)
{
	if (place->address < looks->text ||
	    place->address + place->size > looks->text + looks->text_size)
		return false;
	memcpy(ret, looks->boot + (place->address - looks->text), place->size);
	return true;
}

/* One place: its looks, in the order of time, forwards or backwards. */
static void replay_place(const struct looks *looks, const struct history *history, size_t number,
			 bool back, struct verdict *verdict)
{
	const struct place *place = &looks->places.list[number];
	struct changes changes = changes_of(looks, history, place);
	size_t count = looks->list.count, applied = 0;
	uint8_t bytes[PLACE_MAX], other[PLACE_MAX];

	if (back ? !from_file(history, place, false, bytes)
		 : !at_boot(looks, place, bytes) && !from_file(history, place, true, bytes)) {
		vec_deinit(&changes.list);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		const struct look *look = &looks->list.list[back ? count - 1 - i : i];

		if (look->place != number)
			continue;
		for (; applied < changes.list.count; applied++) {
			const struct history_record *record =
				changes.list.list[back ? changes.list.count - 1 - applied
						       : applied];

			if (back ? touched_at(history, record) <= look->after
				 : over_at(record) >= look->before)
				break;
			apply(record, back, place, bytes, verdict);
		}
		if (in_the_middle(history, &changes, look))
			verdict->middle++;
		else
			compare(back ? "backwards" : "forwards", place, look, bytes, verdict);
	}
	for (; applied < changes.list.count; applied++)
		apply(changes.list.list[back ? changes.list.count - 1 - applied : applied], back,
		      place, bytes, verdict);
	if (back ? at_boot(looks, place, other) : from_file(history, place, false, other))
		verdict->gaps += memcmp(bytes, other, place->size) != 0;
	vec_deinit(&changes.list);
}

struct verdict replay_forwards(const struct looks *looks, const struct history *history)
{
	struct verdict verdict = {0};

	for (size_t i = 0; i < looks->places.count; i++)
		replay_place(looks, history, i, false, &verdict);
	return verdict;
}

struct verdict replay_backwards(const struct looks *looks, const struct history *history)
{
	struct verdict verdict = {0};

	for (size_t i = 0; i < looks->places.count; i++)
		replay_place(looks, history, i, true, &verdict);
	return verdict;
}

/* One look: all its bytes are known, or which of them is the least certain? */
static enum past_state ask(const struct past *past, const struct place *place,
			   const struct look *look, uint8_t *ret, bool *ret_right)
{
	enum past_state least = PAST_KNOWN;
	struct past_byte bytes[PLACE_MAX];

	past_bytes(past, look->before, place->address, place->size, bytes);
	*ret_right = true;
	for (uint32_t i = 0; i < place->size; i++) {
		ret[i] = bytes[i].value;
		if (!past_is_there(&bytes[i])) {
			least = PAST_UNKNOWN;
			continue;
		}
		if (bytes[i].state != PAST_KNOWN && least == PAST_KNOWN)
			least = bytes[i].state;
		/* What is assumed beside a byte that is not known may be anything, too. */
		if ((bytes[i].state != PAST_ASSUMED || replay_alone) &&
		    bytes[i].value != look->bytes[i] &&
		    (bytes[i].state != PAST_EITHER || bytes[i].other != look->bytes[i]))
			*ret_right = false;
	}
	return least;
}

struct verdict replay_library(const struct looks *looks, const struct history *history,
			      const struct history *whole)
{
	struct changes *changes = xcalloc(looks->places.count + 1, sizeof(*changes));
	struct verdict verdict = {0};
	struct past past;

	for (size_t i = 0; i < looks->places.count; i++)
		changes[i] = changes_of(looks, whole, &looks->places.list[i]);
	history_past(history, HISTORY_MONOTONIC, &past);
	for (size_t i = 0; i < looks->list.count; i++) {
		const struct look *look = &looks->list.list[i];
		const struct place *place = &looks->places.list[look->place];
		uint8_t said[PLACE_MAX];
		bool right;

		if (in_the_middle(whole, &changes[look->place], look)) {
			verdict.middle++;
			continue;
		}
		enum past_state state = ask(&past, place, look, said, &right);

		if (state == PAST_ASSUMED && (right || !replay_alone))
			verdict.assumed++;
		else if (!right)
			show("the library", place, look, said, &verdict);
		else if (state == PAST_UNKNOWN)
			verdict.unknown++;
		else
			verdict.equal++;
	}
	past_deinit(&past);
	for (size_t i = 0; i < looks->places.count; i++)
		vec_deinit(&changes[i].list);
	free(changes);
	return verdict;
}

/* Does a later change begin with what this one left?  Only then must a wrong one show. */
static bool goes_on(const struct history *history, size_t i)
{
	const struct history_record *record = &history->records.list[i];

	for (size_t k = i + 1; k < history->records.count; k++) {
		const struct history_record *later = &history->records.list[k];

		if (is_change(later) && later->address == record->address)
			return later->size >= record->size;
	}
	return false;
}

bool replay_damage(struct history *history, const struct looks *looks, size_t turn, bool alter)
{
	size_t count = 0;

	for (size_t i = 0; i < history->records.count; i++) {
		struct history_record *record = &history->records.list[i];
		uint64_t change = record->change, seq = record->seq;
		uint8_t *other;

		/* Of text that was there from the beginning, and that is still there. */
		if (!is_change(record) || over_at(record) < looks->start ||
		    record->address - looks->text >= looks->text_size ||
		    memcmp(record->old, record->new, record->size) == 0 || count++ < turn ||
		    !goes_on(history, i))
			continue;
		if (alter) {
			other = history_keep(history, xmalloc(record->size));
			memcpy(other, record->new, record->size);
			other[turn % record->size] ^= 1 << turn % 8;
			record->new = other;
			return true;
		}
		count = 0;
		for (i = 0; i < history->records.count; i++) {
			record = &history->records.list[i];
			if (record->seq != seq && (!change || record->seq != change))
				history->records.list[count++] = *record;
		}
		history->records.count = count;
		return true;
	}
	return false;
}
