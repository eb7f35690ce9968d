// SPDX-License-Identifier: GPL-2.0-or-later
/* What the proof knows about MIPS64, from Linux 6.1: arch/mips/include/asm and kernel/module.c. */
#include <elf.h>
#include <stddef.h>

#include "proof/proof_rules.h"

#ifndef R_MIPS_PC21_S2
#define R_MIPS_PC21_S2 60
#define R_MIPS_PC26_S2 61
#endif

static const struct proof_table tables[] = {
	/* asm/extable.h: insn, nextinsn; both are whole addresses */
	{.section = "__ex_table", .sizes = {16}},
	{.section = "__dbe_table", .sizes = {16}}, /* the same for bus errors: kernel/traps.c */
	/* asm/jump_label.h: code, target, key; kernel/jump_label.c writes one instruction */
	{.section = "__jump_table", .sizes = {24}, .key = 16, .key_is_read = true,
	 .live = LIVE_WORD},
	/* gcc makes it; pokepatch's core writes to these places when it enables a patch. */
	{.section = "__patchable_function_entries", .sizes = {8}, .live = LIVE_INSTRUCTION},
	{0},
};

/* The code that the exception tables lead to (asm/uaccess.h). */
static const char *const piece_sections[] = {".fixup", NULL};

static const char *const linkers[] = {".MIPS.abiflags", ".MIPS.options", ".reginfo", NULL};

/* A patchable entry has as many NOPs as the kernel's build asked for; up to four of them count. */
static uint8_t live_length(const unsigned char *instruction)
{
	uint8_t length = 0;

	while (length < 16 && !instruction[length])
		length++;
	return length < 4 ? 4 : length & ~3;
}

/*
 * The kernel is in KSEG0 and modules are in CKSSEG.  A field that counts from its own place, or
 * that stays within its region of 256 MB, does not reach from one to the other.
 */
static const char *late_problem(uint32_t type, uint64_t place)
{
	(void)place;
	switch (type) {
	case R_MIPS_26:
	case R_MIPS_PC16:
	case R_MIPS_PC21_S2:
	case R_MIPS_PC26_S2:
		return "which does not reach as far as the kernel is";
	default:
		return NULL;
	}
}

/*
 * Does the instruction in the delay slot of this call write register 1, at?  The instructions are
 * those that may be in a delay slot (MIPS64 Architecture, volume II).
 */
static bool result_is_at(uint32_t jump, uint32_t slot)
{
	uint32_t major = slot >> 26, function = slot & 63;
	bool in_rt = (slot >> 16 & 31) == 1, in_rd = (slot >> 11 & 31) == 1;

	if (jump >> 26 != 2 && jump >> 26 != 3)
		return false; /* balc has no delay slot */
	switch (major) {
	case 0x00: /* SPECIAL: addu, daddu, sll, ... */
	case 0x1c: /* SPECIAL2: mul, clz, ... */
		return in_rd;
	case 0x1f: /* SPECIAL3: ext, dext, ins, dins and kin, or bshfl, rdhwr (rt too) */
		return function < 8 || function == 0x3b ? in_rt : in_rd;
	case 0x08 ... 0x0f: /* addi, addiu, slti, sltiu, andi, ori, xori, lui */
	case 0x18 ... 0x1b: /* daddi, daddiu, ldl, ldr */
	case 0x20 ... 0x27: /* lb, lh, lwl, lw, lbu, lhu, lwr, lwu */
	case 0x30:	    /* ll */
	case 0x34:	    /* lld */
	case 0x37:	    /* ld */
		return in_rt;
	default:
		return false;
	}
}

static bool hands_over_at(const unsigned char *call)
{
	return result_is_at((uint32_t)call[0] << 24 | call[1] << 16 | call[2] << 8 | call[3],
			    (uint32_t)call[4] << 24 | call[5] << 16 | call[6] << 8 | call[7]);
}

static bool hands_over_at_el(const unsigned char *call)
{
	return result_is_at((uint32_t)call[3] << 24 | call[2] << 16 | call[1] << 8 | call[0],
			    (uint32_t)call[7] << 24 | call[6] << 16 | call[5] << 8 | call[4]);
}

#define RULES(data, jump, other_jump, other_if)                                                    \
	{                                                                                          \
		.machine = EM_MIPS, .elf_class = ELFCLASS64, .elf_data = data,                     \
		.tables = tables, .piece_sections = piece_sections, .linkers = linkers,            \
		.entry_table = "__patchable_function_entries", .entry_listed = true,               \
		.veneer = {.code = jump,                                                           \
			   .size = 16,                                                             \
			   .align = 4,                                                             \
			   .place = 0,                                                             \
			   .type = R_MIPS_HI16,                                                    \
			   .second_place = 4,                                                      \
			   .second_type = R_MIPS_LO16,                                             \
			   .exported = true,                                                       \
			   .other = other_jump,                                                    \
			   .needs_other = other_if},                                               \
		.late_problem = late_problem, .padding = "", .live_length = live_length,           \
	}

/*
 * lui at, %hi(symbol); daddiu at, at, %lo(symbol); jalr $0, at; nop.  The other jump is the same
 * with t8 for at.
 */
const struct proof_rules proof_rules_mips64 =
	RULES(ELFDATA2MSB, "\x3c\x01\0\0\x64\x21\0\0\0\x20\0\x09\0\0\0",
	      "\x3c\x18\0\0\x67\x18\0\0\x03\0\0\x09\0\0\0", hands_over_at);
const struct proof_rules proof_rules_mips64el =
	RULES(ELFDATA2LSB, "\0\0\x01\x3c\0\0\x21\x64\x09\0\x20\0\0\0\0",
	      "\0\0\x18\x3c\0\0\x18\x67\x09\0\0\x03\0\0\0", hands_over_at_el);
