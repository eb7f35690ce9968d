// SPDX-License-Identifier: GPL-2.0-only
/*
 * MIPS: tracing of functions over their patchable entries (pp_arch.trace).  The words of a traced
 * entry are those of a proposal of 2021 for the kernel's ftrace (linux-mips,
 * "DYNAMIC_FTRACE_WITH_REGS"), except for the register in which the call links:
 *
 *	lui	at, %hi(call)		call: its address is a multiple of 64 KiB
 *	nop, or jalr t1, at		decides
 *	 li	t0, 0 or 1		0: with registers
 *	(nop)				where an entry has a fourth word
 *
 * The return address stays in ra for the function, because the call returns by t1.
 *
 * Free registers.  At a function's entry, at, t0 and t1 hold no value that the function or its
 * caller needs: to the ABI they are temporaries.  With -fipa-ra gcc may rely on a static function
 * that leaves some of them alone, but it does not do so for functions with a patchable entry.
 * Functions written in assembly have rules of their own (__raw_copy_from_user() keeps t1 for
 * copy_page_from_iter_atomic()), but no patchable entry.
 *
 * Why not "jalr at, at", as in the proposal?  The manual (MIPS64 Instruction Set, JALR) calls a
 * JALR with twice the same register unpredictable, because it cannot be executed again.  The CPU
 * executes it again after each exception in its delay slot: after an interrupt, or, where the
 * slot is the first word of a page of the function, after a TLB miss for that page.  By then "at"
 * is overwritten.  At best the JALR would jump to the end of the entry, and the call would not be
 * traced.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/numa.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <asm/cacheflush.h>
#include <asm/pgtable.h>

#include "arch/pp_arch.h"
#include "debug.h"
#include "kernel_symbols.h"
#include "mips_trace.h"

/* mips_trace_call.S */
extern const u8 pp_mips_trace_call[], pp_mips_trace_call_end[];

#define LUI_AT 0x3c010000U		/* lui at, 0 */
#define JALR_T1_AT 0x00206809U		/* jalr t1, at */
#define LI_T0 0x240c0000U		/* addiu t0, zero, 0 */

/* The range of modules. */
#ifdef MODULE_START
#define RANGE_START MODULE_START
#define RANGE_END MODULE_END
#else
#define RANGE_START VMALLOC_START
#define RANGE_END VMALLOC_END
#endif

/* The copy of pp_mips_trace_call that traced entries call; NULL before mips_trace_start(). */
static void *trace_page;

static __nocfi int mips_trace_start(void)
{
	const size_t size = pp_mips_trace_call_end - pp_mips_trace_call;

	if (trace_page)
		return 0;
	if (!pp_kernel.vmalloc_node_range)
		return -EOPNOTSUPP;
	if (WARN_ON(size > PAGE_SIZE))
		return -E2BIG;
	/* As module_alloc() does: executable, and at an address that one LUI can load. */
	if (!PP_FAULT("vmalloc_node_range"))
		trace_page = pp_kernel.vmalloc_node_range(PAGE_SIZE, SZ_64K, RANGE_START, RANGE_END,
							  GFP_KERNEL, PAGE_KERNEL, 0, NUMA_NO_NODE,
							  __builtin_return_address(0));
	if (!trace_page)
		return -ENOMEM;
	memcpy(trace_page, pp_mips_trace_call, size);
	flush_icache_range((unsigned long)trace_page, (unsigned long)trace_page + size);
	return 0;
}

static void mips_trace_stop(void)
{
	vfree(trace_page);
	trace_page = NULL;
}

static void mips_trace_word(unsigned int nr, bool regs, u8 *insn)
{
	const u32 code[] = {
		LUI_AT | ((unsigned long)trace_page >> 16 & 0xffff),
		JALR_T1_AT,
		LI_T0 | (regs ? 0 : 1),
	};

	memcpy(insn, &code[nr], sizeof(code[nr]));
}

const struct pp_arch_trace pp_mips_trace = {
	.words = 3,
	.decides = 1,
	.nr_args = IS_ENABLED(CONFIG_64BIT) ? 8 : 4,
	.word = mips_trace_word,
	.start = mips_trace_start,
	.stop = mips_trace_stop,
};
