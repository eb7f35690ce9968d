// SPDX-License-Identifier: GPL-2.0-or-later
/* From records to past text, routes and symbols; see text_history.h. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "history/text_history.h"

#include "common/search.h"

#define NS_PER_SECOND 1000000000ull

void *history_keep(struct history *history, void *memory)
{
	*vec_push(&history->memory) = memory;
	return memory;
}

void history_deinit(struct history *history)
{
	for (size_t i = 0; i < history->memory.count; i++)
		free(history->memory.list[i]);
	vec_deinit(&history->memory);
	vec_deinit(&history->records);
	vec_deinit(&history->sights);
	vec_deinit(&history->modules);
	vec_deinit(&history->symbols);
	vec_deinit(&history->raw);
	free(history->info.build_id);
	*history = (struct history){0};
}

static bool is_code(const struct history_record *record)
{
	return record->type == POKEPATCH_HISTORY_APPEAR ||
	       record->type == POKEPATCH_HISTORY_SNAPSHOT;
}

uint64_t history_last_seq(const struct history *history)
{
	const struct history_record *last =
		history->records.count ? &history->records.list[history->records.count - 1] : NULL;

	if (!last)
		return 0;
	return last->type == POKEPATCH_HISTORY_LOST ? last->seq + last->count - 1 : last->seq;
}

static int seq_order(const struct history_record *record, uint64_t seq)
{
	return record->seq < seq ? -1 : record->seq > seq;
}

/* The record with this number, or NULL. */
static const struct history_record *record_of(const struct history *history, uint64_t seq)
{
	return sorted_find(history->records.list, history->records.count, seq, seq_order);
}

/* ---- transitions ----------------------------------------------------------------------- */

struct work {
	uint64_t number;
	size_t before, after; /* indexes in history->records; after: SIZE_MAX if missing */
};
struct works {
	VEC(struct work) list; /* by before */
};

