// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: the kernel's own writer of text.
 *
 * arch/x86/kernel/alternative.c: text_poke_bp_batch(), text_poke() and text_poke_kgdb() end in
 *
 *	static void *__text_poke(text_poke_f func, void *addr, const void *src, size_t len)
 *
 * and so do text_poke_copy() and text_poke_set(), by which BPF writes programs that do not run
 * yet.  text_poke() itself will not do as a place to listen at: the compiler makes it part of
 * text_poke_bp_batch().
 *
 * Not by way of it go text_poke_early(), by which code is changed that nobody runs yet
 * (while the kernel boots, and in a module before its init), and what writes through mappings of
 * its own.
 *
 * kgdb takes every breakpoint in the kernel while it is at work for one of its own, and
 * would be taken by surprise by one on its own way: where it can be used, nobody listens.
 */
#include <linux/kprobes.h>
#include <linux/ptrace.h>

#include "arch/pp_arch.h"
#include "kernel_symbols.h"
#include "x86.h"

unsigned long x86_writer(void)
{
	if (!x86.text_poke_memcpy || !x86.text_poke_queue || !x86.text_poke_finish ||
	    (x86.kgdb && *x86.kgdb))
		return 0;
	return x86.writer;
}

/* Instruction slots, trampolines and programs are no text that there is a history of. */
static bool is_text(unsigned long addr)
{
	return (addr >= pp_kernel.stext && addr < pp_kernel.etext) || x86.module_text_address(addr);
}
NOKPROBE_SYMBOL(is_text);

bool x86_written(const struct pt_regs *regs, struct pp_write *write)
{
	*write = (struct pp_write){
		.addr = regs->si,
		.bytes = regs->di == x86.text_poke_memcpy ? (const u8 *)regs->dx : NULL,
		.len = regs->cx,
	};
	return is_text(write->addr);
}
NOKPROBE_SYMBOL(x86_written);
