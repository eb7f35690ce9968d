// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads instructions, for 32 and 64 bits alike: MIPS Architecture, volume II. */
#include "arch/mips.h"

#include <string.h>

#include "arch/fixed.h"
#include "arch/mips_uses.h"

/* The bits of e_flags that name the release; release 6 has other instructions than those before. */
#define ARCH_FLAGS 0xf0000000u
#define ARCH_32R6  0x90000000u
#define ARCH_64R6  0xa0000000u

/* Whether an instruction, of those that may be in a delay slot, writes its result to $at. */
static bool writes_at(uint32_t instruction)
{
	uint32_t code = instruction >> 26, rt = instruction >> 16 & 31, rd = instruction >> 11 & 31;

	if (!code || code == 28) /* SPECIAL, SPECIAL2 */
		return rd == 1;
	if (code == 31) /* SPECIAL3: the result of ext, ins and rdhwr is in rt, of others in rd */
		return (instruction & 63) < 8 || (instruction & 63) == 59 ? rt == 1 : rd == 1;
	return rt == 1 && ((code >= 8 && code < 16) ||	/* addi to lui */
			   (code >= 24 && code < 28) || /* daddi, daddiu, ldl, ldr */
			   (code >= 32 && code < 40) || /* lb to lwu */
			   code == 48 || code == 52 || code == 55); /* ll, lld, ld */
}

bool mips_hands_over_at(const struct object *object, const struct section *section, uint64_t offset)
{
	/* "jal" and "j" have a delay slot, "balc" and "bc" have none. */
	bool slot = code_get32(object, section, offset) >> 27 == 1;

	return slot && offset + 8 <= section->size &&
	       writes_at(code_get32(object, section, offset + 4));
}

/* gcc -fpatchable-function-entry; NOPs in front of the label do not count (GCC bug 99217). */
int64_t mips_patchable_entry(struct object *object, const struct atom *function)
{
	return arch_listed_entry(object, function, "__patchable_function_entries");
}

static int64_t offset16(uint32_t instruction)
{
	return 4 + sign_extend(instruction, 16) * 4;
}

static int64_t offset21(uint32_t instruction)
{
	return 4 + sign_extend(instruction, 21) * 4;
}

static int64_t offset26(uint32_t instruction)
{
	return 4 + sign_extend(instruction, 26) * 4;
}

/* Not j and jal: their targets are not relative, so they always have relocations. */
static const struct local_form local_forms[] = {
	{0xf0000000, 0x10000000, R_MIPS_PC16, offset16}, /* beq, bne, blez, bgtz */
	{0xf0000000, 0x50000000, R_MIPS_PC16, offset16}, /* the likely ones */
	{0xfc0c0000, 0x04000000, R_MIPS_PC16, offset16}, /* bltz, bgez, bal, ... */
	{0xffe00000, 0x45000000, R_MIPS_PC16, offset16}, /* bc1f, bc1t */
	{0},
};

/* With register 0 in rs these codes are jic and jialc, which jump to an address in a register. */
#define COMPACT21(code)                                                                            \
	{0xfc200000, (code) | 1 << 21, R_MIPS_PC21_S2, offset21},                                  \
	{0xfc400000, (code) | 1 << 22, R_MIPS_PC21_S2, offset21},                                  \
	{0xfc800000, (code) | 1 << 23, R_MIPS_PC21_S2, offset21},                                  \
	{0xfd000000, (code) | 1 << 24, R_MIPS_PC21_S2, offset21},                                  \
	{0xfe000000, (code) | 1 << 25, R_MIPS_PC21_S2, offset21}

/* Release 6 gave other meanings to the codes of some instructions (volume II-A, appendix A). */
static const struct local_form r6_local_forms[] = {
	{0xf0000000, 0x10000000, R_MIPS_PC16, offset16}, /* beq, bne; blezalc, bgtzalc, ... */
	{0xf8000000, 0x58000000, R_MIPS_PC16, offset16}, /* blezc, bgtzc, bgec, bltc, ... */
	{0xfc0c0000, 0x04000000, R_MIPS_PC16, offset16}, /* bltz, bgez, bal */
	{0xfc000000, 0x20000000, R_MIPS_PC16, offset16}, /* beqc, beqzalc, bovc */
	{0xfc000000, 0x60000000, R_MIPS_PC16, offset16}, /* bnec, bnezalc, bnvc */
	{0xff600000, 0x45200000, R_MIPS_PC16, offset16}, /* bc1eqz, bc1nez */
	COMPACT21(0xd8000000),				 /* beqzc */
	COMPACT21(0xf8000000),				 /* bnezc */
	{0xdc000000, 0xc8000000, R_MIPS_PC26_S2, offset26}, /* bc, balc */
	{0},
};

