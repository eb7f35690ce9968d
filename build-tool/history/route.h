/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Routes: which code the calls of a function led to at some time, for `pokepatch history --path`.
 *
 * Callers ask about many times.  So all changes are sorted once by place and time, and a question
 * takes two binary searches.
 */
#ifndef POKEPATCH_ROUTE_H
#define POKEPATCH_ROUTE_H

#include "history/past.h"

/* A switch of one function from one body to another. */
struct route_change {
	uint64_t function;   /* the entry, to which calls branch */
	uint64_t site;	     /* the instruction that leads on; all in front of it is entry */
	uint64_t begin, end; /* as in struct past_change */
	uint64_t order;
	uint64_t from, to; /* addresses of functions; 0: the original's body */
	const void *user;
};

struct routes {
	VEC(struct route_change) changes; /* sorted by routes_settle(): by function, time */
	VEC(size_t) firsts;		  /* the first change of each function, and the end */
	struct span_list by_place;	  /* the entries of the functions in firsts */
};

void routes_settle(struct routes *routes);
void routes_deinit(struct routes *routes);

enum route_state {
	ROUTE_NONE,    /* no patch ever switched a function there */
	ROUTE_UNKNOWN, /* records are missing */
	ROUTE_KNOWN,
	ROUTE_EITHER,
};
struct route {
	enum route_state state;
	uint64_t function;
	uint64_t taken, other; /* 0: the original; other: for ROUTE_EITHER */
	/* The last change before the time, and the next one after it; or NULL. */
	const struct route_change *last, *next;
};

/* route_at - the route at an address and time.  @past: gives the blind times */
struct route route_at(const struct routes *routes, const struct past *past, uint64_t time,
		      uint64_t address);

#endif /* POKEPATCH_ROUTE_H */
