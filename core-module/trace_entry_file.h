/* SPDX-License-Identifier: GPL-2.0-only */
/* The file trace_entry in sysfs, in kernels without ftrace: trace_entry_file.c. */
#ifndef POKEPATCH_TRACE_ENTRY_FILE_H
#define POKEPATCH_TRACE_ENTRY_FILE_H

#include "ftrace.h"

#if !PP_HAS_FTRACE
int pp_trace_entry_file_init(void);
/* Remove the file, and end all traces.  May sleep. */
void pp_trace_entry_file_exit(void);
#else
static inline int pp_trace_entry_file_init(void)
{
	return 0;
}

static inline void pp_trace_entry_file_exit(void)
{
}
#endif

#endif /* POKEPATCH_TRACE_ENTRY_FILE_H */
