// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: writing text in a stop (the operations of pp_arch.steps).
 *
 * An instruction may lie anywhere: across words, cache lines and pages.  While it is written, all
 * other CPUs wait with interrupts off, but a CPU that takes an NMI may execute it.  Even a single
 * aligned store is not enough then: a CPU may fetch an instruction piece by piece, and the manual
 * (SDM volume 3, "Handling Self- and Cross-Modifying Code") allows the change of code that another
 * CPU executes only if that CPU serialises before it executes the new code.
 *
 * So the steps are those of x86_poke.c: the first byte of every instruction becomes a breakpoint;
 * then the bytes behind it are written; then the first byte.  A breakpoint is one byte, so a CPU
 * fetches it or the old byte.  After each step all CPUs meet and serialise, for all instructions
 * together, so there are three meetings however many instructions there are.  In kernels in which
 * the handler's table has a fixed size (x86_table.c), a table's worth of instructions is written
 * after the other, with three meetings each.  Between two of them no breakpoint is left.
 *
 * What an NMI on any CPU executes at an instruction that is being written:
 *
 * after	it fetches				and does
 * the first	the old instruction or the breakpoint	the old instruction, by the handler at last
 * the second	the breakpoint				the old instruction, by the handler
 * the turn	the breakpoint				the new instruction, by the handler
 * the third	the breakpoint or the new instruction	the new instruction, by the handler at first
 *
 * No CPU has any of the old tail in its pipeline when the first byte is written, since all CPUs
 * have serialised behind the breakpoint.  An NMI that interrupts a CPU that is about to meet only
 * makes the others wait for it.  When the CPUs have met for the third time, each NMI that met a
 * breakpoint has returned, since its CPU has come.
 *
 * The handler is the kernel's own (x86_breaks.c), which is safe in NMIs.  The deciding CPU may meet
 * breakpoints itself, in an NMI or if it calls a function that is being switched: they have the
 * same effect there.
 */
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include <asm/text-patching.h>

#include "arch/pp_arch.h"
#include "debug.h"
#include "text.h"
#include "x86.h"

const char *x86_stop_missing(void)
{
	return x86_breaks_known() ? NULL : "this kernel's handler of breakpoints is not as expected";
}

static int x86_compare_pokes(const void *a, const void *b)
{
	const struct pp_poke *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* text->tables is one array: the places of the old instructions, then those of the new ones. */
int x86_stop_prepare(struct pp_text *text)
{
	struct x86_place *places;
	unsigned int i;

	for (i = 0; i < text->nr; i++)
		if (WARN_ON(!x86_can_emulate(&text->poke[i])))
			return -EOPNOTSUPP;
	places = kvmalloc_array(text->nr, 2 * sizeof(*places), GFP_KERNEL);
	if (!places)
		return -ENOMEM;
	sort(text->poke, text->nr, sizeof(*text->poke), x86_compare_pokes, NULL);
	for (i = 0; i < text->nr; i++) {
		x86_place_fill(&places[i], text->poke[i].at, text->poke[i].old);
		x86_place_fill(&places[text->nr + i], text->poke[i].at, text->poke[i].new);
	}
	text->tables = places;
	return 0;
}

/* Those of the pokes that are written together: [first, end). */
struct span {
	unsigned int first, end;
};

static __always_inline void x86_write_breaks(const struct pp_text *text, struct span span)
{
	unsigned int i;

	for (i = span.first; i < span.end; i++)
		if (!text->poke[i].keep)
			WRITE_ONCE(text->poke[i].alias[0], INT3_INSN_OPCODE);
}

static __always_inline void x86_write_bytes(const struct pp_text *text, struct span span,
					    unsigned int from, unsigned int to, bool back)
{
	unsigned int i, k;

	for (i = span.first; i < span.end; i++) {
		const struct pp_poke *poke = &text->poke[i];

		for (k = from; k < to && !poke->keep; k++)
			WRITE_ONCE(poke->alias[k], back ? poke->old[k] : poke->new[k]);
	}
}

static __always_inline void x86_write_span(struct pp_text *text, struct span span, bool back)
{
	const struct x86_place *places = text->tables;
	const struct x86_place *old = places + span.first, *new = old + text->nr;

	if (pp_debug_tail_first) {
		x86_write_bytes(text, span, 1, JMP_SIZE, back);
		text->meet(text);
	}
	x86_breaks_arm(back ? new : old, span.end - span.first);
	x86_write_breaks(text, span);
	text->meet(text);
	x86_write_bytes(text, span, 1, JMP_SIZE, back);
	text->meet(text);
	x86_breaks_turn(back ? old : new);
	x86_write_bytes(text, span, 0, 1, back);
	text->meet(text);
	x86_breaks_disarm();
}

notrace void x86_stop_write(struct pp_text *text, bool back)
{
	struct span span = {};

	for (; span.first < text->nr; span.first = span.end) {
		span.end = text->nr - span.first > X86_TABLE_MAX ? span.first + X86_TABLE_MAX :
								   text->nr;
		x86_write_span(text, span, back);
	}
}
NOKPROBE_SYMBOL(x86_stop_write);
