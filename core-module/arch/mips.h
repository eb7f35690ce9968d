/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of MIPS share. */
#ifndef POKEPATCH_ARCH_MIPS_H
#define POKEPATCH_ARCH_MIPS_H

struct pp_arch_trace;

/* mips_trace.c */
extern const struct pp_arch_trace pp_mips_trace;

#endif
