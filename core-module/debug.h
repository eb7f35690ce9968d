/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The switches of the debug build.  Each turns one check off, so that a test can show that the
 * check matters.  The debug build also looks at every stack a second time (words.h), and makes
 * calls fail on request (fault.h).
 */
#ifndef POKEPATCH_DEBUG_H
#define POKEPATCH_DEBUG_H

#include <linux/types.h>

/*
 * Module parameters debug_NAME.  With a parameter that skips a check, the machine may crash at any
 * switch.
 */
#define PP_DEBUG_SWITCHES(X)									\
	X(skip_tasks, "do not look at the stacks of tasks")					\
	X(skip_idle, "do not look at the stacks of idle tasks")					\
	X(skip_exiting, "do not look at the stacks of exiting tasks")				\
	X(skip_stoppers, "do not look at the stacks of the tasks that stop the machine")	\
	X(skip_earlier, "do not wait for tasks that began to exit before the core was loaded")	\
	X(skip_lost, "ignore exiting tasks that could not be noted")				\
	X(skip_unlisted, "ignore tasks in the way that could not be listed for want of room")	\
	X(no_room, "have no room to list the tasks in the way")					\
	X(skip_runs, "take stacks that were clear for clear, though their tasks have run")	\
	X(skip_old, "do not look for the old functions")					\
	X(skip_new, "do not look for the new functions")					\
	X(skip_top, "do not look for the functions of the patch on top")			\
	X(skip_carried, "do not look for other patches' copies of carried functions")		\
	X(skip_left_behind, "do not look for functions in which live transitions left tasks")	\
	X(skip_cold, "do not look for the cold parts of functions")				\
	X(skip_text, "do not look for the rest of a patch module's text")			\
	X(skip_last_calls, "do not count the address behind a function as inside it")		\
	X(skip_unreliable, "take stacks that cannot be walked to their end for clear")		\
	X(skip_places, "walk on from wherever a task was interrupted")				\
	X(skip_stack_ends, "take the end of the unwind data for the end of the stack")		\
	X(skip_ready, "walk stacks with kretprobes on them even if the task is ready to run")	\
	X(skip_returns, "do not resolve return addresses that tracers have replaced")		\
	X(skip_drain, "do not look for tasks in a patch that was switched off live")		\
	X(skip_pin, "do not keep modules whose addresses have escaped")				\
	X(skip_serialise, "do not serialise processors after text was written")			\
	X(skip_arm, "do not tell the kernel's handler of the breakpoints of a write")		\
	X(tail_first, "in a stop, write the tails of instructions before the breakpoints")	\
	X(skip_claim, "do not claim sites from ftrace")						\
	X(skip_users, "do not count the users that came to a site while it was claimed")	\
	X(skip_redirect, "release sites though another user of ftrace redirects their calls")	\
	X(skip_probed, "write stubs and entries that have probes in them")			\
	X(skip_compare, "do not compare code with the expected bytes before it is written")	\
	X(skip_read_back, "do not compare code with the expected bytes after it was written")	\
	X(skip_hold, "do not keep a module to which code leads that cannot be put back")	\
	X(stuck_text, "let written text read back wrong, and do not put it back")		\
	X(skip_verify, "do not compare code again when a patch is enabled")			\
	X(skip_load_verify, "do not compare code when a patch or its parent is loaded")		\
	X(walk_all, "in the stop, walk also stacks of tasks that have not run")			\
	X(cross_check, "look at each stack a second time, word by word, and compare")		\
	X(skip_behind, "tell readers of the history that no records are missing")		\
	X(skip_words, "let the second look, word by word, find nothing")			\
	X(decide_first, "write an entry's deciding word before those that load the address")	\
	X(skip_entries, "do not look for tasks within an entry of several words")		\
	X(far_entries, "lead entries to veneers even if they could reach the function")		\
	X(pause_ready, "wait between knowing the exiting tasks and the layout")			\
	X(pause_stop, "wait between the look at all stacks and the stop")			\
	X(pause_records, "wait between the stop and its records")

/* Module parameters debug_NAME that are numbers, 0 by default. */
#define PP_DEBUG_NUMBERS(X)									\
	X(entry_ms, "wait so many ms after each of an entry's prepared words")			\
	X(refuse_stops, "find a task in the way in so many stops")				\
	X(count_ms, "count stacks of unknown tasks for so many ms at most")			\
	X(step_us, "let each step of a write in a stop last at least so many microseconds")	\
	X(stop_us, "let each stop last at least so many microseconds")

#ifdef POKEPATCH_DEBUG

#define PP_DEBUG_DECLARE(name, text) extern bool pp_debug_##name;
PP_DEBUG_SWITCHES(PP_DEBUG_DECLARE)
#undef PP_DEBUG_DECLARE
#define PP_DEBUG_DECLARE(name, text) extern unsigned int pp_debug_##name;
PP_DEBUG_NUMBERS(PP_DEBUG_DECLARE)

/*
 * Wait here while the switch debug_pause_NAME is on.  The parameter debug_paused says how many
 * tasks do.  May sleep.  The caller may hold any mutex that no write to a parameter takes.
 */
#define PP_PAUSE(name) pp_debug_pause(&pp_debug_pause_##name)
void pp_debug_pause(const bool *on);

#else

#define PP_DEBUG_DECLARE(name, text) pp_debug_##name = 0,
enum { PP_DEBUG_SWITCHES(PP_DEBUG_DECLARE) PP_DEBUG_NUMBERS(PP_DEBUG_DECLARE) };

/* Must this call fail now?  In the debug build fault.h, which is included first, has another. */
#define PP_FAULT(what) false

#define PP_PAUSE(name) do { } while (0)

#endif
#undef PP_DEBUG_DECLARE

#endif /* POKEPATCH_DEBUG_H */
