// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: writing text that is running (the operations of pp_arch.live).
 *
 * This is the kernel's own protocol (arch/x86/kernel/alternative.c).  The writer puts a breakpoint
 * at each instruction of the batch and synchronises all CPUs once, writes the bytes behind the
 * breakpoints and synchronises, and writes the first bytes and synchronises.  x86_breaks.c says
 * what a CPU does that meets a breakpoint.
 *
 * An interrupted task never stands between the bytes of an instruction.  A task that was stopped
 * in front of one resumes with the bytes that are there by then.  The handler runs with
 * interrupts off, so it cannot be preempted, and the last synchronisation waits for it.
 *
 * Exact times.  When the kernel's writer (text_poke_queue(), text_poke_finish(); x86.h has their
 * newer names) removes the breakpoints, CPUs change to the new code one by one, as each comes to
 * see the first byte.  The time of that change is unknown, but the history needs it.  So where
 * possible this file goes through the protocol itself, and turns the kernel's handler from the old
 * instructions to the new ones between the second step and the third, when all CPUs go through it.
 * The change of each function of the batch is a store in there: one for all of them, or one for
 * each (x86_table.c).
 */
#include <linux/kprobes.h>
#include <linux/printk.h>
#include <linux/stringify.h>

#include <asm/text-patching.h>

#include "arch/pp_arch.h"
#include "core_print.h"
#include "kernel_symbols.h"
#include "pp_time.h"
#include "text.h"
#include "x86.h"

/* The tables that have the old and the new instructions emulated.  Under text_mutex. */
static struct x86_place old_places[PP_LIVE_MAX], new_places[PP_LIVE_MAX];

const char *x86_live_missing(void)
{
	if (!x86.text_poke_queue)
		return __stringify(x86_text_poke_queue);
	return x86.text_poke_finish ? NULL : __stringify(x86_text_poke_finish);
}

/*
 * The kernel's writer does not refuse an instruction that it cannot emulate: it crashes.  And while
 * tasks run, only a single instruction can be replaced.
 */
int x86_live_check(const struct pp_poke *poke)
{
	return !poke->detour && x86_can_emulate(poke) ? 0 : -EOPNOTSUPP;
}

/* The bytes that poke replaces, or those that it writes, in the direction that @back says. */
static const u8 *x86_poke_old(const struct pp_poke *poke, bool back)
{
	return back ? poke->new : poke->old;
}

static const u8 *x86_poke_new(const struct pp_poke *poke, bool back)
{
	return back ? poke->old : poke->new;
}

/* --- writing with an exact time ---------------------------------------------------------- */

/*
 * Write @size bytes at @offset of each instruction, then synchronise all CPUs.  @bytes: what to
 * write at every place; NULL: the bytes of each new instruction.
 */
static __nocfi void x86_poke_all(struct pp_poke *const *pokes, unsigned int nr, unsigned int offset,
				 unsigned int size, const u8 *bytes, bool back)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		x86.text_poke((void *)pokes[i]->at + offset,
			      bytes ?: x86_poke_new(pokes[i], back) + offset, size);
	x86.text_poke_sync();
}

static __nocfi void x86_poke_tell_perf(struct pp_poke *const *pokes, unsigned int nr, bool back)
{
	unsigned int i;

	for (i = 0; i < nr && pp_kernel.perf_event_text_poke; i++)
		pp_kernel.perf_event_text_poke((void *)pokes[i]->at, x86_poke_old(pokes[i], back),
					       JMP_SIZE, x86_poke_new(pokes[i], back), JMP_SIZE);
}

/*
 * Do what text_poke_bp_batch() does, and in addition turn the handler.  perf gets its record at the
 * same point as there, while all CPUs go through the handler.
 */
void x86_write_exactly(struct pp_poke *const *pokes, unsigned int nr, bool back,
		       void (*look)(unsigned int step))
{
	static const u8 int3 = INT3_INSN_OPCODE;
	struct pp_when when = {
		.before = pp_now(),
		.exact = true,
		.told = true,
	};
	unsigned int i;

	BUILD_BUG_ON(PP_LIVE_MAX > X86_TABLE_MAX);
	for (i = 0; i < nr; i++) {
		x86_place_fill(&old_places[i], pokes[i]->at, x86_poke_old(pokes[i], back), 0);
		x86_place_fill(&new_places[i], pokes[i]->at, x86_poke_new(pokes[i], back), 0);
	}
	x86_breaks_arm(old_places, nr);
	x86_poke_all(pokes, nr, 0, sizeof(int3), &int3, back);
	if (look)
		look(0);
	x86_poke_all(pokes, nr, 1, JMP_SIZE - 1, NULL, back);
	if (look)
		look(1);

	/* With interrupts off no task and no interrupt runs on this CPU between the clocks. */
	local_irq_disable();
	when.begin = pp_now();
	x86_breaks_turn(new_places);
	/* Make the stores visible to all CPUs before this CPU reads the clock again. */
	smp_mb();
	when.end = pp_now();
	when.cpu = raw_smp_processor_id();
	local_irq_enable();
	if (look)
		look(2);

	if (!look)
		x86_poke_tell_perf(pokes, nr, back);
	x86_poke_all(pokes, nr, 0, 1, NULL, back);
	x86_breaks_disarm();
	when.after = pp_now();
	for (i = 0; i < nr; i++)
		pokes[i]->when = when;
}

void x86_live_init(void)
{
	x86_breaks_init();
	if (!x86_breaks_known())
		pr_notice("this kernel's handler of breakpoints is not as expected: the time of a live switch is not known exactly, and only the ftrace mode is possible\n");
}

__nocfi void x86_live_write(struct pp_poke *const *pokes, unsigned int nr, bool back)
{
	struct pp_when when = { .told = true };
	unsigned int i;

	if (x86_breaks_known()) {
		x86_write_exactly(pokes, nr, back, NULL);
		return;
	}
	when.cpu = raw_smp_processor_id();
	when.before = when.begin = pp_now();
	/* text_poke_finish() compares what it wrote, and gives perf its record. */
	for (i = 0; i < nr; i++) {
		const u8 *old = x86_poke_old(pokes[i], back), *new = x86_poke_new(pokes[i], back);

		x86.text_poke_queue((void *)pokes[i]->at, new, JMP_SIZE, old);
	}
	x86.text_poke_finish();
	when.end = when.after = pp_now();
	for (i = 0; i < nr; i++)
		pokes[i]->when = when;
}
