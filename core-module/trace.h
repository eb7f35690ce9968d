/* SPDX-License-Identifier: GPL-2.0-only */
/* The core's tracepoints in the group pokepatch; trace.c instantiates them. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM pokepatch

#if !defined(POKEPATCH_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define POKEPATCH_TRACE_H

#include <linux/tracepoint.h>

#include <pokepatch_history.h>
#include <pokepatch_mark.h>

#include "compat.h"
#include "marker.h"
#include "record.h"

/*
 * These make the kernel replace the names by numbers in the events' format files: perf and
 * trace-cmd, which parse them, do not have our headers.
 */
TRACE_DEFINE_ENUM(POKEPATCH_HISTORY_BEFORE);
TRACE_DEFINE_ENUM(POKEPATCH_HISTORY_AFTER);
TRACE_DEFINE_ENUM(POKEPATCH_HISTORY_INT3);
TRACE_DEFINE_ENUM(POKEPATCH_HISTORY_STORE);
TRACE_DEFINE_ENUM(POKEPATCH_HISTORY_STOP_MACHINE);
TRACE_DEFINE_ENUM(POKEPATCH_HISTORY_FTRACE);
TRACE_DEFINE_ENUM(POKEPATCH_HISTORY_OTHER);
TRACE_DEFINE_ENUM(POKEPATCH_HISTORY_ENABLE);
TRACE_DEFINE_ENUM(POKEPATCH_HISTORY_DISABLE);
TRACE_DEFINE_ENUM(POKEPATCH_HISTORY_PARENT_COMES);
TRACE_DEFINE_ENUM(POKEPATCH_HISTORY_PARENT_GOES);

/*
 * A marker was reached; see pokepatch_mark.h.  types has a letter for each argument.  The values of
 * the first six arguments are fields of their own, for filters and histograms.
 *
 * The text is formatted at once.  trace_printk() formats when the trace is read, but perf and
 * trace-cmd read in their own processes, and from files too: they cannot format as the kernel
 * does, and do not know the format of a module that has gone.  Strings are copied by their known
 * lengths, since __string() would search for their ends byte by byte, and copy them byte by byte.
 */
