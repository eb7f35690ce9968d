// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64: struct pp_arch.  Relocations, entries, stubs, probes and stacks are in this file,
 * live writes in x86_poke.c, those in a stop in x86_stop.c, the kernel's own writer of text in
 * x86_writer.c.
 */
#include <linux/elf.h>
#include <linux/ftrace.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include <asm/ibt.h>
#include <asm/switch_to.h>
#include <asm/sync_core.h>
#include <asm/unwind.h>

#include <pokepatch_history.h>

#include "arch/pp_arch.h"
#include "compat.h"
#include "debug.h"
#include "kernel_symbols.h"
#include "pp_needed.h"
#include "text.h"
#include "x86.h"
#include "x86_detour.h"
#include "x86_gate.h"

#ifndef CONFIG_UNWINDER_ORC
#error "the core needs a kernel with a reliable unwinder (CONFIG_UNWINDER_ORC)"
#endif

/* Which values fit into a field: any, or those that its sign or zero extension gives back. */
enum fit { FIT_FULL, FIT_SIGNED, FIT_UNSIGNED };

struct reloc_kind {
	u8 width; /* bytes */
	bool pc_relative;
	enum fit fit;
};

/* System V ABI, AMD64 supplement, table 4.9.  A width of 0 marks an unknown type. */
static const struct reloc_kind reloc_kinds[] = {
	[R_X86_64_64] = { 8, false, FIT_FULL },
	[R_X86_64_PC32] = { 4, true, FIT_SIGNED },
	[R_X86_64_PLT32] = { 4, true, FIT_SIGNED },
	[R_X86_64_32] = { 4, false, FIT_UNSIGNED },
	[R_X86_64_32S] = { 4, false, FIT_SIGNED },
	[R_X86_64_PC64] = { 8, true, FIT_FULL },
};

static unsigned int x86_reloc_width(u32 type)
{
	return type < ARRAY_SIZE(reloc_kinds) ? reloc_kinds[type].width : 0;
}

static int x86_reloc(u32 type, unsigned long place, unsigned long value, void *to)
{
	const struct reloc_kind *kind;

	if (!x86_reloc_width(type))
		return -ENOEXEC;
	kind = &reloc_kinds[type];
	if (kind->pc_relative)
		value -= place;
	if (kind->fit == FIT_SIGNED && (s64)value != (s32)value)
		return -ERANGE;
	if (kind->fit == FIT_UNSIGNED && value != (u32)value)
		return -ERANGE;
	if (to)
		memcpy(to, &value, kind->width); /* little endian: the low bytes come first */
	return 0;
}

static notrace void x86_serialise(const struct pp_text *text)
{
	sync_core();
}
NOKPROBE_SYMBOL(x86_serialise);

static void x86_serialise_cpu(void *unused)
{
	sync_core();
}

/*
 * The caches are coherent, but a CPU may have fetched and decoded the old bytes speculatively
 * (SDM volume 3, "Handling Self- and Cross-Modifying Code").  So every CPU executes a
 * serialising instruction.
 */
static void x86_text_written(unsigned long start, unsigned long end)
{
	on_each_cpu(x86_serialise_cpu, NULL, 1);
}

/* The fentry call is a function's first instruction, or follows ENDBR64, which has 4 bytes. */
#define ENTRY_SITE_MAX 4
#ifdef CONFIG_X86_KERNEL_IBT
#define ENDBR_PAD ENDBR_INSN_SIZE
#else
#define ENDBR_PAD 0
#endif

static __nocfi unsigned long x86_entry_site(unsigned long addr)
{
	unsigned long site = pp_kernel.ftrace_location(addr);

	return site >= addr && site - addr <= ENTRY_SITE_MAX ? site : 0;
}

/* The kernel's x86_nops[5] (arch/x86/kernel/alternative.c). */
const u8 x86_nop[JMP_SIZE] = { BYTES_NOP5 };

int x86_entry_insn(unsigned long ip, unsigned long target, u8 *insn)
{
	s64 distance = target - (ip + JMP_SIZE);
	s32 field = distance;

	if (!target) {
		memcpy(insn, x86_nop, sizeof(x86_nop));
		return 0;
	}
	if (field != distance)
		return -ERANGE;
	insn[0] = JMP_REL32;
	memcpy(insn + 1, &field, sizeof(field));
	return 0;
}

