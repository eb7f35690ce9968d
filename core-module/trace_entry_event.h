/* SPDX-License-Identifier: GPL-2.0-only */
/* The tracepoint of traced functions; trace_entry.c instantiates it. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pokepatch

#if !defined(POKEPATCH_TRACE_ENTRY_EVENT_H) || defined(TRACE_HEADER_MULTI_READ)
#define POKEPATCH_TRACE_ENTRY_EVENT_H

#include <linux/tracepoint.h>

/*
 * The function at ip was called, and will return to parent_ip.  With registers, nr_args arguments
 * that are in registers, and the stack pointer; without, these are 0.  The arguments are fields of
 * their own, for filters and histograms.
 */
TRACE_EVENT(entry,
	TP_PROTO(unsigned long ip, unsigned long parent_ip, unsigned int nr_args,
		 const unsigned long *args, unsigned long sp),
	TP_ARGS(ip, parent_ip, nr_args, args, sp),
	TP_STRUCT__entry(
		__field(unsigned long, ip)
		__field(unsigned long, parent_ip)
		__field(unsigned long, sp)
		__field(unsigned int, nr_args)
		__field(unsigned long, arg1)
		__field(unsigned long, arg2)
		__field(unsigned long, arg3)
		__field(unsigned long, arg4)
		__field(unsigned long, arg5)
		__field(unsigned long, arg6)
		__field(unsigned long, arg7)
		__field(unsigned long, arg8)
	),
	TP_fast_assign(
		__entry->ip = ip;
		__entry->parent_ip = parent_ip;
		__entry->sp = sp;
		__entry->nr_args = nr_args;
		__entry->arg1 = nr_args > 0 ? args[0] : 0;
		__entry->arg2 = nr_args > 1 ? args[1] : 0;
		__entry->arg3 = nr_args > 2 ? args[2] : 0;
		__entry->arg4 = nr_args > 3 ? args[3] : 0;
		__entry->arg5 = nr_args > 4 ? args[4] : 0;
		__entry->arg6 = nr_args > 5 ? args[5] : 0;
		__entry->arg7 = nr_args > 6 ? args[6] : 0;
		__entry->arg8 = nr_args > 7 ? args[7] : 0;
	),
	TP_printk("%ps from %pS nr_args=%u args=%lx,%lx,%lx,%lx,%lx,%lx,%lx,%lx sp=%lx",
		  (void *)__entry->ip, (void *)__entry->parent_ip, __entry->nr_args,
		  __entry->arg1, __entry->arg2, __entry->arg3, __entry->arg4, __entry->arg5,
		  __entry->arg6, __entry->arg7, __entry->arg8, __entry->sp)
);

#endif /* POKEPATCH_TRACE_ENTRY_EVENT_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace_entry_event
#include <trace/define_trace.h>
