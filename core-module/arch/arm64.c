// SPDX-License-Identifier: GPL-2.0-only
/*
 * arm64: struct pp_arch.
 *
 * An entry is two NOPs, behind BTI C where the kernel has that.  At boot ftrace makes the first
 * NOP "mov x9, lr".  The second NOP is ftrace's site and ours.
 *
 * With CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS eight more bytes lie in front of the function.  ftrace
 * keeps the address of an ftrace_ops there, and writes it before it makes the site a BL.  Only what
 * that BL calls reads it.  A claimed site is a NOP or our B and never calls ftrace, so the core
 * leaves these bytes alone, and ftrace finds in them what it wrote last.
 */
#include <linux/elf.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/set_memory.h>
#include <linux/sizes.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <asm/barrier.h>
#include <asm/brk-imm.h>
#include <asm/cacheflush.h>
#include <asm/cpufeature.h>
#include <asm/debug-monitors.h>
#include <asm/pointer_auth.h>
#include <asm/stack_pointer.h>
#if __has_include(<asm/text-patching.h>)
#include <asm/text-patching.h>
#else
#include <asm/patching.h>
#endif

#include <pokepatch_history.h>

#include "arch/pp_arch.h"
#include "debug.h"
#include "kernel_symbols.h"
#include "pp_needed.h"
#include "pp_time.h"
#include "stack_words.h"
#include "text.h"

#if !defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS) && !defined(CONFIG_DYNAMIC_FTRACE_WITH_ARGS)
#error "the core needs a kernel with CONFIG_DYNAMIC_FTRACE_WITH_REGS or _WITH_ARGS"
#endif

#define INSN_SIZE 4

static struct {
	typeof(&__module_text_address) module_text_address;
	typeof(&aarch64_insn_patch_text_nosync) patch_text_nosync;
	typeof(&set_memory_ro) set_memory_ro;
	typeof(&set_memory_x) set_memory_x;
	unsigned long entry, entry_end;		/* the code that every exception enters */
	unsigned long ftrace, return_to_handler; /* start and end of entry-ftrace.S; end: or 0 */
	unsigned long kretprobe;		/* __kretprobe_trampoline(), or 0 */
	unsigned long init, init_end;		/* code that only ran at boot */
	unsigned long writers[6];	/* callees of patch_text_nosync(), with entry sites; or 0 */
} arm64 __ro_after_init;

static const struct pp_needed arm64_needed[] __pp_needed = {
	PP_NEED_FUNCTION(__module_text_address, arm64.module_text_address),
	PP_NEED_FUNCTION(aarch64_insn_patch_text_nosync, arm64.patch_text_nosync),
	PP_NEED_FUNCTION(set_memory_ro, arm64.set_memory_ro),
	PP_NEED_FUNCTION(set_memory_x, arm64.set_memory_x),
	PP_NEED_ADDRESS(__entry_text_start, arm64.entry),
	PP_NEED_ADDRESS(__entry_text_end, arm64.entry_end),
	/* The first code of entry-ftrace.S: kernels that pass all registers have the former. */
	PP_NEED_ADDRESS(ftrace_regs_caller, arm64.ftrace, .optional = true),
	PP_NEED_ADDRESS(ftrace_caller, arm64.ftrace),
	PP_NEED_ADDRESS(return_to_handler, arm64.return_to_handler, .optional = true),
	PP_NEED_ADDRESS(__kretprobe_trampoline, arm64.kretprobe, .optional = true),
	PP_NEED_ADDRESS(_sinittext, arm64.init),
	PP_NEED_ADDRESS(_einittext, arm64.init_end),
	PP_NEED_ADDRESS(__aarch64_insn_write, arm64.writers[0], .optional = true),
	PP_NEED_ADDRESS(__set_fixmap, arm64.writers[1], .optional = true),
	PP_NEED_ADDRESS(vmalloc_to_page, arm64.writers[2], .optional = true),
	PP_NEED_ADDRESS(contpte_ptep_get, arm64.writers[3], .optional = true),
	PP_NEED_ADDRESS(_raw_spin_lock_irqsave, arm64.writers[4], .optional = true),
	PP_NEED_ADDRESS(_raw_spin_unlock_irqrestore, arm64.writers[5], .optional = true),
	{}
};

/* --- relocations ----------------------------------------------------------------- */

/* What a relocation writes: bytes of data, or a field of an instruction. */
enum field { DATA, ADRP, LO12 };

struct reloc_kind {
	u8 width;	/* bytes */
	enum field field;
	bool pc_relative;
	u8 scale;	/* LO12: the instruction accesses 1 << scale bytes */
};

