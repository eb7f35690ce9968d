/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracing of functions over their patchable entries, in kernels without ftrace: trace_entry.c. */
#ifndef POKEPATCH_TRACE_ENTRY_H
#define POKEPATCH_TRACE_ENTRY_H

#include <linux/types.h>

#include "ftrace.h"

struct module;

#if !PP_HAS_FTRACE
/*
 * Trace the function of the kernel @name, as pp_function_look_up() takes it, with registers or
 * without; stop tracing that function, or, with "*", all.  One of these at a time: the caller
 * holds a lock.  May sleep.  Return: 0, or an error (logged, but for -ENOMEM and -EINTR).
 */
int pp_trace_entry_switch_on(const char *name, bool regs);
int pp_trace_entry_switch_off(const char *name);
/*
 * Return: a line for each traced function, "NAME FORM MISSED", for the caller to kvfree(), or NULL:
 * no memory.  @ret_len is its length in bytes.  May sleep.
 */
char *pp_trace_entry_list(size_t *ret_len);
/* End all traces, and free the code that the entries called.  May sleep, and wait for probes. */
void pp_trace_entry_end(void);
/* Is the function with its entry at @ip traced, or being switched on or off?  Under pp_mutex. */
bool pp_trace_entry_has(unsigned long ip);
/* No task runs the functions of @mod any more.  Under pp_mutex. */
void pp_trace_entry_module_going(const struct module *mod);
/*
 * The traced function at @ip was called, and will return to @parent_ip.  @args has its
 * pp_arch.trace->nr_args argument registers, or is NULL; @sp is the stack pointer.  Any context.
 */
void pp_trace_entry_hit(unsigned long ip, unsigned long parent_ip, const unsigned long *args,
			unsigned long sp);
#else
static inline bool pp_trace_entry_has(unsigned long ip)
{
	return false;
}

static inline void pp_trace_entry_module_going(const struct module *mod)
{
}
#endif

#endif /* POKEPATCH_TRACE_ENTRY_H */
