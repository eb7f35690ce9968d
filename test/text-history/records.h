/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text histories made by hand, record by record, in either byte order: for the unit tests,
 * and for the fuzzer to begin with.
 */
#ifndef POKEPATCH_SYNTHETIC_RECORDS_H
#define POKEPATCH_SYNTHETIC_RECORDS_H

#include "history/text_history.h"

/* The kernel that they tell of. */
#define SYNTHETIC_STEXT 0xffffffff81000000ull
#define SYNTHETIC_ETEXT 0xffffffff82000000ull
#define SYNTHETIC_MODULE 0xffffffffc0100000ull
#define SYNTHETIC_BEGAN 1000ull
/* So far is perf's clock ahead of the monotonic one. */
#define SYNTHETIC_PERF 700000ull

struct synthetic {
	struct buffer bytes;
	bool swap;    /* in the other byte order */
	int64_t drift; /* ns, by which perf's clock was ahead of SYNTHETIC_PERF in the beginning */
	uint64_t seq; /* of the last record */
};

/* synthetic_info - the first record; flags of enum pokepatch_history_flags. */
void synthetic_info(struct synthetic *s, unsigned int flags);

/* A change of text and its two records; times in ns, of the monotonic clock. */
struct synthetic_text {
	uint64_t address;
	const char *old, *new; /* bytes, of size */
	size_t size;
	uint64_t before, begin, end, after;
	enum pokepatch_history_method method;
	unsigned int flags;
	const char *symbol, *patch;
	bool only_before, only_after; /* of the two records */
};
void synthetic_text(struct synthetic *s, const struct synthetic_text *text);

struct synthetic_route {
	uint64_t function, size, site, from, to;
	uint64_t begin, end;
	unsigned int flags;
	const char *symbol, *patch;
};
void synthetic_route(struct synthetic *s, const struct synthetic_route *route);

struct synthetic_code {
	enum pokepatch_history_type type;
	enum pokepatch_history_kind kind;
	uint64_t address, size;
	const char *bytes; /* of a SNAPSHOT; NULL: none */
	uint64_t born, died;
	unsigned int flags;
	const char *name;
};
void synthetic_code(struct synthetic *s, const struct synthetic_code *code);

void synthetic_symbol(struct synthetic *s, uint64_t address, uint64_t size, uint64_t born,
		      uint64_t died, const char *name, const char *module);
void synthetic_transition(struct synthetic *s, uint64_t number, unsigned int phase, uint64_t time,
			  const char *patch);
void synthetic_lost(struct synthetic *s, uint64_t count);

/*
 * synthetic_file - the records as an exported file, with one piece of text at the end and
 * the end's time; the caller's.
 */
struct buffer synthetic_file(const struct synthetic *s, uint64_t address, const char *text,
			     size_t size, uint64_t end);

/* synthetic_story - a bit of everything, for tests that need a whole history. */
void synthetic_story(struct synthetic *s);

#endif /* POKEPATCH_SYNTHETIC_RECORDS_H */
