// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * MIPS64, ABI n64, both byte orders; relocations: "64-bit ELF Object File Specification, Draft
 * Version 2.5" by SGI, section 2.9; arch/mips/kernel/module.c.
 */
#include <elf.h>
#include <string.h>

#include "arch.h"
#include "fixed.h"
#include "mips_uses.h"
#include "object.h"
#include "proof_rules.h"
#include "sections.h"

/* Not in every elf.h. */
#ifndef R_MIPS_PC21_S2
#define R_MIPS_PC21_S2 60
#define R_MIPS_PC26_S2 61
#endif
#ifndef R_MIPS_PC32
#define R_MIPS_PC32 248
#endif

/* What of e_flags names the release of the architecture; the sixth is not like those before. */
#define ARCH_FLAGS 0xf0000000u
#define ARCH_32R6  0x90000000u
#define ARCH_64R6  0xa0000000u

/*
 * Near are all jumps: the kernel is in KSEG0 and modules are in CKSSEG, 1 GB from there; "j" and
 * "jal" stay within 256 MB.
 */
static const struct reloc_kind mips64_relocs[] = {
	RELOC(R_MIPS_NONE, .idle = true),
	RELOC(R_MIPS_32, .size = 4),
	RELOC(R_MIPS_26, .near = true, .size = 4, .mask = 0x03ffffff, .branch = true),
	RELOC(R_MIPS_HI16, .size = 4, .mask = 0xffff),
	RELOC(R_MIPS_LO16, .size = 4, .mask = 0xffff),
	RELOC(R_MIPS_PC16, .near = true, .size = 4, .mask = 0xffff, .pc_relative = true,
	      .branch = true, .origin = 4),
	RELOC(R_MIPS_64, .size = 8),
	RELOC(R_MIPS_HIGHER, .size = 4, .mask = 0xffff),
	RELOC(R_MIPS_HIGHEST, .size = 4, .mask = 0xffff),
	RELOC(R_MIPS_JALR, .idle = true), /* marks a call that could be a direct one */
	/* MIPS64 release 6 */
	RELOC(R_MIPS_PC21_S2, .near = true, .size = 4, .mask = 0x001fffff, .pc_relative = true,
	      .branch = true, .origin = 4),
	RELOC(R_MIPS_PC26_S2, .near = true, .size = 4, .mask = 0x03ffffff, .pc_relative = true,
	      .branch = true, .origin = 4),
	RELOC(R_MIPS_PC32, .size = 4, .pc_relative = true, .linker = true),
};

static const struct section_rule mips64_sections[] = {
	/* struct exception_table_entry: u64 instruction, u64 fixup */
	{.name = "__ex_table", .policy = SECTION_TABLE, .layouts = {{.size = 16, .partner = 8}}},
	/* The same, for bus errors. */
	{.name = "__dbe_table", .policy = SECTION_TABLE, .layouts = {{.size = 16, .partner = 8}}},
	{.name = ".fixup", .policy = SECTION_PARTNER},
	/* struct jump_entry: u64 code, u64 target, u64 key */
	{.name = "__jump_table", .policy = SECTION_TABLE, .layouts = {{.size = 24, .key = 16}}},
	/* struct bug_entry is not used: BUG() is an instruction and no more (asm/bug.h). */

	/* What the object was compiled for, and for debuggers. */
	{.name = ".reginfo", .policy = SECTION_DROP},
	{.name = ".MIPS.options", .policy = SECTION_DROP},
	{.name = ".MIPS.abiflags", .policy = SECTION_DROP},
	{.name = ".gnu.attributes", .policy = SECTION_DROP},
	{.name = ".mdebug.abi64", .policy = SECTION_DROP},
	{.name = ".pdr", .policy = SECTION_DROP},

	/* Within the kernel's init memory. */
	{.name = ".appended_dtb", .policy = SECTION_INIT},
	{.name = "__mips_machines", .prefix = true, .policy = SECTION_INIT},
	{.name = ".mips.machines.init", .policy = SECTION_INIT},
	{0},
};

/* arch/mips/kernel/jump_label.c; and what pokepatch's core writes into entries. */
static const struct late_table mips64_late_tables[] = {
	{.section = "__patchable_function_entries", .entry = 8, .length = 16, .nops = true},
	{.section = "__jump_table", .entry = 24, .length = 4},
	{0},
};

/* ---- jumps to the kernel ------------------------------------------------------------- */

#define LITTLE(word) (word) & 0xff, (word) >> 8 & 0xff, (word) >> 16 & 0xff, (word) >> 24
#define BIG(word)    (word) >> 24, (word) >> 16 & 0xff, (word) >> 8 & 0xff, (word) & 0xff

/*
 *	lui	at, %hi(sym)
 *	daddiu	at, at, %lo(sym)
 *	jalr	$0, at		"jr", which release 6 has no other form of
 *	nop
 *
 * No compiler has anything in $at when it calls.  (In $t8 it may: gcc's -fipa-ra knows what a
 * static function that it calls leaves alone.)
 */
