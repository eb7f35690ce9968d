/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stubs of the direct mode (core-module/direct.c).  A patch has POKEPATCH_NR_STUBS of them,
 * one for each of its functions.
 *
 * The entry of an old function calls its stub.  Before the first such call the core overwrites
 * both halves of the stub: the first becomes "lea 8(%rsp), %rsp", the second a jump to the new
 * function or back into the old one.  Each half is eight aligned bytes.  Each has the unwind
 * hint of a function's first instruction, with a return address on top of the stack: in the
 * first half that is the one into the old function; the lea drops it, and in the second half it
 * is the one of the old function's caller.
 */
#include <linux/linkage.h>
#include <asm/unwind_hints.h>

	.text
	.balign 16, 0xcc
SYM_CODE_START(pokepatch_stubs)
.rept POKEPATCH_NR_STUBS
	UNWIND_HINT_FUNC
	RET
	.balign 8, 0xcc
	UNWIND_HINT_FUNC
	ud2	/* not reached: the core writes the jump before any call */
	.balign 16, 0xcc
.endr
SYM_CODE_END(pokepatch_stubs)
