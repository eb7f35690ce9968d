/* SPDX-License-Identifier: GPL-2.0-only */
/* The debug build's second look at stacks, word by word: words.c. */
#ifndef POKEPATCH_WORDS_H
#define POKEPATCH_WORDS_H

struct pp_busy;
struct pp_stack_walk;
struct task_struct;

#ifdef POKEPATCH_DEBUG

/*
 * Compare *@walk, which the unwinder found on the stack of @task, with the words of that stack.
 * The caller ensures that the stack stays.  Any context.
 */
void pp_words_compare(const struct pp_busy *busy, struct task_struct *task,
		      const struct pp_stack_walk *walk);
/*
 * Warn if the unwinder has found addresses that the words do not show.  Under pp_mutex, but not in
 * a stopped section.
 */
void pp_words_report(void);

#else

static inline void pp_words_compare(const struct pp_busy *busy, struct task_struct *task,
				    const struct pp_stack_walk *walk)
{
}

static inline void pp_words_report(void)
{
}

#endif

#endif /* POKEPATCH_WORDS_H */
