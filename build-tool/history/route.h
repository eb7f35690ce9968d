/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which code calls of a function led to at some time: `pokepatch history --path`.
 *
 * Many times are asked for, so all changes are sorted once by place and time, and each
 * question is two binary searches.
 */
#ifndef POKEPATCH_ROUTE_H
#define POKEPATCH_ROUTE_H

#include "history/past.h"

/* A switch of one function: from when to when, and between which bodies. */
struct route_change {
	uint64_t function;   /* its entry: what a call's branch leads to */
	uint64_t site;	     /* the instruction that leads elsewhere; up to it all is entry */
	uint64_t begin, end; /* as in struct past_change; equal: exact */
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
	ROUTE_NONE,    /* no patch ever switched anything there */
	ROUTE_UNKNOWN, /* records are missing */
	ROUTE_KNOWN,
	ROUTE_EITHER,
};
struct route {
	enum route_state state;
	uint64_t function;
	uint64_t taken, other; /* 0: the original; other: for ROUTE_EITHER */
	/* The changes that told, or NULL: what went before, and what came after. */
	const struct route_change *last, *next;
};

/* route_at - @past: for its blind times. */
struct route route_at(const struct routes *routes, const struct past *past, uint64_t time,
		      uint64_t address);

#endif /* POKEPATCH_ROUTE_H */