/*
 * The address behind the ENDBR with which @target begins, or @target.  Direct jumps need no ENDBR.
 * The kernel may have overwritten it with a NOP of the same length when it loaded the module; later
 * nothing changes it.  Only its first byte may be a breakpoint, so that byte does not count: each
 * jump to @target must be the same, since the core compares the sites that it writes.
 */
static unsigned long x86_behind_endbr(unsigned long target)
{
#ifdef CONFIG_X86_KERNEL_IBT
	u32 first = get_unaligned((const u32 *)target);

	if (!((first ^ gen_endbr()) & ~0xffU) || !((first ^ gen_endbr_poison()) & ~0xffU))
		return target + ENDBR_INSN_SIZE;
#endif
	return target;
}

/* So a call costs one instruction more with IBT, as it does without. */
static int x86_new_insn(unsigned long ip, unsigned long target, u8 *insn)
{
	return x86_entry_insn(ip, target ? x86_behind_endbr(target) : 0, insn);
}

/* --- stacks -------------------------------------------------------------------- */

struct x86_kernel x86 __ro_after_init;

static const struct pp_needed x86_needed[] __pp_needed = {
	PP_NEED_FUNCTION(__module_text_address, x86.module_text_address),
	/*
	 * The thunks.  Before Linux 6.4 the linker script marks where they begin and end.  Newer
	 * kernels lay out the array first and the return thunk last.
	 */
	PP_NEED_ADDRESS(__indirect_thunk_start, x86.thunks, .optional = true),
	PP_NEED_ADDRESS(__indirect_thunk_end, x86.thunks_end, .optional = true),
	PP_NEED_ADDRESS(__x86_indirect_thunk_array, x86.thunks, .optional = true),
	PP_NEED_ADDRESS(__x86_return_thunk, x86.thunks_end, .optional = true),
	PP_NEED_ADDRESS(ftrace_stub, x86.ftrace),
	PP_NEED_ADDRESS(return_to_handler, x86.ftrace_end),
	PP_NEED_ADDRESS(srso_alias_safe_ret, x86.srso_return, .optional = true),
	PP_NEED_ADDRESS(arch_rethook_trampoline, x86.rethook, .optional = true),
	/* For x86_offline_in(). */
	PP_NEED_ADDRESS(native_play_dead, x86.offline[0], .optional = true),
	PP_NEED_ADDRESS(hlt_play_dead, x86.offline[1], .optional = true),
	PP_NEED_ADDRESS(mwait_play_dead, x86.offline[2], .optional = true),
	PP_NEED_ADDRESS(mwait_play_dead_cpuid_hint, x86.offline[3], .optional = true),
	PP_NEED_ADDRESS(arch_cpu_idle_dead, x86.offline[4], .optional = true),
	PP_NEED_ADDRESS(cpuidle_play_dead, x86.offline[5], .optional = true),
	PP_NEED_ADDRESS(acpi_idle_play_dead, x86.offline[6], .optional = true),
	PP_NEED_ADDRESS(sev_es_play_dead, x86.offline[7], .optional = true),
	PP_NEED_ADDRESS(xen_pv_play_dead, x86.offline[8], .optional = true),
	PP_NEED_ADDRESS(intel_idle_enter_dead, x86.offline[9], .optional = true),
	PP_NEED_ADDRESS(acpi_processor_ffh_play_dead, x86.offline[10], .optional = true),
	/* For writing text (x86_breaks.c, x86_poke.c). */
	PP_NEED_FUNCTION(x86_text_poke_queue, x86.text_poke_queue, .optional = true),
	PP_NEED_FUNCTION(x86_text_poke_finish, x86.text_poke_finish, .optional = true),
	PP_NEED_FUNCTION(text_poke, x86.text_poke, .optional = true),
	PP_NEED_FUNCTION(x86_text_poke_sync, x86.text_poke_sync, .optional = true),
#ifdef PP_HAS_TEXT_POKE_BATCH
	PP_NEED_ADDRESS(text_poke_array, x86.table, .optional = true),
	PP_NEED_ADDRESS(text_poke_array_refs, x86.table_counts, .optional = true),
	PP_NEED(text_poke_mm, x86.poking_mm, .optional = true),
	PP_NEED(text_poke_mm_addr, x86.poking_addr, .optional = true),
#else
	PP_NEED_ADDRESS(bp_desc, x86.table, .optional = true),
	PP_NEED_ADDRESS(tp_vec, x86.tp_vec, .optional = true),
	PP_NEED(tp_vec_nr, x86.tp_vec_nr, .optional = true),
	PP_NEED(poking_mm, x86.poking_mm, .optional = true),
	PP_NEED(poking_addr, x86.poking_addr, .optional = true),
#endif
	/* For observing other writers (x86_writer.c). */
	PP_NEED_ADDRESS(__text_poke, x86.writer, .optional = true),
	PP_NEED_ADDRESS(text_poke_memcpy, x86.text_poke_memcpy, .optional = true),
	PP_NEED(kgdb_io_module_registered, x86.kgdb, .optional = true),
	{}
};

