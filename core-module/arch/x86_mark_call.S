/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86-64: the function that a marker calls (pokepatch_mark.h).  The marker is inline assembly,
 * and its call is no call to the compiler.  So this function preserves all registers, also those
 * that a C function may change.
 */
#include <linux/linkage.h>

#include <asm/ibt.h>

	.text
SYM_FUNC_START(pokepatch_mark_met)
	ENDBR /* no indirect call comes here, but objtool wants it in exported functions */
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	mov	72(%rsp), %rsi	/* the return address: the marker's place */
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
