// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The struct arch of loongarch64.  Relocations: "ELF for the LoongArch Architecture", with the
 * direct types of psABI 2.0 (Linux 6.2 and later), not the stack machine's of older compilers.
 * Instructions: LoongArch Reference Manual, volume 1, appendix B.
 */
#include <elf.h>
#include <string.h>

#include "arch/machines.h"
#include "arch/fixed.h"
#include "object/object.h"
#include "object/sections.h"
#include "arch/sums.h"

/* Not in every elf.h. */
#ifndef R_LARCH_B16
#define R_LARCH_B16	     64
#define R_LARCH_B21	     65
#define R_LARCH_B26	     66
#define R_LARCH_ABS_HI20     67
#define R_LARCH_ABS_LO12     68
#define R_LARCH_ABS64_LO20   69
#define R_LARCH_ABS64_HI12   70
#define R_LARCH_PCALA_HI20   71
#define R_LARCH_PCALA_LO12   72
#define R_LARCH_PCALA64_LO20 73
#define R_LARCH_PCALA64_HI12 74
#define R_LARCH_GOT_PC_HI20  75
#define R_LARCH_GOT_PC_LO12  76
#define R_LARCH_32_PCREL     99
#endif
#ifndef R_LARCH_PCREL20_S2
#define R_LARCH_PCREL20_S2 103
#define R_LARCH_64_PCREL   109
#endif

#define NOP 0x03400000 /* andi $zero, $zero, 0 */

#define IMM12_BITS 0x003ffc00
#define IMM16_BITS 0x03fffc00
#define IMM20_BITS 0x01ffffe0
#define IMM21_BITS 0x03fffc1f
#define IMM26_BITS 0x03ffffff

static const struct reloc_kind loongarch64_relocs[] = {
	RELOC(R_LARCH_NONE, .idle = true),
	RELOC(R_LARCH_32, .size = 4),
	RELOC(R_LARCH_64, .size = 8),
	RELOC(R_LARCH_ADD8, .size = 1, .adds = true),
	RELOC(R_LARCH_ADD16, .size = 2, .adds = true),
	RELOC(R_LARCH_ADD32, .size = 4, .adds = true),
	RELOC(R_LARCH_ADD64, .size = 8, .adds = true),
	RELOC(R_LARCH_SUB8, .size = 1, .adds = true, .subtracts = true),
	RELOC(R_LARCH_SUB16, .size = 2, .adds = true, .subtracts = true),
	RELOC(R_LARCH_SUB32, .size = 4, .adds = true, .subtracts = true),
	RELOC(R_LARCH_SUB64, .size = 8, .adds = true, .subtracts = true),
	RELOC(R_LARCH_B16, .size = 4, .mask = IMM16_BITS, .pc_relative = true, .branch = true),
	RELOC(R_LARCH_B21, .size = 4, .mask = IMM21_BITS, .pc_relative = true, .branch = true),
	RELOC(R_LARCH_B26, .size = 4, .mask = IMM26_BITS, .pc_relative = true, .branch = true),
	RELOC(R_LARCH_ABS_HI20, .size = 4, .mask = IMM20_BITS),
	RELOC(R_LARCH_ABS_LO12, .size = 4, .mask = IMM12_BITS),
	RELOC(R_LARCH_ABS64_LO20, .size = 4, .mask = IMM20_BITS),
	RELOC(R_LARCH_ABS64_HI12, .size = 4, .mask = IMM12_BITS),
	RELOC(R_LARCH_PCALA_HI20, .size = 4, .mask = IMM20_BITS, .pc_relative = true),
	RELOC(R_LARCH_PCALA_LO12, .size = 4, .mask = IMM12_BITS),
	RELOC(R_LARCH_PCALA64_LO20, .size = 4, .mask = IMM20_BITS, .pc_relative = true),
	RELOC(R_LARCH_PCALA64_HI12, .size = 4, .mask = IMM12_BITS, .pc_relative = true),
	/* The place of a pointer to the symbol; the module loader makes that pointer. */
	RELOC(R_LARCH_GOT_PC_HI20, .size = 4, .mask = IMM20_BITS, .pc_relative = true),
	RELOC(R_LARCH_GOT_PC_LO12, .size = 4, .mask = IMM12_BITS),
	RELOC(R_LARCH_32_PCREL, .size = 4, .pc_relative = true),
	RELOC(R_LARCH_PCREL20_S2, .size = 4, .mask = IMM20_BITS, .pc_relative = true),
	RELOC(R_LARCH_64_PCREL, .size = 8, .pc_relative = true),
};

