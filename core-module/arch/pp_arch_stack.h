/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups of struct pp_arch that read what is there: the stacks of tasks, and the bytes that a
 * kprobe replaced.
 */
#ifndef POKEPATCH_ARCH_PP_ARCH_STACK_H
#define POKEPATCH_ARCH_PP_ARCH_STACK_H

#include <linux/types.h>

struct kprobe;
struct pt_regs;
struct task_struct;

/* The largest number of bytes of code that a kprobe replaces. */
#define PP_PROBE_MAX 8

/* Kprobes in code that the core compares (verify.c, reloc.c). */
struct pp_arch_probe {
	/*
	 * Copy to @was, which has room for PP_PROBE_MAX bytes, what stood at @probe->addr before
	 * kprobes wrote there.  Under text_mutex, with preemption off.
	 * Return: how many bytes; 0 if the probe is not armed in the text.
	 */
	unsigned int (*was)(const struct kprobe *probe, u8 *was);

	/* No probe depends on bytes of code farther than this behind its address. */
	unsigned int reach;

	/*
	 * Can the bytes at @at, in code, be those that an armed probe wrote?  False only if they
	 * certainly are not.  Any context.
	 */
	bool (*may_be)(const u8 *at);

	/*
	 * @regs are those of a breakpoint at a function's start, where it has put nothing on the
	 * stack yet. Have the function return @value as soon as the breakpoint's handler returns.
	 * NULL: the machine cannot.
	 */
	void (*return_early)(struct pt_regs *regs, long value);
	/* Would something else than kprobes take the breakpoints?  NULL: no. */
	bool (*taken)(void);
};

/* Stacks (stack.c). */
struct pp_arch_stack {
	/*
	 * Call @visit for every code address on the stack of @task: return addresses and
	 * interrupted instruction pointers.  Where a tracer replaced a return address, the
	 * original one is visited.  @task is current or not running.  A false from @visit ends
	 * the walk.  On a machine with prepared words (pp_arch_entry), an interrupted
	 * instruction pointer is visited also as pp_stack_saved_pc() translates it.  The stack
	 * stays while this runs.  Any context; takes no lock and allocates nothing.
	 * Return: 0 if @visit saw everything up to the end of the stack, or ended the walk.
	 * After an error any code address may be on the stack.  -EBUSY: the walk did not begin,
	 * because the kernel would not tell which return addresses a tracer has replaced.
	 */
	int (*walk)(struct task_struct *task, bool (*visit)(void *ctx, unsigned long addr),
		    void *ctx);

	/*
	 * Can a call return to @addr, that is, does a call instruction stand in front of it?
	 * Asked for addresses at the end of a function, where the next function begins.
	 * NULL: assume that one does.  May sleep.
	 */
	bool (*returns_to)(unsigned long addr);

	/* The stack of @task, which is current or not running, is in use from here up. */
	unsigned long (*pointer)(const struct task_struct *task);

	/*
	 * Remove from a word of a stack what the machine adds to return addresses (pointer
	 * authentication).  NULL: it adds nothing.  Any context.
	 */
	unsigned long (*code_address)(unsigned long word);

	/*
	 * Can a CPU that is offline be executing the kernel function at @func? Its stack cannot be
	 * walked. NULL: such a CPU executes nothing of the kernel. Any context.
	 */
	bool (*offline_in)(unsigned long func);
};

#endif /* POKEPATCH_ARCH_PP_ARCH_STACK_H */
