/* SPDX-License-Identifier: GPL-2.0-only */
/* The core's tracepoints; trace.c makes them. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pokepatch

#if !defined(POKEPATCH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define POKEPATCH_TRACE_H

#include <linux/tracepoint.h>

#include <pokepatch_mark.h>

#ifndef POKEPATCH_TRACE_ONCE
#define POKEPATCH_TRACE_ONCE
/* marker.c: have all markers emit, and not any more. */
int pp_marker_trace(void);
void pp_marker_untrace(void);

static inline u64 pp_mark_arg(const struct pokepatch_mark *mark, unsigned int nr)
{
	return nr < mark->nr_args ? mark->args[nr] : 0;
}
#endif

/*
 * A marker was met, see pokepatch_mark.h.  types has a letter for each argument; the values
 * of the first six are fields of their own, for filters and histograms.
 */
TRACE_EVENT_FN(marker,
	TP_PROTO(const struct pokepatch_mark *mark, const char *text),
	TP_ARGS(mark, text),
	TP_STRUCT__entry(
		__string(name, mark->marker->name)
		__string(patch, mark->patch)
		__string(types, mark->types)
		__string(text, text)
		__field(unsigned long, ip)
		__field(unsigned int, nr_args)
		__field(u64, arg1)
		__field(u64, arg2)
		__field(u64, arg3)
		__field(u64, arg4)
		__field(u64, arg5)
		__field(u64, arg6)
	),
	TP_fast_assign(
		__assign_str(name, mark->marker->name);
		__assign_str(patch, mark->patch);
		__assign_str(types, mark->types);
		__assign_str(text, text);
		__entry->ip = mark->ip;
		__entry->nr_args = mark->nr_args;
		__entry->arg1 = pp_mark_arg(mark, 0);
		__entry->arg2 = pp_mark_arg(mark, 1);
		__entry->arg3 = pp_mark_arg(mark, 2);
		__entry->arg4 = pp_mark_arg(mark, 3);
		__entry->arg5 = pp_mark_arg(mark, 4);
		__entry->arg6 = pp_mark_arg(mark, 5);
	),
	TP_printk("%s: %s (%pS)", __get_str(name), __get_str(text), (void *)__entry->ip),
	pp_marker_trace, pp_marker_untrace
);

#endif /* POKEPATCH_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
