/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text history in the host programs: the core's records (pokepatch_history.h) in parsed form,
 * with the text that was seen, symbols and modules, so that text can be reconstructed as it was at
 * some time.  A history comes from the running kernel (live_text.h) or from an exported file
 * (export.h, FORMAT.md), which may be of another machine.
 */
#ifndef POKEPATCH_TEXT_HISTORY_H
#define POKEPATCH_TEXT_HISTORY_H

#include "history/past.h"
#include "pokepatch_history.h"
#include "history/route.h"
#include "history/symbol_list.h"

/* A time on each of the clocks, in ns. */
enum history_clock {
	HISTORY_MONOTONIC, /* CLOCK_MONOTONIC */
	HISTORY_PERF,	   /* the clock of perf's records, unless perf was given another */
	HISTORY_CLOCKS,
};
struct history_stamp {
	uint64_t ns[HISTORY_CLOCKS];
};

/*
 * One record.  The comments name the types of records that have a field.  Strings and bytes are
 * borrowed from the history; a string may be NULL.
 */
struct history_record {
	enum pokepatch_history_type type;
	uint16_t flags;
	uint64_t seq;
	struct history_stamp time;
	uint32_t cpu;

	uint64_t address, size; /* TEXT, APPEAR, SNAPSHOT, SYMBOL; ROUTE: the original function */
	struct history_stamp begin, end; /* TEXT, ROUTE; APPEAR, SNAPSHOT, SYMBOL: the life */
	uint64_t change;		 /* TEXT */
	uint64_t count;			 /* LOST */
	uint64_t transition;
	uint64_t function;		  /* TEXT; 0: none */
	uint64_t site, from, to;	  /* ROUTE */
	uint64_t from_size, to_size;	  /* ROUTE */
	uint64_t stop_ns;		  /* TRANSITION */
	int32_t error;
	uint32_t functions;
	uint8_t phase, method, mode, kind;
	uint32_t symbol_offset;
	const char *symbol, *module, *patch; /* symbol: for APPEAR, SNAPSHOT the code's name */
	const uint8_t *old, *new;	     /* TEXT: size bytes each */
	const uint8_t *bytes;		     /* SNAPSHOT: size bytes, or NULL */
};

/* The contents of the first record that a reader gets. */
struct history_info {
	struct history_stamp time; /* when the reader opened the device */
	uint32_t machine;	   /* ELF's number (EM_...) */
	bool big_endian;
	bool others;  /* other writers' changes are recorded */
	bool modules; /* all modules that come and go are recorded */
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
	bool base; /* worked out: the text before the first change */
	struct history_stamp time;
	uint64_t seq; /* of the last record that had been made by then; 0: none */
	const uint8_t *bytes;
};

/* The text of a module that was there at the end. */
struct history_module {
	uint64_t address, size;
	const char *name;
};

/* Records in the form in which they came. */
struct history_raw {
	const uint8_t *bytes;
	size_t size;
};

struct history {
	struct history_info info;
	VEC(struct history_record) records; /* by seq */
	struct history_stamp end;	    /* the history says nothing about later times */
	VEC(struct history_sight) sights;
	VEC(struct history_module) modules;
	VEC(struct text_symbol) symbols; /* of the text that was there at the end */
	VEC(struct history_raw) raw;	 /* for export */
	VEC(void *) memory;		 /* owned; strings and bytes lie in it */
};
void history_deinit(struct history *history);
/* history_keep - make the history own some memory, and return it. */
void *history_keep(struct history *history, void *memory);

/*
 * history_clean - a name as it may be shown: itself, or a copy that the history owns, in which "?"
 * stands for what could lead a terminal, or a reader of JSON, astray.
 */
const char *history_clean(struct history *history, const char *name);

/*
 * history_add_records - parse records of the device or of a file.
 * @bytes: whole records, one after the other; borrowed for the life of the history
 * @swap: they are in the other byte order than this machine's
 * @ret_info: a POKEPATCH_HISTORY_INFO was among them
 * Errors: a record is malformed; the text says at which byte.
 */
struct error *history_add_records(struct history *history, const uint8_t *bytes, size_t size,
				  bool swap, bool *ret_info);

/*
 * Make what questions are put to, with the times of one clock.  The results borrow from the
 * history, which stays unchanged.
 */
void history_past(const struct history *history, enum history_clock clock, struct past *ret);
void history_routes(const struct history *history, enum history_clock clock, struct routes *ret);
/* history_symbols - @past: of the same clock; says when modules came */
void history_symbols(const struct history *history, enum history_clock clock,
		     const struct past *past, struct symbol_list *ret);

/*
 * history_under_way - the first record of the oldest transition that was not over when the last
 * record was read, or NULL.  The core records a change of text after it has made it, so records of
 * such a transition's changes may still be to come.
 */
const struct history_record *history_under_way(const struct history *history);

/* history_last_seq - the number of the last record, read or known to be lost; 0: none. */
uint64_t history_last_seq(const struct history *history);

/* history_check_time - Errors: the time is before the history's beginning or after its end. */
struct error *history_check_time(const struct history *history, enum history_clock clock,
				 uint64_t time);

/* The words for numbers of pokepatch_history.h; NULL: unknown. */
const char *history_type_name(unsigned int type);
const char *history_method_name(unsigned int method);
const char *history_mode_name(unsigned int mode);
const char *history_kind_name(unsigned int kind);

/*
 * parse_time - parse seconds into ns: "12.5", "12.500000000", or "12.5:" as perf writes it.
 * @ret_unit: what the last decimal counts, in ns; 1 for whole seconds, which say what they mean
 */
bool parse_time(const char *text, uint64_t *ret, uint64_t *ret_unit);
/* time_text - ns as seconds with nine decimals.  Owned by the caller. */
char *time_text(uint64_t ns);

#endif /* POKEPATCH_TEXT_HISTORY_H */