/* ELF for the Arm 64-bit Architecture, "Relocation types".  A width of 0 marks an unknown type. */
static const struct reloc_kind reloc_kinds[] = {
	[R_AARCH64_ABS64] = { 8, DATA },
	[R_AARCH64_ABS32] = { 4, DATA },
	[R_AARCH64_PREL64] = { 8, DATA, true },
	[R_AARCH64_PREL32] = { 4, DATA, true },
	[R_AARCH64_ADR_PREL_PG_HI21] = { INSN_SIZE, ADRP, true },
	[R_AARCH64_ADR_PREL_PG_HI21_NC] = { INSN_SIZE, ADRP, true },
	[R_AARCH64_ADD_ABS_LO12_NC] = { INSN_SIZE, LO12 },
	[R_AARCH64_LDST8_ABS_LO12_NC] = { INSN_SIZE, LO12 },
	[R_AARCH64_LDST16_ABS_LO12_NC] = { INSN_SIZE, LO12, false, 1 },
	[R_AARCH64_LDST32_ABS_LO12_NC] = { INSN_SIZE, LO12, false, 2 },
	[R_AARCH64_LDST64_ABS_LO12_NC] = { INSN_SIZE, LO12, false, 3 },
	[R_AARCH64_LDST128_ABS_LO12_NC] = { INSN_SIZE, LO12, false, 4 },
};

static unsigned int arm64_reloc_width(u32 type)
{
	return type < ARRAY_SIZE(reloc_kinds) ? reloc_kinds[type].width : 0;
}

/*
 * Cortex-A53 erratum 843419: an ADRP in the last two words of a page may give a wrong result.
 * The build tool puts no ADRP there that the core relocates.
 */
static bool arm64_meets_843419(unsigned long place)
{
	return IS_ENABLED(CONFIG_ARM64_ERRATUM_843419) &&
	       cpus_have_final_cap(ARM64_WORKAROUND_843419) && (place & 0xfff) >= 0xff8;
}

static int arm64_reloc_data(const struct reloc_kind *kind, unsigned long value, void *to)
{
	/* Little endian: the low bytes of @value come first.  There are no big-endian patches. */
	if (kind->width == 4 && kind->pc_relative && (s64)value != (s32)value)
		return -ERANGE;
	/* "The checking ranges of ABS32 are -2^31 <= X < 2^32." */
	if (kind->width == 4 && !kind->pc_relative && (s64)value != (s32)value &&
	    value != (u32)value)
		return -ERANGE;
	if (to)
		memcpy(to, &value, kind->width);
	return 0;
}

static int arm64_reloc_adrp(unsigned long place, unsigned long value, __le32 *to)
{
	const s64 pages = (s64)((value & ~0xfffUL) - (place & ~0xfffUL)) >> 12;
	u32 insn;

	if (pages < -(1 << 20) || pages >= 1 << 20)
		return -ERANGE;
	if (arm64_meets_843419(place))
		return -ENOEXEC;
	if (to) {
		insn = le32_to_cpu(*to) & ~(0x3U << 29 | 0x7ffffU << 5);
		*to = cpu_to_le32(insn | (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5);
	}
	return 0;
}

static int arm64_reloc_lo12(const struct reloc_kind *kind, unsigned long value, __le32 *to)
{
	const u32 field = (value & 0xfff) >> kind->scale;

	if (value & ((1UL << kind->scale) - 1))
		return -ERANGE;
	if (to)
		*to = cpu_to_le32((le32_to_cpu(*to) & ~(0xfffU << 10)) | field << 10);
	return 0;
}

static int arm64_reloc(u32 type, unsigned long place, unsigned long value, void *to)
{
	const struct reloc_kind *kind;

	if (!arm64_reloc_width(type))
		return -ENOEXEC;
	kind = &reloc_kinds[type];
	if (kind->field != DATA && !IS_ALIGNED(place, INSN_SIZE))
		return -ENOEXEC;
	switch (kind->field) {
	case ADRP:
		return arm64_reloc_adrp(place, value, to);
	case LO12:
		return arm64_reloc_lo12(kind, value, to);
	default:
		return arm64_reloc_data(kind, kind->pc_relative ? value - place : value, to);
	}
}

/* --- text ------------------------------------------------------------------------ */

/*
 * flush_icache_range() sends an IPI to every other CPU.  The exception that a CPU takes and
 * returns from has the effect of an isb().
 */
static void arm64_text_written(unsigned long start, unsigned long end)
{
	flush_icache_range(start, end);
}

/*
 * The kernel's routine maps the page at a fixed address, under a spin lock that is only held with
 * interrupts off.  It stores the word, and cleans and invalidates the caches to the point of
 * unification, from which all CPUs fetch.
 */
static notrace __nocfi int arm64_text_store(unsigned long at, u64 word)
{
	return arm64.patch_text_nosync((void *)at, word);
}
NOKPROBE_SYMBOL(arm64_text_store);

/*
 * aarch64_insn_patch_text_nosync() calls __aarch64_insn_write(), which calls __set_fixmap(), and
 * for modules vmalloc_to_page().  Where the kernel maps memory by contiguous entries, that calls
 * contpte_ptep_get().  Preemptible kernels have functions to take and release the lock.  The other
 * callees have no entry site: core_kernel_text() and copy_to_kernel_nofault() are notrace, and
 * caches_clean_inval_pou() is assembly.  The slow path of the lock has none either, and is not
 * reached because the lock is free.  (test/vm/arch/arm64.bats follows the calls in vmlinux.)
 */
static bool arm64_text_store_uses(unsigned long func)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(arm64.writers); i++)
		if (func == arm64.writers[i])
			return true;
	return func == (unsigned long)arm64.patch_text_nosync;
}

