// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: indirect calls in kernels with CONFIG_X86_KERNEL_IBT.
 *
 * With IBT an indirect call must arrive at an ENDBR instruction, or the CPU raises #CP, and the
 * kernel dies.  The kernel overwrites the ENDBR of every function whose address it does not take
 * itself ("sealing", apply_seal_endbr() in arch/x86/kernel/alternative.c).  The core calls
 * unexported functions through slots (kernel_symbols.h), and most of these functions are
 * sealed.  So a slot holds the address of a gate in the core's own text: ENDBR, and a direct
 * jump to the function, which no CPU checks.
 */
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <asm/ibt.h>
#include <asm/sync_core.h>

#include "alias.h"
#include "core_print.h"
#include "x86.h"
#include "x86_gate.h"

extern u8 x86_gates[X86_GATES][X86_GATE_SIZE]; /* x86_gates.S */

static void x86_gate_sync(void *unused)
{
	sync_core();
}

/*
 * Only the core's init calls this, so gates are taken by one task.  No task executes a gate before
 * its address is in a slot.  A CPU may have fetched the gate's old bytes ahead of that, so each CPU
 * serialises after they were written.
 */
unsigned long __init x86_callable(unsigned long func)
{
	static unsigned int nr __initdata;
	u8 *alias, *gate = x86_gates[nr];
	const unsigned long page = (unsigned long)gate & PAGE_MASK;
	const unsigned long jump = (unsigned long)gate + ENDBR_INSN_SIZE;
	u8 insn[JMP_SIZE];

	if (nr == X86_GATES || x86_entry_insn(jump, func, insn)) {
		pr_err("no gate is left, or none reaches the kernel function at %pS\n",
		       (void *)func);
		return 0;
	}
	/* A gate does not cross a page, because both have sizes that are powers of two. */
	alias = pp_alias_map((struct pp_region){ page, page + PAGE_SIZE });
	if (!alias)
		return 0;
	memcpy(alias + (jump - page), insn, sizeof(insn));
	vunmap(alias);
	on_each_cpu(x86_gate_sync, NULL, 1);
	nr++;
	return (unsigned long)gate;
}
