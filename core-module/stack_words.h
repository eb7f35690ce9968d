/* SPDX-License-Identifier: GPL-2.0-only */
/* The walk of a stack word by word, where there is no reliable unwinder: stack_words.c. */
#ifndef POKEPATCH_STACK_WORDS_H
#define POKEPATCH_STACK_WORDS_H

#include <linux/types.h>

struct task_struct;

/*
 * For architectures (pp_arch.h): call @visit for each word of the stack of @task, which is
 * current or not running, up to its user registers. Any context; takes no lock.
 * Return: false if @visit ended the walk.
 */
bool pp_visit_words(struct task_struct *task, bool (*visit)(void *ctx, unsigned long addr),
		    void *ctx);
/* The same for each return address that kretprobes or the graph tracer keep for @task. */
bool pp_visit_hidden(const struct task_struct *task, bool (*visit)(void *ctx, unsigned long addr),
		     void *ctx);

#endif /* POKEPATCH_STACK_WORDS_H */
