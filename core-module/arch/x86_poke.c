// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: writing text that is running.
 *
 * By the kernel's own protocol (arch/x86/kernel/alternative.c): a breakpoint at each
 * instruction of the batch, all CPUs synchronised once, the bytes behind the breakpoints,
 * CPUs synchronised, the first bytes, CPUs synchronised.
 *
 * Who meets a breakpoint, in an NMI or in the handler of another one, is sent on by
 * poke_int3_handler(), which exc_int3() calls first of all: nothing on the way there can be
 * traced, probed or patched, so there is no function that could not be written in this way.
 * It does as the instruction that it was told to emulate: here the old one.  It can emulate
 * jumps, and the NOP: entries and the jumps of stubs are nothing else, before and after.
 *
 * An interrupted task never stands between the bytes of an instruction.  One that was
 * stopped in front of it resumes with what is there; the handler runs with interrupts off
 * and so cannot be preempted, and the last synchronisation waits for it.
 *
 * Exact.  When the kernel's writer (text_poke_queue(), text_poke_finish()) takes the
 * breakpoints away, CPUs go the new way one by one, as they come to see the first byte, and
 * nobody can say when.  The history shall say when; so where it can be, the protocol is
 * gone through here, with the kernel's handler and its table: two tables, that differ in
 * what is emulated, the old instructions or the new ones; and between the second step
 * and the third, when every CPU goes by the handler, the handler's pointer is moved from
 * the one to the other.  That store is the change, of all functions of the batch.  The handler
 * takes a reference before it looks at the table, reads the pointer once (or, if the
 * compiler has it read twice, finds the same places in both), and the tables are not
 * written again before there is no reference left.
 *
 * The handler's structures are the kernel's own matter, and another version may have others.
 * So when the core comes they are looked at: what the kernel's writer puts into them
 * for a write whose values are known must be found where it is expected, and a write to a
 * function of ours must go as described, with a handler of our own behind the kernel's, should
 * that not take the breakpoint for its own.  Else the kernel's writer does it all.
 */
#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/printk.h>
#include <linux/string.h>

#include <asm/text-patching.h>

#include "arch/pp_arch.h"
#include "core_print.h"
#include "kernel_symbols.h"
#include "pp_time.h"
#include "text.h"
#include "x86.h"

/* 6.1: struct text_poke_loc */
struct place {
	s32 rel_addr;		/* from _stext */
	s32 disp;		/* what the emulated jump adds to the next instruction's address */
	u8 len;
	u8 opcode;		/* of the emulated one */
	u8 text[JMP_SIZE];
	u8 old;			/* the kernel's */
};

/* 6.1: struct bp_patching_desc */
struct places {
	const struct place *vec;
	int nr;
	atomic_t refs;		/* 0: no breakpoint is the kernel's */
};

/* Under text_mutex. */
static struct place from[PP_LIVE_MAX], to[PP_LIVE_MAX];

static bool can_emulate(const u8 *insn)
{
	return insn[0] == JMP_REL32 || !memcmp(insn, x86_nop, sizeof(x86_nop));
}

const char *x86_live_missing(void)
{
	if (!x86.text_poke_queue)
		return "text_poke_queue";
	return x86.text_poke_finish ? NULL : "text_poke_finish";
}

/* The kernel's writer does not refuse, it crashes. */
int x86_live_check(const struct pp_poke *poke)
{
	if (poke->size == JMP_SIZE && can_emulate(poke->old) && can_emulate(poke->new))
		return 0;
	return -EOPNOTSUPP;
}

static const u8 *old_of(const struct pp_poke *poke, bool back)
{
	return back ? poke->new : poke->old;
}

static const u8 *new_of(const struct pp_poke *poke, bool back)
{
	return back ? poke->old : poke->new;
}

/* --- exactly --------------------------------------------------------------------------- */

static void fill(struct place *place, unsigned long at, const u8 *text, const u8 *emulate)
{
	*place = (struct place){
		.rel_addr = at - pp_kernel.stext,
		.len = JMP_SIZE,
		.opcode = JMP_REL32,
	};
	/* A NOP is a jump to the next instruction, to the handler too. */
	if (emulate[0] == JMP_REL32)
		memcpy(&place->disp, emulate + 1, sizeof(place->disp));
	memcpy(place->text, text, JMP_SIZE);
}

static void poke_all(struct pp_poke *const *pokes, unsigned int nr, unsigned int offset,
		     unsigned int size, const u8 *bytes, bool back)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		x86.text_poke((void *)pokes[i]->at + offset,
			      bytes ?: new_of(pokes[i], back) + offset, size);
	x86.text_poke_sync();
}

/*
 * As text_poke_bp_batch() does it, but for the store.  perf is told at the same point as by
 * that: when everything goes by the handler.  With @look it is a trial, of which nobody is
 * told; @look is called after the first step, after the second, and after the store.
 */