/* ".quad key - ." is ADD64 and SUB64: older module loaders know only these. */
static const struct sum_types sums[] = {
	{R_LARCH_ADD8, R_LARCH_SUB8, 0, 1, false},
	{R_LARCH_ADD16, R_LARCH_SUB16, 0, 2, false},
	{R_LARCH_ADD32, R_LARCH_SUB32, R_LARCH_32_PCREL, 4, false},
	{R_LARCH_ADD64, R_LARCH_SUB64, R_LARCH_64_PCREL, 8, true},
	{0},
};

static struct error *loongarch64_fold_relocs(struct object *object, struct section *section)
{
	(void)object;
	fold_sums(section, sums);
	return NULL;
}

static void loongarch64_unfold_relocs(struct object *object, struct section *section)
{
	struct section old;

	section_sort_relocs(section);
	old = *section;
	memset(&section->relocs, 0, sizeof(section->relocs));
	for (size_t i = 0; i < old.relocs.count; i++) {
		const struct reloc *reloc = &old.relocs.list[i];

		if (!unfold_sum(object, section, sums, reloc))
			sum_add_reloc(section, *reloc, reloc->type, reloc->symbol, reloc->addend);
	}
	vec_deinit(&old.relocs);
}

static const struct section_rule loongarch64_sections[] = {
	/* struct bug_entry: s32 address, s32 file, u16 line, u16 flags */
	{.name = "__bug_table",
	 .policy = SECTION_TABLE,
	 .layouts = {{.size = 12, .ignored = {8, 2}}}},
	/* struct exception_table_entry: s32 instruction, s32 fixup, s16 type, s16 data */
	{.name = "__ex_table", .policy = SECTION_TABLE, .layouts = {{.size = 12}}},
	/* struct jump_entry: s32 code, s32 target, s64 key */
	{.name = "__jump_table", .policy = SECTION_TABLE, .layouts = {{.size = 16, .key = 8}}},
	/* struct alt_instr: s32 instruction, s32 replacement, u16 feature, u8 lengths */
	{.name = ".altinstructions",
	 .policy = SECTION_TABLE,
	 .layouts = {{.size = 12, .partner = 4, .partner_length = 11}}},
	{0},
};

static const struct site_table loongarch64_sites[] = {
	{".altinstructions", 12, 10, 0, 0, 0},
	{0},
};

static enum symbol_mark loongarch64_symbol_mark(const char *name)
{
	return has_prefix(name, ".L") ? MARK_LABEL : MARK_NONE;
}

/* -fpatchable-function-entry=2 */
static int64_t loongarch64_patchable_entry(struct object *object, const struct atom *function)
{
	return arch_listed_entry(object, function, "__patchable_function_entries");
}

static int64_t offset16(uint32_t i)
{
	return sign_extend(i >> 10 & 0xffff, 16) * 4;
}

static int64_t offset21(uint32_t i)
{
	return sign_extend((i & 0x1f) << 16 | (i >> 10 & 0xffff), 21) * 4;
}

static int64_t offset26(uint32_t i)
{
	return sign_extend((i & 0x3ff) << 16 | (i >> 10 & 0xffff), 26) * 4;
}

static int64_t offset20(uint32_t i)
{
	return sign_extend(i >> 5 & 0xfffff, 20) * 4;
}

static const struct local_form loongarch64_local_forms[] = {
	{0xf8000000, 0x40000000, R_LARCH_B21, offset21},	/* beqz, bnez */
	{0xfc000000, 0x48000000, R_LARCH_B21, offset21},	/* bceqz, bcnez */
	{0xf8000000, 0x50000000, R_LARCH_B26, offset26},	/* b, bl */
	{0xf8000000, 0x58000000, R_LARCH_B16, offset16},	/* beq, bne */
	{0xf8000000, 0x60000000, R_LARCH_B16, offset16},	/* blt, bge */
	{0xf8000000, 0x68000000, R_LARCH_B16, offset16},	/* bltu, bgeu */
	{0xfe000000, 0x18000000, R_LARCH_PCREL20_S2, offset20}, /* pcaddi */
	{0},
};