static notrace void arm64_serialise(const struct pp_text *text)
{
	isb();
}
NOKPROBE_SYMBOL(arm64_serialise);

/* In front of the site: BTI C, and the NOP that became "mov x9, lr". */
#define SITE_MAX (2 * INSN_SIZE)

static __nocfi unsigned long arm64_entry_site(unsigned long addr)
{
	const unsigned long site = pp_kernel.ftrace_location(addr);

	return site >= addr && site - addr <= SITE_MAX ? site : 0;
}

#define NOP 0xd503201fU
#define B 0x14000000U
#define B_MASK 0xfc000000U

static int arm64_entry_insn(unsigned long ip, unsigned long target, u8 *insn)
{
	const s64 distance = target - ip;
	__le32 code = cpu_to_le32(NOP);

	if (target) {
		if (distance < -SZ_128M || distance >= SZ_128M || distance & 3)
			return -ERANGE;
		code = cpu_to_le32(B | (distance >> 2 & ~B_MASK));
	}
	memcpy(insn, &code, sizeof(code));
	return 0;
}

/*
 * May BR x16 lead to @target?  In a kernel built with BTI the code there must begin with BTI C,
 * BTI JC, PACIASP or PACIBSP.  A function that is only ever called by BL need not have any.
 */
static bool arm64_is_landing_pad(unsigned long target)
{
	const u32 insn = le32_to_cpu(*(const __le32 *)target);

	return !IS_ENABLED(CONFIG_ARM64_BTI_KERNEL) || insn == 0xd503245fU ||
	       insn == 0xd50324dfU || insn == 0xd503233fU || insn == 0xd503237fU;
}

/*
 *	ldr x16, 1f
 *	br x16
 * 1:	.quad target
 *
 * x16 is free between a call and the function's entry (AAPCS64, "IP0"), and BTI C accepts a BR
 * by x16.  A RET by x16 may lead anywhere.  But the processor takes it for a return, and
 * mispredicts the real returns after it.
 */
#define VENEER_SIZE 16
#define LDR_X16 0x58000050U
#define BR_X16 0xd61f0200U
#define RET_X16 0xd65f0200U

static void arm64_veneer_code(unsigned long at, unsigned long target, u8 *code)
{
	const __le32 insns[] = { cpu_to_le32(LDR_X16),
				 cpu_to_le32(arm64_is_landing_pad(target) ? BR_X16 : RET_X16) };

	BUILD_BUG_ON(VENEER_SIZE > PP_VENEER_MAX);
	memcpy(code, insns, sizeof(insns));
	memcpy(code + sizeof(insns), &target, sizeof(target));
}

/* Newer kernels know the end of vmalloc's range only when they run: it depends on the CPUs. */
static void arm64_veneer_limit(unsigned long *start, unsigned long *end)
{
	*start = max_t(unsigned long, *start, MODULES_VADDR);
	*end = min_t(unsigned long, *end, VMALLOC_END);
}

static __nocfi int arm64_veneer_seal(unsigned long at)
{
	return arm64.set_memory_ro(at, 1) ?: arm64.set_memory_x(at, 1);
}

/* --- live ------------------------------------------------------------------------- */

static const char *arm64_live_missing(void)
{
	return NULL;
}

