/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of what the core does to text, for the history, the tracepoints and perf: record.c.
 * record.c calls others.c, and both call history.c.  Neither of those calls record.c.
 */
#ifndef POKEPATCH_RECORD_H
#define POKEPATCH_RECORD_H

#include <linux/types.h>

#include <pokepatch_history.h>

#include "others.h"
#include "pp_time.h"

struct module;
struct pp_func;
struct pp_patch;
struct pp_site;
struct pp_text;

/*
 * All functions may sleep, and all but pp_record_transition_number() and pp_record_transition()
 * are called under pp_mutex.
 */

/*
 * From now on until leave(), text is written for the patch of this name, in the transition of this
 * number.  NULL and 0: for none.
 */
void pp_record_enter(u64 transition, const char *patch);
void pp_record_leave(void);
/*
 * The caller writes text from here on, and has made all records of that when it calls end().  A
 * reader that comes in between is told a time from before begin().  enter() and leave(), and
 * pp_record_sites_before() and after(), include this.  Pairs may be nested.
 */
void pp_record_begin(void);
void pp_record_end(void);
/* A new number for a transition. */
u64 pp_record_transition_number(void);
/* A transition begins, or has ended.  Only AFTER records have @error, @stop_ns and @functions. */
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
 * Text was written, at the times in @when, or, if that is NULL, at those of each poke.  With @back
 * the new bytes were replaced by the old ones.
 */
void pp_record_text(struct pp_text *text, const struct pp_when *when, unsigned int method,
		    unsigned int flags, bool back);
/* pp_text_write() has failed, within @when: record what it wrote and put back. */
void pp_record_put_back(const struct pp_text *text, const struct pp_when *when,
			unsigned int method, unsigned int flags);
/*
 * pp_text_write() has written @text, or has failed.  The pokes belong to no function
 * (poke->func is NULL), so each place is looked up.
 */
void pp_record_stores(const struct pp_text *text, const struct pp_when *when, unsigned int method);
/* The @len bytes at @addr were written, for no function. */
void pp_record_store(unsigned long addr, const u8 *old, const u8 *new, unsigned int len,
		     const struct pp_when *when, unsigned int method, unsigned int flags);
/*
 * Calls of @func's site went to @from, and go to @to from now on.  Both are addresses of new
 * functions; 0 stands for the old function.
 */
void pp_record_route(const struct pp_func *func, unsigned long from, unsigned long to,
		     const struct pp_when *when, unsigned int method);

/*
 * The core (de)registers something with ftrace between these two, which may have ftrace write the
 * sites at @ips.  ftrace itself reports that to perf.  If other writers' changes are being noted
 * (others.c), so is what this task writes in between; what another task writes at the same
 * sites is not mistaken for it.  Otherwise each site that differs afterwards counts as written.
 */
void pp_record_sites_before(struct pp_record_sites *sites, const unsigned long *ips,
			    unsigned int nr);
void pp_record_sites_after(struct pp_record_sites *sites);

/* The text of a patch module is about to run for the first time; it will not run any more. */
void pp_record_module_born(struct pp_patch *patch);
void pp_record_module_dies(const struct pp_patch *patch);
/* Another module comes or goes.  Its code is not copied. */
void pp_record_other_module(const struct module *mod, bool going);
/* Calls are about to reach a stub; they no longer do. */
void pp_record_stub_born(struct pp_site *site);
void pp_record_stub_dies(const struct pp_site *site);

/* A string of a record, "" if it has none. */
static inline const char *pp_text_string(const struct pokepatch_history_text *text, u32 offset)
{
	return offset ? (const char *)text + offset : "";
}

#endif /* POKEPATCH_RECORD_H */
