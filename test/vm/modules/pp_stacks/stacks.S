/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of pp_stacks that make the thread's stack, with unwind data that mislead.
 */
#include <linux/linkage.h>
#include <asm/unwind_hints.h>

/* "The stack ends here" and "unknown" are one hint in older kernels, until Linux 6.3. */
#ifdef UNWIND_HINT_TYPE_END_OF_STACK
#define STACK_ENDS UNWIND_HINT_END_OF_STACK
#else
#define STACK_ENDS UNWIND_HINT_EMPTY
#endif

/* void pp_stacks_ended(unsigned long busy) */
SYM_FUNC_START(pp_stacks_ended)
	push	%rdi
	UNWIND_HINT_SAVE
	nop
	STACK_ENDS
	call	pp_stacks_sleep
	UNWIND_HINT_RESTORE
	add	$8, %rsp
	RET
SYM_FUNC_END(pp_stacks_ended)

/*
 * The start of a function is on the stack, as in a retpoline, or in a return to an address that a
 * tracer chose.  An unwinder that takes it for a return address uses the unwind data of the byte
 * before it, here those of a function that has one word on the stack.
 */
SYM_FUNC_START_LOCAL(pp_stacks_before)
	push	%rdi
	ud2
SYM_FUNC_END(pp_stacks_before)
SYM_FUNC_START_LOCAL_NOALIGN(pp_stacks_start)
	RET
SYM_FUNC_END(pp_stacks_start)

/* void pp_stacks_interrupted(unsigned long busy, unsigned long at) */
SYM_FUNC_START(pp_stacks_interrupted)
	lea	pp_stacks_start(%rip), %rax
	push	%rdi
	push	%rax
	mov	%rsp, %rax
	/* the struct pt_regs of the interrupt */
	push	$0			/* ss */
	push	%rax			/* sp */
	pushf
	push	$0x10			/* cs: __KERNEL_CS */
	push	%rsi			/* ip */
	sub	$(16 * 8), %rsp
	UNWIND_HINT_REGS
	call	pp_stacks_sleep
	add	$((16 + 5 + 2) * 8), %rsp
	UNWIND_HINT_FUNC
	RET
SYM_FUNC_END(pp_stacks_interrupted)