void mips_local_references(struct object *object, const struct section *section, uint64_t start,
			   uint64_t end, found_reference found, void *context)
{
	uint32_t release = object->header.e_flags & ARCH_FLAGS;
	bool sixth = release == ARCH_32R6 || release == ARCH_64R6;

	fixed_local_references(object, section, start, end,
			       sixth ? r6_local_forms : local_forms, found, context);
}

/* j and jal have the low 28 bits of their target; the others are the delay slot's. */
void mips_linked_jumps(struct object *object, const struct section *section, uint64_t address,
		       found_reference found, void *context)
{
	const uint64_t region = (1ull << 28) - 1;

	for (uint64_t at = 0; at + 4 <= section->size; at += 4) {
		uint32_t instruction = code_get32(object, section, at);
		uint64_t target = ((address + at + 4) & ~region) | (instruction & 0x3ffffff) << 2;
		struct local_reference reference = {.offset = at, .target = target - address};

		if (instruction >> 27 == 0x08000000 >> 27)
			found(context, &reference);
	}
}

/*
 * The kernel is in KSEG0, which nothing maps, and modules are in memory that the TLB maps.  A
 * refill for the code itself would overwrite what tlbp has found, or what tlbwi and tlbwr are to
 * write: the handler uses the same registers.
 */
bool mips_must_stay(struct object *object, const struct section *section, uint64_t start,
		    uint64_t end)
{
	static const uint32_t tlb = 0x42000000; /* COP0, CO, by function (volume II-A) */
	static const bool functions[64] = {
		[1] = true, [2] = true, [6] = true, [8] = true, /* tlbr, tlbwi, tlbwr, tlbp */
		[3] = true, [4] = true,				/* tlbinv, tlbinvf */
	};

	for (uint64_t at = start; at + 4 <= end; at += 4) {
		uint32_t instruction = code_get32(object, section, at);

		if ((instruction & ~63u) == tlb && functions[instruction & 63])
			return true;
	}
	return false;
}

/*
 * Whether the base register of a load or store at an offset holds just the upper part of the
 * address.  It does not in "lui v0,%hi(x); daddu v0,v0,a0; lw v0,%lo(x)(v0)", which reads an
 * element of x.
 */
static bool base_is_upper_part(struct object *object, const struct section *section,
			       uint64_t start, uint64_t at, unsigned int base)
{
	while (at >= start + 4) {
		at -= 4;
		uint32_t insn = code_get32(object, section, at);
		uint32_t code = insn >> 26, rt = insn >> 16 & 31, rd = insn >> 11 & 31;

		if (code == 15 && rt == base)
			return true;
		if (code == 3 || (!code ? rd == base : rt == base)) /* jal; a result */
			return false;
	}
	return false;
}

/* Caller-saved registers that pass no arguments, in every ABI: $2, $3, $12 to $15, t8 and t9. */
#define SPOILED_BY_CALLS 0x0300f00cu

/* Whether an instruction may jump (release 6 has jumps where others have addi and the like). */
static bool is_jump(uint32_t insn)
{
	uint32_t code = insn >> 26, function = insn & 63;

	return code ? (code < 9 || (code >= 17 && code < 25 && code != 18 && code != 19) ||
		       code == 50 || code == 54 || code == 58 || code == 62)
		    : function == 8 || function == 9;
}

/* The register with the address that an instruction jumps to; 0: it is no such jump. */
static unsigned int jump_register(uint32_t insn)
{
	uint32_t code = insn >> 26, function = insn & 63;

	if (!code && (function == 8 || function == 9)) /* jr, jalr */
		return insn >> 21 & 31;
	/* Release 6: jic, jialc */
	return (code == 54 || code == 62) && !(insn >> 21 & 31) && !(insn & 0xffff) ? insn >> 16 & 31
										    : 0;
}

static bool may_use(uint32_t insn, unsigned int reg)
{
	return (insn >> 21 & 31) == reg || (insn >> 16 & 31) == reg || (insn >> 11 & 31) == reg;
}

/*
 * A module's code (-mlong-calls) calls with "lui v0,%hi(f); daddiu v0,v0,%lo(f); jalr v0".  Whether
 * the code only calls the address that the instruction at an offset completes.
 */