#define THROUGH_AT(order) order(0x3c010000), order(0x64210000), order(0x00200009), order(0)
/*
 * But raw_copy_from_user() of asm/uaccess.h calls with "daddu $1, %1, %2" in the delay slot, and
 * __raw_copy_from_user() counts on that.  $t8 it says that it spoils.
 */
#define THROUGH_T8(order) order(0x3c180000), order(0x67180000), order(0x03000009), order(0)

#define VENEER(bytes, ...)                                                                         \
	{                                                                                          \
		.every_call = true, .exported = true, .code = (const uint8_t[]){bytes},            \
		.size = 16, .align = 4, .reloc_at = 0, .reloc_type = R_MIPS_HI16,                  \
		.second_at = 4, .second_type = R_MIPS_LO16, ##__VA_ARGS__                          \
	}
/* By byte order: little, big. */
static const struct veneer through_at[] = {VENEER(THROUGH_AT(LITTLE)), VENEER(THROUGH_AT(BIG))};
static const struct veneer through_t8[] = {VENEER(THROUGH_T8(LITTLE), .kind = "_t8"),
					   VENEER(THROUGH_T8(BIG), .kind = "_t8")};

/* Does an instruction leave its result in $at?  Those that may stand in a delay slot. */
static bool writes_at(uint32_t instruction)
{
	uint32_t code = instruction >> 26, rt = instruction >> 16 & 31, rd = instruction >> 11 & 31;

	if (!code || code == 28) /* SPECIAL, SPECIAL2 */
		return rd == 1;
	if (code == 31) /* SPECIAL3: ext, ins and the like, and rdhwr, have it in rt, others in rd */
		return (instruction & 63) < 8 || (instruction & 63) == 59 ? rt == 1 : rd == 1;
	return rt == 1 && ((code >= 8 && code < 16) ||	/* addi to lui */
			   (code >= 24 && code < 28) || /* daddi, daddiu, ldl, ldr */
			   (code >= 32 && code < 40) || /* lb to lwu */
			   code == 48 || code == 52 || code == 55); /* ll, lld, ld */
}

static const struct veneer *mips64_veneer_for(const struct object *object,
					      const struct section *section, uint64_t offset)
{
	bool big = arch_code_is_big(object->arch);
	/* "jal" and "j" have a delay slot, "balc" and "bc" have none. */
	bool slot = code_get32(object, section, offset) >> 27 == 1;

	return slot && offset + 8 <= section->size &&
			       writes_at(code_get32(object, section, offset + 4))
		       ? &through_t8[big]
		       : &through_at[big];
}

/*
 * r_info is not one number: the symbol's (32 bits), then a special symbol and three types of
 * eight bits each, applied one after the other.  Read as a little-endian number, the types come
 * out in reverse.
 */
static void mips64el_reloc_info(uint64_t info, uint32_t *ret_symbol, uint32_t *ret_type)
{
	*ret_symbol = info;
	*ret_type = __builtin_bswap32(info >> 32);
}

static uint64_t mips64el_reloc_info_join(uint32_t symbol, uint32_t type)
{
	return (uint64_t)__builtin_bswap32(type) << 32 | symbol;
}

/* gcc -fpatchable-function-entry; NOPs before the label do not count (GCC bug 99217). */
static int64_t mips64_patchable_entry(struct object *object, const struct atom *function)
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

/* j and jal have relocations always: they are relative to nothing. */
static const struct local_form mips64_local_forms[] = {
	{0xf0000000, 0x10000000, R_MIPS_PC16, offset16}, /* beq, bne, blez, bgtz */
	{0xf0000000, 0x50000000, R_MIPS_PC16, offset16}, /* the likely ones */
	{0xfc0c0000, 0x04000000, R_MIPS_PC16, offset16}, /* bltz, bgez, bal, ... */
	{0xffe00000, 0x45000000, R_MIPS_PC16, offset16}, /* bc1f, bc1t */
	{0},
};

/* With register 0 in rs they are jic and jialc, which lead to what is in another register. */
#define COMPACT21(code)                                                                            \
	{0xfc200000, (code) | 1 << 21, R_MIPS_PC21_S2, offset21},                                  \
	{0xfc400000, (code) | 1 << 22, R_MIPS_PC21_S2, offset21},                                  \
	{0xfc800000, (code) | 1 << 23, R_MIPS_PC21_S2, offset21},                                  \
	{0xfd000000, (code) | 1 << 24, R_MIPS_PC21_S2, offset21},                                  \
	{0xfe000000, (code) | 1 << 25, R_MIPS_PC21_S2, offset21}

