// SPDX-License-Identifier: GPL-2.0-only
/*
 * pp_redirect - while it is loaded, calls of the kernel's writer of text, __text_poke(), run a
 * function of this module instead, as a kernel livepatch would make them.  With at=ADDRESS it only
 * counts the calls of the function there, as an fprobe would.
 */
#include <linux/ftrace.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/string.h>

#include <asm/pgtable_types.h>
#include <asm/processor-flags.h>

#include "compat.h"

/*
 * Where entries are read-only and dirty, the kernel takes them for a shadow stack's, and warns when it
 * splits a large page of text.
 */
static void not_dirty(unsigned long addr)
{
	unsigned int level;
	pte_t *entry = lookup_address(addr, &level);

	if (entry && !(pte_flags(*entry) & _PAGE_RW))
		clear_bit(_PAGE_BIT_DIRTY, (unsigned long *)entry);
}

/* Callers hold text_mutex and synchronise the CPUs.  @addr is mapped, but read-only. */
static void *redirected(void (*copy)(void *to, const void *from, size_t size), void *addr,
			const void *bytes, size_t size)
{
	unsigned long flags, cr0;

	local_irq_save(flags);
	asm volatile("mov %%cr0, %0" : "=r"(cr0));
	asm volatile("mov %0, %%cr0" : : "r"(cr0 & ~X86_CR0_WP) : "memory");
	copy(addr, bytes, size);
	asm volatile("mov %0, %%cr0" : : "r"(cr0) : "memory");
	not_dirty((unsigned long)addr);
	not_dirty((unsigned long)addr + size - 1);
	local_irq_restore(flags);
	return addr;
}

static void notrace redirect(unsigned long ip, unsigned long caller, struct ftrace_ops *ops,
			     struct ftrace_regs *regs)
{
	pp_ftrace_set_ip(regs, (unsigned long)redirected);
}

static struct ftrace_ops ops = {
	.func = redirect,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY,
};
static char writer[] = "__text_poke";
static unsigned long at;
module_param(at, ulong, 0444);
static bool list; /* give ftrace a list of sites, as fprobes do */
module_param(list, bool, 0444);
static unsigned int hits;
module_param(hits, uint, 0444);

static void notrace count(unsigned long ip, unsigned long caller, struct ftrace_ops *unused,
			  struct ftrace_regs *regs)
{
	hits++;
}

static int __init pp_redirect_init(void)
{
	int ret;

	if (at) {
		ops.func = count;
		ops.flags = 0;
		ret = list ? ftrace_set_filter_ips(&ops, &at, 1, 0, 1) :
			     ftrace_set_filter_ip(&ops, at, 0, 1);
	} else {
		ret = ftrace_set_filter(&ops, writer, strlen(writer), 1);
	}
	return ret ? ret : register_ftrace_function(&ops);
}

static void __exit pp_redirect_exit(void)
{
	unregister_ftrace_function(&ops);
	ftrace_free_filter(&ops);
}

module_init(pp_redirect_init);
module_exit(pp_redirect_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Redirects calls of the kernel's writer of text");
