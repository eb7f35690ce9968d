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
 * Where the jump overwrites several instructions of a function without an entry, the old
 * instruction is emulated as a jump to the function's detour (detour.c).
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
#include "x86_window.h"

const char *x86_stop_missing(void)
{
	return x86_breaks_known() ? NULL : "this kernel's handler of breakpoints is not as expected";
}

static int x86_compare_pokes(const void *a, const void *b)
{
	const struct pp_poke *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/*
 * text->tables is one piece of memory: the places of the old instructions, those of the new ones,
 * and for each instruction the pages of its first byte and of its last, for the window.
 */
typedef pte_t x86_pages[2];
static_assert(2 * sizeof(struct x86_place) % __alignof__(x86_pages) == 0);

static __always_inline x86_pages *x86_pages_of(const struct pp_text *text)
{
	return (x86_pages *)((struct x86_place *)text->tables + 2 * text->nr);
}

/* So many pokes are written together. */
static __always_inline unsigned int x86_span_max(void)
{
	return x86_window_known() ? min(X86_TABLE_MAX, X86_WINDOW_MAX) : X86_TABLE_MAX;
}

/* Say where the window will have @poke, as its instruction number @nr, and what @pages it takes. */
static int x86_prepare_window(struct pp_poke *poke, pte_t *pages, unsigned int nr)
{
	const unsigned long last = poke->at + JMP_SIZE - 1;
	struct page *page = pp_text_page(poke->at);
	struct page *next = (poke->at ^ last) & PAGE_MASK ? pp_text_page(last) : page;

	if (WARN_ON(!page || !next))
		return -EIO;
	pages[0] = x86_window_pte(page);
	pages[1] = next == page ? __pte(0) : x86_window_pte(next);
	poke->alias = x86_window_at(nr, poke->at);
	return 0;
}

int x86_stop_prepare(struct pp_text *text)
{
	struct x86_place *places;
	unsigned int i;
	int ret = 0;

	for (i = 0; i < text->nr; i++)
		if (WARN_ON(!x86_can_emulate(&text->poke[i])))
			return -EOPNOTSUPP;
	places = kvmalloc_array(text->nr, 2 * sizeof(*places) + sizeof(x86_pages), GFP_KERNEL);
	if (!places)
		return -ENOMEM;
	text->tables = places;
	sort(text->poke, text->nr, sizeof(*text->poke), x86_compare_pokes, NULL);
	for (i = 0; i < text->nr; i++) {
		const struct pp_poke *poke = &text->poke[i];

		x86_place_fill(&places[i], poke->at, poke->old, poke->detour);
		x86_place_fill(&places[text->nr + i], poke->at, poke->new, poke->detour);
	}
	text->mapped = x86_window_known();
	for (i = 0; i < text->nr && text->mapped && !ret; i++)
		ret = x86_prepare_window(&text->poke[i], x86_pages_of(text)[i], i % x86_span_max());
	return ret;
}

/* Those of the pokes that are written together: [first, end). */
struct span {
	unsigned int first, end;
};

/* Not WRITE_ONCE(): of the window, which is not in the kernel's half, KASAN knows nothing. */
static __always_inline void x86_store(u8 *to, u8 byte)
{
	asm volatile("movb %1, %0" : "=m"(*to) : "qi"(byte));
}

static __always_inline void x86_write_breaks(const struct pp_text *text, struct span span)
{
	unsigned int i;

	for (i = span.first; i < span.end; i++)
		if (!text->poke[i].keep)
			x86_store(text->poke[i].alias, INT3_INSN_OPCODE);
}

static __always_inline void x86_write_bytes(const struct pp_text *text, struct span span,
					    unsigned int from, unsigned int to, bool back)
{
	unsigned int i, k;

	for (i = span.first; i < span.end; i++) {
		const struct pp_poke *poke = &text->poke[i];

		for (k = from; k < to && !poke->keep; k++)
			x86_store(poke->alias + k, back ? poke->old[k] : poke->new[k]);
	}
}

static __always_inline void x86_write_span(struct pp_text *text, struct span span, bool back)
{
	const struct x86_place *places = text->tables;
	const struct x86_place *old = places + span.first, *new = old + text->nr;
	const unsigned int nr = span.end - span.first;
	struct x86_window_was was;

	if (text->mapped)
		x86_window_open(&was, x86_pages_of(text) + span.first, nr);
	if (pp_debug_tail_first) {
		x86_write_bytes(text, span, 1, JMP_SIZE, back);
		text->meet(text);
	}
	x86_breaks_arm(back ? new : old, nr);
	x86_write_breaks(text, span);
	text->meet(text);
	x86_write_bytes(text, span, 1, JMP_SIZE, back);
	text->meet(text);
	x86_breaks_turn(back ? old : new);
	x86_write_bytes(text, span, 0, 1, back);
	text->meet(text);
	x86_breaks_disarm();
	if (text->mapped)
		x86_window_close(&was, nr);
}

notrace void x86_stop_write(struct pp_text *text, bool back)
{
	const unsigned int max = x86_span_max();
	struct span span = {};

	for (; span.first < text->nr; span.first = span.end) {
		span.end = text->nr - span.first > max ? span.first + max : text->nr;
		x86_write_span(text, span, back);
	}
}
NOKPROBE_SYMBOL(x86_stop_write);
