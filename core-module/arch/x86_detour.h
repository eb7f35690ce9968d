/* SPDX-License-Identifier: GPL-2.0-only */
/* x86-64: detours, which execute instructions that a jump overwrites: x86_detour.c. */
#ifndef POKEPATCH_ARCH_X86_DETOUR_H
#define POKEPATCH_ARCH_X86_DETOUR_H

/* Both are powers of two, and a detour does not cross a cache line. */
#define X86_DETOURS 256
#define X86_DETOUR_SIZE 32

#ifndef __ASSEMBLY__
#include <linux/types.h>

struct pp_site;

/* As in struct pp_arch_detour. */
unsigned long x86_detour_at(unsigned int nr);
int x86_detour_code(unsigned long at, const struct pp_site *site, const u8 *insns, u8 *code);
#endif

#endif /* POKEPATCH_ARCH_X86_DETOUR_H */
