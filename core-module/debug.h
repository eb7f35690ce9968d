/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What only the debug build has: switches that turn single checks off, so that tests can
 * show that they matter; a second look at every stack; and faults on request (fault.h).
 */
#ifndef POKEPATCH_DEBUG_H
#define POKEPATCH_DEBUG_H

#include <linux/types.h>

struct pp_busy;
struct pp_hit;
struct task_struct;

/* Module parameters debug_NAME.  With one that skips, the machine may crash at any switch. */
#define PP_DEBUG_SWITCHES(X)                                                               \
	X(skip_tasks, "do not look at the stacks of tasks")                                \
	X(skip_idle, "do not look at the stacks of idle tasks")                            \
	X(skip_exiting, "do not look at the stacks of exiting tasks")                      \
	X(skip_stoppers, "do not look at the stacks of those who stop the machine")        \
	X(skip_cold, "do not look for the cold parts of functions")                        \
	X(skip_returns, "do not resolve return addresses that tracers have replaced")      \
	X(skip_serialise, "do not serialise processors after text was written")            \
	X(skip_claim, "do not claim sites from ftrace")                                    \
	X(stuck_text, "what a stop writes reads back as something else, and is not put back") \
	X(skip_verify, "do not compare code again when a patch is enabled")                \
	X(walk_all, "in the stop, walk also stacks of tasks that have not run")            \
	X(cross_check, "look at each stack a second time, word by word, and compare")      \
	X(skip_words, "that second look sees nothing")

/* The same with a number. */
#define PP_DEBUG_NUMBERS(X)                                                                \
	X(refuse_stops, "in so many stops find somebody in the way")                       \
	X(ready_ms, "how long to wait when exiting tasks are known, before all is laid out")   \
	X(stop_us, "how long each stop lasts at least, microseconds")

#ifdef POKEPATCH_DEBUG

#define PP_DEBUG_DECLARE(name, text) extern bool pp_debug_##name;
PP_DEBUG_SWITCHES(PP_DEBUG_DECLARE)
#undef PP_DEBUG_DECLARE
#define PP_DEBUG_DECLARE(name, text) extern unsigned int pp_debug_##name;
PP_DEBUG_NUMBERS(PP_DEBUG_DECLARE)

/* --- words.c ------------------------------------------------------------------- */

/*
 * Compare what the unwinder has found on the stack of @task, *@hit, with what a look at
 * each word of it finds.  The stack stays while this runs.  Any context.
 */
void pp_words_compare(const struct pp_busy *busy, struct task_struct *task,
		      const struct pp_hit *hit);
/* Warn if the unwinder has found what the words do not show.  Not in a stopped section. */
void pp_words_report(void);

#else

#define PP_DEBUG_DECLARE(name, text) pp_debug_##name = 0,
enum { PP_DEBUG_SWITCHES(PP_DEBUG_DECLARE) PP_DEBUG_NUMBERS(PP_DEBUG_DECLARE) };

static inline void pp_words_compare(const struct pp_busy *busy, struct task_struct *task,
				    const struct pp_hit *hit)
{
}

static inline void pp_words_report(void)
{
}

/* Shall this fail now?  fault.h, which the debug build includes first, has another one. */
#define PP_FAULT(what) false

#endif
#undef PP_DEBUG_DECLARE

#endif /* POKEPATCH_DEBUG_H */
