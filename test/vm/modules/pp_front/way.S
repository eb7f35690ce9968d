/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The way of pp_front's thread.  The stack that is walked when it sleeps:
 *
 *	pp_front_sleep	returns to pp_front_wait
 *	pp_front_wait	returns to the jump, which was pushed by pp_front_go
 *	(the jump)	the function that it leads to returns to pp_front_call
 *
 * as the call of the stub has been dropped by the stub's first instruction already.
 */
#include <linux/linkage.h>
#include <linux/objtool.h>

/* unsigned long pp_front_call(unsigned long jump) */
SYM_FUNC_START(pp_front_call)
	call	pp_front_go
	RET
SYM_FUNC_END(pp_front_call)

/* Nobody finds this on a stack. */
STACK_FRAME_NON_STANDARD pp_front_go
SYM_FUNC_START_LOCAL(pp_front_go)
	push	%rdi
	jmp	pp_front_wait
SYM_FUNC_END(pp_front_go)

SYM_FUNC_START_LOCAL(pp_front_wait)
	call	pp_front_sleep
	mov	$1, %edi
	xor	%esi, %esi
	RET
SYM_FUNC_END(pp_front_wait)
