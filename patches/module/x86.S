/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The stubs of the direct mode (core-module/direct.c), one for each function of a patch:
 * POKEPATCH_NR_STUBS of them.
 *
 * Before anybody calls a stub, from the entry of an old function, the core makes of what is
 * here "lea 8(%rsp), %rsp", and of the filler behind it a jump, into the old function or to
 * the new one. Each of the two is in eight aligned bytes, and each begins as a
 * function does, with a return address on top of the stack: that into the old function,
 * and, once that has been dropped, its caller's.
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
	ud2	/* nobody comes here before there is a jump */
	.balign 16, 0xcc
.endr
SYM_CODE_END(pokepatch_stubs)
