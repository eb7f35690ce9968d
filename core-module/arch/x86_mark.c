// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: the C half of a marker's call.  x86_mark_call.S saves the registers and calls
 * x86_mark_met(), which makes a va_list of the arguments that the marker pushed.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/stdarg.h>
#include <linux/string.h>

#include <pokepatch_mark.h>

#include "marker.h"

/* The type va_list: System V ABI, AMD64 supplement, figure 3.34. */
struct list {
	unsigned int gp_offset, fp_offset;
	const void *overflow_arg_area;
	const void *reg_save_area;
};

/* Offsets that mean "no register left": 6 registers of 8 bytes, then 16 of 16 bytes. */
#define GP_REGISTERS_TAKEN 48
#define FP_REGISTERS_TAKEN 304

/* Called by x86_mark_call.S only. */
asmlinkage void x86_mark_met(struct pokepatch_mark_call *call, unsigned long ip);

/*
 * The arguments lie in @call->args one behind the other, as a caller lays out those that
 * registers have no room for.  @ip is the marker's address.  Any context.
 */
notrace void x86_mark_met(struct pokepatch_mark_call *call, unsigned long ip)
{
	const struct list pushed = {
		.gp_offset = GP_REGISTERS_TAKEN,
		.fp_offset = FP_REGISTERS_TAKEN,
		.overflow_arg_area = call->args,
	};
	va_list list;

	BUILD_BUG_ON(sizeof(list) != sizeof(pushed));
	/*
	 * The compiler inlines this copy.  A function called here might have a marker itself, and
	 * pp_mark_met() has not set the guard against that yet.
	 */
	__builtin_memcpy(list, &pushed, sizeof(list));
	pp_mark_met(call->marker, list, ip);
}

EXPORT_SYMBOL_GPL(pokepatch_mark_met);
