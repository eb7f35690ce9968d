// SPDX-License-Identifier: GPL-2.0-only
/*
 * MIPS, kernels with patchable function entries (-fpatchable-function-entry=4, on release 6 =3)
 * whose NOPs are inside the functions (pokepatch-as puts them there).  There is no ftrace.
 *
 * An entry that leads elsewhere:
 *
 *	up to release 5			release 6
 *
 *	lui	at, %hi(new)		lui	at, %hi(new)
 *	addiu	at, at, %lo(new)	addiu	at, at, %lo(new)
 *	jr	at			jic	at, 0
 *	 nop				(no delay slot)
 *
 * "at" is free at a function's entry: the compiler never has a value in it, and the assembler
 * none across a call.  The first two words change only "at", so as long as the third, which
 * decides, is a NOP, they may be anything that does not do more.  entry.c writes them then, and
 * says why nobody meets the deciding word with an "at" that was loaded by others.
 */
#include <linux/elf.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <asm/break.h>
#include <asm/cacheflush.h>
#include <asm/hazards.h>
#include <asm/inst.h>

#include "arch/pp_arch.h"
#include "debug.h"
#include "kernel_symbols.h"
#include "mips_trace.h"
#include "pp_needed.h"
#include "site.h"
#include "stack.h"
#include "stack_words.h"
#include "text.h"
#include "trace_entry.h"

/* Addresses of kernel (KSEG0) and modules (CKSSEG) are 32 bits, sign-extended. */
#if defined(CONFIG_64BIT) && !defined(KBUILD_64BIT_SYM32)
#error "the core needs a kernel with 32-bit symbols (KBUILD_64BIT_SYM32)"
#endif
#ifdef CONFIG_CPU_MICROMIPS
#error "the core does not know microMIPS"
#endif

#define INSN_SIZE 4

static const struct pp_needed mips_needed[] = {
	{}
};

/* --- relocations ----------------------------------------------------------------- */

/* Not in the kernel's headers. */
#ifndef R_MIPS_PC32
#define R_MIPS_PC32 248
#endif

enum field { DATA, REGION, PC_WORDS, HALF };

struct reloc_kind {
	u8 width;	/* bytes */
	enum field field;
	u8 bits;	/* of the field; DATA: all */
	u8 shift;	/* HALF: which half of the value */
	bool pc_relative;
};

/* MIPS ABI supplement, 64-bit ELF object file specification, and release 6. */
static const struct reloc_kind reloc_kinds[] = {
	[R_MIPS_32] = { 4, DATA },
	[R_MIPS_26] = { 4, REGION, 26 },
	[R_MIPS_HI16] = { 4, HALF, 16, 16 },
	[R_MIPS_LO16] = { 4, HALF, 16, 0 },
	[R_MIPS_PC16] = { 4, PC_WORDS, 16 },
	[R_MIPS_64] = { 8, DATA },
	[R_MIPS_HIGHER] = { 4, HALF, 16, 32 },
	[R_MIPS_HIGHEST] = { 4, HALF, 16, 48 },
	[R_MIPS_PC21_S2] = { 4, PC_WORDS, 21 },
	[R_MIPS_PC26_S2] = { 4, PC_WORDS, 26 },
	[R_MIPS_PC32] = { 4, DATA, .pc_relative = true },
};

/* On 64 bits a relocation may be composed of three; none of these are. */
static unsigned int mips_reloc_width(u32 type)
{
	return type < ARRAY_SIZE(reloc_kinds) ? reloc_kinds[type].width : 0;
}

static int reloc_data(const struct reloc_kind *kind, unsigned long place, unsigned long value,
		      void *to)
{
	const s64 full = (long)(kind->pc_relative ? value - place : value);
	const s32 low = full;

	if (kind->width == sizeof(full)) {
		if (to)
			memcpy(to, &full, sizeof(full));
		return 0;
	}
	if (full != low && (kind->pc_relative || full != (u32)full))
		return -ERANGE;
	if (to)
		memcpy(to, &low, sizeof(low));
	return 0;
}