/* Release 6 has given other meanings to the codes of some instructions (volume II-A, appendix A). */
static const struct local_form mips64r6_local_forms[] = {
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

static void mips64_local_references(struct object *object, const struct section *section,
				    uint64_t start, uint64_t end, found_reference found,
				    void *context)
{
	uint32_t release = object->header.e_flags & ARCH_FLAGS;
	bool sixth = release == ARCH_32R6 || release == ARCH_64R6;

	fixed_local_references(object, section, start, end,
			       sixth ? mips64r6_local_forms : mips64_local_forms, found, context);
}

/*
 * Is the base register of a load or store at an offset just the upper part of the address?
 * "lui v0,%hi(x); daddu v0,v0,a0; lw v0,%lo(x)(v0)" reads an element of x.
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

/* What functions need not keep for those that call them: v0 to t3 (n64: a7, t3), t8, t9. */
#define SPOILED_BY_CALLS 0x0300fffcu

/* Does it go on elsewhere, or may it (release 6 has jumps where others have addi and the like)? */
static bool is_jump(uint32_t insn)
{
	uint32_t code = insn >> 26, function = insn & 63;

	return code ? (code < 9 || (code >= 17 && code < 25 && code != 18 && code != 19) ||
		       code == 50 || code == 54 || code == 58 || code == 62)
		    : function == 8 || function == 9;
}

/* The register that it jumps to the contents of, without adding to them; 0: it does not. */
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
 * Code of modules (-mlong-calls) calls with "lui v0,%hi(f); daddiu v0,v0,%lo(f); jalr v0": is an address
 * that is complete here called, and used for nothing else?
 */
static bool is_only_called(struct object *object, const struct section *section, uint64_t at,
			   uint64_t end)
{
	unsigned int reg = code_get32(object, section, at) >> 16 & 31;

	if (!(SPOILED_BY_CALLS >> reg & 1))
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

	if (code < 26 || code == 28 || code == 31) /* daddiu; what becomes of it stands elsewhere */
		return is_only_called(object, section, at, end) ||
				       mips_only_accessed(object, section, start, end, at)
			       ? OPERAND_INDEXED
			       : OPERAND_VALUE | OPERAND_INDEXED;
	return base_is_upper_part(object, section, start, at, insn >> 21 & 31) ? OPERAND_DIRECT
										: OPERAND_INDEXED;
}

static void mips64_operand_kinds(struct object *object, const struct section *section,
				 uint64_t start, uint64_t end, uint8_t *kinds)
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

static const struct constant_form mips64_constant_forms[] = {
	{0xffe00000, 0x24000000, 0, 16}, /* addiu from $zero: li */
	{0xffe00000, 0x34000000, 0, 16}, /* ori from $zero: li of 0x8000 and more */
	{0xffe00000, 0x64000000, 0, 16}, /* daddiu from $zero */
	{0},
};

static void mips64_constant_loads(struct object *object, const struct section *section,
				 uint64_t start, uint64_t end,
				 void (*found)(void *context, const struct constant_load *load),
				 void *context)
{
	fixed_constant_loads(object, section, start, end, mips64_constant_forms, found, context);
}

static bool mips64_is_padding(struct object *object, const struct section *section,
			      uint64_t start, uint64_t end)
{
	return fixed_is_padding(object, section, start, end, 0); /* nop is zero */
}

static const struct disasm_mode mips64_disasm = {CS_ARCH_MIPS, CS_MODE_MIPS64 | CS_MODE_BIG_ENDIAN};
static const struct disasm_mode mips64el_disasm = {CS_ARCH_MIPS, CS_MODE_MIPS64};

/* What both byte orders share. */
#define MIPS64_COMMON                                                                              \
	.name = "mips", .source_arch = "mips", .machine = EM_MIPS, .elf_class = ELFCLASS64,        \
	.relocs = mips64_relocs, .reloc_count = ARRAY_SIZE(mips64_relocs),                         \
	.sections = mips64_sections, .patchable_entry = mips64_patchable_entry,                    \
	.local_references = mips64_local_references, .operand_kinds = mips64_operand_kinds,        \
	.is_padding = mips64_is_padding, .constant_loads = mips64_constant_loads,                  \
	.entries_by_as = true, .late_tables = mips64_late_tables, .veneer_for = mips64_veneer_for,                        \
	.address_reloc = R_MIPS_64, .short_sizes = true

const struct arch arch_mips64 = {
	MIPS64_COMMON,
	.debian = "mips64",
	.gnu = "mips64-linux-gnuabi64",
	.elf_data = ELFDATA2MSB,
	.disasm = &mips64_disasm,
	.veneer = &through_at[1],
	.proof = &proof_rules_mips64,
};

const struct arch arch_mips64el = {
	MIPS64_COMMON,
	.debian = "mips64el",
	.gnu = "mips64el-linux-gnuabi64",
	.elf_data = ELFDATA2LSB,
	.disasm = &mips64el_disasm,
	.veneer = &through_at[0],
	.proof = &proof_rules_mips64el,
	.reloc_info = mips64el_reloc_info,
	.reloc_info_join = mips64el_reloc_info_join,
};