/* Upper bounds of the sizes of these symbols' code: kallsyms has no sizes. */
#define RETURN_TO_HANDLER_SIZE 64
#define SRSO_RETURN_SIZE 32
#define RETHOOK_SIZE 96
#define RETURN_THUNK_SIZE 32

/* A kernel with thunks must have told where they are.  Otherwise any place may be in one. */
static bool x86_knows_thunks(void)
{
	return x86.thunks < x86.thunks_end ||
	       !(IS_ENABLED(CONFIG_RETPOLINE) || IS_ENABLED(CONFIG_MITIGATION_RETPOLINE) ||
		 IS_ENABLED(CONFIG_RETHUNK) || IS_ENABLED(CONFIG_MITIGATION_RETHUNK));
}

/*
 * Can the unwinder go on from a task that was interrupted at @ip?
 *
 * It cannot where code jumps by way of the stack.  In a retpoline this is so once
 *	mov %rax, (%rsp)
 *	ret
 * has begun.  In ftrace's trampolines and in the return thunk it is so once the handler has put
 * a new function's address on the stack.  The word that the unwinder takes for a return address
 * is then the start of a function.  The unwinder looks for the unwind data of the byte in front
 * of it, finds those of another function, and may skip frames because of them.
 *
 * Nor can it in the code to which a kretprobe makes a function return.  At
 *	arch_rethook_trampoline+0: push $arch_rethook_trampoline
 * the return address has left the stack.  The unwind data there are those of a function's start
 * and take the word at the top of the stack, a local variable of the caller, for a return
 * address.
 */
static __nocfi bool x86_can_unwind_from(unsigned long ip)
{
	if (pp_debug_skip_places)
		return true;
	if (!x86_knows_thunks())
		return false;
	if (ip < pp_kernel.stext || ip >= pp_kernel.etext)
		/* Modules have unwind data; ftrace's trampolines, probe slots and BPF have none. */
		return x86.module_text_address(ip);
	return !(ip >= x86.thunks && ip < x86.thunks_end + RETURN_THUNK_SIZE) &&
	       !(ip >= x86.ftrace && ip < x86.ftrace_end + RETURN_TO_HANDLER_SIZE) &&
	       !(x86.srso_return && ip >= x86.srso_return && ip < x86.srso_return + SRSO_RETURN_SIZE) &&
	       !(x86.rethook && ip >= x86.rethook && ip < x86.rethook + RETHOOK_SIZE);
}

/*
 * The walk ended without meeting user registers.  Is this really the end of the stack?
 *
 * Before Linux 6.4 the unwind data for "the stack ends here" and for "unknown" were the same
 * (UNWIND_HINT_EMPTY), and the kernel's own reliable walk takes both for the end.  With
 * preempt=full we have seen tasks that were preempted at
 *	__x86_indirect_thunk_rax+0
 * and whose callers the walk all missed.  return_to_handler is marked in the same way.  So
 * accept an end only where stacks end: at the registers for which fork made room.  Kernel
 * threads and new tasks begin with these in ret_from_fork.  An idle task starts at the stack
 * pointer that copy_thread() left (the boot CPU's at the registers), and jumps to its C code by
 * an address that it has pushed.
 */
static bool x86_is_stack_end(const struct unwind_state *state, struct task_struct *task)
{
	const unsigned long regs = (unsigned long)task_pt_regs(task);

	if (state->sp == regs || pp_debug_skip_stack_ends)
		return true;
	return is_idle_task(task) &&
	       state->sp == regs - sizeof(struct inactive_task_frame);
}

