/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * MIPS: the code that a traced function calls from its entry.  mips_trace.c copies it to an
 * address that one LUI can load, so the code must not depend on its own address.
 *
 * $12 (t0)	0: with registers; 1: without
 * $13 (t1)	where to go on: behind the entry's three words
 *
 * $1 (at) and those two are free at a function's entry.  When the function goes on, every other
 * register is as the caller left it, the return address included.  Compiled callers would need
 * only the arguments, but a function may be called by code that no compiler made.
 */
#include <asm/asm.h>
#include <asm/regdef.h>

/*
 * A word of the frame, behind the four words that the caller provides for the callee where
 * arguments are passed on the stack (o32).
 */
#define AT_WORD(nr) ((4 + (nr)) * LONGSIZE)
#define FRAME AT_WORD(18)	/* a multiple of 16 bytes, or with 32 bits of 8 */

/*
 * Store, or load again, all registers that a function may change, except for $1, $12, hi and lo.
 * The first eight are the arguments that pp_trace_entry_hit() gets.
 */
	.macro	registers store_or_load
	\store_or_load	$4, AT_WORD(0)(sp)
	\store_or_load	$5, AT_WORD(1)(sp)
	\store_or_load	$6, AT_WORD(2)(sp)
	\store_or_load	$7, AT_WORD(3)(sp)
	\store_or_load	$8, AT_WORD(4)(sp)
	\store_or_load	$9, AT_WORD(5)(sp)
	\store_or_load	$10, AT_WORD(6)(sp)
	\store_or_load	$11, AT_WORD(7)(sp)
	\store_or_load	$2, AT_WORD(8)(sp)
	\store_or_load	$3, AT_WORD(9)(sp)
	\store_or_load	$14, AT_WORD(10)(sp)
	\store_or_load	$15, AT_WORD(11)(sp)
	\store_or_load	$24, AT_WORD(12)(sp)
	\store_or_load	$25, AT_WORD(13)(sp)
	\store_or_load	$31, AT_WORD(14)(sp)
	\store_or_load	$13, AT_WORD(15)(sp)
	.endm

	.text
	.set push
	.set noreorder
	.set noat
	.globl pp_mips_trace_call
	.globl pp_mips_trace_call_end
	.type pp_mips_trace_call, @function
pp_mips_trace_call:
	PTR_ADDIU sp, sp, -FRAME
	registers LONG_S
#ifndef CONFIG_CPU_MIPSR6
	mfhi	$2
	mflo	$3
	LONG_S	$2, AT_WORD(16)(sp)
	LONG_S	$3, AT_WORD(17)(sp)
#endif
	PTR_ADDIU $4, $13, -12
	move	$5, $31
	bnez	$12, 1f
	 move	$6, $0
	PTR_ADDIU $6, sp, AT_WORD(0)
1:	PTR_LA	$25, pp_trace_entry_hit
	jalr	$25
	 PTR_ADDIU $7, sp, FRAME
#ifndef CONFIG_CPU_MIPSR6
	LONG_L	$2, AT_WORD(16)(sp)
	LONG_L	$3, AT_WORD(17)(sp)
	mthi	$2
	mtlo	$3
#endif
	registers LONG_L
	jr	$13
	 PTR_ADDIU sp, sp, FRAME
pp_mips_trace_call_end:
	.size pp_mips_trace_call, . - pp_mips_trace_call
	.set pop
