/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of the symbols that the core, or an architecture's file, needs and that the kernel does
 * not export.  kernel_symbols.c fills their slots when the core is loaded.
 *
 * symbols.sh reads these tables too, so a row begins a line of its own: a tab, and PP_NEED.  And
 * needed.sh reads them from the objects, in the layout of struct pp_needed, so that a build with
 * the kernel's vmlinux fails if a symbol is missing there.
 */
#ifndef POKEPATCH_PP_NEEDED_H
#define POKEPATCH_PP_NEEDED_H

#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/stddef.h>
#include <linux/types.h>

/* One row.  A table ends with a row whose name is empty. */
struct pp_needed {
	char name[48];
	void *slot;	/* of a pointer or an unsigned long, 0 until it is filled */
	bool optional;	/* the slot stays 0 if the kernel has no such symbol */
	bool function;	/* the core calls it through the slot */
};

static_assert(sizeof(struct pp_needed) == 64 && offsetof(struct pp_needed, optional) == 56);

/* Each table is `static const struct pp_needed NAME[] __pp_needed`. */
#define __pp_needed __section(".rodata.pp_needed")

/*
 * A symbol with a C declaration.  The slot must be a pointer to exactly the declared type, so that
 * the core does not compile for a kernel in which the declaration has changed.
 */
#define PP_NEED(symbol, to, ...)                                                          \
	{                                                                                 \
		.name = #symbol,                                                          \
		.slot = &(to) + BUILD_BUG_ON_ZERO(!__same_type((to), &(symbol))),         \
		##__VA_ARGS__                                                             \
	}

/*
 * A function that the core calls.  The slot holds an address that an indirect call may go to, which
 * on some machines is not the function's own (pp_arch.callable).
 */
#define PP_NEED_FUNCTION(symbol, to, ...) PP_NEED(symbol, to, .function = true, ##__VA_ARGS__)

/* A symbol of which only the address matters: the slot is an unsigned long or a void *. */
#define PP_NEED_ADDRESS(symbol, to, ...)                                                  \
	{                                                                                 \
		.name = #symbol,                                                          \
		.slot = &(to) + BUILD_BUG_ON_ZERO(!__same_type((to), unsigned long) &&    \
						  !__same_type((to), void *)),            \
		##__VA_ARGS__                                                             \
	}

#endif /* POKEPATCH_PP_NEEDED_H */
