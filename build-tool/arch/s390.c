// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The struct arch of s390x.  Relocations: s390x ELF ABI Supplement, section "Relocation";
 * arch/s390/kernel/module.c.
 */
#include <elf.h>
#include <string.h>

#include "arch/machines.h"
#include "object/atoms.h"
#include "object/disasm.h"
#include "object/object.h"
#include "object/sections.h"

/*
 * In code, the "DBL" fields count in halfwords from the start of their instruction, which is two
 * bytes in front of them (one for the twelve-bit field of bprp, three for its 24-bit field).
 */
static const struct reloc_kind s390_relocs[] = {
	RELOC(R_390_NONE, .idle = true),
	RELOC(R_390_8, .size = 1),
	RELOC(R_390_12, .size = 2, .mask = 0x0fff),
	RELOC(R_390_16, .size = 2),
	RELOC(R_390_32, .size = 4),
	RELOC(R_390_PC32, .size = 4, .pc_relative = true),
	RELOC(R_390_PLT32, .size = 4, .pc_relative = true, .same_as = R_390_PC32),
	RELOC(R_390_PC16, .size = 2, .pc_relative = true),
	RELOC(R_390_PC16DBL, .size = 2, .pc_relative = true, .branch = true, .origin = -2),
	RELOC(R_390_PLT16DBL, .size = 2, .pc_relative = true, .branch = true, .origin = -2,
	      .same_as = R_390_PC16DBL),
	RELOC(R_390_PC32DBL, .size = 4, .pc_relative = true, .origin = -2),
	RELOC(R_390_PLT32DBL, .size = 4, .pc_relative = true, .branch = true, .origin = -2,
	      .same_as = R_390_PC32DBL),
	RELOC(R_390_64, .size = 8),
	RELOC(R_390_PC64, .size = 8, .pc_relative = true),
	RELOC(R_390_PLT64, .size = 8, .pc_relative = true, .same_as = R_390_PC64),
	/* lgrl %r1,symbol@GOTENT: the place of a pointer to the symbol */
	RELOC(R_390_GOTENT, .size = 4, .pc_relative = true, .origin = -2),
	RELOC(R_390_20, .size = 4, .mask = 0x0fffff00),
};

/* Lists of places that the kernel rewrites where it turns expolines off. */
#define EXPOLINE_SITES(section) \
	{.name = section, .policy = SECTION_TABLE, .layouts = {{.size = 4}}}

static const struct section_rule s390_sections[] = {
	/* struct bug_entry: s32 address, s32 file, u16 line, u16 flags */
	{.name = "__bug_table",
	 .policy = SECTION_TABLE,
	 .layouts = {{.size = 12, .ignored = {8, 2}}}},
	/* struct exception_table_entry: s32 instruction, s32 fixup, s16 type, s16 data */
	{.name = "__ex_table", .policy = SECTION_TABLE, .layouts = {{.size = 12}}},
	/* struct jump_entry: s32 code, s32 target, s64 key */
	{.name = "__jump_table", .policy = SECTION_TABLE, .layouts = {{.size = 16, .key = 8}}},
	/* struct alt_instr, packed: s32 instruction, s32 replacement, u16 facility, u8 length */
	{.name = ".altinstructions",
	 .policy = SECTION_TABLE,
	 .layouts = {{.size = 11, .partner = 4, .partner_length = 10},
		     {.size = 12, .partner = 4, .partner_length = 11}}},
	{.name = ".altinstr_replacement", .policy = SECTION_PARTNER},
	EXPOLINE_SITES(".s390_indirect_branches"),
	EXPOLINE_SITES(".s390_indirect_jump"),
	EXPOLINE_SITES(".s390_indirect_call"),
	EXPOLINE_SITES(".s390_return_mem"),
	EXPOLINE_SITES(".s390_return_reg"),
	/* Below 2 GB, for instructions that only know 31-bit addresses (arch/s390/boot). */
	{.name = ".amode31.", .prefix = true, .policy = SECTION_INIT},
	{.name = ".dma.", .prefix = true, .policy = SECTION_INIT},
	{0},
};