static void set_field(u32 *insn, unsigned int bits, unsigned long value)
{
	const u32 mask = (1U << bits) - 1;

	*insn = (*insn & ~mask) | (value & mask);
}

/*
 * J and JAL keep the upper bits of the address of their delay slot.  Branches count words from
 * there, which is in the addend.
 */
static int reloc_branch(const struct reloc_kind *kind, unsigned long place, unsigned long value,
			u32 *to)
{
	const long distance = value - place;

	if (value % INSN_SIZE)
		return -ERANGE;
	if (kind->field == REGION && (value ^ (place + INSN_SIZE)) >> 28)
		return -ERANGE;
	if (kind->field == PC_WORDS && (distance >> (kind->bits + 1)) != 0 &&
	    (distance >> (kind->bits + 1)) != -1)
		return -ERANGE;
	if (to)
		set_field(to, kind->bits,
			  (kind->field == REGION ? value : (unsigned long)distance) / INSN_SIZE);
	return 0;
}

/* The halves below are added as signed numbers, so each carries into the next. */
static void reloc_half(const struct reloc_kind *kind, unsigned long value, u32 *to)
{
	u64 full = (long)value;
	unsigned int shift;

	for (shift = 16; shift <= kind->shift; shift += 16)
		full += 0x8000ULL << (shift - 16);
	set_field(to, kind->bits, full >> kind->shift);
}

static int mips_reloc(u32 type, unsigned long place, unsigned long value, void *to)
{
	const struct reloc_kind *kind;

	if (!mips_reloc_width(type))
		return -ENOEXEC;
	kind = &reloc_kinds[type];
	if (kind->field != DATA && place % INSN_SIZE)
		return -ENOEXEC;
	switch (kind->field) {
	case REGION:
	case PC_WORDS:
		return reloc_branch(kind, place, value, to);
	case HALF:
		/* HI16 and LO16 make 32 bits, sign-extended. */
		if (kind->shift <= 16 && (long)value != (s32)value)
			return -ERANGE;
		if (to)
			reloc_half(kind, value, to);
		return 0;
	default:
		return reloc_data(kind, place, value, to);
	}
}

/* --- text ------------------------------------------------------------------------ */

/*
 * Where there is a Coherence Manager, this CPU's cache instructions reach the caches of all, and flushing
 * interrupts nobody (r4k_op_needs_ipi()).  What others have fetched from there already they forget when
 * they come back from an interrupt by ERET, a hazard barrier.
 */
static void mips_text_written(unsigned long start, unsigned long end)
{
	flush_icache_range(start, end);
	kick_all_cpus_sync();
}

/*
 * Text is writable where it runs: the kernel's is in KSEG0, and modules are mapped without
 * protection (this architecture has no STRICT_MODULE_RWX).  The store is written back from this
 * CPU's data cache at once, and its instruction cache forgets the line; what
 * other CPUs have fetched is for mips_serialise() there.
 */
static notrace int mips_text_store(unsigned long at, u64 word)
{
	WRITE_ONCE(*(u32 *)at, (u32)word);
	local_flush_icache_range(at, at + INSN_SIZE);
	instruction_hazard();
	return 0;
}
NOKPROBE_SYMBOL(mips_text_store);

/*
 * A pointer to what this processor needs.  For a range that is smaller than the cache that calls
 * nothing else (c-r4k.c: it is a loop of CACHE instructions).
 */
static bool mips_text_store_uses(unsigned long func)
{
	return func == (unsigned long)local_flush_icache_range;
}

/*
 * Each CPU for itself: one that flushed for others would have to interrupt them, and in the
 * stopped section they have interrupts off.
 */
static notrace void mips_serialise(const struct pp_text *text)
{
	unsigned int i;

	for (i = 0; i < text->nr; i++)
		local_flush_icache_range(text->poke[i].at, text->poke[i].at + INSN_SIZE);
	instruction_hazard();
}
NOKPROBE_SYMBOL(mips_serialise);

/* --- entries ----------------------------------------------------------------------- */

#define NOP 0U
#define LUI_AT 0x3c010000U		/* lui at, 0 */
#define ADDIU_AT_AT 0x24210000U		/* addiu at, at, 0 */

