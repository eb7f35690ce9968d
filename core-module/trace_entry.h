/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracing over patchable entries, in kernels without ftrace: trace_entry.c. */
#ifndef POKEPATCH_TRACE_ENTRY_H
#define POKEPATCH_TRACE_ENTRY_H

#include <linux/types.h>

#include "ftrace.h"

struct module;

#if !PP_HAS_FTRACE
/* The file trace_entry in sysfs; what is traced is not any more. */
int pp_trace_entry_init(void);
void pp_trace_entry_exit(void);
/* Is the function at @ip traced, or about to be?  Under pp_mutex. */
bool pp_trace_entry_has(unsigned long ip);
/* Nobody runs the functions of @mod any more.  Under pp_mutex. */
void pp_trace_entry_module_going(const struct module *mod);
/*
 * The traced function at @ip was called, by who is to go on at @parent_ip: @args are its
 * pp_arch.trace->nr_args registers, or NULL, and @sp the stack pointer.  Any context.
 */
void pp_trace_entry_hit(unsigned long ip, unsigned long parent_ip, const unsigned long *args,
			unsigned long sp);
#else
static inline int pp_trace_entry_init(void)
{
	return 0;
}

static inline void pp_trace_entry_exit(void)
{
}

static inline bool pp_trace_entry_has(unsigned long ip)
{
	return false;
}

static inline void pp_trace_entry_module_going(const struct module *mod)
{
}
#endif

#endif /* POKEPATCH_TRACE_ENTRY_H */
