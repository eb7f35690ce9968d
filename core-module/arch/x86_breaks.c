// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: breakpoints in text that is being written, and the kernel's handler of them.
 *
 * A CPU that meets a breakpoint, be it in an NMI or in the handler of another breakpoint, gets to
 * poke_int3_handler(), which exc_int3() calls before anything else.  Nothing on that path can be
 * traced, probed or patched.  So there is no function that could not be written over breakpoints.
 * (A handler of ours, on the chain of die notifiers, would come behind functions that can.)
 *
 * (From Linux 6.16 on its name is smp_text_poke_int3_handler().)
 *
 * The kernel's handler looks the place up in a table, which the kernel's writer fills, and emulates
 * the instruction that it finds there.  It can emulate jumps and the NOP.  Entries and the jumps of
 * stubs are nothing else, before and after; for first instructions that are overwritten a jump to
 * their copy is emulated (detour.c).  The core gives the handler places of ours, sorted by
 * address, first with the old instructions to emulate (x86_breaks_arm()).  When all CPUs go through
 * the handler, the places get the new instructions (x86_breaks_turn()).  That switches their
 * functions, for every context that can meet a breakpoint.  The handler takes a reference before it
 * looks at the table, and disarming waits until no reference is left.  x86_table.c has the forms in
 * which kernels have the table.
 *
 * text_mutex keeps the kernel's own writers out meanwhile.
 *
 * The handler's structures are internal to the kernel, and another version may have others.  So
 * x86_breaks_init() looks at them when the core is loaded.  The kernel's writer must put the
 * expected values into them for a write that is known.  Then a write to a function of ours must
 * go as described.  Behind the kernel's handler a handler of our own waits meanwhile, in case the
 * kernel's does not take the breakpoint for its own.  If anything differs, the kernel's writer
 * makes all live writes (x86_poke.c), and no stop can write text (x86_stop.c).
 */
#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/objtool.h>
#include <linux/smp.h>
#include <linux/string.h>

#include <asm/text-patching.h>

#include "arch/pp_arch.h"
#include "kernel_symbols.h"
#include "text.h"
#include "x86.h"
#include "x86_window.h"

bool x86_can_emulate(const struct pp_poke *poke)
{
	const u8 *insns[] = { poke->old, poke->new };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(insns) && !poke->detour; i++)
		if (insns[i][0] != JMP_REL32 && memcmp(insns[i], x86_nop, sizeof(x86_nop)))
			return false;
	return poke->size == JMP_SIZE;
}

/*
 * Fill in @place: the handler emulates @emulate for a breakpoint at @at.  If that is neither a jump
 * nor the NOP, it emulates a jump to @detour.
 */
void x86_place_fill(struct x86_place *place, unsigned long at, const u8 *emulate,
		    unsigned long detour)
{
	*place = (struct x86_place){
		.rel_addr = at - pp_kernel.stext,
		.len = JMP_SIZE,
		.opcode = JMP_REL32,
	};
	/* The kernel's writer too has a NOP emulated as a jump to the next instruction. */
	if (emulate[0] == JMP_REL32)
		memcpy(&place->disp, emulate + 1, sizeof(place->disp));
	else if (memcmp(emulate, x86_nop, sizeof(x86_nop)))
		place->disp = detour - (at + JMP_SIZE);
}

/* --- does this kernel's handler work as described? --------------------------------------- */

extern u8 pp_x86_first[], pp_x86_second[], pp_x86_other[];

/*
 * Return: 1 while the first of the two instructions is a NOP, 2 while it jumps to "other".  The
 * annotations tell objtool that no indirect call goes to the labels whose addresses we use.
 */
static noinline notrace unsigned int x86_trial(void)
{
	unsigned int way;

	asm volatile("movl $1, %0\n"
		     "pp_x86_first:\n" ANNOTATE_NOENDBR "\n"
		     ".byte " __stringify(BYTES_NOP5) "\n"
		     "pp_x86_second:\n" ANNOTATE_NOENDBR "\n"
		     ".byte " __stringify(BYTES_NOP5) "\n"
		     "testl %0, %0\n"
		     "jnz 1f\n"
		     "pp_x86_other:\n" ANNOTATE_NOENDBR "\n"
		     "movl $2, %0\n"
		     "1:"
		     : "=r"(way)
		     :
		     : "cc", "memory");
	return way;
}
NOKPROBE_SYMBOL(x86_trial);

