/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text history against what was in memory: looks at live text, taken while everybody
 * writes, and what is made of the records afterwards.
 */
#ifndef POKEPATCH_REPLAY_H
#define POKEPATCH_REPLAY_H

#include "history/text_history.h"

/* A place that some record is about. */
#define PLACE_MAX 32
struct place {
	uint64_t address;
	uint32_t size;
};

/* What was at a place, at some time from before to after. */
struct look {
	uint64_t before, after;
	size_t place;
	uint8_t bytes[PLACE_MAX];
};

struct looks {
	VEC(struct place) places;
	VEC(struct look) list; /* by time */
	/* All text of vmlinux at some time: the records are those that came later. */
	uint64_t start;
	uint64_t text;
	size_t text_size;
	uint8_t *boot;
};

/* Wrong ones are printed, some of them. */
extern bool replay_shows;

/* Nobody but the core writes, whether it hears of others or not: what is assumed is judged too. */
extern bool replay_alone;

struct verdict {
	size_t equal, wrong;
	size_t middle;	/* some change was under way: no question */
	size_t unknown, assumed; /* the library's */
	size_t gaps;	/* a record does not find what it says was there */
};

/*
 * The plain way, of FORMAT.md: records one after the other, from the text at boot (or the
 * file's base) on to the text at the end, or from there back.
 */
struct verdict replay_forwards(const struct looks *looks, const struct history *history);
struct verdict replay_backwards(const struct looks *looks, const struct history *history);
/* What `pokepatch text` would say.  @whole: tells of all that was under way. */
struct verdict replay_library(const struct looks *looks, const struct history *history,
			      const struct history *whole);

/*
 * replay_damage - take a change out of the history, or (@alter) make another one of it.
 * @turn: which, or one soon after it that a later change shows.  False: there is none.
 */
bool replay_damage(struct history *history, const struct looks *looks, size_t turn, bool alter);

#endif /* POKEPATCH_REPLAY_H */