/*
 * Has a kretprobe replaced return addresses on the stack of @task, which is ready to run?  The
 * kernel looks up the original ones for sleeping tasks only (rethook_find_ret_addr()).  Asked
 * about others, it gives 0, and Linux 6.1 warns.
 */
static bool x86_has_unknown_returns(const struct task_struct *task)
{
#ifdef CONFIG_RETHOOK
	return task != current && task->rethooks.first && task_is_running(task) &&
	       !pp_debug_skip_ready;
#else
	return false;
#endif
}

/*
 * The return address of the frame.  Where a kretprobe or the graph tracer replaced it on the
 * stack, the unwinder gives the original one.
 */
static unsigned long x86_return_address(struct unwind_state *state)
{
	if (pp_debug_skip_returns && !state->regs)
		return READ_ONCE_NOCHECK(*((unsigned long *)state->sp - 1));
	return unwind_get_return_address(state);
}

/*
 * Walk with the kernel's ORC unwinder, by the rules of arch_stack_walk_reliable() and those
 * above.  The walk fails at code without unwind data (BPF programs, probe slots).
 */
static int x86_stack_walk(struct task_struct *task, bool (*visit)(void *ctx, unsigned long addr),
			  void *ctx)
{
	struct unwind_state state;

	if (x86_has_unknown_returns(task))
		return -EBUSY;
	for (unwind_start(&state, task, NULL, NULL); !unwind_done(&state) && !unwind_error(&state);
	     unwind_next_frame(&state)) {
		const struct pt_regs *regs = unwind_get_entry_regs(&state, NULL);
		unsigned long addr;

		if (regs && user_mode((struct pt_regs *)regs))
			return 0;
		if (regs && !x86_can_unwind_from(regs->ip))
			return -EAGAIN;
		addr = x86_return_address(&state);
		if (!addr)
			return -EINVAL;
		if (!visit(ctx, addr))
			return 0;
	}
	return !unwind_error(&state) && x86_is_stack_end(&state, task) ? 0 : -EINVAL;
}

static unsigned long x86_stack_pointer(const struct task_struct *task)
{
	return task == current ? current_stack_pointer : READ_ONCE(task->thread.sp);
}

/* Is @live the jump of an optimised probe to its detour (arch/x86/kernel/kprobes/opt.c)? */
static bool x86_probe_has_detour(const struct kprobe *probe, const u8 *live)
{
#ifdef CONFIG_OPTPROBES
	const struct optimized_kprobe *op = container_of(probe, struct optimized_kprobe, kp);
	u8 jump[JMP_SIZE];

	/* Only the probe within a struct optimized_kprobe ever has the flag. */
	if (!kprobe_optimized((struct kprobe *)probe))
		return false;
	return !x86_entry_insn((unsigned long)probe->addr, (unsigned long)op->optinsn.insn, jump) &&
	       !memcmp(live, jump, sizeof(jump));
#else
	return false;
#endif
}

/*
 * A probe keeps a copy of its instruction, which holds the distance to what this calls or jumps
 * to.  A probe that may be optimised keeps all instructions that begin in the first five bytes.
 */
#ifdef CONFIG_OPTPROBES
#define PROBE_REACH MAX_OPTIMIZED_LENGTH
#elif defined(CONFIG_KPROBES)
#define PROBE_REACH MAX_INSN_SIZE
#else
#define PROBE_REACH 0 /* there are no probes */
#endif

static unsigned int x86_probe_was(const struct kprobe *probe, u8 *was)
{
	u8 live[JMP_SIZE];

	BUILD_BUG_ON(JMP_SIZE > PP_PROBE_MAX);
	if (copy_from_kernel_nofault(live, probe->addr, sizeof(live)))
		return 0;
	was[0] = probe->opcode;
#ifdef CONFIG_OPTPROBES
	if (x86_probe_has_detour(probe, live)) {
		memcpy(was + 1, container_of(probe, struct optimized_kprobe, kp)->optinsn.copied_insn,
		       JMP_SIZE - 1);
		return JMP_SIZE;
	}
#endif
	return live[0] == INT3_INSN_OPCODE;
}

/*
 * An armed probe is a breakpoint, or the jump of an optimised probe.  While kprobes goes from one
 * to the other, a breakpoint stands there as well.
 */
static bool x86_may_be_probe(const u8 *at)
{
	const u8 byte = READ_ONCE(*at);

	return byte == INT3_INSN_OPCODE || byte == JMP_REL32;
}

