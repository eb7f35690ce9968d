/* SPDX-License-Identifier: GPL-2.0-only */
/* Records of what the other files do, for the history, tracepoints and perf: record.c. */
#ifndef POKEPATCH_RECORD_H
#define POKEPATCH_RECORD_H

#include <linux/types.h>

#include <pokepatch_history.h>

#include "pp_time.h"

struct module;
struct pp_func;
struct pp_patch;
struct pp_site;
struct pp_text;

/* All under pp_mutex; may sleep. */

/*
 * What is done from now on until leave() is for @patch's sake, and of the transition of this
 * number (0: none).
 */
void pp_record_enter(u64 transition, const char *patch);
void pp_record_leave(void);
/*
 * Text is written from here on, of which records are made by end(): a reader who comes in
 * between is not told that all is there.  enter() and leave(), and what is done about sites, do
 * it by themselves.  One pair may lie in another.
 */
void pp_record_begin(void);
void pp_record_end(void);
/* A number for a transition. */
u64 pp_record_transition_number(void);
/* It begins, or is over: @error, @stop_ns and @functions are told with AFTER. */
struct pp_record_transition {
	u64 nr;
	unsigned int kind;	/* enum pokepatch_history_kind */
	const char *patch, *module;
	bool live;
	int error;
	u64 stop_ns;
	unsigned int functions;
};
void pp_record_transition(const struct pp_record_transition *transition, unsigned int phase);

/*
 * Text was written, as @when says, or, if that is NULL, as each poke's own when does.
 * @back: new to old.
 */
void pp_record_text(struct pp_text *text, const struct pp_when *when, unsigned int method,
		    unsigned int flags, bool back);
/* pp_text_write() has failed, within @when: what it wrote and put back. */
void pp_record_put_back(const struct pp_text *text, const struct pp_when *when,
			unsigned int method, unsigned int flags);
/*
 * The same of a text whose pokes are for no function's sake, whether it was written or has failed, as
 * pp_text_write() has left it.
 */
void pp_record_stores(const struct pp_text *text, const struct pp_when *when, unsigned int method);
/* @len bytes at @addr were written, for no function's sake. */
void pp_record_store(unsigned long addr, const u8 *old, const u8 *new, unsigned int len,
		     const struct pp_when *when, unsigned int method, unsigned int flags);
/* Calls of @func's site went to @from, an address or 0 for the old function, and now to @to. */
void pp_record_route(const struct pp_func *func, unsigned long from, unsigned long to,
		     const struct pp_when *when, unsigned int method);

/*
 * Sites that ftrace may be about to write, as the core (de)registers something; ftrace tells
 * perf itself.  Where others' writes are heard (others.c), what this task writes in between is,
 * too, and what others write at the same sites is not taken for it; else all that differs
 * afterwards is.
 */
struct pp_record_site {
	unsigned long ip;
	u64 change;
	bool heard;		/* this task wrote it: then the others are as of that */
	struct pp_time begin;
	u8 old[POKEPATCH_HISTORY_BYTES_MAX], new[POKEPATCH_HISTORY_BYTES_MAX];
};

struct pp_record_sites {
	struct pp_record_site *site, one; /* by ip */
	unsigned int nr;
	bool listening;		/* what was not heard was not done */
	struct pp_time before;
};
void pp_record_sites_before(struct pp_record_sites *sites, const unsigned long *ips,
			    unsigned int nr);
void pp_record_sites_after(struct pp_record_sites *sites);

/* Somebody else wrote @len bytes; by who is no other's writer at the same time.  Any task. */
void pp_record_other(unsigned long addr, const u8 *old, const u8 *new, unsigned int len,
		     const struct pp_when *when);

/* The text of a patch module that is about to run for the first time, or went out of use. */
void pp_record_module_born(struct pp_patch *patch);
void pp_record_module_dies(const struct pp_patch *patch);
/* Another module's, which comes or goes; of which only that is recorded. */
void pp_record_other_module(const struct module *mod, bool going);
/* A stub that is about to be called, or that nobody calls any more. */
void pp_record_stub_born(struct pp_site *site);
void pp_record_stub_dies(const struct pp_site *site);

/* A string of a record, "" if it has none. */
static inline const char *pp_text_string(const struct pokepatch_history_text *text, u32 offset)
{
	return offset ? (const char *)text + offset : "";
}

#endif /* POKEPATCH_RECORD_H */