#ifdef CONFIG_CPU_MIPSR6
#define JUMP_AT 0xd8010000U		/* jic at, 0 */
#define SLOTS 3
#else
#define JUMP_AT 0x00200008U		/* jr at */
#define SLOTS 4
#endif

/* The third decides. */
#define PREPARED 2

#define BREAK_KPROBE ((BRK_KPROBE_BP << 6) | break_op)

/* An instruction at an entry as it is without the probe that may be on it. */
static u32 insn_at(unsigned long at)
{
	u32 insn = READ_ONCE(*(const u32 *)at);
	const struct kprobe *probe;

	if (insn != BREAK_KPROBE)
		return insn;
	preempt_disable();
	probe = pp_kernel.get_kprobe((void *)at);
	if (probe)
		memcpy(&insn, &probe->opcode, sizeof(insn));
	preempt_enable();
	return insn;
}

/*
 * No table is left of where entries are, so what stands there has to tell: as many NOPs as an
 * entry has; or it is one that we have written something else to, for another patch or a tracer.  (That this
 * function begins with NOPs by the compiler's doing the build tool has seen, and its code has been
 * compared; a symbol of the same address without a patch is never asked for.)
 */
static unsigned long mips_entry_site(unsigned long addr)
{
	unsigned int i;

	if (addr % INSN_SIZE)
		return 0;
	if (pp_site_find(addr) || pp_trace_entry_has(addr))
		return addr;
	for (i = 0; i < SLOTS; i++)
		if (insn_at(addr + i * INSN_SIZE) != NOP)
			return 0;
	return addr;
}

static bool in_reach(unsigned long target)
{
	return (long)target == (s32)target && !(target % INSN_SIZE);
}

static int mips_entry_insn(unsigned long ip, unsigned long target, u8 *insn)
{
	const u32 code = target ? JUMP_AT : NOP;

	if (!in_reach(target))
		return -ERANGE;
	memcpy(insn, &code, sizeof(code));
	return 0;
}

static void mips_entry_word(unsigned int nr, unsigned long target, u8 *insn)
{
	u32 code = NOP;

	BUILD_BUG_ON(PREPARED > PP_PREPARED_MAX);
	/* addiu's operand is signed; both results are sign-extended from 32 bits. */
	if (target && nr == 0)
		code = LUI_AT | ((target + 0x8000) >> 16 & 0xffff);
	else if (target)
		code = ADDIU_AT_AT | (target & 0xffff);
	memcpy(insn, &code, sizeof(code));
}

/* --- probes ----------------------------------------------------------------------- */

static unsigned int mips_probed(const struct kprobe *probe, u8 *was)
{
	u32 live;

	if (copy_from_kernel_nofault(&live, probe->addr, sizeof(live)) || live != BREAK_KPROBE)
		return 0;
	memcpy(was, &probe->opcode, INSN_SIZE);
	return INSN_SIZE;
}

static bool mips_may_be_probe(const u8 *at)
{
	return IS_ALIGNED((unsigned long)at, INSN_SIZE) &&
	       READ_ONCE(*(const u32 *)at) == BREAK_KPROBE;
}

/* --- stacks ----------------------------------------------------------------------- */

typedef bool (*visit_fn)(void *ctx, unsigned long addr);

static unsigned long mips_stack_pointer(const struct task_struct *task)
{
	return task == current ? current_stack_pointer : task->thread.reg29;
}

/* What resume() has saved: the callee-saved registers, and where it returns to. */
static bool visit_context(const struct task_struct *task, visit_fn visit, void *ctx)
{
	const unsigned long *reg = &task->thread.reg16;

	BUILD_BUG_ON(offsetof(struct thread_struct, reg31) - offsetof(struct thread_struct, reg16) !=
		     10 * sizeof(*reg));
	for (; reg <= &task->thread.reg31; reg++)
		if (!visit(ctx, *reg))
			return false;
	return true;
}

/*
 * Is this word the EPC of an exception frame?  SAVE_SOME (stackframe.h) puts the frame right below
 * where the stack was, and that into it, so that none that there is fails this; what is left over
 * from one may pass.
 */