static bool is_only_called(struct object *object, const struct section *section, uint64_t start,
			   uint64_t at, uint64_t end)
{
	unsigned int reg = code_get32(object, section, at) >> 16 & 31;

	/* Completed in a delay slot, the address is also used where the jump goes. */
	if (!(SPOILED_BY_CALLS >> reg & 1) ||
	    (at >= start + 4 && is_jump(code_get32(object, section, at - 4))))
		return false;
	for (at += 4; at + 8 <= end; at += 4) {
		uint32_t insn = code_get32(object, section, at);

		if (jump_register(insn) == reg)
			return insn >> 26 || !may_use(code_get32(object, section, at + 4), reg);
		if (is_jump(insn) || may_use(insn, reg))
			return false;
	}
	return false;
}

static uint8_t low_kind(struct object *object, const struct section *section, uint64_t start,
			uint64_t end, uint64_t at)
{
	uint32_t insn = code_get32(object, section, at), code = insn >> 26;

	if (code < 26 || code == 28 || code == 31) /* daddiu completes the address in a register */
		return is_only_called(object, section, start, at, end) ||
				       mips_only_accessed(object, section, start, end, at)
			       ? OPERAND_INDEXED
			       : OPERAND_VALUE | OPERAND_INDEXED;
	return base_is_upper_part(object, section, start, at, insn >> 21 & 31) ? OPERAND_DIRECT
										: OPERAND_INDEXED;
}

void mips_operand_kinds(struct object *object, const struct section *section, uint64_t start,
			uint64_t end, uint8_t *kinds)
{
	size_t count;
	const struct reloc *relocs = section_relocs(section, start, end, &count);

	memset(kinds, OPERAND_DIRECT, end - start);
	for (size_t i = 0; i < count; i++)
		if (relocs[i].type == R_MIPS_LO16)
			kinds[relocs[i].offset - start] =
				low_kind(object, section, start, end, relocs[i].offset);
		else if (relocs[i].type == R_MIPS_64 || relocs[i].type == R_MIPS_32)
			kinds[relocs[i].offset - start] = OPERAND_VALUE | OPERAND_STORED;
}

static const struct constant_form constant_forms[] = {
	{0xffe00000, 0x24000000, 0, 16}, /* addiu from $zero: li */
	{0xffe00000, 0x34000000, 0, 16}, /* ori from $zero: li of 0x8000 and more */
	{0xffe00000, 0x64000000, 0, 16}, /* daddiu from $zero, of 64 bits */
	{0},
};

void mips_constant_loads(struct object *object, const struct section *section, uint64_t start,
			 uint64_t end,
			 void (*found)(void *context, const struct constant_load *load),
			 void *context)
{
	fixed_constant_loads(object, section, start, end, constant_forms, found, context);
}

bool mips_is_padding(struct object *object, const struct section *section, uint64_t start,
		     uint64_t end)
{
	return fixed_is_padding(object, section, start, end, 0); /* nop is zero */
}

/* ---- functions that return at once ------------------------------------------------------ */

static void put_word(const struct arch *arch, uint8_t *to, uint32_t word)
{
	for (unsigned int i = 0; i < 4; i++)
		to[arch_is_big(arch) ? 3 - i : i] = word >> 8 * i;
}

/*
 * "lui" of 16 bits, which it sign-extends, "ori", and "dsll" by 16 in $v0.  A register holds a type
 * of 32 bits sign-extended, whatever its sign (ABI n64).
 */
size_t mips_load(const struct arch *arch, uint64_t value, uint8_t size,
		 uint8_t ret[RETURN_LOAD_MAX])
{
	const uint64_t whole = size <= 4 ? (uint64_t)(int64_t)(int32_t)value : value;
	const bool is_short = whole == (uint64_t)(int64_t)(int32_t)whole;
	size_t length = 0;

	for (int part = is_short ? 1 : 3; part >= 0; part--) {
		const uint16_t bits = whole >> 16 * part;

		if (!length) { /* lui v0, bits */
			put_word(arch, ret, 0x3c020000 | bits);
			length = 4;
			continue;
		}
		if (part < 2 && !is_short) { /* dsll v0, v0, 16 */
			put_word(arch, ret + length, 0x00021438);
			length += 4;
		}
		put_word(arch, ret + length, 0x34420000 | bits); /* ori v0, v0, bits */
		length += 4;
	}
	return length;
}

/* The NOPs, of which the core uses four words at most. */
uint64_t mips_entry_end(const uint8_t *code, uint64_t length, int64_t place)
{
	uint64_t end = place;

	if (place < 0)
		return 0;
	while (end + 4 <= length && end < (uint64_t)place + 16 &&
	       !memcmp(code + end, "\0\0\0", 4))
		end += 4;
	return end > (uint64_t)place ? end : 0;
}
