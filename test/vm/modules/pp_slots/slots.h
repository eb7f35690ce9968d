/* SPDX-License-Identifier: GPL-2.0-only */
/* The NOPs of an entry on MIPS, as many as the kernel's functions have. */
#ifndef SLOTS_H
#define SLOTS_H

#ifdef CONFIG_CPU_MIPSR6
#define SLOTS 3
#else
#define SLOTS 4
#endif

#define STRING_OF(x) #x
#define STRING(x) STRING_OF(x)

/* A function that returns @number: @before stands in front of it, @nops NOPs at its entry. */
#define RETURNS(name, before, nops, number)				\
	asm("	.pushsection .text\n"					\
	    "	.set push\n"						\
	    "	.set noreorder\n"					\
	    before							\
	    "	.globl " #name "\n"					\
	    "	.type " #name ", @function\n"				\
	    #name ":\n"							\
	    "	.rept " STRING(nops) "\n"				\
	    "	nop\n"							\
	    "	.endr\n"						\
	    "	jr $31\n"						\
	    "	 li $2, " STRING(number) "\n"				\
	    "	.size " #name ", . - " #name "\n"			\
	    "	.set pop\n"						\
	    "	.popsection\n")

#endif