static void write_exactly(struct pp_poke *const *pokes, unsigned int nr, bool back,
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
		const u8 *old = old_of(pokes[i], back), *new = new_of(pokes[i], back);

		fill(&from[i], pokes[i]->at, new, old);
		fill(&to[i], pokes[i]->at, new, new);
	}
	places->vec = from;
	places->nr = nr;
	/* Who takes a reference finds the table. */
	atomic_set_release(&places->refs, 1);
	/* And who meets a breakpoint can take one. */
	smp_wmb();
	poke_all(pokes, nr, 0, sizeof(int3), &int3, back);
	if (look)
		look(0);
	poke_all(pokes, nr, 1, JMP_SIZE - 1, NULL, back);
	if (look)
		look(1);

	/* Nobody else can be on this CPU in between. */
	local_irq_disable();
	when.begin = pp_now();
	WRITE_ONCE(places->vec, to);
	/* It is there for all before the clock is read. */
	smp_mb();
	when.end = pp_now();
	when.cpu = raw_smp_processor_id();
	local_irq_enable();
	if (look)
		look(2);

	for (i = 0; i < nr && pp_kernel.perf_event_text_poke && !look; i++)
		pp_kernel.perf_event_text_poke((void *)pokes[i]->at, old_of(pokes[i], back),
					       JMP_SIZE, new_of(pokes[i], back), JMP_SIZE);
	poke_all(pokes, nr, 0, 1, NULL, back);
	if (!atomic_dec_and_test(&places->refs))
		atomic_cond_read_acquire(&places->refs, !VAL);
	when.after = pp_now();
	for (i = 0; i < nr; i++)
		pokes[i]->when = when;
}

/* --- can it be done exactly here? ----------------------------------------------------------- */

extern u8 pp_x86_first[], pp_x86_second[], pp_x86_other[];

/* The way that the first of two NOPs leads: 1, or, if it is a jump to "other", 2. */
static noinline notrace unsigned int way(void)
{
	unsigned int way;

	asm volatile("movl $1, %0\n"
		     "pp_x86_first: .byte " __stringify(BYTES_NOP5) "\n"
		     "pp_x86_second: .byte " __stringify(BYTES_NOP5) "\n"
		     "testl %0, %0\n"
		     "jnz 1f\n"
		     "pp_x86_other: movl $2, %0\n"
		     "1:"
		     : "=r"(way)
		     :
		     : "cc", "memory");
	return way;
}
NOKPROBE_SYMBOL(way);

static bool as_expected;

/* A breakpoint that the kernel's handler has not taken for its own. */
static int not_taken(struct notifier_block *nb, unsigned long what, void *data)
{
	struct die_args *args = data;

	if (what != DIE_INT3 || user_mode(args->regs) ||
	    args->regs->ip != (unsigned long)pp_x86_first + INT3_INSN_SIZE)
		return NOTIFY_DONE;
	args->regs->ip += JMP_SIZE - INT3_INSN_SIZE;
	as_expected = false;
	return NOTIFY_STOP;
}

static struct notifier_block notifier = { .notifier_call = not_taken };

static void look_there(unsigned int step)
{
	if (way() != (step < 2 ? 1 : 2))
		as_expected = false;
}

static void look_back(unsigned int step)
{
	if (way() != (step < 2 ? 2 : 1))
		as_expected = false;
}

/* What the kernel's writer makes of two writes that change nothing. */
static bool has_known_layout(void)
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
	fill(&expected, first, x86_nop, jump);
	known = *x86.tp_vec_nr == 2 && !memcmp(&vec[0], &expected, offsetof(struct place, old));
	fill(&expected, second, x86_nop, x86_nop);
	known &= !memcmp(&vec[1], &expected, offsetof(struct place, old));
	x86.text_poke_finish();
	return known && places->vec == vec && places->nr == 2 && !atomic_read(&places->refs);
}

/* A write of the first NOP, and back. */
static bool goes_as_described(void)
{
	struct pp_poke poke = { .at = (unsigned long)pp_x86_first, .size = JMP_SIZE };
	struct pp_poke *pokes[] = { &poke };

	memcpy(poke.old, x86_nop, JMP_SIZE);
	if (x86_entry_insn(poke.at, (unsigned long)pp_x86_other, poke.new) ||
	    register_die_notifier(&notifier))
		return false;
	as_expected = way() == 1;
	write_exactly(pokes, 1, false, look_there);
	as_expected &= way() == 2;
	write_exactly(pokes, 1, true, look_back);
	as_expected &= way() == 1;
	unregister_die_notifier(&notifier);
	return as_expected;
}

static bool exact;

void x86_live_init(void)
{
	exact = has_known_layout() && goes_as_described();
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
		write_exactly(pokes, nr, back, NULL);
		return;
	}
	when.cpu = raw_smp_processor_id();
	when.before = when.begin = pp_now();
	/* It compares what it wrote, and tells perf. */
	for (i = 0; i < nr; i++) {
		const u8 *old = old_of(pokes[i], back), *new = new_of(pokes[i], back);

		x86.text_poke_queue((void *)pokes[i]->at, new, JMP_SIZE, old);
	}
	x86.text_poke_finish();
	when.end = when.after = pp_now();
	for (i = 0; i < nr; i++)
		pokes[i]->when = when;
}
