// SPDX-License-Identifier: GPL-2.0-or-later
/* The final check's knowledge of x86-64; Linux 6.1's arch/x86/include/asm and tools/objtool. */
#include <elf.h>
#include <stddef.h>

#include "proof_rules.h"

static const struct proof_table tables[] = {
	{.section = "__bug_table", .sizes = {12}},  /* asm/bug.h: addr, file, line, flags */
	{.section = "__ex_table", .sizes = {12}},   /* asm/extable.h: insn, fixup, data */
	/* linux/jump_label.h: code, target, key; the hack: asm/jump_label.h, "2 | branch" */
	{.section = "__jump_table", .sizes = {16}, .key = 8, .nop_flag = 2},
	/* asm/alternative.h: instr, replacement, feature (u16, or u32 from 6.3 on), lengths */
	{.section = ".altinstructions",
	 .sizes = {12, 14},
	 .ordered = true, /* where two are for one place, the later wins */
	 .piece = 4,
	 .piece_length = -1,
	 .site_length = -2},
	{.section = ".smp_locks", .sizes = {4}},
	/* asm/paravirt_types.h: 8-byte address, type, length, padding */
	{.section = ".parainstructions", .sizes = {16}, .site_length = -7},
	{.section = "__mcount_loc", .sizes = {8}},
	/* tools/objtool/check.c: create_return_sites_sections() and its neighbours */
	{.section = ".return_sites", .sizes = {4}, .callee = "__x86_return_thunk", .site = 5},
	{.section = ".retpoline_sites",
	 .sizes = {4},
	 .callee = "__x86_indirect_thunk_",
	 .site = 6}, /* with a prefix; without one, no field begins at the sixth byte */
	/* linux/static_call_types.h: addr, key; STATIC_CALL_SITE_TAIL */
	{.section = ".static_call_sites",
	 .sizes = {8},
	 .callee = "__SCT__",
	 .call_key = true,
	 .tail_flag = 1},
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

const struct proof_rules proof_rules_x86_64 = {
	.tables = tables,
	.piece_sections = piece_sections,
	.entry_call = "__fentry__", /* gcc -mfentry; behind ENDBR64 if there is one */
	.entry_places = {1, 5},
	.entry_opcode = 1,
	.entry_table = "__mcount_loc", /* gcc -mrecord-mcount */
	.copied = ".altinstr_replacement",
	.veneer = {.code = "\xe9\0\0\0\0",
		   .size = 5,
		   .align = 16,
		   .place = 1,
		   .type = R_X86_64_PLT32,
		   .addend = -4},
	.pc32 = R_X86_64_PC32,
	.nops = nops,
	.longest_nop = 5,
	.padding = "\x90\xcc\x66\x2e\x0f\x1f\x40\x44\x80\x84\x8d\x76\xb4\x26",
	.padding_length = 14,
	.unwind = ".orc_unwind",
	.unwind_ip = ".orc_unwind_ip",
	.zero_fields = true, /* arch/x86/kernel/module.c, "Invalid relocation target" */
	.is_jump = is_jump,
};
