/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a marker calls (pokepatch_mark.h).  To the compiler that was no call, so that all
 * registers are given back, those that C functions need not keep among them.
 */
#include <linux/linkage.h>

	.text
SYM_FUNC_START(pokepatch_mark_met)
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	mov	72(%rsp), %rsi	/* where the marker is */
	call	x86_mark_met
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	RET
SYM_FUNC_END(pokepatch_mark_met)