static bool is_epc(const unsigned long *word, const unsigned long *from)
{
	const unsigned long *sp = word - (offsetof(struct pt_regs, cp0_epc) -
					  offsetof(struct pt_regs, regs[29])) / sizeof(*word);
	const unsigned long *end = word + (sizeof(struct pt_regs) -
					   offsetof(struct pt_regs, cp0_epc)) / sizeof(*word);

	return sp >= from && READ_ONCE_NOCHECK(*sp) == (unsigned long)end;
}

/*
 * What is above the place of user mode's registers belongs to the stack of tasks that have never
 * been there: a secondary CPU's idle task begins at the very top (smp_bootstrap()).
 */
static const unsigned long *stack_end(struct task_struct *task)
{
	return task->flags & PF_KTHREAD ? task_stack_page(task) + THREAD_SIZE :
					  (void *)task_pt_regs(task);
}

static void visit_words(struct task_struct *task, visit_fn visit, void *ctx)
{
	const unsigned long *from = (void *)ALIGN(mips_stack_pointer(task), sizeof(*from));
	const unsigned long *end = stack_end(task), *word;

	for (word = from; word < end; word++) {
		const unsigned long addr = READ_ONCE_NOCHECK(*word);

		if (!visit(ctx, addr) ||
		    (is_epc(word, from) && !visit(ctx, pp_stack_saved_pc(addr))))
			return;
	}
}

/*
 * Every word of the stack counts, and every saved register, since nothing tells which of them are
 * return addresses.  So do exception frames, which lie on the stack: EPC, which is the
 * branch if the exception came in a delay slot (CAUSE.BD), so that who was stopped there is
 * where the branch is; and the return address that a function still has in its register.
 *
 * Interrupts have a stack of their own, but who is interrupted keeps the frame on its own; no
 * handler is under way when the machine is stopped, and no task is switched out within one.
 */
static int mips_stack_walk(struct task_struct *task, visit_fn visit, void *ctx)
{
	if (!pp_debug_skip_returns && !pp_visit_hidden(task, visit, ctx))
		return 0;
	if (task == current || visit_context(task, visit, ctx))
		visit_words(task, visit, ctx);
	return 0;
}

/*
 * What JAL and its like have done, two instructions ago, or a compact call (release 6), just now.
 * Their opcodes, all that begin so: BAL and others that need a look at more bits are among them.
 * What a probe hides may have been one.
 */
static bool is_call(u32 insn, bool compact)
{
	const unsigned int op = insn >> 26, func = insn & 0x3f;

	if (op == spec_op && func == break_op)
		return true;
	if (compact)
		return op == balc6_op || op == pop76_op || op == blez_op || op == bgtz_op ||
		       op == pop10_op || op == pop30_op;
	return op == jal_op || op == bcond_op || (op == spec_op && func == jalr_op);
}

static bool mips_returns_to(unsigned long addr)
{
	u32 insn[2];

	if (addr % INSN_SIZE || copy_from_kernel_nofault(insn, (void *)addr - sizeof(insn),
							 sizeof(insn)))
		return true;
	return is_call(insn[0], false) || is_call(insn[1], true);
}

const struct pp_arch pp_arch = {
	.needed = mips_needed,
	.reloc = {
		.width = mips_reloc_width,
		.apply = mips_reloc,
	},
	.text = {
		.written = mips_text_written,
		.store = mips_text_store,
		.store_uses = mips_text_store_uses,
		.word = INSN_SIZE,
		.serialise = mips_serialise,
	},
	.entry = {
		.site = mips_entry_site,
		.size = INSN_SIZE,
		.insn = mips_entry_insn,
		.prepared = PREPARED,
		.span = SLOTS * INSN_SIZE,
		.word = mips_entry_word,
	},
	.probe = {
		.was = mips_probed,
		/* A probe of a branch has a copy of what is in its delay slot. */
		.reach = 2 * INSN_SIZE,
		.may_be = mips_may_be_probe,
	},
	.stack = {
		.walk = mips_stack_walk,
		.returns_to = mips_returns_to,
		.pointer = mips_stack_pointer,
	},
	.trace = &pp_mips_trace,
};