static int compare_numbers(const void *a, const void *b)
{
	const struct work *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int compare_befores(const void *a, const void *b)
{
	const struct work *x = a, *y = b;

	return x->before < y->before ? -1 : x->before > y->before;
}

static bool is_transition(const struct history_record *record, unsigned int phase)
{
	return record->type == POKEPATCH_HISTORY_TRANSITION && record->phase == phase;
}

/* Find the first and last records of each transition. */
static void find_works(const struct history *history, struct works *works)
{
	*works = (struct works){0};
	for (size_t i = 0; i < history->records.count; i++) {
		const struct history_record *record = &history->records.list[i];

		if (is_transition(record, POKEPATCH_HISTORY_BEFORE))
			*vec_push(&works->list) = (struct work){record->transition, i, SIZE_MAX};
	}
	if (!works->list.count)
		return;
	qsort(works->list.list, works->list.count, sizeof(struct work), compare_numbers);
	for (size_t i = 0; i < history->records.count; i++) {
		const struct history_record *record = &history->records.list[i];
		const struct work key = {.number = record->transition};
		struct work *work;

		if (!is_transition(record, POKEPATCH_HISTORY_AFTER))
			continue;
		work = sorted_find(works->list.list, works->list.count, &key, compare_numbers);
		if (work && work->before < i && work->after == SIZE_MAX)
			work->after = i;
	}
	qsort(works->list.list, works->list.count, sizeof(struct work), compare_befores);
}

const struct history_record *history_under_way(const struct history *history)
{
	const struct history_record *found = NULL;
	struct works works;
	uint64_t lost = 0; /* older transitions may have ended among the missing records */

	find_works(history, &works);
	for (size_t i = 0; i < history->records.count; i++)
		if (history->records.list[i].type == POKEPATCH_HISTORY_LOST)
			lost = history->records.list[i].seq;
	for (size_t i = 0; i < works.list.count && !found; i++) {
		const struct history_record *record =
			&history->records.list[works.list.list[i].before];

		if (works.list.list[i].after == SIZE_MAX && record->seq > lost)
			found = record;
	}
	vec_deinit(&works.list);
	return found;
}

/* ---- missing records ------------------------------------------------------------------- */

/* The time of a record, or the end of the history if that is missing (SIZE_MAX). */
static const struct history_stamp *time_at(const struct history *history, size_t index)
{
	return index < history->records.count ? &history->records.list[index].time : &history->end;
}

/* The earliest time in a record. */
static uint64_t told_from(const struct history_record *record, enum history_clock clock)
{
	bool interval = record->type == POKEPATCH_HISTORY_TEXT ||
			record->type == POKEPATCH_HISTORY_ROUTE;
	uint64_t begin = record->begin.ns[clock], time = record->time.ns[clock];

	return interval && begin < time ? begin : time;
}

/*
 * When missing records can have been made.  Not after the record behind them, or the end of a
 * transition that was under way then; and not before the record in front of them, or the beginning
 * of that transition: records of changes that overlap are not in the order of their times.
 */
static void add_blinds(const struct history *history, enum history_clock clock,
		       const struct works *works, struct past *past)
{
	struct past_blind *blind = NULL;
	size_t open = 0, begun = 0;
	size_t reach = 0; /* the last record of the transitions that have begun */

	for (size_t i = 0; i < history->records.count; i++) {
		const struct history_record *record = &history->records.list[i];

		for (; begun < works->list.count && works->list.list[begun].before < i; begun++)
			if (works->list.list[begun].after > reach)
				reach = works->list.list[begun].after;
		if (record->type != POKEPATCH_HISTORY_LOST) {
			uint64_t time = record->time.ns[clock];
			uint64_t over = time_at(history, reach)->ns[clock];

			if (blind && reach > i && over > time)
				time = over;
			if (blind)
				blind->end = time > blind->begin ? time : blind->begin;
			blind = NULL;
			continue;
		}
		if (blind) /* part of the same gap */
			continue;
		blind = vec_push(&past->blinds);
		*blind = (struct past_blind){.order = record->seq,
					     .begin = history->info.began.ns[clock],
					     .end = PAST_FOREVER};
		if (i)
			blind->begin = told_from(record - 1, clock);
		while (open < works->list.count && works->list.list[open].after < i)
			open++;
		if (open < works->list.count && works->list.list[open].before < i) {
			uint64_t time = time_at(history, works->list.list[open].before)->ns[clock];

			if (time < blind->begin)
				blind->begin = time;
		}
	}
}

/* ---- text ------------------------------------------------------------------------------ */

/* Is the first of a change's two records there?  Missing records may have its number (LOST). */
static bool has_before(const struct history *history, const struct history_record *after)
{
	const struct history_record *before = record_of(history, after->change);

	return before && before->type == POKEPATCH_HISTORY_TEXT;
}

/* Each of the two records of a change has the whole change, in case the other is missing. */
static void add_changes(const struct history *history, enum history_clock clock, struct past *past)
{
	for (size_t i = 0; i < history->records.count; i++) {
		const struct history_record *record = &history->records.list[i];
		uint64_t begin = record->begin.ns[clock], end = record->end.ns[clock];

		if (record->type != POKEPATCH_HISTORY_TEXT || !record->size)
			continue;
		if (record->phase == POKEPATCH_HISTORY_AFTER && has_before(history, record))
			continue;
		*vec_push(&past->changes) = (struct past_change){
			.address = record->address,
			.begin = begin,
			.end = end,
			.order = record->seq,
			.before = record->old,
			.after = record->new,
			.size = record->size,
		};
	}
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* Is the record the next piece of the same code as the one before it? */
static bool continues(const struct history_record *last, const struct history_record *record)
{
	return last->type == record->type && last->kind == record->kind &&
	       last->address + last->size == record->address &&
	       last->begin.ns[HISTORY_MONOTONIC] == record->begin.ns[HISTORY_MONOTONIC] &&
	       same_text(last->symbol, record->symbol);
}

/*
 * Lives of code: from an APPEAR to the next SNAPSHOT of the same place.  Either may be missing, and
 * code that was there before the core has no APPEAR.
 */
struct life {
	uint64_t address, size, born, died;
	uint32_t kind;
	bool appear;
	size_t index; /* of the record, or of the last one of several pieces */
};

static int compare_lives(const void *a, const void *b)
{
	const struct life *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

struct lives {
	VEC(struct life) list;
};

static void find_lives(const struct history *history, enum history_clock clock, struct lives *ret)
{
	for (size_t i = 0; i < history->records.count; i++) {
		const struct history_record *record = &history->records.list[i];
		struct life *last =
			ret->list.count ? &ret->list.list[ret->list.count - 1] : NULL;

		if (!is_code(record))
			continue;
		if (last && record->type == POKEPATCH_HISTORY_SNAPSHOT && last->index + 1 == i &&
		    continues(record - 1, record)) {
			last->size += record->size;
			last->index = i;
			continue;
		}
		*vec_push(&ret->list) = (struct life){
			.address = record->address,
			.size = record->size,
			.born = record->begin.ns[clock],
			.died = record->end.ns[clock],
			.kind = record->kind,
			.appear = record->type == POKEPATCH_HISTORY_APPEAR,
			.index = i,
		};
	}
	if (ret->list.count)
		qsort(ret->list.list, ret->list.count, sizeof(*ret->list.list), compare_lives);
}

static void add_lives(const struct history *history, enum history_clock clock, struct past *past)
{
	struct lives lives = {0};

	find_lives(history, clock, &lives);
	for (size_t i = 0; i < lives.list.count; i++) {
		const struct life *life = &lives.list.list[i], *next = life + 1;
		const struct history_record *record = &history->records.list[life->index];
		struct past_life *last =
			past->lives.count ? &past->lives.list[past->lives.count - 1] : NULL;
		uint64_t died = life->died;

		if (life->appear && i + 1 < lives.list.count && next->kind == life->kind &&
		    next->address == life->address) {
			if (!next->appear && (!next->born || next->born == life->born)) {
				*vec_push(&past->lives) = (struct past_life){
					life->address,
					next->size > life->size ? next->size : life->size,
					life->born, next->died, record};
				i++;
				continue;
			}
			died = next->born; /* it had gone by then, at an unknown time */
		}
		/* A further piece of a long SNAPSHOT whose pieces are not next to each other. */
		if (last && !life->appear && last->born == life->born && last->died == died &&
		    last->address + last->size == life->address) {
			last->size += life->size;
			continue;
		}
		*vec_push(&past->lives) =
			(struct past_life){life->address, life->size, life->born, died, record};
	}
	vec_deinit(&lives.list);
}

/* Add the modules that were there at the end, except those whose APPEAR is recorded. */
static void add_modules(const struct history *history, struct past *past)
{
	struct map came = {0};

	for (size_t i = 0; i < history->records.count; i++) {
		const struct history_record *record = &history->records.list[i];

		if (is_code(record) && record->kind != POKEPATCH_HISTORY_STUB && record->symbol)
			*map_slot(&came, record->symbol) = (void *)record;
	}
	for (size_t i = 0; i < history->modules.count; i++) {
		const struct history_module *module = &history->modules.list[i];
		const struct history_record *last = map_get(&came, module->name);

		if (!last || last->type != POKEPATCH_HISTORY_APPEAR)
			*vec_push(&past->lives) = (struct past_life){
				module->address, module->size, 0, PAST_FOREVER, NULL};
	}
	map_deinit(&came);
}

/* Add snapshots, the text that was read, and the base of an exported file. */
static void add_sights(const struct history *history, enum history_clock clock,
		       struct past *past)
{
	for (size_t i = 0; i < history->records.count; i++) {
		const struct history_record *record = &history->records.list[i];

		if (record->type == POKEPATCH_HISTORY_SNAPSHOT && record->bytes)
			*vec_push(&past->sights) = (struct past_sight){
				.address = record->address,
				.time = record->end.ns[clock],
				.order = record->seq,
				.bytes = record->bytes,
				.size = record->size,
			};
	}
	for (size_t i = 0; i < history->sights.count; i++) {
		const struct history_sight *sight = &history->sights.list[i];

		*vec_push(&past->sights) = (struct past_sight){
			.address = sight->address,
			.time = sight->time.ns[clock],
			.order = sight->seq,
			.bytes = sight->bytes,
			.size = sight->size,
		};
	}
}

void history_past(const struct history *history, enum history_clock clock, struct past *ret)
{
	const struct history_info *info = &history->info;
	struct works works;

	*ret = (struct past){.others_since = info->others ? info->others_since.ns[clock]
							  : PAST_FOREVER};
	find_works(history, &works);
	add_blinds(history, clock, &works, ret);
	vec_deinit(&works.list);
	add_changes(history, clock, ret);
	if (info->etext > info->stext)
		*vec_push(&ret->lives) = (struct past_life){
			info->stext, info->etext - info->stext, 0, PAST_FOREVER, NULL};
	add_lives(history, clock, ret);
	add_modules(history, ret);
	add_sights(history, clock, ret);
	past_settle(ret);
}

/* ---- routes ---------------------------------------------------------------------------- */

void history_routes(const struct history *history, enum history_clock clock, struct routes *ret)
{
	*ret = (struct routes){0};
	for (size_t i = 0; i < history->records.count; i++) {
		const struct history_record *record = &history->records.list[i];

		if (record->type != POKEPATCH_HISTORY_ROUTE)
			continue;
		*vec_push(&ret->changes) = (struct route_change){
			.function = record->address,
			.site = record->site,
			.begin = record->begin.ns[clock],
			.end = record->end.ns[clock],
			.order = record->seq,
			.from = record->from,
			.to = record->to,
			.user = record,
		};
	}
	routes_settle(ret);
}

/* ---- symbols --------------------------------------------------------------------------- */

void history_symbols(const struct history *history, enum history_clock clock,
		     const struct past *past, struct symbol_list *ret)
{
	*ret = (struct symbol_list){0};
	for (size_t i = 0; i < history->symbols.count; i++) {
		struct text_symbol *symbol = vec_push(&ret->symbols);
		const struct past_life *life;

		*symbol = history->symbols.list[i];
		life = symbol->module
			       ? past_life_at(past, history->end.ns[clock], symbol->address)
			       : NULL;
		symbol->born = life ? life->born : 0;
		symbol->died = PAST_FOREVER;
	}
	for (size_t i = 0; i < history->records.count; i++) {
		const struct history_record *record = &history->records.list[i];

		if (record->type != POKEPATCH_HISTORY_SYMBOL || !record->symbol)
			continue;
		*vec_push(&ret->symbols) = (struct text_symbol){
			.address = record->address,
			.size = record->size,
			.born = record->begin.ns[clock],
			.died = record->end.ns[clock],
			.name = record->symbol,
			.module = record->module,
		};
	}
	symbol_list_settle(ret);
}

/* ---- times ----------------------------------------------------------------------------- */

struct error *history_check_time(const struct history *history, enum history_clock clock,
				 uint64_t time)
{
	uint64_t first = history->info.began.ns[clock], last = history->end.ns[clock];
	bool early = time < first;
	_free_ char *bound = NULL;

	if (!early && time <= last)
		return NULL;
	bound = time_text(early ? first : last);
	return error_new(STATUS_FAILED,
			 "the history %s at %s and says nothing about times %s that%s",
			 early ? "begins" : "ends", bound, early ? "before" : "after",
			 clock == HISTORY_PERF ? " (perf's clock)" : "");
}

bool parse_time(const char *text, uint64_t *ret, uint64_t *ret_unit)
{
	uint64_t seconds = 0, ns = 0, unit = NS_PER_SECOND;

	if (!isdigit((unsigned char)*text))
		return false;
	for (; isdigit((unsigned char)*text); text++) {
		if (seconds > UINT64_MAX / NS_PER_SECOND / 10 - 1)
			return false;
		seconds = seconds * 10 + (*text - '0');
	}
	if (*text == '.') {
		if (!isdigit((unsigned char)*++text))
			return false;
		for (; isdigit((unsigned char)*text); text++) {
			if (unit == 1)
				return false;
			unit /= 10;
			ns += (*text - '0') * unit;
		}
	}
	if (*text == ':')
		text++;
	*ret = seconds * NS_PER_SECOND + ns;
	*ret_unit = unit < NS_PER_SECOND ? unit : 1;
	return !*text;
}

char *time_text(uint64_t ns)
{
	return xasprintf("%" PRIu64 ".%09" PRIu64, (uint64_t)(ns / NS_PER_SECOND),
			 (uint64_t)(ns % NS_PER_SECOND));
}
