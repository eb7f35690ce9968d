// SPDX-License-Identifier: GPL-2.0-only
/*
 * x86-64.
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

#include <asm/switch_to.h>
#include <asm/sync_core.h>
#include <asm/unwind.h>

#include <pokepatch_history.h>

#include "arch/pp_arch.h"
#include "debug.h"
#include "kernel_symbols.h"
#include "pp_needed.h"
#include "text.h"
#include "x86.h"

#ifndef CONFIG_UNWINDER_ORC
#error "the core needs a kernel with a reliable unwinder (CONFIG_UNWINDER_ORC)"
#endif

/* How a value may differ from the field that holds it. */
enum fit { FIT_FULL, FIT_SIGNED, FIT_UNSIGNED };

struct reloc_kind {
	u8 width; /* bytes */
	bool pc_relative;
	enum fit fit;
};

/* System V ABI, AMD64 supplement, table 4.9; a width of 0 is "not known". */
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
		memcpy(to, &value, kind->width); /* little endian: low bytes first */
	return 0;
}

static notrace void x86_serialise(const struct pp_text *text)
{
	sync_core();
}
NOKPROBE_SYMBOL(x86_serialise);

static void serialise_one(void *unused)
{
	sync_core();
}

/*
 * The caches are coherent; what remains is that a CPU may have fetched and
 * decoded the old bytes speculatively (SDM volume 3, "Handling Self- and
 * Cross-Modifying Code"): each executes a serialising instruction.
 */
static void x86_text_written(unsigned long start, unsigned long end)
{
	on_each_cpu(serialise_one, NULL, 1);
}

/* An fentry call is the first instruction, or the one after ENDBR64. */
#define ENTRY_SITE_MAX 4

static unsigned long x86_entry_site(unsigned long addr)
{
	unsigned long site = pp_kernel.ftrace_location(addr);

	return site >= addr && site - addr <= ENTRY_SITE_MAX ? site : 0;
}

/* x86_nops[5] (arch/x86/kernel/alternative.c) */
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

/* --- stacks -------------------------------------------------------------------- */

struct x86_kernel x86 __ro_after_init;

static const struct pp_needed x86_needed[] = {
	PP_NEED(__module_text_address, x86.module_text_address),
	PP_NEED_ADDRESS(__indirect_thunk_start, x86.thunks),
	PP_NEED_ADDRESS(__indirect_thunk_end, x86.thunks_end),
	PP_NEED_ADDRESS(ftrace_stub, x86.ftrace),
	PP_NEED_ADDRESS(return_to_handler, x86.ftrace_end),
	PP_NEED_ADDRESS(srso_alias_safe_ret, x86.srso_return),
	PP_NEED_ADDRESS(arch_rethook_trampoline, x86.rethook, .optional = true),
	/* Live transitions'. */
	PP_NEED(text_poke_queue, x86.text_poke_queue, .optional = true),
	PP_NEED(text_poke_finish, x86.text_poke_finish, .optional = true),
	PP_NEED(text_poke, x86.text_poke, .optional = true),
	PP_NEED(text_poke_sync, x86.text_poke_sync, .optional = true),
	PP_NEED_ADDRESS(bp_desc, x86.bp_desc, .optional = true),
	PP_NEED_ADDRESS(tp_vec, x86.tp_vec, .optional = true),
	PP_NEED(tp_vec_nr, x86.tp_vec_nr, .optional = true),
	/* The writes of others. */
	PP_NEED_ADDRESS(__text_poke, x86.writer, .optional = true),
	PP_NEED_ADDRESS(text_poke_memcpy, x86.text_poke_memcpy, .optional = true),
	PP_NEED(kgdb_io_module_registered, x86.kgdb, .optional = true),
	{}
};

/* Upper bounds for the sizes of these; the symbols have none in kallsyms. */
#define RETURN_TO_HANDLER_SIZE 64
#define SRSO_RETURN_SIZE 32
#define RETHOOK_SIZE 96

/*
 * The unwinder can go on from a task that was interrupted at @ip.  It cannot from
 * code that jumps by way of the stack: in a retpoline, after
 *	mov %rax, (%rsp)
 *	ret
 * has begun, and in ftrace's trampolines and the return thunk once the handler has
 * put a new function's address there, the word that the unwinder takes for a return
 * address is the start of a function.  It then looks one byte before it for the
 * unwind data, and finds those of another function, which may have it skip frames.
 *
 * Nor from where a kretprobe has a function return to: at
 *	arch_rethook_trampoline+0: push $arch_rethook_trampoline
 * the return address is off the stack, but the unwind data, those of a function's start,
 * take the word that is there, a local variable of the caller, for one.
 */
static bool can_unwind_from(unsigned long ip)
{
	if (pp_debug_skip_places)
		return true;
	if (ip < pp_kernel.stext || ip >= pp_kernel.etext)
		/* A module, or else ftrace's trampolines, probe slots, BPF, ... */
		return x86.module_text_address(ip);
	return !(ip >= x86.thunks && ip < x86.thunks_end) &&
	       !(ip >= x86.ftrace && ip < x86.ftrace_end + RETURN_TO_HANDLER_SIZE) &&
	       !(ip >= x86.srso_return && ip < x86.srso_return + SRSO_RETURN_SIZE) &&
	       !(x86.rethook && ip >= x86.rethook && ip < x86.rethook + RETHOOK_SIZE);
}

