/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86-64: room for detours in the core's text, which each jump reaches from the kernel and from its
 * modules.  x86_detour.c has their code.  Until that is written, they are breakpoints.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>

#include <asm/asm.h>

#include "x86_detour.h"

	.text
	.balign X86_DETOUR_SIZE, 0xcc
SYM_CODE_START_NOALIGN(x86_detours)
	ANNOTATE_NOENDBR /* x86_detour.c takes this address, to write to it */
	.skip X86_DETOURS * X86_DETOUR_SIZE, 0xcc
SYM_CODE_END(x86_detours)
/* A probe would put back a byte of an earlier patch, and an NMI may be here between breakpoints. */
_ASM_NOKPROBE(x86_detours)
