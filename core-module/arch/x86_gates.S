/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86-64: gates, through which C code calls the kernel's functions indirectly: x86_gate.c.
 *
 * Each gate has X86_GATE_SIZE bytes.  It begins with ENDBR, where an indirect call may arrive.
 * x86_gate.c writes a jump behind that.  Until then a call through the gate traps.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>

#include <asm/ibt.h>
#include <asm/unwind_hints.h>

#include "x86_gate.h"

	.text
	.balign X86_GATE_SIZE, 0xcc
SYM_CODE_START_NOALIGN(x86_gates)
	.rept X86_GATES
	UNWIND_HINT_FUNC
	ENDBR
	ANNOTATE_NOENDBR /* x86_gate.c takes this address, to write to it */
	ud2
	.balign X86_GATE_SIZE, 0xcc
	.endr
SYM_CODE_END(x86_gates)