static void loongarch64_local_references(struct object *object, const struct section *section,
					 uint64_t start, uint64_t end, found_reference found,
					 void *context)
{
	fixed_local_references(object, section, start, end, loongarch64_local_forms, found, context);
}

/*
 * "pcalau12i $a0, %pc_hi20(sym)" makes a part of the address, and "addi.d $a0, $a0, %pc_lo12(sym)"
 * completes it.  The code after that is not followed, so the completed address counts as a value.
 */
static const struct operand_form loongarch64_operand_forms[] = {
	{0xff800000, 0x02800000, OPERAND_VALUE | OPERAND_INDEXED}, /* addi.w, addi.d */
	{0xffc00000, 0x03800000, OPERAND_VALUE | OPERAND_INDEXED}, /* ori */
	{0xfe000000, 0x18000000, OPERAND_VALUE | OPERAND_INDEXED}, /* pcaddi */
	{0, 0, OPERAND_DIRECT},
};

static void loongarch64_operand_kinds(struct object *object, const struct section *section,
				      uint64_t start, uint64_t end, uint8_t *kinds)
{
	size_t count;
	const struct reloc *relocs = section_relocs(section, start, end, &count);

	fixed_operand_kinds(object, section, start, end, loongarch64_operand_forms, kinds);
	/* "ld.d" of a pointer in the GOT gives the address itself. */
	for (size_t i = 0; i < count; i++)
		if (relocs[i].type == R_LARCH_GOT_PC_LO12)
			kinds[relocs[i].offset - start] = OPERAND_VALUE | OPERAND_INDEXED;
}

static bool is_from_zero(uint32_t i)
{
	return (i & 0xffc003e0) == 0x03800000 || /* ori */
	       (i & 0xffc003e0) == 0x02800000;	 /* addi.w */
}

/* "ori $a1, $zero, 3000"; for more than twelve bits "lu12i.w $a1, 1; ori $a1, $a1, 904". */
static void loongarch64_constant_loads(struct object *object, const struct section *section,
				       uint64_t start, uint64_t end,
				       void (*found)(void *context,
						     const struct constant_load *load),
				       void *context)
{
	for (uint64_t at = start; at + 4 <= end; at += 4) {
		uint32_t i = code_get32(object, section, at), next = 0;
		struct constant_load load = {.start = at, .end = at + 4};
		uint32_t rest[2] = {i & ~IMM12_BITS};

		if (is_from_zero(i)) {
			load.value = i >> 10 & 0xfff;
		} else if ((i & 0xfe000000) == 0x14000000 && at + 8 <= end) { /* lu12i.w */
			next = code_get32(object, section, at + 4);
			if ((next & 0xffc00000) != 0x03800000 || (next & 31) != (i & 31) ||
			    (next >> 5 & 31) != (i & 31))
				continue;
			load.end += 4;
			load.value = (i >> 5 & 0xfffff) << 12 | (next >> 10 & 0xfff);
			rest[0] = i & ~IMM20_BITS;
			rest[1] = next & ~IMM12_BITS;
		} else {
			continue;
		}
		memcpy(load.rest, rest, sizeof(rest));
		found(context, &load);
		at = load.end - 4;
	}
}

static bool loongarch64_is_padding(struct object *object, const struct section *section,
				   uint64_t start, uint64_t end)
{
	return fixed_is_padding(object, section, start, end, NOP);
}

const struct arch arch_loongarch64 = {
	.name = "loongarch",
	.tools = {
		.debian = "loong64",
		.source_arch = "loongarch",
		.gnu = "loongarch64-linux-gnu",
	},
	.elf = {
		.machine = EM_LOONGARCH,
		.class = ELFCLASS64,
		.data = ELFDATA2LSB,
	},
	.sections = loongarch64_sections,
	.relocs = {
		.kinds = loongarch64_relocs,
		.count = ARRAY_SIZE(loongarch64_relocs),
		.address = R_LARCH_64,
		.fold = loongarch64_fold_relocs,
		.unfold = loongarch64_unfold_relocs,
	},
	.symbols = {
		.mark = loongarch64_symbol_mark,
		.code_tails = true,
	},
	.entries = {.find = loongarch64_patchable_entry},
	.code = {
		.local_references = loongarch64_local_references,
		.operand_kinds = loongarch64_operand_kinds,
		.constant_loads = loongarch64_constant_loads,
		.is_padding = loongarch64_is_padding,
	},
	.loader = {.site_tables = loongarch64_sites},
};
