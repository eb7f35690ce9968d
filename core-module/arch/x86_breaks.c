// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: breakpoints in text that is being written, and the kernel's handler of them.
 *
 * A CPU that meets a breakpoint, be it in an NMI or in the handler of another breakpoint, gets to
 * poke_int3_handler(), which exc_int3() calls before anything else.  Nothing on that path can be
 * traced, probed or patched.  So there is no function that could not be written over breakpoints.
 * (A handler of ours, on the chain of die notifiers, would come behind functions that can.)
 *
 * The kernel's handler looks the place up in a table, which the kernel's writer fills, and emulates
 * the instruction that it finds there.  It can emulate jumps and the NOP.  Entries and the jumps of
 * stubs are nothing else, before and after.  This file gives the handler tables of ours, sorted by
 * address: first one that has the old instructions emulated.  When all CPUs go through the handler,
 * the pointer is moved to one with the new instructions.  That store switches all functions of the
 * table, for every context that can meet a breakpoint.  The handler takes a reference before it
 * looks at the table, and reads the pointer once.  (If the compiler made it read the pointer twice,
 * it would find the same places in both tables.)  Disarming waits until no reference is left.
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
#include <linux/string.h>

#include <asm/text-patching.h>

#include "arch/pp_arch.h"
#include "debug.h"
#include "kernel_symbols.h"
#include "text.h"
#include "x86.h"

/* struct bp_patching_desc of Linux 6.1 and 6.12. */
struct places {
	const struct x86_place *vec;
	int nr;
	atomic_t refs;		/* 0: the handler takes no breakpoint for its own */
};

bool x86_can_emulate(const struct pp_poke *poke)
{
	const u8 *insns[] = { poke->old, poke->new };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(insns); i++)
		if (insns[i][0] != JMP_REL32 && memcmp(insns[i], x86_nop, sizeof(x86_nop)))
			return false;
	return poke->size == JMP_SIZE;
}

/* Fill in @place: the handler emulates @emulate for a breakpoint at @at. */
void x86_place_fill(struct x86_place *place, unsigned long at, const u8 *emulate)
{
	*place = (struct x86_place){
		.rel_addr = at - pp_kernel.stext,
		.len = JMP_SIZE,
		.opcode = JMP_REL32,
	};
	/* The kernel's writer too has a NOP emulated as a jump to the next instruction. */
	if (emulate[0] == JMP_REL32)
		memcpy(&place->disp, emulate + 1, sizeof(place->disp));
}

notrace void x86_breaks_arm(const struct x86_place *places, unsigned int nr)
{
	struct places *armed = x86.bp_desc;

	if (pp_debug_skip_arm)
		return;
	armed->vec = places;
	armed->nr = nr;
	/* A CPU that takes a reference sees the table. */
	atomic_set_release(&armed->refs, 1);
	/* A CPU that meets a breakpoint can take a reference. */
	smp_wmb();
}
NOKPROBE_SYMBOL(x86_breaks_arm);

notrace void x86_breaks_turn(const struct x86_place *places)
{
	struct places *armed = x86.bp_desc;

	WRITE_ONCE(armed->vec, places);
}
NOKPROBE_SYMBOL(x86_breaks_turn);

notrace void x86_breaks_disarm(void)
{
	struct places *armed = x86.bp_desc;

	if (pp_debug_skip_arm)
		return;
	if (!atomic_dec_and_test(&armed->refs))
		atomic_cond_read_acquire(&armed->refs, !VAL);
}
NOKPROBE_SYMBOL(x86_breaks_disarm);

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
		     "pp_x86_first:\n" ANNOTATE_NOENDBR
		     ".byte " __stringify(BYTES_NOP5) "\n"
		     "pp_x86_second:\n" ANNOTATE_NOENDBR
		     ".byte " __stringify(BYTES_NOP5) "\n"
		     "testl %0, %0\n"
		     "jnz 1f\n"
		     "pp_x86_other:\n" ANNOTATE_NOENDBR
		     "movl $2, %0\n"
		     "1:"
		     : "=r"(way)
		     :
		     : "cc", "memory");
	return way;
}
NOKPROBE_SYMBOL(x86_trial);

