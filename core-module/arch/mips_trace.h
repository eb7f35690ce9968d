/* SPDX-License-Identifier: GPL-2.0-only */
/* MIPS: tracing of functions over their patchable entries. */
#ifndef POKEPATCH_ARCH_MIPS_TRACE_H
#define POKEPATCH_ARCH_MIPS_TRACE_H

struct pp_arch_trace;

/* mips_trace.c */
extern const struct pp_arch_trace pp_mips_trace;

#endif /* POKEPATCH_ARCH_MIPS_TRACE_H */
