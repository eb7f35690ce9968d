// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: markers' calls.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/stdarg.h>
#include <linux/string.h>

#include <pokepatch_mark.h>

#include "marker.h"

/* System V ABI, AMD64 supplement, figure 3.34: what a va_list is. */
struct list {
	unsigned int gp_offset, fp_offset;
	const void *overflow_arg_area;
	const void *reg_save_area;
};

#define ALL_REGISTERS_TAKEN 48	/* gp_offset: the six of them */

/* From x86_mark_call.S. */
asmlinkage void x86_mark_met(struct pokepatch_mark_call *call, unsigned long ip);

/* Any context; the arguments are in memory, those after the first six of a call are too. */
notrace void x86_mark_met(struct pokepatch_mark_call *call, unsigned long ip)
{
	const struct list there = {
		.gp_offset = ALL_REGISTERS_TAKEN,
		.fp_offset = 304,
		.overflow_arg_area = call->args,
	};
	va_list list;

	BUILD_BUG_ON(sizeof(list) != sizeof(there));
	/* Inlined: what markers call should not itself have markers before it knows. */
	__builtin_memcpy(list, &there, sizeof(list));
	pp_mark_met(call->marker, list, ip);
}

EXPORT_SYMBOL_GPL(pokepatch_mark_met);
