/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracing of functions over their patchable entries, on MIPS. */
#ifndef POKEPATCH_ARCH_MIPS_TRACE_H
#define POKEPATCH_ARCH_MIPS_TRACE_H

struct pp_arch_trace;

/* mips_trace.c */
extern const struct pp_arch_trace pp_mips_trace;

#endif /* POKEPATCH_ARCH_MIPS_TRACE_H */
