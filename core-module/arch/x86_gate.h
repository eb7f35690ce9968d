/* SPDX-License-Identifier: GPL-2.0-only */
/* x86-64: gates, through which C code calls the kernel's functions indirectly: x86_gate.c. */
#ifndef POKEPATCH_ARCH_X86_GATE_H
#define POKEPATCH_ARCH_X86_GATE_H

#define X86_GATE_SIZE 16
#define X86_GATES 48

#ifndef __ASSEMBLY__
/*
 * pp_arch.callable() of kernels that check the targets of indirect calls.  NULL in other kernels,
 * where a function's own address will do.
 */
#ifdef CONFIG_X86_KERNEL_IBT
unsigned long x86_callable(unsigned long func);
#else
#define x86_callable NULL
#endif
#endif

#endif /* POKEPATCH_ARCH_X86_GATE_H */
