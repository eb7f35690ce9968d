// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: writing text that is running (the operations of pp_arch.live).
 *
 * This is the kernel's own protocol (arch/x86/kernel/alternative.c).  The writer puts a breakpoint
 * at each instruction of the batch and synchronises all CPUs once, writes the bytes behind the
 * breakpoints and synchronises, and writes the first bytes and synchronises.
 *
 * A CPU that meets a breakpoint, be it in an NMI or in the handler of another breakpoint, gets to
 * poke_int3_handler(), which exc_int3() calls before anything else.  Nothing on that path can be
 * traced, probed or patched, so there is no function that could not be written in this way.
 * The handler emulates the instruction that the writer gave it; here this is the old one.  It
 * can emulate jumps and the NOP.  Entries and the jumps of stubs are nothing else, before and
 * after.
 *
 * An interrupted task never stands between the bytes of an instruction.  A task that was stopped
 * in front of one resumes with the bytes that are there by then.  The handler runs with
 * interrupts off, so it cannot be preempted, and the last synchronisation waits for it.
 *
 * Exact times.  When the kernel's writer (text_poke_queue(), text_poke_finish()) removes the
 * breakpoints, CPUs change to the new code one by one, as each comes to see the first byte.  The
 * time of that change is unknown, but the history needs it.  So where possible this file goes
 * through the protocol itself, with the kernel's handler and the handler's table.  It uses two
 * tables: one has the old instructions emulated, the other the new ones.  Between the second
 * step and the third all CPUs go through the handler.  Then the writer moves the handler's
 * pointer from one table to the other.  That store is the change, of all functions of the batch.
 * The handler takes a reference before it looks at the table, and reads the pointer once.  (If
 * the compiler made it read the pointer twice, it would find the same places in both tables.)
 * The writer does not write to the tables again until no reference is left.
 *
 * The handler's structures are internal to the kernel, and another version may have others.  So
 * x86_live_init() looks at them when the core is loaded.  The kernel's writer must put the
 * expected values into them for a write that is known.  Then a write to a function of ours must
 * go as described.  Behind the kernel's handler a handler of our own waits meanwhile, in case the
 * kernel's does not take the breakpoint for its own.  If anything differs, the kernel's writer
 * makes all live writes.
 */
#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/objtool.h>
#include <linux/printk.h>
#include <linux/string.h>

#include <asm/text-patching.h>

#include "arch/pp_arch.h"
#include "core_print.h"
#include "kernel_symbols.h"
#include "pp_time.h"
#include "text.h"
#include "x86.h"

/* struct text_poke_loc of Linux 6.1. */
struct place {
	s32 rel_addr;		/* from _stext */
	s32 disp;		/* of the emulated jump, from the next instruction */
	u8 len;
	u8 opcode;		/* of the emulated instruction */
	u8 text[JMP_SIZE];
	u8 old;			/* used by the kernel's writer only */
};

/* struct bp_patching_desc of Linux 6.1. */
struct places {
	const struct place *vec;
	int nr;
	atomic_t refs;		/* 0: the handler takes no breakpoint for its own */
};

/* The tables that have the old and the new instructions emulated.  Under text_mutex. */
static struct place old_places[PP_LIVE_MAX], new_places[PP_LIVE_MAX];

static bool x86_can_emulate(const u8 *insn)
{
	return insn[0] == JMP_REL32 || !memcmp(insn, x86_nop, sizeof(x86_nop));
}

const char *x86_live_missing(void)
{
	if (!x86.text_poke_queue)
		return "text_poke_queue";
	return x86.text_poke_finish ? NULL : "text_poke_finish";
}

/* The kernel's writer does not refuse an instruction that it cannot emulate: it crashes. */
int x86_live_check(const struct pp_poke *poke)
{
	if (poke->size == JMP_SIZE && x86_can_emulate(poke->old) && x86_can_emulate(poke->new))
		return 0;
	return -EOPNOTSUPP;
}

/* The bytes that poke replaces, or those that it writes, in the direction that @back says. */
static const u8 *x86_old_insn(const struct pp_poke *poke, bool back)
{
	return back ? poke->new : poke->old;
}

static const u8 *x86_new_insn(const struct pp_poke *poke, bool back)
{
	return back ? poke->old : poke->new;
}

/* --- writing with an exact time ---------------------------------------------------------- */

/* Fill in @place: @text will stand at @at, and until then the handler emulates @emulate. */
static void x86_fill_place(struct place *place, unsigned long at, const u8 *text, const u8 *emulate)
{
	*place = (struct place){
		.rel_addr = at - pp_kernel.stext,
		.len = JMP_SIZE,
		.opcode = JMP_REL32,
	};
	/* The kernel's writer too has a NOP emulated as a jump to the next instruction. */
	if (emulate[0] == JMP_REL32)
		memcpy(&place->disp, emulate + 1, sizeof(place->disp));
	memcpy(place->text, text, JMP_SIZE);
}

/*
 * Write @size bytes at @offset of each instruction, then synchronise all CPUs.  @bytes: what to
 * write at every place; NULL: the bytes of each new instruction.
 */
