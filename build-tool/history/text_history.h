/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text history as the host programs have it: records of the core
 * (pokepatch_history.h), taken apart, and what else is needed to tell what text was at some
 * time: text that was seen, symbols, modules.  It comes from the running kernel (live.h)
 * or from a file that was exported (FORMAT.md), on whatever machine.
 */
#ifndef POKEPATCH_HISTORY_HOST_H
#define POKEPATCH_HISTORY_HOST_H

#include "history/past.h"
#include "pokepatch_history.h"
#include "history/route.h"
#include "history/symbol_list.h"

/* A moment, on each of the clocks, in ns. */
enum history_clock {
	HISTORY_MONOTONIC, /* CLOCK_MONOTONIC */
	HISTORY_PERF,	   /* what perf puts into its records when it is not told otherwise */
	HISTORY_CLOCKS,
};
struct history_stamp {
	uint64_t ns[HISTORY_CLOCKS];
};

/* One record.  Texts and bytes are borrowed from the history; a text may be NULL. */
struct history_record {
	enum pokepatch_history_type type;
	uint16_t flags;
	uint64_t seq;
	struct history_stamp time;
	uint32_t cpu;

	uint64_t address, size; /* TEXT, code, SYMBOL; ROUTE: of the old function */
	struct history_stamp begin, end; /* TEXT, ROUTE; of code and SYMBOL the life */
	uint64_t change;		 /* TEXT */
	uint64_t count;			 /* LOST */
	uint64_t transition;
	uint64_t function;		  /* TEXT: or 0 */
	uint64_t site, from, to;	  /* ROUTE */
	uint64_t from_size, to_size;	  /* ROUTE */
	uint64_t stop_ns;		  /* TRANSITION */
	int32_t error;
	uint32_t functions;
	uint8_t phase, method, mode, kind;
	uint32_t symbol_offset;
	const char *symbol, *module, *patch; /* symbol: also the name of code */
	const uint8_t *old, *new;	     /* TEXT: size bytes each */
	const uint8_t *bytes;		     /* SNAPSHOT: size bytes, or NULL */
};

/* What the first record of a reader says. */
struct history_info {
	struct history_stamp time; /* when it was opened */
	uint32_t machine;	   /* ELF's */
	bool big_endian;
	bool others;  /* others' changes are recorded ... */
	bool modules; /* ... and all modules that come and go */
	struct history_stamp began, others_since;
	uint64_t text, stext, etext;
	uint64_t real_ns;
	uint64_t next_seq, lost, snapshots_lost;
	const char *release;
	char *build_id; /* hexadecimal; NULL: none */
};

/* Text that was seen at some time. */
struct history_sight {
	uint64_t address;
	uint32_t size;
	bool base; /* not seen, but what was there before the first change */
	struct history_stamp time;
	uint64_t seq; /* of the last record that had been made by then; 0: none */
	const uint8_t *bytes;
};

/* Text of a module that was there at the end, with nothing in the records about its coming. */
struct history_module {
	uint64_t address, size;
	const char *name;
};

/* Records as they came. */
struct history_raw {
	const uint8_t *bytes;
	size_t size;
};

struct history {
	struct history_info info;
	VEC(struct history_record) records; /* by seq */
	struct history_stamp end;	    /* nothing is known of what came after */
	VEC(struct history_sight) sights;
	VEC(struct history_module) modules;
	VEC(struct text_symbol) symbols; /* of what was there at the end */
	VEC(struct history_raw) raw;	 /* the records as they came, for export */
	VEC(void *) memory;		 /* that all this lies in */
};
void history_deinit(struct history *history);
/* history_keep - free it with the history. */
void *history_keep(struct history *history, void *memory);

/*
 * history_add_records - take apart what the device gave, or a file has: whole records, one
 * after the other.  @swap: they are in the other byte order than this machine's.
 * @bytes must stay where they are.  @ret_info: there was such a record.
 * Errors: what cannot be; the text says at which byte.
 */
struct error *history_add_records(struct history *history, const uint8_t *bytes, size_t size,
				  bool swap, bool *ret_info);

/*
 * What the questions are put to; times are those of one clock.  All borrow from the
 * history; none changes it.
 */
void history_past(const struct history *history, enum history_clock clock, struct past *ret);
void history_routes(const struct history *history, enum history_clock clock, struct routes *ret);
/* history_symbols - @past: of the same clock, for when modules came. */
void history_symbols(const struct history *history, enum history_clock clock,
		     const struct past *past, struct symbol_list *ret);

/*
 * history_under_way - the first record of the oldest transition that was not over when the
 * last record was read, or NULL.  Changes of text are told when they have been made: of
 * those of such a transition some may not have been told yet.
 */
const struct history_record *history_under_way(const struct history *history);

/* history_last_seq - of the last record, or the last that is known to be missing; 0: none. */
uint64_t history_last_seq(const struct history *history);

/*
 * history_check_time - an error if nothing is known about that time, since it is before the
 * history or after its end.
 */
struct error *history_check_time(const struct history *history, enum history_clock clock,
				 uint64_t time);

/* Words for numbers of the header; NULL: none. */
const char *history_type_name(unsigned int type);
const char *history_method_name(unsigned int method);
const char *history_mode_name(unsigned int mode);
const char *history_kind_name(unsigned int kind);

/* parse_time - "12.5", "12.500000000" or "12.5:" (as perf writes it): seconds to ns. */
bool parse_time(const char *text, uint64_t *ret);
/* time_text - the reverse, with nine digits; the caller's. */
char *time_text(uint64_t ns);

#endif /* POKEPATCH_HISTORY_HOST_H */