TRACE_EVENT_FN(marker,
	TP_PROTO(const struct pokepatch_mark *mark, const struct pp_mark_strings *strings),
	TP_ARGS(mark, strings),
	TP_STRUCT__entry(
		__dynamic_array(char, name, strings->name_size)
		__dynamic_array(char, patch, strings->patch_size)
		__dynamic_array(char, types, strings->types_size)
		__dynamic_array(char, text, strings->text_size)
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
		memcpy(__get_str(name), mark->marker->name, strings->name_size);
		memcpy(__get_str(patch), mark->patch, strings->patch_size);
		memcpy(__get_str(types), mark->types, strings->types_size);
		memcpy(__get_str(text), strings->text, strings->text_size);
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

/* The core changed text; one event for BEFORE and one for AFTER: struct pokepatch_history_text. */
TRACE_EVENT(text_poke,
	TP_PROTO(const struct pokepatch_history_text *text),
	TP_ARGS(text),
	TP_STRUCT__entry(
		__field(u64, seq)
		__field(u64, change)
		__field(u64, transition)
		__field(u64, addr)
		__field(u64, mono_ns)
		__field(u64, perf_ns)
		__field(u64, begin_ns)
		__field(u64, end_ns)
		__field(u64, begin_perf)
		__field(u64, end_perf)
		__field(u64, func)
		__field(u32, cpu)
		__field(u32, symbol_offset)
		__field(u8, phase)
		__field(u8, method)
		__field(u8, exact)
		__field(u8, len)
		__array(u8, old_bytes, POKEPATCH_HISTORY_BYTES_MAX)
		__array(u8, new_bytes, POKEPATCH_HISTORY_BYTES_MAX)
		__string(symbol, pp_text_string(text, text->symbol))
		__string(module, pp_text_string(text, text->module))
		__string(patch, pp_text_string(text, text->patch))
	),
	TP_fast_assign(
		__entry->seq = text->record.seq;
		__entry->change = text->change;
		__entry->transition = text->transition;
		__entry->addr = text->addr;
		__entry->mono_ns = text->record.mono_ns;
		__entry->perf_ns = text->record.perf_ns;
		__entry->begin_ns = text->begin_ns;
		__entry->end_ns = text->end_ns;
		__entry->begin_perf = text->begin_perf;
		__entry->end_perf = text->end_perf;
		__entry->func = text->func;
		__entry->cpu = text->record.cpu;
		__entry->symbol_offset = text->symbol_offset;
		__entry->phase = text->phase;
		__entry->method = text->method;
		__entry->exact = !!(text->record.flags & POKEPATCH_HISTORY_EXACT);
		__entry->len = text->len;
		memcpy(__entry->old_bytes, text->old_bytes, POKEPATCH_HISTORY_BYTES_MAX);
		memcpy(__entry->new_bytes, text->new_bytes, POKEPATCH_HISTORY_BYTES_MAX);
		pp_trace_string(symbol, pp_text_string(text, text->symbol));
		pp_trace_string(module, pp_text_string(text, text->module));
		pp_trace_string(patch, pp_text_string(text, text->patch));
	),
	TP_printk("seq=%llu change=%llu %s %s addr=%#llx %s+%#x [%s] len=%u old=%s new=%s mono_ns=%llu perf_ns=%llu begin_ns=%llu end_ns=%llu%s cpu=%u patch=%s transition=%llu",
		  __entry->seq, __entry->change,
		  __print_symbolic(__entry->phase,
				   { POKEPATCH_HISTORY_BEFORE, "before" },
				   { POKEPATCH_HISTORY_AFTER, "after" }),
		  __print_symbolic(__entry->method,
				   { POKEPATCH_HISTORY_INT3, "int3" },
				   { POKEPATCH_HISTORY_STORE, "store" },
				   { POKEPATCH_HISTORY_STOP_MACHINE, "stop_machine" },
				   { POKEPATCH_HISTORY_FTRACE, "ftrace" },
				   { POKEPATCH_HISTORY_OTHER, "other" }),
		  __entry->addr, __get_str(symbol), __entry->symbol_offset, __get_str(module),
		  __entry->len, __print_hex_str(__entry->old_bytes, __entry->len),
		  __print_hex_str(__entry->new_bytes, __entry->len),
		  __entry->mono_ns, __entry->perf_ns, __entry->begin_ns, __entry->end_ns,
		  __entry->exact ? " exact" : "", __entry->cpu, __get_str(patch),
		  __entry->transition)
);

/* A transition begins or has ended: struct pokepatch_history_transition. */
TRACE_EVENT(transition,
	TP_PROTO(const struct pokepatch_history_transition *transition),
	TP_ARGS(transition),
	TP_STRUCT__entry(
		__field(u64, seq)
		__field(u64, transition)
		__field(u64, mono_ns)
		__field(u64, perf_ns)
		__field(u64, stop_ns)
		__field(s32, error)
		__field(u32, functions)
		__field(u8, phase)
		__field(u8, kind)
		__field(u8, live)
		__string(patch, (const char *)transition + transition->patch)
	),
	TP_fast_assign(
		__entry->seq = transition->record.seq;
		__entry->transition = transition->transition;
		__entry->mono_ns = transition->record.mono_ns;
		__entry->perf_ns = transition->record.perf_ns;
		__entry->stop_ns = transition->stop_ns;
		__entry->error = transition->error;
		__entry->functions = transition->functions;
		__entry->phase = transition->phase;
		__entry->kind = transition->kind;
		__entry->live = !!(transition->record.flags & POKEPATCH_HISTORY_LIVE);
		pp_trace_string(patch, (const char *)transition + transition->patch);
	),
	TP_printk("seq=%llu transition=%llu %s %s patch=%s%s error=%d functions=%u stop_ns=%llu mono_ns=%llu perf_ns=%llu",
		  __entry->seq, __entry->transition,
		  __print_symbolic(__entry->kind,
				   { POKEPATCH_HISTORY_ENABLE, "enable" },
				   { POKEPATCH_HISTORY_DISABLE, "disable" },
				   { POKEPATCH_HISTORY_PARENT_COMES, "parent-comes" },
				   { POKEPATCH_HISTORY_PARENT_GOES, "parent-goes" }),
		  __print_symbolic(__entry->phase,
				   { POKEPATCH_HISTORY_BEFORE, "begins" },
				   { POKEPATCH_HISTORY_AFTER, "ends" }),
		  __get_str(patch), __entry->live ? " live" : "", __entry->error,
		  __entry->functions, __entry->stop_ns, __entry->mono_ns, __entry->perf_ns)
);

#endif /* POKEPATCH_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
