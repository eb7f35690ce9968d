/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The debug build's switches, which turn single checks off, so that tests can show that they
 * matter.  It also has a second look at every stack (words.h), and faults on request (fault.h).
 */
#ifndef POKEPATCH_DEBUG_H
#define POKEPATCH_DEBUG_H

#include <linux/types.h>

/* Module parameters debug_NAME.  With one that skips, the machine may crash at any switch. */
#define PP_DEBUG_SWITCHES(X)                                                               \
	X(skip_tasks, "do not look at the stacks of tasks")                                \
	X(skip_idle, "do not look at the stacks of idle tasks")                            \
	X(skip_exiting, "do not look at the stacks of exiting tasks")                      \
	X(skip_stoppers, "do not look at the stacks of those who stop the machine")        \
	X(skip_earlier, "do not wait for those who began to exit before the core came")    \
	X(skip_lost, "do not mind exiting tasks that could not be noted")                  \
	X(skip_unlisted, "do not mind those in the way for whom there was no room")        \
	X(no_room, "there is no room to note who is in the way")                           \
	X(skip_runs, "take stacks that were clear for clear, though their tasks have run") \
	X(skip_old, "do not look for the old functions")                                   \
	X(skip_new, "do not look for the new functions")                                   \
	X(skip_top, "do not look for the functions of the patch on top")                   \
	X(skip_carried, "do not look for other patches' copies of carried functions")      \
	X(skip_left_behind, "do not look for functions that live transitions left tasks in") \
	X(skip_cold, "do not look for the cold parts of functions")                        \
	X(skip_text, "do not look for the rest of a patch module's text")                  \
	X(skip_last_calls, "do not take the address behind a function for its own")        \
	X(skip_unreliable, "take stacks that cannot be walked to their end for clear")     \
	X(skip_places, "walk on from wherever a task was interrupted")                     \
	X(skip_stack_ends, "take the end of the unwind data for the stack's")              \
	X(skip_ready, "walk stacks with kretprobes on them of tasks that are ready to run") \
	X(skip_returns, "do not resolve return addresses that tracers have replaced")      \
	X(skip_drain, "do not look for those in a patch that was switched off live")       \
	X(skip_pin, "do not keep modules whose addresses have escaped")                    \
	X(skip_serialise, "do not serialise processors after text was written")            \
	X(skip_claim, "do not claim sites from ftrace")                                    \
	X(skip_users, "do not count who came to a site while it was claimed")              \
	X(skip_redirect, "give sites back though somebody redirects their calls")          \
	X(skip_probed, "write stubs and entries that have probes in them")                 \
	X(skip_compare, "do not compare code with what it should be before it is written") \
	X(skip_read_back, "do not compare it afterwards")                                  \
	X(skip_hold, "do not keep the module that code leads to which cannot be put back") \
	X(stuck_text, "what is written reads back as something else, and is not put back") \
	X(skip_verify, "do not compare code again when a patch is enabled")                \
	X(skip_load_verify, "do not compare code when a patch or its parent is loaded")    \
	X(walk_all, "in the stop, walk also stacks of tasks that have not run")            \
	X(cross_check, "look at each stack a second time, word by word, and compare")      \
	X(skip_behind, "tell who opens the history that it is whole, whatever has no record yet") \
	X(skip_words, "that second look sees nothing")                                     \
	X(decide_first, "write the deciding word of an entry before those that load the address") \
	X(skip_entries, "do not look for those who are within an entry of several words") \
	X(far_entries, "lead entries by way of veneers also where they could reach")

/* The same with a number. */
#define PP_DEBUG_NUMBERS(X)                                                                \
	X(entry_ms, "how long to wait after each of an entry's prepared words")           \
	X(refuse_stops, "in so many stops find somebody in the way")                       \
	X(ready_ms, "how long to wait when exiting tasks are known, before all is laid out")   \
	X(stop_wait_ms, "how long to wait between the look at all stacks and the stop")        \
	X(record_wait_ms, "how long to wait between the stop and its records")               \
	X(stop_us, "how long each stop lasts at least, microseconds")

#ifdef POKEPATCH_DEBUG

#define PP_DEBUG_DECLARE(name, text) extern bool pp_debug_##name;
PP_DEBUG_SWITCHES(PP_DEBUG_DECLARE)
#undef PP_DEBUG_DECLARE
#define PP_DEBUG_DECLARE(name, text) extern unsigned int pp_debug_##name;
PP_DEBUG_NUMBERS(PP_DEBUG_DECLARE)

/* --- words.c ------------------------------------------------------------------- */
#else

#define PP_DEBUG_DECLARE(name, text) pp_debug_##name = 0,
enum { PP_DEBUG_SWITCHES(PP_DEBUG_DECLARE) PP_DEBUG_NUMBERS(PP_DEBUG_DECLARE) };

/* Shall this fail now?  fault.h, which the debug build includes first, has another one. */
#define PP_FAULT(what) false

#endif
#undef PP_DEBUG_DECLARE

#endif /* POKEPATCH_DEBUG_H */
