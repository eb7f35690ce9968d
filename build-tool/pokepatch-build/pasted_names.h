/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that macros put together (##), which no text mentions as a whole: with
 * "#define FLAG(x) test_##x(void)", FLAG(dirty) mentions test_dirty.
 */
#ifndef POKEPATCH_PASTED_NAMES_H
#define POKEPATCH_PASTED_NAMES_H

#include "pokepatch-build/item_index.h"

/* A part of a pasted name; text: NULL if the macro's user gives it. */
struct paste_part {
	const char *text;
	uint32_t length, param; /* param: 1 + the number of the parameter that gives it, or 0 */
	bool digits;            /* __COUNTER__ or __LINE__ gives it */
};

/* What a macro pastes. */
struct paste {
	uint32_t item; /* the macro */
	uint32_t first_part, nr_parts;
};

/*
 * A way in which a name may be pasted.  The text that does it leads to the macro and to all parts
 * that a user of the macro gives: it mentions them, or macros that lead to them.
 */
struct pasting_way {
	uint32_t names[8]; /* the macro and these parts, as many as there is room for */
	uint32_t nr_names;
	uint32_t item;                   /* the macro */
	bool searched;                   /* the places below are known (pasted_places.c) */
	uint32_t first_place, nr_places; /* in places: items of headers that do it */
};

/* The names of the macros that lead to a name, and the name. */
struct leading {
	uint32_t first, count; /* in leads */
	uint32_t unit;         /* for name_filter.c: the last unit for which in_source is valid */
	bool in_source;
};

struct pasting {
	uint32_t first_way, nr_ways;
};

/* Names of which a text has one, or a macro that leads to one, if it makes a name. */
struct starting {
	uint32_t first, count; /* in starts */
	size_t cost;           /* how many items of headers mention them */
};

struct pastes {
	struct item_index *index;
	VEC(struct paste_part) parts;
	VEC(struct paste) list;
	VEC(uint32_t) by_first[256]; /* pastes that begin with a text, by its first byte */
	VEC(uint32_t) by_last[256];  /* others that end with a text, by its last byte */
	VEC(uint32_t) others;        /* all others but those without text */
	VEC(uint32_t) whole;         /* pastes of parts that users give: a##b */
	struct map seen;             /* keys: pastes as text */
	VEC(char *) keys;            /* owns the keys of seen */
	VEC(struct pasting_way) ways;
	VEC(struct pasting) pastings;
	VEC(uint32_t) places;
	VEC(uint32_t) starts;
	VEC(struct starting) startings;
	VEC(uint32_t) starting_of; /* by name: 1 + the index in startings, or 0 */
	VEC(uint32_t) leads;
	VEC(struct leading) leadings;
	VEC(uint32_t) leading_of; /* by name: 1 + the index in leadings, or 0 */
	VEC(uint32_t) marks;      /* by name: the last search that has met it */
	VEC(uint32_t) steps;      /* by item: how far the last search has come that met it */
	uint32_t search, step;    /* the last ones */
};

/* pastes_init - find what the macros of a finished index paste. */
void pastes_init(struct pastes *pastes, struct item_index *index);
void pastes_deinit(struct pastes *pastes);

/* pastes_name_exists - whether some file has the name. */
bool pastes_name_exists(const struct pastes *pastes, uint32_t name);
/*
 * pastes_ways - the ways in which a name may be pasted, of parts that some file has or that may be
 * pasted, too.  Parts become names of the index.
 */
struct pasting pastes_ways(struct pastes *pastes, uint32_t name);

/* pastes_leading - the index in pastes->leadings of what leads to a name. */
uint32_t pastes_leading(struct pastes *pastes, uint32_t name);
/* pastes_find_places - find the items of headers that may paste a name in a way; once. */
void pastes_find_places(struct pastes *pastes, uint32_t way);

#endif /* POKEPATCH_PASTED_NAMES_H */
