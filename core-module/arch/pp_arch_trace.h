/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The group of struct pp_arch for tracing functions over their patchable entries
 * (trace_entry.c), in kernels that have no tracer for that.
 */
#ifndef POKEPATCH_ARCH_PP_ARCH_TRACE_H
#define POKEPATCH_ARCH_PP_ARCH_TRACE_H

#include <linux/types.h>

/* The largest number of words that are written at a traced function's entry. */
#define PP_TRACE_WORDS_MAX 4
/* The largest number of a function's arguments that are passed in registers. */
#define PP_TRACE_ARGS_MAX 8

/*
 * The first @words words, of pp_arch_entry.size bytes each, of an unused entry change from NOPs.
 * While a function is traced, the word number @decides calls the code that start() made.  As
 * long as that word is a NOP, the others have no effect that the function or its caller could
 * notice.
 * One of the others says whether registers are wanted; it may be written at any time.
 *
 * The call ends in pp_trace_entry_hit().  The function then goes on behind the words with
 * everything in place that it may rely on, its return address included.
 */
struct pp_arch_trace {
	unsigned int words, decides;
	unsigned int nr_args;	/* registers that are copied for pp_trace_entry_hit() */

	/* Make the word number @nr.  Only after start(); any context. */
	void (*word)(unsigned int nr, bool regs, u8 *insn);

	/*
	 * Make the code that traced entries call; calling it again is harmless.  May sleep.
	 * Return: 0, -EOPNOTSUPP, -ENOMEM.
	 */
	int (*start)(void);

	/* Free that code.  No CPU and no task may be in it any more.  May sleep. */
	void (*stop)(void);
};

#endif /* POKEPATCH_ARCH_PP_ARCH_TRACE_H */
