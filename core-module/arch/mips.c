// SPDX-License-Identifier: GPL-2.0-only
/*
 * MIPS: struct pp_arch, for kernels with patchable function entries
 * (-fpatchable-function-entry=4, on release 6 =3).  pokepatch-as puts their NOPs inside the
 * functions.  There is no ftrace.
 *
 * An entry that leads to a new function:
 *
 *	up to release 5			release 6
 *
 *	lui	at, %hi(new)		lui	at, %hi(new)
 *	addiu	at, at, %lo(new)	addiu	at, at, %lo(new)
 *	jr	at			jic	at, 0
 *	 nop				(no delay slot)
 *
 * "at" is free at a function's entry: the compiler never keeps a value in it, and the assembler
 * keeps none across a call.  The third word decides.  While it is a NOP, the first two may be any
 * instructions that change only "at".  entry.c writes them then.  It says why no task executes
 * the deciding word with an "at" that it loaded by other words.
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

/* The addresses of the kernel (KSEG0) and of modules (CKSSEG) are 32 bits, sign-extended. */
#if defined(CONFIG_64BIT) && !defined(KBUILD_64BIT_SYM32)
#error "the core needs a kernel with 32-bit symbols (KBUILD_64BIT_SYM32)"
#endif
#ifdef CONFIG_CPU_MICROMIPS
#error "the core does not know microMIPS"
#endif

#define INSN_SIZE 4

static const struct pp_needed mips_needed[] __pp_needed = {
	{}
};

/* --- relocations ----------------------------------------------------------------- */

/* The kernel's headers lack this one. */
#ifndef R_MIPS_PC32
#define R_MIPS_PC32 248
#endif

/*
 * What a relocation writes: bytes of data, the target of J or JAL within its region of 256 MB, a
 * distance in words, or 16 bits of the value.
 */
enum field { DATA, REGION, PC_WORDS, HALF };

struct reloc_kind {
	u8 width;	/* bytes */
	enum field field;
	u8 bits;	/* of the field; DATA: 0 */
	u8 shift;	/* HALF: the number of the lowest bit */
	bool pc_relative;
};

/*
 * MIPS ABI supplement; 64-bit ELF object file specification; the types of release 6.  A width of
 * 0 marks an unknown type.
 */
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

/* On 64 bits a relocation may be composed of three types.  No type of three is known here. */
static unsigned int mips_reloc_width(u32 type)
{
	return type < ARRAY_SIZE(reloc_kinds) ? reloc_kinds[type].width : 0;
}

static int mips_reloc_data(const struct reloc_kind *kind, unsigned long place, unsigned long value,
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

static void mips_set_field(u32 *insn, unsigned int bits, unsigned long value)
{
	const u32 mask = (1U << bits) - 1;

	*insn = (*insn & ~mask) | (value & mask);
}

/*
 * J and JAL take the upper bits of the target from the address of their delay slot.  Branches
 * count words from their delay slot, and the addend includes that distance of one word.
 */
static int mips_reloc_branch(const struct reloc_kind *kind, unsigned long place, unsigned long value,
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
		mips_set_field(to, kind->bits,
			  (kind->field == REGION ? value : (unsigned long)distance) / INSN_SIZE);
	return 0;
}

/* The code adds the lower halves as signed numbers, so each of them carries into the next. */
static void mips_reloc_half(const struct reloc_kind *kind, unsigned long value, u32 *to)
{
	u64 full = (long)value;
	unsigned int shift;

	for (shift = 16; shift <= kind->shift; shift += 16)
		full += 0x8000ULL << (shift - 16);
	mips_set_field(to, kind->bits, full >> kind->shift);
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
		return mips_reloc_branch(kind, place, value, to);
	case HALF:
		/* HI16 and LO16 together make 32 bits, sign-extended. */
		if (kind->shift <= 16 && (long)value != (s32)value)
			return -ERANGE;
		if (to)
			mips_reloc_half(kind, value, to);
		return 0;
	default:
		return mips_reloc_data(kind, place, value, to);
	}
}

/* --- text ------------------------------------------------------------------------ */

/*
 * Where there is a Coherence Manager, this CPU's cache instructions reach the caches of all CPUs,
 * and flush_icache_range() sends no IPI (r4k_op_needs_ipi()).  Other CPUs may have fetched the old
 * text already.  They discard it when they return from the IPI of kick_all_cpus_sync(), because
 * ERET is a hazard barrier.
 */
static void mips_text_written(unsigned long start, unsigned long end)
{
	flush_icache_range(start, end);
	kick_all_cpus_sync();
}

/*
 * Text is writable where it runs: the kernel's lies in KSEG0, and modules are mapped without
 * protection (this architecture has no STRICT_MODULE_RWX).  local_flush_icache_range() writes the
 * store back from this CPU's data cache at once, and invalidates the line in its instruction
 * cache.  Every other CPU discards what it has fetched in its own mips_serialise().
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
 * local_flush_icache_range is a pointer to the routine for this processor.  For a range smaller
 * than the cache that routine calls no other function: it is a loop of CACHE instructions
 * (c-r4k.c).
 */
static bool mips_text_store_uses(unsigned long func)
{
	return func == (unsigned long)local_flush_icache_range;
}

/*
 * Each CPU flushes its own caches.  A CPU that flushed those of others would have to interrupt
 * them, and in the stopped section they have interrupts off.
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

/* The words in front of the third, which decides. */
#define PREPARED 2

#define BREAK_KPROBE ((BRK_KPROBE_BP << 6) | break_op)