static bool trial_ok;

/* Each CPU counts references by itself in newer kernels, so each tries. */
static void x86_trial_here(void *want)
{
	if (x86_trial() != (unsigned long)want)
		WRITE_ONCE(trial_ok, false);
}

static void x86_trial_everywhere(unsigned long want)
{
	on_each_cpu(x86_trial_here, (void *)want, 1);
}

/* Step over the breakpoint of the trial if the kernel's handler did not take it for its own. */
static int x86_trial_int3(struct notifier_block *nb, unsigned long what, void *data)
{
	struct die_args *args = data;

	if (what != DIE_INT3 || user_mode(args->regs) ||
	    args->regs->ip != (unsigned long)pp_x86_first + INT3_INSN_SIZE)
		return NOTIFY_DONE;
	args->regs->ip += JMP_SIZE - INT3_INSN_SIZE;
	WRITE_ONCE(trial_ok, false);
	return NOTIFY_STOP;
}

static struct notifier_block trial_notifier = { .notifier_call = x86_trial_int3 };

static void x86_trial_look_there(unsigned int step)
{
	x86_trial_everywhere(step < 2 ? 1 : 2);
}

static void x86_trial_look_back(unsigned int step)
{
	x86_trial_everywhere(step < 2 ? 2 : 1);
}

/*
 * Queue two writes that change nothing.  The first replaces a NOP by itself with a jump to emulate,
 * the second with nothing to emulate.  Return: does the kernel's table hold what is expected?
 */
static __nocfi bool x86_trial_queue_two(const struct x86_place *vec)
{
	const unsigned long first = (unsigned long)pp_x86_first, second = (unsigned long)pp_x86_second;
	struct x86_place expected;
	u8 jump[JMP_SIZE];
	bool known;

	if (x86_entry_insn(first, (unsigned long)pp_x86_other, jump))
		return false;
	x86.text_poke_queue(pp_x86_first, x86_nop, JMP_SIZE, jump);
	x86.text_poke_queue(pp_x86_second, x86_nop, JMP_SIZE, NULL);
	x86_place_fill(&expected, first, jump, 0);
	known = !memcmp(&vec[0], &expected, offsetof(struct x86_place, text));
	x86_place_fill(&expected, second, x86_nop, 0);
	return known && !memcmp(&vec[1], &expected, offsetof(struct x86_place, text));
}

/* Does a trial go as the top of this file describes: from the first NOP to a jump, and back? */
static bool x86_trial_succeeds(void)
{
	struct pp_poke poke = { .at = (unsigned long)pp_x86_first, .size = JMP_SIZE };
	struct pp_poke *pokes[] = { &poke };

	memcpy(poke.old, x86_nop, JMP_SIZE);
	if (x86_entry_insn(poke.at, (unsigned long)pp_x86_other, poke.new) ||
	    register_die_notifier(&trial_notifier))
		return false;
	trial_ok = true;
	x86_trial_everywhere(1);
	x86_write_exactly(pokes, 1, false, x86_trial_look_there);
	x86_trial_everywhere(2);
	x86_write_exactly(pokes, 1, true, x86_trial_look_back);
	x86_trial_everywhere(1);
	unregister_die_notifier(&trial_notifier);
	return trial_ok;
}

static bool breaks_known;

void x86_breaks_init(void)
{
	breaks_known = x86.text_poke && x86.text_poke_sync &&
		       x86_table_is_known(x86_trial_queue_two) && x86_trial_succeeds();
	x86_window_init();
}

bool x86_breaks_known(void)
{
	return breaks_known;
}

__nocfi unsigned long x86_write_same(unsigned int *size)
{
	*size = JMP_SIZE;
	x86.text_poke_queue(pp_x86_first, x86_nop, JMP_SIZE, NULL);
	x86.text_poke_finish();
	return (unsigned long)pp_x86_first;
}