static void x86_return_early(struct pt_regs *regs, long value)
{
	regs->ax = value;
	regs->ip = *(unsigned long *)regs->sp;
	regs->sp += sizeof(unsigned long);
}
NOKPROBE_SYMBOL(x86_return_early);

/* --- CPUs that are offline ---------------------------------------------------------- */

/* Such a CPU stands in a loop, in one of these functions or in one that they call. */
static bool x86_offline_in(unsigned long func)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(x86.offline); i++)
		if (x86.offline[i] == func)
			return true;
	return false;
}

/* --- counted calls ------------------------------------------------------------------ */

static bool x86_counts_calls(void)
{
#ifdef X86_FEATURE_CALL_DEPTH
	return boot_cpu_has(X86_FEATURE_CALL_DEPTH);
#else
	return false;
#endif
}

/*
 * With call depth tracking (retbleed=stuff) the kernel leads each direct call of a function to an
 * instruction that counts it, right in front of the function: a sar of a per-CPU variable by 5
 * (arch/x86/kernel/callthunks.c).  So the call led as much farther as that instruction is long.
 */
static unsigned int x86_call_was(unsigned long at, u8 *insn)
{
	/* %gs, REX.W, sar, and its operand: an absolute address, or one relative to %rip */
	static const struct {
		u8 code[4];
		s32 size;
	} counts[] = {
		{ { 0x65, 0x48, 0xc1, 0x3c }, 10 },
		{ { 0x65, 0x48, 0xc1, 0x3d }, 9 },
	};
	u8 count[4];
	s32 distance;
	unsigned int i;

	BUILD_BUG_ON(CALL_INSN_SIZE > PP_WAS_MAX);
	if (!x86_counts_calls() || insn[0] != CALL_INSN_OPCODE)
		return 0;
	memcpy(&distance, insn + 1, sizeof(distance));
	if (copy_from_kernel_nofault(count, (void *)(at + CALL_INSN_SIZE + distance), sizeof(count)))
		return 0;
	for (i = 0; i < ARRAY_SIZE(counts); i++) {
		if (memcmp(count, counts[i].code, sizeof(count)))
			continue;
		distance += counts[i].size;
		memcpy(insn + 1, &distance, sizeof(distance));
		return CALL_INSN_SIZE;
	}
	return 0;
}

/* --- stubs ------------------------------------------------------------------------ */

#define STUB_SIZE 16
#define STUB_JUMP 8

/* lea 8(%rsp), %rsp, with a displacement of four bytes so that the instruction fills a word. */
static const u8 stub_drop[STUB_JUMP] = { 0x48, 0x8d, 0xa4, 0x24, 8, 0, 0, 0 };

const struct pp_arch pp_arch = {
	.needed = x86_needed,
	.callable = x86_callable,
	.reloc = {
		.width = x86_reloc_width,
		.apply = x86_reloc,
	},
	.text = {
		.was = x86_call_was,
		.written = x86_text_written,
		.flush = x86_table_flush,
		.serialise = x86_serialise,
	},
	.steps = {
		.missing = x86_stop_missing,
		.prepare = x86_stop_prepare,
		.write = x86_stop_write,
	},
	.entry = {
		.site = x86_entry_site,
		.size = JMP_SIZE,
		.insn = x86_new_insn,
	},
	.detour = {
		.size = X86_DETOUR_SIZE,
		.nr = X86_DETOURS,
		.pad = ENDBR_PAD,
		.at = x86_detour_at,
		.code = x86_detour_code,
	},
	.stub = {
		.size = STUB_SIZE,
		.jump = STUB_JUMP,
		.drop = stub_drop,
	},
	.probe = {
		.was = x86_probe_was,
		.reach = PROBE_REACH,
		.may_be = x86_may_be_probe,
		.return_early = x86_return_early,
		.taken = x86_breaks_are_kgdbs,
	},
	.live = {
		.method = POKEPATCH_HISTORY_INT3,
		.missing = x86_live_missing,
		.init = x86_live_init,
		.check = x86_live_check,
		.write = x86_live_write,
	},
	.writer = {
		.site = x86_writer_site,
		.written = x86_writer_written,
		.write_same = x86_write_same,
		.tells_perf = true,
	},
	.stack = {
		.walk = x86_stack_walk,
		.pointer = x86_stack_pointer,
		.offline_in = x86_offline_in,
	},
};