static const struct site_table s390_sites[] = {
	{".altinstructions", 11, 10, 0, 0, 0},
	{".altinstructions", 12, 10, 0, 0, 0},
	/* brcl or brasl to an expoline thunk */
	{".s390_indirect_branches", 4, 0, 6, 0, 0},
	{".s390_indirect_jump", 4, 0, 6, 0, 0},
	{".s390_indirect_call", 4, 0, 6, 0, 0},
	{".s390_return_mem", 4, 0, 6, 0, 0},
	{".s390_return_reg", 4, 0, 6, 0, 0},
	{0},
};

/*
 * gcc -mfentry -mnop-mcount -mrecord-mcount: "brcl 0,0" is the first instruction, and
 * __mcount_loc has its address.
 */
static int64_t s390_patchable_entry(struct object *object, const struct atom *function)
{
	static const unsigned char nop[] = {0xc0, 0x04, 0, 0, 0, 0};
	uint64_t size = function->end - function->start;

	if (arch_listed_entry(object, function, "__mcount_loc") || size < sizeof(nop) ||
	    memcmp(function->section->data + function->start, nop, sizeof(nop)))
		return -1;
	return 0;
}

/* Principles of Operation, "Instruction Formats": the first two bits say how long it is. */
static unsigned int length_of(uint8_t first)
{
	return first < 0x40 ? 2 : first < 0xc0 ? 4 : 6;
}

/* RIL: the second half of the second byte is part of the operation code. */
static bool is_relative_long(const uint8_t *insn)
{
	uint8_t extended = insn[1] & 0xf;

	/* larl, brcl, brasl; lgrl and stores; exrl, pfdrl and compares */
	return (insn[0] == 0xc0 && (extended == 0 || extended == 4 || extended == 5)) ||
	       insn[0] == 0xc4 || insn[0] == 0xc6;
}

/* RI: bras, brc, brct, brctg; RSI: brxh, brxle */
static bool is_relative_short(const uint8_t *insn)
{
	uint8_t extended = insn[1] & 0xf;

	return (insn[0] == 0xa7 && extended >= 4 && extended <= 7) || insn[0] == 0x84 ||
	       insn[0] == 0x85;
}

/* RIE: brxhg, brxlg; crj, clgrj, cij and the others that compare and branch */
static bool is_compare_and_branch(const uint8_t *insn)
{
	switch (insn[0] == 0xec ? insn[5] : 0) {
	case 0x44:
	case 0x45:
	case 0x64:
	case 0x65:
	case 0x76:
	case 0x77:
	case 0x7c:
	case 0x7d:
	case 0x7e:
	case 0x7f:
		return true;
	default:
		return false;
	}
}

static int64_t relative_field(const uint8_t *field, unsigned int size)
{
	uint32_t value = 0;

	for (unsigned int i = 0; i < size; i++)
		value = value << 8 | field[i];
	return 2 * (size == 2 ? (int64_t)(int16_t)value : (int64_t)(int32_t)value);
}

static void s390_local_references(struct object *object, const struct section *section,
				  uint64_t start, uint64_t end, found_reference found,
				  void *context)
{
	(void)object;
	for (uint64_t at = start; at < end;) {
		const uint8_t *insn = section->data + at;
		unsigned int length = length_of(*insn);

		if (length > end - at)
			return;
		bool wide = length == 6 && is_relative_long(insn);
		if (wide || is_compare_and_branch(insn) || (length == 4 && is_relative_short(insn))) {
			struct local_reference reference = {
				.offset = at + 2,
				.target = at + relative_field(insn + 2, wide ? 4 : 2),
				.type = wide ? R_390_PC32DBL : R_390_PC16DBL,
			};
			found(context, &reference);
		}
		at += length;
	}
}

