// SPDX-License-Identifier: GPL-2.0-only
/*
 * MIPS: tracing of functions over their patchable entries.  The form is that of the proposal for
 * the kernel's ftrace of 2021 (linux-mips, "DYNAMIC_FTRACE_WITH_REGS"), with another register to
 * link in:
 *
 *	lui	at, %hi(call)		call: its address is a multiple of 64 KiB
 *	nop, or jalr t1, at		decides
 *	 li	t0, 0 or 1		0: with registers
 *	(nop)				where an entry has a fourth
 *
 * The return address stays in ra, and the function finds it there: the call comes back by t1.
 *
 * Free registers.  At a function's entry nothing is in at, t0 and t1 that it, or its caller,
 * wants: to the ABI they are temporaries.  What gcc knows about single functions beyond
 * that (-fipa-ra: which of these a static function leaves alone) it does not use for functions with
 * a patchable entry, and functions written in assembly, which make rules of their own
 * (__raw_copy_from_user() keeps t1 for copy_page_from_iter_atomic()), have none.
 *
 * Why not "jalr at, at", which the proposal has.  The manual (MIPS64 Instruction Set, JALR) calls it
 * unpredictable when both registers of a JALR are one, as the instruction cannot be executed again. It is
 * whenever there is an exception in its delay slot: an interrupt, or a page of the function that
 * has no TLB entry where the slot is a page's first word.  With at overwritten by then it would
 * come back to the end of the entry, and not be traced, at best.
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

#ifdef MODULE_START
#define FROM MODULE_START
#define TO MODULE_END
#else
#define FROM VMALLOC_START
#define TO VMALLOC_END
#endif

static void *page;

static int start(void)
{
	const size_t size = pp_mips_trace_call_end - pp_mips_trace_call;

	if (page)
		return 0;
	if (!pp_kernel.vmalloc_node_range)
		return -EOPNOTSUPP;
	if (WARN_ON(size > PAGE_SIZE))
		return -E2BIG;
	/* As module_alloc() does: executable, and within what LUI reaches. */
	if (!PP_FAULT("vmalloc_node_range"))
		page = pp_kernel.vmalloc_node_range(PAGE_SIZE, SZ_64K, FROM, TO, GFP_KERNEL,
						    PAGE_KERNEL, 0, NUMA_NO_NODE,
						    __builtin_return_address(0));
	if (!page)
		return -ENOMEM;
	memcpy(page, pp_mips_trace_call, size);
	flush_icache_range((unsigned long)page, (unsigned long)page + size);
	return 0;
}

static void stop(void)
{
	vfree(page);
	page = NULL;
}

static void word(unsigned int nr, bool regs, u8 *insn)
{
	const u32 code[] = {
		LUI_AT | ((unsigned long)page >> 16 & 0xffff),
		JALR_T1_AT,
		LI_T0 | !regs,
	};

	memcpy(insn, &code[nr], sizeof(code[nr]));
}

const struct pp_arch_trace pp_mips_trace = {
	.words = 3,
	.decides = 1,
	.nr_args = IS_ENABLED(CONFIG_64BIT) ? 8 : 4,
	.word = word,
	.start = start,
	.stop = stop,
};