/*
 * The walk ended without having met user registers: is that really the end of the
 * stack?
 *
 * Before Linux 6.4 the unwind data of "the stack ends here" and of "not known what
 * is here" were the same (UNWIND_HINT_EMPTY), and the kernel's own reliable walk
 * takes both for the end.  With preempt=full, tasks were seen here that had been
 * preempted at
 *	__x86_indirect_thunk_rax+0
 * and whose callers all remained unseen; return_to_handler is marked so too.  So the
 * end counts only where stacks end: at the registers that fork made room for, with
 * which kernel threads and new tasks begin in ret_from_fork.  An idle task starts
 * from the stack pointer that copy_thread() left (the boot CPU's from the registers),
 * and jumps to its C code by a pushed address.
 */
static bool is_stack_end(const struct unwind_state *state, struct task_struct *task)
{
	const unsigned long regs = (unsigned long)task_pt_regs(task);

	if (state->sp == regs || pp_debug_skip_stack_ends)
		return true;
	return is_idle_task(task) &&
	       state->sp == regs - sizeof(struct inactive_task_frame);
}

/*
 * A kretprobe has replaced return addresses on the stack of a task that is ready to
 * run.  The kernel looks up the original ones for sleeping tasks only, and warns
 * about others (rethook_find_ret_addr()).
 */
static bool has_unknown_returns(const struct task_struct *task)
{
#ifdef CONFIG_RETHOOK
	return task != current && task->rethooks.first && task_is_running(task) &&
	       !pp_debug_skip_ready;
#else
	return false;
#endif
}

/*
 * The return address as the unwinder knows it: what kretprobes and the graph tracer have
 * put on the stack in its place is resolved.
 */
static unsigned long return_address(struct unwind_state *state)
{
	if (pp_debug_skip_returns && !state->regs)
		return READ_ONCE_NOCHECK(*((unsigned long *)state->sp - 1));
	return unwind_get_return_address(state);
}

/*
 * The kernel's ORC unwinder, with the rules of arch_stack_walk_reliable() and those
 * above.  It gives up at code without unwind data (BPF, probe slots).
 */
static int x86_stack_walk(struct task_struct *task, bool (*visit)(void *ctx, unsigned long addr),
			  void *ctx)
{
	struct unwind_state state;

	if (has_unknown_returns(task))
		return -EAGAIN;
	for (unwind_start(&state, task, NULL, NULL); !unwind_done(&state) && !unwind_error(&state);
	     unwind_next_frame(&state)) {
		const struct pt_regs *regs = unwind_get_entry_regs(&state, NULL);
		unsigned long addr;

		if (regs && user_mode((struct pt_regs *)regs))
			return 0;
		if (regs && !can_unwind_from(regs->ip))
			return -EAGAIN;
		addr = return_address(&state);
		if (!addr)
			return -EINVAL;
		if (!visit(ctx, addr))
			return 0;
	}
	return !unwind_error(&state) && is_stack_end(&state, task) ? 0 : -EINVAL;
}

static unsigned long x86_stack_pointer(const struct task_struct *task)
{
	return task == current ? current_stack_pointer : READ_ONCE(task->thread.sp);
}

/* arch/x86/kernel/kprobes/opt.c: the jump of an optimised probe, to its detour. */
static bool has_detour(const struct kprobe *probe, const u8 *live)
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
 * A probe keeps a copy of its instruction, and of what it calls or jumps to; one that may be
 * optimised, of all instructions that begin in the first five bytes.
 */
#ifdef CONFIG_OPTPROBES
#define PROBE_REACH MAX_OPTIMIZED_LENGTH
#else
#define PROBE_REACH MAX_INSN_SIZE
#endif

static unsigned int x86_probed(const struct kprobe *probe, u8 *was)
{
	u8 live[JMP_SIZE];

	BUILD_BUG_ON(JMP_SIZE > PP_PROBE_MAX);
	if (copy_from_kernel_nofault(live, probe->addr, sizeof(live)))
		return 0;
	was[0] = probe->opcode;
#ifdef CONFIG_OPTPROBES
	if (has_detour(probe, live)) {
		memcpy(was + 1, container_of(probe, struct optimized_kprobe, kp)->optinsn.copied_insn,
		       JMP_SIZE - 1);
		return JMP_SIZE;
	}
#endif
	return live[0] == INT3_INSN_OPCODE;
}

/* A breakpoint, or the jump of an optimised probe; and between these two a breakpoint again. */
static bool x86_may_be_probe(const u8 *at)
{
	const u8 byte = READ_ONCE(*at);

	return byte == INT3_INSN_OPCODE || byte == JMP_REL32;
}

/* --- stubs ------------------------------------------------------------------------ */

#define STUB_SIZE 16
#define STUB_JUMP 8

/* lea 8(%rsp), %rsp, with a displacement of four bytes so that it fills its word. */
static const u8 stub_drop[STUB_JUMP] = { 0x48, 0x8d, 0xa4, 0x24, 8, 0, 0, 0 };

const struct pp_arch pp_arch = {
	.needed = x86_needed,
	.reloc = {
		.width = x86_reloc_width,
		.apply = x86_reloc,
	},
	.text = {
		.written = x86_text_written,
		.word = 8,
		.serialise = x86_serialise,
	},
	.entry = {
		.site = x86_entry_site,
		.size = JMP_SIZE,
		.insn = x86_entry_insn,
	},
	.stub = {
		.size = STUB_SIZE,
		.jump = STUB_JUMP,
		.drop = stub_drop,
	},
	.probe = {
		.was = x86_probed,
		.reach = PROBE_REACH,
		.may_be = x86_may_be_probe,
	},
	.live = {
		.method = POKEPATCH_HISTORY_INT3,
		.missing = x86_live_missing,
		.init = x86_live_init,
		.check = x86_live_check,
		.write = x86_live_write,
	},
	.writer = {
		.site = x86_writer,
		.written = x86_written,
		.write_same = x86_write_same,
		.tells_perf = true,
	},
	.stack = {
		.walk = x86_stack_walk,
		.pointer = x86_stack_pointer,
	},
};