static bool arm64_is_modifiable(const u8 *bytes)
{
	__le32 insn;

	memcpy(&insn, bytes, sizeof(insn));
	return le32_to_cpu(insn) == NOP || (le32_to_cpu(insn) & B_MASK) == B;
}

/*
 * "Concurrent modification and execution of instructions" (Arm ARM, B2.2.5): a CPU may store a B
 * over a NOP, or a NOP over a B, while other CPUs run it.  A CPU that fetches the word gets the
 * old instruction or the new one.
 */
static int arm64_live_check(const struct pp_poke *poke)
{
	if (poke->size == INSN_SIZE && IS_ALIGNED(poke->at, INSN_SIZE) &&
	    arm64_is_modifiable(poke->old) && arm64_is_modifiable(poke->new))
		return 0;
	return -EOPNOTSUPP;
}

static __nocfi void arm64_live_write(struct pp_poke *const *pokes, unsigned int nr, bool back)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		struct pp_poke *poke = pokes[i];
		__le32 insn;

		memcpy(&insn, back ? poke->old : poke->new, sizeof(insn));
		poke->when = (struct pp_when){ .before = pp_now(), .cpu = raw_smp_processor_id() };
		poke->when.begin = poke->when.before;
		/* No check of the result: live.c reads every place back. */
		arm64.patch_text_nosync((void *)poke->at, le32_to_cpu(insn));
	}
	/* A CPU may execute an old instruction that it has fetched, until it takes this IPI. */
	kick_all_cpus_sync();
	for (i = 0; i < nr; i++)
		pokes[i]->when.end = pokes[i]->when.after = pp_now();
}

/* --- probes ----------------------------------------------------------------------- */

#define BRK_KPROBE (AARCH64_BREAK_MON | (KPROBES_BRK_IMM << 5))

static unsigned int arm64_probe_was(const struct kprobe *probe, u8 *was)
{
	__le32 live;

	if (copy_from_kernel_nofault(&live, probe->addr, sizeof(live)) ||
	    le32_to_cpu(live) != BRK_KPROBE)
		return 0;
	memcpy(was, &probe->opcode, INSN_SIZE);
	return INSN_SIZE;
}

static bool arm64_may_be_probe(const u8 *at)
{
	return IS_ALIGNED((unsigned long)at, INSN_SIZE) &&
	       le32_to_cpu(READ_ONCE(*(const __le32 *)at)) == BRK_KPROBE;
}

/* --- stacks ----------------------------------------------------------------------- */

/* Linux 6.7 renamed the macro. */
#ifdef ptrauth_strip_kernel_insn_pac
#define arm64_strip_pac ptrauth_strip_kernel_insn_pac
#else
#define arm64_strip_pac ptrauth_strip_insn_pac
#endif

static unsigned long arm64_code_address(unsigned long word)
{
	return arm64_strip_pac(word);
}

static unsigned long arm64_stack_pointer(const struct task_struct *task)
{
	return task == current ? current_stack_pointer : task->thread.cpu_context.sp;
}

typedef bool (*visit_fn)(void *ctx, unsigned long addr);

/* Upper bounds of the sizes of this code: kallsyms has no sizes. */
#define RETURN_TO_HANDLER_SIZE 128
#define KRETPROBE_SIZE 256

enum arm64_code {
	CODE_C,		/* a function that made a frame record before it called another */
	CODE_ENTRY,	/* code that an exception entered */
	CODE_OTHER,	/* anything else: frame records prove nothing */
};

/* The kind of code at @pc, to which a frame record on the stack of @task returns. */
static __nocfi enum arm64_code arm64_code_kind(const struct task_struct *task, unsigned long pc)
{
	/*
	 * The start of a trampoline is an address that a tracer put in place of a return
	 * address.  pp_visit_hidden() visits the original one.
	 */
	if (pc == arm64.return_to_handler || (arm64.kretprobe && pc == arm64.kretprobe))
		return CODE_C;
	if (pc >= arm64.entry && pc < arm64.entry_end)
		return CODE_ENTRY;
	if (pc >= arm64.ftrace && arm64.return_to_handler &&
	    pc < arm64.return_to_handler + RETURN_TO_HANDLER_SIZE)
		return CODE_OTHER;
	if (arm64.kretprobe && pc >= arm64.kretprobe && pc < arm64.kretprobe + KRETPROBE_SIZE)
		return CODE_OTHER;
	if (pc >= pp_kernel.stext && pc < pp_kernel.etext)
		return CODE_C;
	/* start_kernel() became the idle task of the first CPU, and its code is gone. */
	if (is_idle_task(task) && pc >= arm64.init && pc < arm64.init_end)
		return CODE_C;
	/* Outside of kernel and modules are BPF programs and probes' slots. */
	return arm64.module_text_address(pc) ? CODE_C : CODE_OTHER;
}

