/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The calls of pp_front's thread.  While it sleeps, its stack is that of a task which was
 * interrupted in front of the jump:
 *
 *	pp_front_sleep	returns to pp_front_go
 *	struct pt_regs	of the interrupt, at the jump
 *	(the jump)	the function that it leads to returns to pp_front_call
 *
 * The return address of the call to the stub is gone: the stub's first instruction dropped it.
 */
#include <linux/linkage.h>
#include <asm/nospec-branch.h>
#include <asm/unwind_hints.h>

/* unsigned long pp_front_call(unsigned long jump) */
SYM_FUNC_START(pp_front_call)
	call	pp_front_go
	RET
SYM_FUNC_END(pp_front_call)

SYM_FUNC_START_LOCAL(pp_front_go)
	mov	%rsp, %rax
	push	$0			/* ss */
	push	%rax			/* sp */
	pushf
	push	$0x10			/* cs: __KERNEL_CS */
	push	%rdi			/* ip */
	sub	$(16 * 8), %rsp
	UNWIND_HINT_REGS
	call	pp_front_sleep
	mov	$1, %edi
	xor	%esi, %esi
	mov	(16 * 8)(%rsp), %rax
	add	$((16 + 5) * 8), %rsp
	UNWIND_HINT_FUNC
	ANNOTATE_RETPOLINE_SAFE
	jmp	*%rax
SYM_FUNC_END(pp_front_go)
