/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text as it was at some time: the library behind `pokepatch text`.
 *
 * It works on changes (old and new bytes, a begin and an end), sights (bytes that were seen at one
 * time: now, or just before the code went away), lives (from when to when an address had text) and
 * blind times, of which changes may be missing.  A byte's value follows forwards from the last
 * change or sight before the time, or backwards from the next one after it.  If both hold and
 * disagree, the text was changed unseen, and the byte is unknown.
 *
 * All times are nanoseconds of one clock, which the caller chooses.
 */
#ifndef POKEPATCH_PAST_H
#define POKEPATCH_PAST_H

#include "history/span.h"

#define PAST_FOREVER UINT64_MAX

/*
 * A change of some bytes.  Before begin a processor runs the old bytes, from end on the new ones,
 * and between the two it may run either.  If begin equals end, the time of the change is exact.  Of
 * changes with equal times, the one with the lower order was made first.
 */
struct past_change {
	uint64_t address;
	uint64_t begin, end;
	uint64_t order; /* not 0 */
	const uint8_t *before, *after; /* borrowed */
	uint32_t size;
};

/* Bytes that were seen in memory at one time. */
struct past_sight {
	uint64_t address;
	uint64_t time;
	uint64_t order; /* of the last change that had been made by then; 0: none */
	const uint8_t *bytes; /* borrowed */
	uint32_t size;
};

/* Text of one origin, there from born to died (PAST_FOREVER: it is still there). */
struct past_life {
	uint64_t address, size;
	uint64_t born, died;
	const void *user; /* the record that tells of it, or NULL: it was there at the end */
};

/* Missing changes: they were made between those of lower and those of higher order. */
struct past_blind {
	uint64_t order;
	uint64_t begin, end; /* when they were made */
};

struct past {
	VEC(struct past_change) changes;
	VEC(struct past_sight) sights;
	VEC(struct past_life) lives;
	VEC(struct past_blind) blinds;
	/*
	 * From this time on other writers' changes are here too.  Before it (PAST_FOREVER: at any
	 * time) bytes that another writer can have changed are PAST_ASSUMED.
	 */
	uint64_t others_since;

	/* Made by past_settle(). */
	struct span_list by_place[3]; /* changes, sights, lives */
};

/* past_settle - call it after the last addition and before the first question. */
void past_settle(struct past *past);
void past_deinit(struct past *past);

enum past_state {
	PAST_NONE,    /* there was no text as far as is known */
	PAST_UNKNOWN, /* there was text, with an unknown value */
	PAST_KNOWN,
	/*
	 * All records agree with the value, but other writers' changes are not recorded: one may
	 * have changed the byte and changed it back.
	 */
	PAST_ASSUMED,
	PAST_EITHER, /* in the middle of a change */
};
struct past_byte {
	enum past_state state;
	uint8_t value, other; /* other: the new value, for PAST_EITHER */
};

/* past_is_there - does the byte have a value? */
static inline bool past_is_there(const struct past_byte *byte)
{
	return byte->state >= PAST_KNOWN;
}

/* past_bytes - the bytes of [address, address + size) at a time. */
void past_bytes(const struct past *past, uint64_t time, uint64_t address, size_t size,
		struct past_byte *ret);

/* past_life_at - the life that an address was in at a time, or NULL. */
const struct past_life *past_life_at(const struct past *past, uint64_t time, uint64_t address);

/*
 * The rule for anything that changes at known times: given the last change that had begun at a
 * time, and the first that had not, which of the two says what was there?
 */
struct past_point {
	bool set;
	uint64_t begin, end, order;
};
enum past_verdict {
	PAST_BY_LAST,	/* the new value of the last */
	PAST_BY_NEXT,	/* the old value of the next */
	PAST_WITHIN,	/* the last change is not over: either of its values */
	PAST_BY_NEITHER, /* unknown */
};
/*
 * past_judge - apply the rule.
 * @same: the new value of the last is the old value of the next
 * @ours: no other writer can have changed it in between
 * @ret_sure: false: another writer may have changed it unseen, and changed it back
 */
enum past_verdict past_judge(const struct past *past, const struct past_point *last,
			     const struct past_point *next, uint64_t time, bool same, bool ours,
			     bool *ret_sure);
/* past_point_before - is x before y, or at the same time with a lower order? */
bool past_point_before(const struct past_point *x, const struct past_point *y);

#endif /* POKEPATCH_PAST_H */
