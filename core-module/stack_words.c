// SPDX-License-Identifier: GPL-2.0-only
/*
 * The conservative walk of a stack, word by word: each aligned word in use counts as a code
 * address, and so do the return addresses that tracers keep elsewhere. This needs no unwinder
 * and cannot miss an address that is there. But a word that an earlier call left behind, and to
 * which no call will return, counts too.
 *
 * Exception frames need no special care: the saved registers are words of the stack.
 */
#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/rethook.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include "arch/pp_arch.h"
#include "compat.h"
#include "stack_words.h"

/* The code address in @word: without the signature that pointer authentication adds. */
static unsigned long stack_word_address(unsigned long word)
{
	return pp_arch.stack.code_address ? pp_arch.stack.code_address(word) : word;
}

bool pp_visit_hidden(const struct task_struct *task, bool (*visit)(void *ctx, unsigned long addr),
		     void *ctx)
{
#if defined(CONFIG_RETHOOK)
	const struct rethook_node *node;

	llist_for_each_entry(node, task->rethooks.first, llist)
		if (!visit(ctx, stack_word_address(node->ret_addr)))
			return false;
#elif defined(CONFIG_KRETPROBES)
	const struct kretprobe_instance *instance;

	llist_for_each_entry(instance, task->kretprobe_instances.first, llist)
		if (!visit(ctx, stack_word_address((unsigned long)instance->ret_addr)))
			return false;
#endif
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	int i;

	for (i = 0; i < pp_ret_stack_top(task); i++)
		if (!visit(ctx, stack_word_address(pp_ret_stack_entry(task, i))))
			return false;
#endif
	return true;
}

bool pp_visit_words(struct task_struct *task, bool (*visit)(void *ctx, unsigned long addr),
		    void *ctx)
{
	const unsigned long *word = (void *)ALIGN(pp_arch.stack.pointer(task), sizeof(*word));
	const unsigned long *end = (void *)task_pt_regs(task);

	for (; word < end; word++)
		if (!visit(ctx, stack_word_address(READ_ONCE_NOCHECK(*word))))
			return false;
	return true;
}
