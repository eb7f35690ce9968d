// SPDX-License-Identifier: GPL-2.0-only
/*
 * With debug_cross_check the debug build compares two looks at each stack: the architecture's walk
 * (an unwinder, say), and the conservative look at every word.  A busy address that only the walk
 * has found is a bug in one of the two.  One that only a word shows is a leftover of an earlier
 * call; it is counted.  So are stacks of which the walk says that it cannot know the addresses.
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "debug.h"
#include "stack.h"
#include "stack_words.h"
#include "words.h"

/* Counts since the core was loaded.  Atomic, as all CPUs' stoppers count at the same time. */
static struct {
	atomic_long_t stacks, words;
	atomic_long_t agreed;	/* stacks in which both looks found a busy address */
	atomic_long_t stale;	/* stacks in which only the words show one */
	atomic_long_t missed;	/* stacks in which only the unwinder found one */
	atomic_long_t unknown;	/* stacks that the walk did not begin with (-EBUSY) */
} counts;

struct look {
	const struct pp_busy *busy;
	unsigned long wanted;	/* the busy address that the unwinder has found, or 0 */
	unsigned int words;	/* on the stack */
	unsigned int found;	/* words that are busy addresses */
	bool confirmed;		/* one of the words is the wanted address */
};

static bool words_look_at(void *ctx, unsigned long word)
{
	struct look *look = ctx;

	look->words++;
	if (pp_busy_find(look->busy, word)) {
		look->found++;
		look->confirmed |= word == look->wanted;
	}
	return true;
}

void pp_words_compare(const struct pp_busy *busy, struct task_struct *task,
		      const struct pp_stack_walk *walk)
{
	struct look look = { .busy = busy, .wanted = walk->addr };

	if (!pp_debug_skip_words) {
		pp_visit_words(task, words_look_at, &look);
		atomic_long_add(look.words, &counts.words);
		pp_visit_hidden(task, words_look_at, &look);
	}
	atomic_long_inc(&counts.stacks);
	if (walk->addr)
		atomic_long_inc(look.confirmed ? &counts.agreed : &counts.missed);
	else if (look.found && !walk->err)
		atomic_long_inc(&counts.stale);
	if (walk->err == -EBUSY)
		atomic_long_inc(&counts.unknown);
}

void pp_words_report(void)
{
	static long told; /* pp_mutex */
	long missed = atomic_long_read(&counts.missed);

	WARN(missed != told, "pokepatch: the unwinder has found %ld busy stacks that their words do not show\n",
	     missed - told);
	told = missed;
}

static int words_counts_get(char *buf, const struct kernel_param *kp)
{
	return scnprintf(buf, PAGE_SIZE,
			 "stacks=%ld words=%ld agreed=%ld stale=%ld missed=%ld unknown=%ld\n",
			 atomic_long_read(&counts.stacks), atomic_long_read(&counts.words),
			 atomic_long_read(&counts.agreed), atomic_long_read(&counts.stale),
			 atomic_long_read(&counts.missed), atomic_long_read(&counts.unknown));
}

static const struct kernel_param_ops counts_ops = { .get = words_counts_get };
module_param_cb(debug_cross_counts, &counts_ops, NULL, 0400);
MODULE_PARM_DESC(debug_cross_counts, "what debug_cross_check has found, in stacks");
