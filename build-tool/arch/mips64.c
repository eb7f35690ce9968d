// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The struct archs of MIPS64, ABI n64, in both byte orders.  Relocations: "64-bit ELF Object File
 * Specification, Draft Version 2.5" by SGI, section 2.9; arch/mips/kernel/module.c.
 */
#include "object/disasm.h"
#include "arch/mips.h"
#include "arch/machines.h"

static const struct reloc_kind mips64_relocs[] = {
	MIPS_LOW_RELOCS,
	RELOC(R_MIPS_64, .size = 8),
	RELOC(R_MIPS_HIGHER, .size = 4, .mask = 0xffff),
	RELOC(R_MIPS_HIGHEST, .size = 4, .mask = 0xffff),
	MIPS_HIGH_RELOCS,
};

static const struct section_rule mips64_sections[] = {MIPS_SECTIONS(8), {0}};

static const struct late_table mips64_late_tables[] = {MIPS_LATE_TABLES(8), {0}};

static const struct veneer through_at[] = MIPS_VENEERS_THROUGH_AT(MIPS_DADDIU);
static const struct veneer through_t8[] = MIPS_VENEERS_THROUGH_T8(MIPS_DADDIU);

static const struct veneer *mips64_veneer_for(const struct object *object,
					      const struct section *section, uint64_t offset)
{
	bool big = arch_is_big(object->arch);

	return mips_hands_over_at(object, section, offset) ? &through_t8[big] : &through_at[big];
}

/*
 * r_info is not one number: it is the symbol's number (32 bits), then a special symbol and three
 * types of eight bits each, which are applied one after the other.  Reading r_info as a
 * little-endian number reverses the types.
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

static const struct disasm_mode mips64_disasm = {CS_ARCH_MIPS, CS_MODE_MIPS64 | CS_MODE_BIG_ENDIAN};
static const struct disasm_mode mips64el_disasm = {CS_ARCH_MIPS, CS_MODE_MIPS64};

/* "jalr $0, ra", which is a "jr" on release 6 too, and a NOP in its delay slot. */
#define MIPS64_RETURNS(bytes)                                                                      \
	{                                                                                          \
		.load = mips_load, .leave = {.code = bytes, .length = 8},                          \
		.entry_table = "__patchable_function_entries",                                     \
		.entry_flags = SHF_ALLOC | SHF_WRITE, .entry_end = mips_entry_end,                 \
		.distance = R_MIPS_PC32, .errors = mips_errors                                     \
	}

/* The members of struct arch that are the same for both byte orders. */
#define MIPS64_COMMON                                                                              \
	MIPS_COMMON, .elf.class = ELFCLASS64, .elf.foreign_flags = MIPS_SHORT_CODE_FLAGS,          \
	.sections = mips64_sections,                                                               \
	.relocs.kinds = mips64_relocs, .relocs.count = ARRAY_SIZE(mips64_relocs),                  \
	.relocs.address = R_MIPS_64,                                                               \
	.veneers.for_call = mips64_veneer_for, .loader.late_tables = mips64_late_tables

const struct arch arch_mips64 = {
	MIPS64_COMMON,
	.tools.debian = "mips64",
	.tools.gnu = "mips64-linux-gnuabi64",
	.elf.data = ELFDATA2MSB,
	.code.disasm = &mips64_disasm,
	.veneers.call = &through_at[1],
	.returns = MIPS64_RETURNS("\x03\xe0\x00\x09\0\0\0\0"),
};

const struct arch arch_mips64el = {
	MIPS64_COMMON,
	.tools.debian = "mips64el",
	.tools.gnu = "mips64el-linux-gnuabi64",
	.elf.data = ELFDATA2LSB,
	.code.disasm = &mips64el_disasm,
	.veneers.call = &through_at[0],
	.returns = MIPS64_RETURNS("\x09\x00\xe0\x03\0\0\0\0"),
	.relocs.info = mips64el_reloc_info,
	.relocs.info_join = mips64el_reloc_info_join,
};
