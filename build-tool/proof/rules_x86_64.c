// SPDX-License-Identifier: GPL-2.0-or-later
/* What the proof knows about x86-64, from Linux 6.1: arch/x86/include/asm and tools/objtool. */
#include <elf.h>
#include <stddef.h>

#include "proof/proof_rules.h"

static const struct proof_table tables[] = {
	/* asm/bug.h: addr, file, line, flags; in newer kernels format after addr */
	{.section = "__bug_table", .sizes = {12, 16}},
	{.section = "__ex_table", .sizes = {12}},   /* asm/extable.h: insn, fixup, data */
	/* linux/jump_label.h: code, target, key; the hack: asm/jump_label.h, "2 | branch" */
	{.section = "__jump_table",
	 .sizes = {16},
	 .key = 8,
	 .nop_flag = 2,
	 .live = LIVE_INSTRUCTION},
	/* asm/alternative.h: instr, replacement, feature (u16, or u32 from 6.3 on), lengths */
	{.section = ".altinstructions",
	 .sizes = {12, 14},
	 .ordered = true, /* of two entries for one place, the later wins */
	 .piece = 4,
	 .piece_length = -1,
	 .site_length = -2,
	 .live = LIVE_SITE},
	/* asm/alternative.h, LOCK_PREFIX: with one processor the kernel makes it a DS prefix */
	{.section = ".smp_locks", .sizes = {4}, .live = LIVE_BYTE},
	/* asm/paravirt_types.h: 8-byte address, type, length, padding */
	{.section = ".parainstructions", .sizes = {16}, .site_length = -7, .live = LIVE_SITE},
	{.section = "__mcount_loc", .sizes = {8}, .live = LIVE_INSTRUCTION},
	/* gcc -fpatchable-function-entry=16,16: the padding in front of a function */
	{.section = "__patchable_function_entries", .sizes = {8}, .leads = true},
	/* tools/objtool/check.c: create_return_sites_sections() and its neighbours */
	{.section = ".return_sites",
	 .sizes = {4},
	 .callee = "__x86_return_thunk",
	 .site = 5,
	 .live = LIVE_INSTRUCTION},
	/*
	 * Since 6.2; arch/x86/kernel/callthunks.c.  The core can tell what such a call was before
	 * the kernel changed it, so it is compared.
	 */
	{.section = ".call_sites", .sizes = {4}, .unwound = true},
	/* clang -fsanitize=kcfi: kernel/cfi.c, module_cfi_finalize() */
	{.section = ".kcfi_traps", .linked = "__kcfi_traps", .sizes = {4},
	 /* alternative.c, apply_fineibt(): the check ends with the trap, a UD2 */
	 .live = LIVE_INSTRUCTION,
	 .live_before = 12},
	/* tools/objtool/check.c, create_cfi_sections(): places in front of functions */
	{.section = ".cfi_sites", .sizes = {4}, .unwound = true},
	{.section = ".retpoline_sites",
	 .sizes = {4},
	 .callee = "__x86_indirect_thunk_",
	 .site = 6, /* with a prefix; without it, no field begins at the sixth byte */
	 .live = LIVE_INSTRUCTION},
	/* linux/static_call_types.h: addr, key; STATIC_CALL_SITE_TAIL */
	{.section = ".static_call_sites",
	 .sizes = {8},
	 .callee = "__SCT__",
	 .call_key = true,
	 .tail_flag = 1,
	 .live = LIVE_INSTRUCTION},
	{0},
};

/* asm/runtime-const.h; since 6.11.  They must not be in a module, so they are no tables. */
static const struct proof_constants constants[] = {
	{"runtime_ptr_", 8},
	{"runtime_shift_", 1},
	{0},
};

static const char *const piece_sections[] = {".altinstr_replacement", ".altinstr_aux", NULL};

static const char *const nops[] = {
	NULL, "\x90", "\x66\x90", "\x0f\x1f\x00", "\x0f\x1f\x40\x00", "\x0f\x1f\x44\x00\x00",
};

static bool is_jump(const unsigned char *instruction)
{
	if (*instruction == 0x2e) /* gcc -mindirect-branch-cs-prefix */
		instruction++;
	return *instruction != 0xe8;
}

/* Intel's manual, volume 2, appendix A: calls, jumps, and the NOPs that replace them. */
static uint8_t live_length(const unsigned char *instruction)
{
	switch (*instruction) {
	case 0x2e: /* a prefix */
	case 0x3e:
		return 1 + live_length(instruction + 1);
	case 0x0f: /* ud2, jcc rel32, nopl 0(%rax,%rax) */
		return instruction[1] == 0x0b ? 2 : instruction[1] == 0x1f ? 5 : 6;
	case 0xeb: /* jmp rel8 */
	case 0x66: /* xchg %ax, %ax */
		return 2;
	case 0xf3: /* endbr64 */
		return 4;
	default: /* call, jmp rel32 */
		return 5;
	}
}

const struct proof_rules proof_rules_x86_64 = {
	.machine = EM_X86_64,
	.elf_class = ELFCLASS64,
	.elf_data = ELFDATA2LSB,
	.tables = tables,
	.constants = constants,
	.piece_sections = piece_sections,
	.entry_call = "__fentry__", /* gcc -mfentry; an ENDBR64 may precede the call */
	.entry_places = {1, 5},
	.overwriting = 5,
	.call_changes = x86_changes_of_call,
	.entry_opcode = 1,
	.entry_table = "__mcount_loc", /* gcc -mrecord-mcount */
	.copied = ".altinstr_replacement",
	.veneer = {.code = "\xe9\0\0\0\0",
		   .size = 5,
		   .align = 16,
		   .place = 1,
		   .type = R_X86_64_PLT32,
		   .addend = -4},
	.counts_from_end = true,
	.pc32 = R_X86_64_PC32,
	.nops = nops,
	.longest_nop = 5,
	.padding = "\x90\xcc\x66\x2e\x0f\x1f\x40\x44\x80\x84\x8d\x76\xb4\x26",
	.padding_length = 14,
	.dead_end = "\x0f\x0b", /* ud2 */
	.dead_end_length = 2,
	.unwind = ".orc_unwind",
	.unwind_ip = ".orc_unwind_ip",
	.seals = ".ibt_endbr_seal", /* arch/x86/kernel/alternative.c, apply_seal_endbr() */
	.landing_pad = "\xf3\x0f\x1e\xfa",
	.type_prefix = "__cfi_", /* clang -fsanitize=kcfi */
	.zero_fields = true, /* arch/x86/kernel/module.c, "Invalid relocation target" */
	.live_length = live_length,
	.is_jump = is_jump,
};