/* "larl %r1,symbol" gives the address; the code after it is not followed. */
static void s390_operand_kinds(struct object *object, const struct section *section,
			       uint64_t start, uint64_t end, uint8_t *kinds)
{
	(void)object;
	memset(kinds, OPERAND_DIRECT, end - start);
	for (uint64_t at = start; at < end;) {
		const uint8_t *insn = section->data + at;
		unsigned int length = length_of(*insn);

		if (length > end - at)
			return;
		bool pointer = insn[0] == 0xc4 && (insn[1] & 0xf) == 8; /* lgrl, by GOTENT */
		if (length == 6 && ((insn[0] == 0xc0 && !(insn[1] & 0xf)) || pointer))
			kinds[at + 2 - start] = OPERAND_VALUE | OPERAND_INDEXED;
		at += length;
	}
	/* lgrl gives a symbol's address only by the GOT, from a pointer that a linker makes. */
	size_t count;
	const struct reloc *relocs = section_relocs(section, start, end, &count);
	for (size_t i = 0; i < count; i++)
		if (relocs[i].type != R_390_GOTENT && relocs[i].offset >= start + 2 &&
		    section->data[relocs[i].offset - 2] == 0xc4)
			kinds[relocs[i].offset - start] = OPERAND_DIRECT;
}

/* Bytes of the constant at the end of lhi and lghi (2), lgfi, iilf and llilf (4); else 0. */
static unsigned int constant_size(const uint8_t *insn)
{
	uint8_t extended = insn[1] & 0xf;

	if (insn[0] == 0xa7)
		return extended == 8 || extended == 9 ? 2 : 0;
	if (insn[0] == 0xc0)
		return extended == 1 || extended == 9 || extended == 0xf ? 4 : 0;
	return 0;
}

static void s390_constant_loads(struct object *object, const struct section *section,
				uint64_t start, uint64_t end,
				void (*found)(void *context, const struct constant_load *load),
				void *context)
{
	(void)object;
	for (uint64_t at = start; at < end;) {
		const uint8_t *insn = section->data + at;
		unsigned int length = length_of(*insn);

		if (length > end - at)
			return;
		unsigned int size = constant_size(insn);
		if (size) {
			struct constant_load load = {.start = at, .end = at + length};

			memcpy(load.rest, insn, length - size);
			for (unsigned int i = length - size; i < length; i++)
				load.value = load.value << 8 | insn[i];
			found(context, &load);
		}
		at += length;
	}
}

/* gas fills gaps with NOPs of 2, 4 and 6 bytes ("bcr 0,%r7", "brcl 0,..."), or with zeroes. */
static bool s390_is_padding(struct object *object, const struct section *section, uint64_t start,
			    uint64_t end)
{
	(void)object;
	for (uint64_t at = start; at < end; at += 2) {
		const uint8_t *insn = section->data + at;

		if (end - at < 2 || (insn[0] != 0x07 && (insn[0] || insn[1])))
			return false;
	}
	return true;
}

static const struct disasm_mode s390_disasm = {CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN};

const struct arch arch_s390 = {
	.name = "s390",
	.tools = {
		.debian = "s390x",
		.source_arch = "s390",
		.gnu = "s390x-linux-gnu",
	},
	.elf = {
		.machine = EM_S390,
		.class = ELFCLASS64,
		.data = ELFDATA2MSB,
	},
	.sections = s390_sections,
	.relocs = {
		.kinds = s390_relocs,
		.count = ARRAY_SIZE(s390_relocs),
		.address = R_390_64,
	},
	.symbols = {.executed = 6}, /* mvc, xc, clc with a length in a register */
	.entries = {.find = s390_patchable_entry},
	.code = {
		.disasm = &s390_disasm,
		.local_references = s390_local_references,
		.operand_kinds = s390_operand_kinds,
		.constant_loads = s390_constant_loads,
		.is_padding = s390_is_padding,
	},
	.loader = {
		.site_tables = s390_sites,
		.replacement_section = ".altinstr_replacement",
	},
};
