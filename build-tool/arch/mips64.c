// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * MIPS64, ABI n64, both byte orders; relocations: "64-bit ELF Object File Specification, Draft
 * Version 2.5" by SGI, section 2.9; arch/mips/kernel/module.c.
 */
#include <elf.h>
#include <string.h>

#include "arch.h"
#include "fixed.h"
#include "object.h"
#include "sections.h"

/* Not in every elf.h. */
#ifndef R_MIPS_PC21_S2
#define R_MIPS_PC21_S2 60
#define R_MIPS_PC26_S2 61
#endif
#ifndef R_MIPS_PC32
#define R_MIPS_PC32 248
#endif

static const struct reloc_kind mips64_relocs[] = {
	RELOC(R_MIPS_NONE, .idle = true),
	RELOC(R_MIPS_32, .size = 4),
	RELOC(R_MIPS_26, .size = 4, .mask = 0x03ffffff, .branch = true),
	RELOC(R_MIPS_HI16, .size = 4, .mask = 0xffff),
	RELOC(R_MIPS_LO16, .size = 4, .mask = 0xffff),
	RELOC(R_MIPS_PC16, .size = 4, .mask = 0xffff, .pc_relative = true, .branch = true,
	      .origin = 4),
	RELOC(R_MIPS_64, .size = 8),
	RELOC(R_MIPS_HIGHER, .size = 4, .mask = 0xffff),
	RELOC(R_MIPS_HIGHEST, .size = 4, .mask = 0xffff),
	RELOC(R_MIPS_JALR, .idle = true), /* marks a call that could be a direct one */
	/* MIPS64 release 6 */
	RELOC(R_MIPS_PC21_S2, .size = 4, .mask = 0x001fffff, .pc_relative = true, .branch = true,
	      .origin = 4),
	RELOC(R_MIPS_PC26_S2, .size = 4, .mask = 0x03ffffff, .pc_relative = true, .branch = true,
	      .origin = 4),
	RELOC(R_MIPS_PC32, .size = 4, .pc_relative = true),
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

/* j and jal have relocations always: they are relative to nothing. */
static const struct local_form mips64_local_forms[] = {
	{0xf0000000, 0x10000000, R_MIPS_PC16, offset16}, /* beq, bne, blez, bgtz */
	{0xf0000000, 0x50000000, R_MIPS_PC16, offset16}, /* the likely ones */
	{0xfc0c0000, 0x04000000, R_MIPS_PC16, offset16}, /* bltz, bgez, bal, ... */
	{0xffe00000, 0x45000000, R_MIPS_PC16, offset16}, /* bc1f, bc1t */
	{0},
};

static void mips64_local_references(struct object *object, const struct section *section,
				    uint64_t start, uint64_t end, found_reference found,
				    void *context)
{
	fixed_local_references(object, section, start, end, mips64_local_forms, found, context);
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

static uint8_t low_kind(struct object *object, const struct section *section, uint64_t start,
			uint64_t at)
{
	uint32_t insn = code_get32(object, section, at), code = insn >> 26;

	if (code < 26 || code == 28 || code == 31) /* daddiu; what becomes of it stands elsewhere */
		return OPERAND_VALUE | OPERAND_INDEXED;
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
				low_kind(object, section, start, relocs[i].offset);
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
	.address_reloc = R_MIPS_64, .short_sizes = true

const struct arch arch_mips64 = {
	MIPS64_COMMON,
	.debian = "mips64",
	.gnu = "mips64-linux-gnuabi64",
	.elf_data = ELFDATA2MSB,
	.disasm = &mips64_disasm,
};

const struct arch arch_mips64el = {
	MIPS64_COMMON,
	.debian = "mips64el",
	.gnu = "mips64el-linux-gnuabi64",
	.elf_data = ELFDATA2LSB,
	.disasm = &mips64el_disasm,
	.reloc_info = mips64el_reloc_info,
	.reloc_info_join = mips64el_reloc_info_join,
};
