// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: observing the kernel's own writer of text (others.c).
 *
 * In arch/x86/kernel/alternative.c text_poke_bp_batch(), text_poke() and text_poke_kgdb() end in
 *
 *	static void *__text_poke(text_poke_f func, void *addr, const void *src, size_t len)
 *
 * and so do text_poke_copy() and text_poke_set(), with which BPF writes programs that do not run
 * yet.  A probe on text_poke() itself would miss writes, because the compiler inlines it into
 * text_poke_bp_batch().
 *
 * Two kinds of writes bypass __text_poke(): those of text_poke_early(), which changes code that
 * no CPU runs yet (while the kernel boots, and in a module before its init), and those of writers
 * that make a mapping of their own.
 *
 * kgdb calls this function itself.  So the core does not observe the writer where kgdb can be used.
 */
#include <linux/kprobes.h>
#include <linux/ptrace.h>

#include "arch/pp_arch.h"
#include "kernel_symbols.h"
#include "x86.h"

/*
 * With CONFIG_KGDB_LOW_LEVEL_TRAP, do_int3() offers every breakpoint of the kernel to kgdb first,
 * which stops the machine for its user, and goes on behind the breakpoint.
 */
bool x86_breaks_are_kgdbs(void)
{
	return x86.kgdb && *x86.kgdb;
}

unsigned long x86_writer_site(void)
{
	if (!x86.text_poke_memcpy || !x86.text_poke_queue || !x86.text_poke_finish ||
	    x86_breaks_are_kgdbs())
		return 0;
	return x86.writer;
}

/* The history covers kernel and module text, not probes' slots, trampolines and BPF programs. */
static __nocfi bool x86_is_text(unsigned long addr)
{
	return (addr >= pp_kernel.stext && addr < pp_kernel.etext) || x86.module_text_address(addr);
}
NOKPROBE_SYMBOL(x86_is_text);

/* The arguments are in the registers of the System V ABI: %rdi, %rsi, %rdx, %rcx. */
bool x86_writer_written(const struct pt_regs *regs, struct pp_write *write)
{
	*write = (struct pp_write){
		.addr = regs->si,
		.bytes = regs->di == x86.text_poke_memcpy ? (const u8 *)regs->dx : NULL,
		.len = regs->cx,
	};
	return x86_is_text(write->addr);
}
NOKPROBE_SYMBOL(x86_writer_written);