/* The instruction at @at, or if a kprobe is armed there, the one that the kprobe replaced. */
static u32 mips_insn_at(unsigned long at)
{
	u32 insn = READ_ONCE(*(const u32 *)at);
	const struct kprobe *probe;

	if (insn != BREAK_KPROBE)
		return insn;
	preempt_disable();
	probe = pp_get_kprobe(at);
	if (probe)
		memcpy(&insn, &probe->opcode, sizeof(insn));
	preempt_enable();
	return insn;
}

/*
 * The kernel has no table of its entries, so the instructions have to show that there is one.  The
 * function begins with as many NOPs as an entry has, or the core has written to the entry, for
 * another patch or a tracer.  (The build tool has seen that the compiler put NOPs at this
 * function's start, and the core has compared its code.  The core never asks about a symbol that
 * has the same address but no patch.)
 */
static unsigned long mips_entry_site(unsigned long addr)
{
	unsigned int i;

	if (addr % INSN_SIZE)
		return 0;
	if (pp_site_find(addr) || pp_trace_entry_has(addr))
		return addr;
	for (i = 0; i < SLOTS; i++)
		if (mips_insn_at(addr + i * INSN_SIZE) != NOP)
			return 0;
	return addr;
}

static bool mips_in_reach(unsigned long target)
{
	return (long)target == (s32)target && !(target % INSN_SIZE);
}

static int mips_entry_insn(unsigned long ip, unsigned long target, u8 *insn)
{
	const u32 code = target ? JUMP_AT : NOP;

	if (!mips_in_reach(target))
		return -ERANGE;
	memcpy(insn, &code, sizeof(code));
	return 0;
}

static void mips_entry_word(unsigned int nr, unsigned long target, u8 *insn)
{
	u32 code = NOP;

	BUILD_BUG_ON(PREPARED > PP_PREPARED_MAX);
	/*
	 * addiu adds a signed number, so the upper half takes its carry.  The results of both
	 * instructions are sign-extended from 32 bits.
	 */
	if (target && nr == 0)
		code = LUI_AT | ((target + 0x8000) >> 16 & 0xffff);
	else if (target)
		code = ADDIU_AT_AT | (target & 0xffff);
	memcpy(insn, &code, sizeof(code));
}

/* --- probes ----------------------------------------------------------------------- */

static unsigned int mips_probe_was(const struct kprobe *probe, u8 *was)
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

/* Visit what resume() saved: the callee-saved registers and its return address. */
static bool mips_visit_context(const struct task_struct *task, visit_fn visit, void *ctx)
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
 * the interrupted stack pointer, and stores that pointer in the frame.  So every frame passes this
 * test.  The remains of an old frame may pass it too.
 */
static bool mips_is_epc(const unsigned long *word, const unsigned long *from)
{
	const unsigned long *sp = word - (offsetof(struct pt_regs, cp0_epc) -
					  offsetof(struct pt_regs, regs[29])) / sizeof(*word);
	const unsigned long *end = word + (sizeof(struct pt_regs) -
					   offsetof(struct pt_regs, cp0_epc)) / sizeof(*word);

	return sp >= from && READ_ONCE_NOCHECK(*sp) == (unsigned long)end;
}

/*
 * Where the words of the stack end.  A kernel thread has never been in user mode, so its stack may
 * extend above the place for user mode's registers: a secondary CPU's idle task begins at the
 * very top (smp_bootstrap()).
 */
static const unsigned long *mips_stack_end(struct task_struct *task)
{
	return task->flags & PF_KTHREAD ? task_stack_page(task) + THREAD_SIZE :
					  (void *)task_pt_regs(task);
}

static void mips_visit_words(struct task_struct *task, visit_fn visit, void *ctx)
{
	const unsigned long *from = (void *)ALIGN(mips_stack_pointer(task), sizeof(*from));
	const unsigned long *end = mips_stack_end(task), *word;

	for (word = from; word < end; word++) {
		const unsigned long addr = READ_ONCE_NOCHECK(*word);

		if (!visit(ctx, addr) ||
		    (mips_is_epc(word, from) && !visit(ctx, pp_stack_saved_pc(addr))))
			return;
	}
}

/*
 * Visit every word of the stack and every saved register, since nothing shows which of them are
 * return addresses.  These words include exception frames.  Such a frame holds the return address
 * that the interrupted function still had in its register, and EPC.  If the exception came in a
 * delay slot (CAUSE.BD), EPC is the address of the branch, so the task counts as being there.
 *
 * Interrupts have a stack of their own, but the frame of the interrupted task lies on the task's
 * stack.  No handler is running when the machine is stopped, and no task is switched out within
 * one.
 */
static int mips_stack_walk(struct task_struct *task, visit_fn visit, void *ctx)
{
	if (!pp_debug_skip_returns && !pp_visit_hidden(task, visit, ctx))
		return 0;
	if (task == current || mips_visit_context(task, visit, ctx))
		mips_visit_words(task, visit, ctx);
	return 0;
}

/*
 * May @insn be a call?  A call with a delay slot stands two instructions in front of its return
 * address, a @compact one (release 6) directly in front.  Some opcodes are shared: to tell BAL
 * and others from instructions that are no calls would need a look at more bits, so all of these
 * count.  So does a breakpoint, because the instruction that a probe replaced may be a call.
 */
static bool mips_is_call(u32 insn, bool compact)
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
	return mips_is_call(insn[0], false) || mips_is_call(insn[1], true);
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
		.was = mips_probe_was,
		/* A probe of a branch has a copy of the instruction in the delay slot. */
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
