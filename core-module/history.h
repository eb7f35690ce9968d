/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The text history within the core: record.c makes records of what the other files do,
 * history.c keeps them and gives them to readers.
 */
#ifndef POKEPATCH_CORE_HISTORY_H
#define POKEPATCH_CORE_HISTORY_H

#include <linux/minmax.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>
#include <linux/types.h>

#include <pokepatch_history.h>

struct module;
struct pp_func;
struct pp_patch;
struct pp_site;
struct pp_text;

/* --- times --------------------------------------------------------------------------- */

/* One moment, by both clocks (pokepatch_history.h). */
struct pp_time {
	u64 mono, perf;		/* ns */
};

/*
 * Any context, with preemption off or where the two may be a moment apart: neither clock
 * takes a lock, sleeps or can be traced, and so neither can be patched.
 */
static __always_inline struct pp_time pp_now(void)
{
	return (struct pp_time){
		.mono = ktime_get_mono_fast_ns(),
		.perf = local_clock(),
	};
}

/*
 * A moment that came after another one, which was taken on another CPU: their clocks may differ
 * by more than lies in between.
 */
static inline struct pp_time pp_later(struct pp_time time, const struct pp_time *earlier)
{
	return (struct pp_time){
		.mono = max(time.mono, earlier->mono),
		.perf = max(time.perf, earlier->perf),
	};
}

/* When text was changed, and by whom. */
struct pp_when {
	struct pp_time before, after;	/* until then the old bytes; from then on the new ones */
	struct pp_time begin, end;	/* when calls began to take the new way */
	u32 cpu;
	bool exact;			/* POKEPATCH_HISTORY_EXACT */
	bool told;			/* the kernel has told perf */
};

/* --- history.c: the records, and who reads them ----------------------------------------- */

int pp_history_init(void);
/* Waits until nobody has the device open; nobody has, unless the core is removed by force. */
void pp_history_exit(void);

/*
 * Room for a record of @size bytes and its strings, with size, type and seq filled in
 * and all else 0.  Held until pp_history_end() is a lock, so that the records are
 * in the order of their numbers; nothing may sleep for long in between.  There is always
 * room: if there is no memory, what is written there gets lost, and counted.  May sleep.
 */
void *pp_history_begin(unsigned int type, unsigned int size);
void pp_history_end(void *record);
/*
 * The same, and of the record nothing but its first member is filled in (and the last 8 bytes
 * are 0): the caller writes all else.
 */
void *pp_history_begin_fast(unsigned int type, unsigned int size);
/*
 * For many records in a row: until release() they are made under one lock, and readers are
 * woken once.  pp_history_lose() and snapshots are not for in between.  May sleep.
 */
void pp_history_hold(void);
void pp_history_release(void);
/* What was done could not be noted: @nr records, not known of what, are lost. */
void pp_history_lose(unsigned int nr);
/* What is done from now on, or was until now, is recorded later, or was.  May sleep. */
void pp_history_behind(bool behind);
/* The same as begin() for a write of others: these are bounded apart. */
void *pp_history_begin_other(unsigned int type, unsigned int size);
/*
 * The caller's records until snapshot_end() belong to code that goes: they take @bytes, which
 * are bounded apart, or @least without those of the code.  Others wait as long.
 * Return: true if the code is to be copied; false: there is no room.  May sleep.
 */
bool pp_history_snapshot_begin(size_t bytes, size_t least);
void pp_history_snapshot_end(void);

/* --- record.c: what happened --------------------------------------------------------------- */

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

/* --- others.c: what others write -------------------------------------------------------------- */

void pp_others_init(void);
void pp_others_exit(void);
/* Since when (ns, monotonic) all that others wrote is recorded; 0: it is not. */
u64 pp_others_since(void);
/* Just now it is not: who makes a record makes one that is lost, too.  Any context. */
bool pp_others_deaf(void);
/* All that is written is heard. */
static inline bool pp_others_heard(void)
{
	return pp_others_since() && !pp_others_deaf();
}
/* Calls of [start, start + size) are about to go elsewhere. */
void pp_others_patched(unsigned long start, unsigned long size);
/*
 * What this task writes until unmute() is recorded by the core itself: all, or with @only
 * what is at these sites, and that is noted there.  Under pp_mutex.
 */
void pp_others_mute(struct pp_record_sites *only);
void pp_others_unmute(void);
/*
 * Record all that others wrote until now.  Return: the moment in which nobody was writing and
 * of which that is true.  Not under text_mutex; may sleep.
 */
struct pp_time pp_others_settle(void);
/* The same if there is something that was written before this was called. */
void pp_others_drain(void);

#endif /* POKEPATCH_CORE_HISTORY_H */
