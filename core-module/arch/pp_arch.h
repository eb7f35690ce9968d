/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an architecture provides to the core: one file in this folder fills one struct
 * pp_arch.  No other file of the core knows which machine it runs on.  The groups of
 * operations are described in the headers below; README.md tells how to add a machine.
 */
#ifndef POKEPATCH_ARCH_PP_ARCH_H
#define POKEPATCH_ARCH_PP_ARCH_H

#include <linux/types.h>

#include "arch/pp_arch_detour.h"
#include "arch/pp_arch_live.h"
#include "arch/pp_arch_stack.h"
#include "arch/pp_arch_text.h"
#include "arch/pp_arch_trace.h"

struct pp_needed;

struct pp_arch {
	/* The unexported symbols that the architecture's file needs: pp_needed.h. */
	const struct pp_needed *needed;

	/*
	 * An address that an indirect call may go to in order to call the kernel function at @func,
	 * or 0 if too many were asked for.  The result holds as long as the core is loaded.  Only
	 * called in the core's init; may sleep.  NULL: @func itself is such an address.
	 */
	unsigned long (*callable)(unsigned long func);

	struct pp_arch_reloc reloc;
	struct pp_arch_text text;
	struct pp_arch_steps steps;
	struct pp_arch_entry entry;
	struct pp_arch_veneer veneer;
	struct pp_arch_detour detour;
	struct pp_arch_stub stub;
	struct pp_arch_probe probe;
	struct pp_arch_live live;
	struct pp_arch_writer writer;
	struct pp_arch_stack stack;

	/* NULL: the machine has none, or the kernel has its own tracer. */
	const struct pp_arch_trace *trace;
};

extern const struct pp_arch pp_arch;

#endif /* POKEPATCH_ARCH_PP_ARCH_H */