static void x86_poke_all(struct pp_poke *const *pokes, unsigned int nr, unsigned int offset,
		     unsigned int size, const u8 *bytes, bool back)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		x86.text_poke((void *)pokes[i]->at + offset,
			      bytes ?: x86_new_insn(pokes[i], back) + offset, size);
	x86.text_poke_sync();
}

/*
 * Do what text_poke_bp_batch() does, and in addition the store that moves the handler's pointer.
 * perf gets its record at the same point as there, while all CPUs go through the handler.
 * With @look the write is a trial and perf gets no record.  @look is called after the first
 * step, after the second, and after the store.
 */
static void x86_write_exactly(struct pp_poke *const *pokes, unsigned int nr, bool back,
			  void (*look)(unsigned int step))
{
	static const u8 int3 = INT3_INSN_OPCODE;
	struct places *places = x86.bp_desc;
	struct pp_when when = {
		.before = pp_now(),
		.exact = true,
		.told = true,
	};
	unsigned int i;

	for (i = 0; i < nr; i++) {
		const u8 *old = x86_old_insn(pokes[i], back), *new = x86_new_insn(pokes[i], back);

		x86_fill_place(&old_places[i], pokes[i]->at, new, old);
		x86_fill_place(&new_places[i], pokes[i]->at, new, new);
	}
	places->vec = old_places;
	places->nr = nr;
	/* A CPU that takes a reference sees the table. */
	atomic_set_release(&places->refs, 1);
	/* A CPU that meets a breakpoint can take a reference. */
	smp_wmb();
	x86_poke_all(pokes, nr, 0, sizeof(int3), &int3, back);
	if (look)
		look(0);
	x86_poke_all(pokes, nr, 1, JMP_SIZE - 1, NULL, back);
	if (look)
		look(1);

	/* With interrupts off no task and no interrupt runs on this CPU between the clocks. */
	local_irq_disable();
	when.begin = pp_now();
	WRITE_ONCE(places->vec, new_places);
	/* Make the store visible to all CPUs before this CPU reads the clock again. */
	smp_mb();
	when.end = pp_now();
	when.cpu = raw_smp_processor_id();
	local_irq_enable();
	if (look)
		look(2);

	for (i = 0; i < nr && pp_kernel.perf_event_text_poke && !look; i++)
		pp_kernel.perf_event_text_poke((void *)pokes[i]->at, x86_old_insn(pokes[i], back),
					       JMP_SIZE, x86_new_insn(pokes[i], back), JMP_SIZE);
	x86_poke_all(pokes, nr, 0, 1, NULL, back);
	if (!atomic_dec_and_test(&places->refs))
		atomic_cond_read_acquire(&places->refs, !VAL);
	when.after = pp_now();
	for (i = 0; i < nr; i++)
		pokes[i]->when = when;
}

/* --- does this kernel allow exact times? -------------------------------------------------- */

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
	const struct place *vec = x86.tp_vec;
	struct place expected;
	u8 jump[JMP_SIZE];
	bool known;

	if (!places || !vec || !x86.tp_vec_nr || !x86.text_poke || !x86.text_poke_sync ||
	    *x86.tp_vec_nr || x86_entry_insn(first, (unsigned long)pp_x86_other, jump))
		return false;
	x86.text_poke_queue(pp_x86_first, x86_nop, JMP_SIZE, jump);
	x86.text_poke_queue(pp_x86_second, x86_nop, JMP_SIZE, NULL);
	x86_fill_place(&expected, first, x86_nop, jump);
	known = *x86.tp_vec_nr == 2 && !memcmp(&vec[0], &expected, offsetof(struct place, old));
	x86_fill_place(&expected, second, x86_nop, x86_nop);
	known &= !memcmp(&vec[1], &expected, offsetof(struct place, old));
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

/* Live writes have exact times.  Set once, by x86_live_init(). */
static bool exact;

void x86_live_init(void)
{
	exact = x86_has_known_layout() && x86_trial_succeeds();
	if (!exact)
		pr_notice("the time of a live switch is not known exactly on this kernel\n");
}

unsigned long x86_write_same(unsigned int *size)
{
	*size = JMP_SIZE;
	x86.text_poke_queue(pp_x86_first, x86_nop, JMP_SIZE, NULL);
	x86.text_poke_finish();
	return (unsigned long)pp_x86_first;
}

void x86_live_write(struct pp_poke *const *pokes, unsigned int nr, bool back)
{
	struct pp_when when = { .told = true };
	unsigned int i;

	if (exact) {
		x86_write_exactly(pokes, nr, back, NULL);
		return;
	}
	when.cpu = raw_smp_processor_id();
	when.before = when.begin = pp_now();
	/* text_poke_finish() compares what it wrote, and gives perf its record. */
	for (i = 0; i < nr; i++) {
		const u8 *old = x86_old_insn(pokes[i], back), *new = x86_new_insn(pokes[i], back);

		x86.text_poke_queue((void *)pokes[i]->at, new, JMP_SIZE, old);
	}
	x86.text_poke_finish();
	when.end = when.after = pp_now();
	for (i = 0; i < nr; i++)
		pokes[i]->when = when;
}