static bool trial_ok;

/* Step over the breakpoint of the trial if the kernel's handler did not take it for its own. */
static int x86_trial_int3(struct notifier_block *nb, unsigned long what, void *data)
{
	struct die_args *args = data;

	if (what != DIE_INT3 || user_mode(args->regs) ||
	    args->regs->ip != (unsigned long)pp_x86_first + INT3_INSN_SIZE)
		return NOTIFY_DONE;
	args->regs->ip += JMP_SIZE - INT3_INSN_SIZE;
	trial_ok = false;
	return NOTIFY_STOP;
}

static struct notifier_block notifier = { .notifier_call = x86_trial_int3 };

static void x86_trial_look_there(unsigned int step)
{
	if (x86_trial() != (step < 2 ? 1 : 2))
		trial_ok = false;
}

static void x86_trial_look_back(unsigned int step)
{
	if (x86_trial() != (step < 2 ? 2 : 1))
		trial_ok = false;
}

/*
 * Do the kernel's structures hold what is expected for two writes that change nothing?  The
 * first replaces a NOP by itself with a jump to emulate, the second with nothing to emulate.
 */
static bool x86_has_known_layout(void)
{
	const unsigned long first = (unsigned long)pp_x86_first, second = (unsigned long)pp_x86_second;
	const struct places *places = x86.bp_desc;
	const struct x86_place *vec = x86.tp_vec;
	struct x86_place expected;
	u8 jump[JMP_SIZE];
	bool known;

	if (!places || !vec || !x86.tp_vec_nr || !x86.text_poke || !x86.text_poke_sync ||
	    *x86.tp_vec_nr || x86_entry_insn(first, (unsigned long)pp_x86_other, jump))
		return false;
	x86.text_poke_queue(pp_x86_first, x86_nop, JMP_SIZE, jump);
	x86.text_poke_queue(pp_x86_second, x86_nop, JMP_SIZE, NULL);
	x86_place_fill(&expected, first, jump);
	known = *x86.tp_vec_nr == 2 && !memcmp(&vec[0], &expected, offsetof(struct x86_place, text));
	x86_place_fill(&expected, second, x86_nop);
	known &= !memcmp(&vec[1], &expected, offsetof(struct x86_place, text));
	x86.text_poke_finish();
	return known && places->vec == vec && places->nr == 2 && !atomic_read(&places->refs);
}

/* Does a trial go as the top of this file describes: from the first NOP to a jump, and back? */
static bool x86_trial_succeeds(void)
{
	struct pp_poke poke = { .at = (unsigned long)pp_x86_first, .size = JMP_SIZE };
	struct pp_poke *pokes[] = { &poke };

	memcpy(poke.old, x86_nop, JMP_SIZE);
	if (x86_entry_insn(poke.at, (unsigned long)pp_x86_other, poke.new) ||
	    register_die_notifier(&notifier))
		return false;
	trial_ok = x86_trial() == 1;
	x86_write_exactly(pokes, 1, false, x86_trial_look_there);
	trial_ok &= x86_trial() == 2;
	x86_write_exactly(pokes, 1, true, x86_trial_look_back);
	trial_ok &= x86_trial() == 1;
	unregister_die_notifier(&notifier);
	return trial_ok;
}

static bool known;

void x86_breaks_init(void)
{
	known = x86_has_known_layout() && x86_trial_succeeds();
}

bool x86_breaks_known(void)
{
	return known;
}

unsigned long x86_write_same(unsigned int *size)
{
	*size = JMP_SIZE;
	x86.text_poke_queue(pp_x86_first, x86_nop, JMP_SIZE, NULL);
	x86.text_poke_finish();
	return (unsigned long)pp_x86_first;
}
