/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text as it was at some time: the library function behind `pokepatch text`.
 *
 * It knows changes (who wrote what where, from when to when), what was seen of the text at
 * some times (now; before it went away), from when to when there was text at all, and
 * times of which not all is known.  From these each byte's value follows, forwards from
 * what was there before or backwards from what came after, whichever holds; where both
 * hold and do not agree, somebody changed the text unseen, and the byte is unknown.
 *
 * All times are nanoseconds of one clock, whichever the caller has chosen.
 */
#ifndef POKEPATCH_PAST_H
#define POKEPATCH_PAST_H

#include "history/span.h"

#define PAST_FOREVER UINT64_MAX

/*
 * A change of some bytes.  Before begin a processor that comes there runs the old bytes,
 * from end on the new ones; between the two it may be either.  Where they are equal the
 * change has one exact time.  Of several changes with equal times the one with the lower
 * order was made before.
 */
struct past_change {
	uint64_t address;
	uint64_t begin, end;
	uint64_t order; /* not 0 */
	const uint8_t *before, *after; /* borrowed */
	uint32_t size;
};

/* What was seen in memory at one time. */
struct past_sight {
	uint64_t address;
	uint64_t time;
	uint64_t order; /* changes up to this one had been made by then; 0: none */
	const uint8_t *bytes; /* borrowed */
	uint32_t size;
};

/* There was text of one origin here, from born to died (PAST_FOREVER: it is still there). */
struct past_life {
	uint64_t address, size;
	uint64_t born, died;
};

/* Changes that are missing: they came between those of lower and of higher order. */
struct past_blind {
	uint64_t order;
	uint64_t begin, end; /* when they were made */
};

struct past {
	VEC(struct past_change) changes;
	VEC(struct past_sight) sights;
	VEC(struct past_life) lives;
	VEC(struct past_blind) blinds;
	/* From then on others' changes are there too; before, or if PAST_FOREVER, bytes that
	 * they can have changed are assumed, and not known. */
	uint64_t others_since;

	/* Made by past_settle(). */
	struct span_list by_place[3]; /* changes, sights, lives */
};

/* past_settle - all has been added; before anything is asked. */
void past_settle(struct past *past);
void past_deinit(struct past *past);

enum past_state {
	PAST_NONE,    /* there was no text, as far as is known */
	PAST_UNKNOWN, /* there was text; what, nobody can tell */
	PAST_KNOWN,
	/*
	 * Nothing speaks against it; but others' changes are not recorded, and somebody may
	 * have changed it and changed it back.
	 */
	PAST_ASSUMED,
	PAST_EITHER, /* in the middle of a change */
};
struct past_byte {
	enum past_state state;
	uint8_t value, other; /* other: the new one, for PAST_EITHER */
};

/* past_is_there - is there a value? */
static inline bool past_is_there(const struct past_byte *byte)
{
	return byte->state >= PAST_KNOWN;
}

/* past_bytes - the bytes of [address, address + size) at that time. */
void past_bytes(const struct past *past, uint64_t time, uint64_t address, size_t size,
		struct past_byte *ret);

/* past_life_at - the text that an address was in at that time, or NULL. */
const struct past_life *past_life_at(const struct past *past, uint64_t time, uint64_t address);

/*
 * The rule for anything that changes at known times: which of two changes, the last that
 * had begun and the first that had not, tells what was there in between.
 */
struct past_point {
	bool set;
	uint64_t begin, end, order;
};
enum past_verdict {
	PAST_BY_LAST, /* what the last made of it */
	PAST_BY_NEXT, /* what the next found */
	PAST_WITHIN,  /* the last is not over: either */
	PAST_NOBODY,  /* nothing is known */
};
/*
 * past_judge - @same: the last left what the next found; @ours: nobody else can have
 * written in between.  @ret_sure: otherwise others may have, and changed it back.
 */
enum past_verdict past_judge(const struct past *past, const struct past_point *last,
			     const struct past_point *next, uint64_t time, bool same, bool ours,
			     bool *ret_sure);
/* past_point_before - does x come before y, or at the same time with a lower order? */
bool past_point_before(const struct past_point *x, const struct past_point *y);

#endif /* POKEPATCH_PAST_H */