/* Visited all return addresses; ended because visit() returned false; may have missed some. */
enum walked { WALKED_ALL, WALKED_ENOUGH, WALKED_PART };

/*
 * Walk by frame records.  Every function of the kernel makes its record before it calls another
 * function.  So the records hold all return addresses of a task that is not running because it
 * called schedule(), and of current.
 *
 * They do not if a function was interrupted.  It may have no record, or none yet, and then its
 * caller would be skipped.  An exception shows as a return address in the code that exceptions
 * enter.  Unless that is where the task came from user mode, the walk proves nothing.  Nor does
 * it if it meets code of the kind CODE_OTHER, leaves the stack, or does not reach the record that
 * fork made at the stack's end.
 */
static enum walked arm64_walk_frames(struct task_struct *task, visit_fn visit, void *ctx)
{
	const unsigned long last = (unsigned long)&task_pt_regs(task)->stackframe;
	unsigned long low = arm64_stack_pointer(task), fp, pc;

	if (task == current) {
		fp = (unsigned long)__builtin_frame_address(0);
		pc = _THIS_IP_;
	} else {
		fp = task->thread.cpu_context.fp;
		pc = task->thread.cpu_context.pc;
	}
	for (;;) {
		const enum arm64_code code = arm64_code_kind(task, pc);

		if (!visit(ctx, pc))
			return WALKED_ENOUGH;
		if (fp == last && code != CODE_OTHER)
			return WALKED_ALL;
		if (code != CODE_C || fp < low || fp & 7 || fp > last - 2 * sizeof(fp))
			return WALKED_PART;
		/* Each record must lie above the last one, so the walk ends. */
		low = fp + 2 * sizeof(fp);
		pc = arm64_code_address(READ_ONCE_NOCHECK(*(unsigned long *)(fp + sizeof(fp))));
		fp = READ_ONCE_NOCHECK(*(unsigned long *)fp);
	}
}

/* Visit the registers that cpu_switch_to() saved. */
static bool arm64_visit_context(const struct task_struct *task, visit_fn visit, void *ctx)
{
	const unsigned long *reg = (const unsigned long *)&task->thread.cpu_context;
	unsigned int i;

	for (i = 0; i < sizeof(task->thread.cpu_context) / sizeof(*reg); i++)
		if (!visit(ctx, arm64_code_address(reg[i])))
			return false;
	return true;
}

/*
 * Unless the frame records are complete, visit every word of the stack and every saved register
 * as well.
 */
static int arm64_stack_walk(struct task_struct *task, visit_fn visit, void *ctx)
{
	const enum walked walked = arm64_walk_frames(task, visit, ctx);

	if (walked == WALKED_ENOUGH)
		return 0;
	if (!pp_debug_skip_returns && !pp_visit_hidden(task, visit, ctx))
		return 0;
	if (walked == WALKED_ALL)
		return 0;
	if (task == current || arm64_visit_context(task, visit, ctx))
		pp_visit_words(task, visit, ctx);
	return 0;
}

const struct pp_arch pp_arch = {
	.needed = arm64_needed,
	.reloc = {
		.width = arm64_reloc_width,
		.apply = arm64_reloc,
	},
	.text = {
		.written = arm64_text_written,
		.store = arm64_text_store,
		.store_uses = arm64_text_store_uses,
		.word = INSN_SIZE,
		.serialise = arm64_serialise,
	},
	.entry = {
		.site = arm64_entry_site,
		.size = INSN_SIZE,
		.insn = arm64_entry_insn,
	},
	.veneer = {
		.size = VENEER_SIZE,
		.reach = SZ_128M,
		.limit = arm64_veneer_limit,
		.code = arm64_veneer_code,
		.seal = arm64_veneer_seal,
	},
	.probe = {
		.was = arm64_probe_was,
		.reach = INSN_SIZE,
		.may_be = arm64_may_be_probe,
	},
	.live = {
		.method = POKEPATCH_HISTORY_STORE,
		.missing = arm64_live_missing,
		.check = arm64_live_check,
		.write = arm64_live_write,
	},
	.stack = {
		.walk = arm64_stack_walk,
		.pointer = arm64_stack_pointer,
		.code_address = arm64_code_address,
	},
};
