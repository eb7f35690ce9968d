// SPDX-License-Identifier: GPL-2.0-only
/*
 * The conservative look at a stack: each aligned word in use is taken for a code address,
 * and so are the return addresses that tracers keep elsewhere.  It needs no unwinder, and
 * cannot miss an address that is there; but a word that nobody will return to, left over
 * from an earlier call, counts too.
 *
 * The debug build compares it with the unwinder (debug_cross_check).  A busy address that
 * the unwinder alone has found is a bug, in one of the two.  One that only a word shows is
 * such a leftover, and is counted.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/moduleparam.h>
#include <linux/ptrace.h>
#include <linux/rethook.h>
#include <linux/sched/task_stack.h>

#include "core.h"

/* Since the core was loaded; stoppers count at the same time. */
static struct {
	atomic_long_t stacks, words;
	atomic_long_t agreed;	/* stacks in which both found something busy */
	atomic_long_t stale;	/* those in which the words alone did */
	atomic_long_t missed;	/* those in which the unwinder alone did */
} counts;

struct look {
	const struct pp_busy *busy;
	unsigned long wanted;	/* what the unwinder has found, or 0 */
	unsigned int found;	/* busy words */
	bool confirmed;		/* one of them is the wanted one */
};

static void look_at(struct look *look, unsigned long word)
{
	if (!pp_busy_find(look->busy, word))
		return;
	look->found++;
	look->confirmed |= word == look->wanted;
}

/* What kretprobes and the graph tracer have taken from the stack of @task. */
static void look_at_hidden(struct look *look, const struct task_struct *task)
{
#if defined(CONFIG_RETHOOK)
	const struct rethook_node *node;

	llist_for_each_entry(node, task->rethooks.first, llist)
		look_at(look, node->ret_addr);
#elif defined(CONFIG_KRETPROBES)
	const struct kretprobe_instance *instance;

	llist_for_each_entry(instance, task->kretprobe_instances.first, llist)
		look_at(look, (unsigned long)instance->ret_addr);
#endif
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
	int i;

	for (i = 0; task->ret_stack && i <= task->curr_ret_stack; i++)
		look_at(look, task->ret_stack[i].ret);
#endif
}

/* From the stack pointer to where the registers of user mode lie, or would lie. */
static void look_at_words(struct look *look, struct task_struct *task)
{
	const unsigned long *word = (void *)ALIGN(pp_arch.stack_pointer(task), sizeof(*word));
	const unsigned long *end = (void *)task_pt_regs(task);

	atomic_long_add(max_t(long, 0, end - word), &counts.words);
	for (; word < end; word++)
		look_at(look, READ_ONCE_NOCHECK(*word));
}

void pp_words_compare(const struct pp_busy *busy, struct task_struct *task,
		      const struct pp_hit *hit)
{
	struct look look = { .busy = busy, .wanted = hit->addr };

	if (!pp_debug_skip_words) {
		look_at_words(&look, task);
		look_at_hidden(&look, task);
	}
	atomic_long_inc(&counts.stacks);
	if (hit->addr)
		atomic_long_inc(look.confirmed ? &counts.agreed : &counts.missed);
	else if (look.found && !hit->err)
		atomic_long_inc(&counts.stale);
}

void pp_words_report(void)
{
	static long told; /* pp_mutex */
	long missed = atomic_long_read(&counts.missed);

	WARN(missed != told, "pokepatch: the unwinder has found %ld busy stacks that their words do not show\n",
	     missed - told);
	told = missed;
}

static int counts_get(char *buf, const struct kernel_param *kp)
{
	return scnprintf(buf, PAGE_SIZE, "stacks=%ld words=%ld agreed=%ld stale=%ld missed=%ld\n",
			 atomic_long_read(&counts.stacks), atomic_long_read(&counts.words),
			 atomic_long_read(&counts.agreed), atomic_long_read(&counts.stale),
			 atomic_long_read(&counts.missed));
}

static const struct kernel_param_ops counts_ops = { .get = counts_get };
module_param_cb(debug_cross_counts, &counts_ops, NULL, 0400);
MODULE_PARM_DESC(debug_cross_counts, "what debug_cross_check has found, in stacks");
