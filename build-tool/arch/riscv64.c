// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The struct arch of riscv64.  Relocations: RISC-V ELF psABI, "Relocations"; instructions: The
 * RISC-V Instruction Set Manual, volume I.
 *
 * The linker may shorten code (relaxation), so the assembler leaves every distance and most jumps
 * to the linker, by relocations that name labels.  The module loader shortens nothing, and included
 * code keeps its length: RELAX and ALIGN are dropped, and distances within code are constants.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "arch/machines.h"
#include "object/disasm.h"
#include "arch/fixed.h"
#include "object/sections.h"
#include "arch/sums.h"

#ifndef R_RISCV_32_PCREL
#define R_RISCV_32_PCREL 57
#endif
/* Not in the psABI: R_RISCV_ADD64 and R_RISCV_SUB64 in one; never written to a file. */
#define RISCV_64_PCREL 0x10002

#define U_BITS 0xfffff000 /* lui, auipc; jal */
#define I_BITS 0xfff00000
#define S_BITS 0xfe000f80 /* stores, branches */

/* The types that the module loader knows (arch/riscv/kernel/module.c), and the linker's own. */
static const struct reloc_kind riscv64_relocs[] = {
	RELOC(R_RISCV_NONE, .idle = true),
	RELOC(R_RISCV_32, .size = 4),
	RELOC(R_RISCV_64, .size = 8),
	RELOC(R_RISCV_BRANCH, .size = 4, .mask = S_BITS, .pc_relative = true, .branch = true),
	RELOC(R_RISCV_JAL, .size = 4, .mask = U_BITS, .pc_relative = true, .branch = true),
	RELOC(R_RISCV_CALL, .size = 8, .mask = (uint64_t)I_BITS << 32 | U_BITS,
	      .pc_relative = true, .branch = true),
	RELOC(R_RISCV_CALL_PLT, .size = 8, .mask = (uint64_t)I_BITS << 32 | U_BITS,
	      .pc_relative = true, .branch = true, .same_as = R_RISCV_CALL),
	RELOC(R_RISCV_GOT_HI20, .size = 4, .mask = U_BITS, .pc_relative = true),
	RELOC(R_RISCV_PCREL_HI20, .size = 4, .mask = U_BITS, .pc_relative = true),
	RELOC(R_RISCV_PCREL_LO12_I, .size = 4, .mask = I_BITS, .pc_relative = true),
	RELOC(R_RISCV_PCREL_LO12_S, .size = 4, .mask = S_BITS, .pc_relative = true),
	RELOC(R_RISCV_HI20, .size = 4, .mask = U_BITS),
	RELOC(R_RISCV_LO12_I, .size = 4, .mask = I_BITS),
	RELOC(R_RISCV_LO12_S, .size = 4, .mask = S_BITS),
	RELOC(R_RISCV_ADD8, .size = 1, .adds = true),
	RELOC(R_RISCV_ADD16, .size = 2, .adds = true),
	RELOC(R_RISCV_ADD32, .size = 4, .adds = true),
	RELOC(R_RISCV_ADD64, .size = 8, .adds = true),
	RELOC(R_RISCV_SUB8, .size = 1, .adds = true, .subtracts = true),
	RELOC(R_RISCV_SUB16, .size = 2, .adds = true, .subtracts = true),
	RELOC(R_RISCV_SUB32, .size = 4, .adds = true, .subtracts = true),
	RELOC(R_RISCV_SUB64, .size = 8, .adds = true, .subtracts = true),
	RELOC(R_RISCV_ALIGN, .idle = true),
	RELOC(R_RISCV_RVC_BRANCH, .size = 2, .mask = 0x1c7c, .pc_relative = true,
	      .branch = true),
	RELOC(R_RISCV_RVC_JUMP, .size = 2, .mask = 0x1ffc, .pc_relative = true, .branch = true),
	RELOC(R_RISCV_RELAX, .idle = true),
	RELOC(R_RISCV_32_PCREL, .size = 4, .pc_relative = true),
	RELOC(RISCV_64_PCREL, .size = 8, .pc_relative = true),
};

static const struct section_rule riscv64_sections[] = {
	/* struct bug_entry: s32 address, (s32 file, u16 line,) u16 flags */
	{.name = "__bug_table",
	 .policy = SECTION_TABLE,
	 .layouts = {{.size = 12, .ignored = {8, 2}}, {.size = 8}}},
	/* struct exception_table_entry: s32 instruction, s32 fixup, s16 type, s16 data */
	{.name = "__ex_table", .policy = SECTION_TABLE, .layouts = {{.size = 12}}},
	/* struct jump_entry: s32 code, s32 target, long key */
	{.name = "__jump_table", .policy = SECTION_TABLE, .layouts = {{.size = 16, .key = 8}}},
	/*
	 * struct alt_entry, 6.1: pointers to the instruction and its replacement (.subsection
	 * 1), long vendor, long length, u32 erratum; later: two s32, u16 vendor, u16 length,
	 * u32 patch.
	 */
	{.name = ".alternative",
	 .policy = SECTION_TABLE,
	 .layouts = {{.size = 36, .partner = 8, .partner_length = 24},
		     {.size = 16, .partner = 4, .partner_length = 10}}},
	/*
	 * Small data, which the linker puts near the global pointer.  clang also puts the
	 * constants of code, .LCPI0_0, into .sdata, even with -fdata-sections.
	 */
	{.name = ".sdata", .policy = SECTION_DATA, .constants = 8},
	{.name = ".sdata.", .prefix = true, .policy = SECTION_DATA},
	{.name = ".sbss", .policy = SECTION_DATA},
	{.name = ".sbss.", .prefix = true, .policy = SECTION_DATA},
	{.name = ".srodata", .policy = SECTION_RODATA},
	{.name = ".srodata.", .prefix = true, .policy = SECTION_RODATA},
	{.name = ".riscv.attributes", .policy = SECTION_DROP},
	{0},
};

static const struct site_table riscv64_sites[] = {
	{".alternative", 36, 24, 0, 0, 0},
	{".alternative", 16, 10, 0, 0, 0},
	{0},
};

/* "$x", "$xrv64i2p1_m2p0", "$d"; ".L12", ".L0 ", ".LPFE1" */
static enum symbol_mark riscv64_symbol_mark(const char *name)
{
	if (name[0] == '$' && name[1] == 'x')
		return MARK_CODE;
	if (name[0] == '$' && name[1] == 'd' && (!name[2] || name[2] == '.'))
		return MARK_DATA;
	return has_prefix(name, ".L") ? MARK_LABEL : MARK_NONE;
}

/* ---- pairs of relocations ------------------------------------------------------- */

static const struct sum_types sums[] = {
	{R_RISCV_ADD8, R_RISCV_SUB8, 0, 1, false},
	{R_RISCV_ADD16, R_RISCV_SUB16, 0, 2, false},
	{R_RISCV_ADD32, R_RISCV_SUB32, R_RISCV_32_PCREL, 4, true},
	{R_RISCV_ADD64, R_RISCV_SUB64, RISCV_64_PCREL, 8, true},
	{0},
};

static bool is_lower(uint32_t type)
{
	return type == R_RISCV_PCREL_LO12_I || type == R_RISCV_PCREL_LO12_S;
}

static bool is_upper(uint32_t type)
{
	return type == R_RISCV_PCREL_HI20 || type == R_RISCV_GOT_HI20;
}

/* "addi a0, a0, %pcrel_lo(.L0)" names the auipc at .L0, whose relocation names the target. */
static struct error *fold_lower(struct object *object, struct section *section,
				struct reloc *lower)
{
	const struct symbol *label = lower->symbol;
	size_t count;
	const struct reloc *upper = section_relocs(section, label->value, label->value + 1, &count);

	if (lower->addend)
		return object_malformed(object,
					"relocation at %" PRIu64 " of section %s counts %" PRId64
					" bytes from its label, which the module loader does not",
					lower->offset, section->name, lower->addend);
	if (label->section == section)
		for (size_t i = 0; i < count; i++)
			if (is_upper(upper[i].type) && upper[i].offset != lower->offset) {
				lower->upper = upper[i].offset - lower->offset;
				lower->symbol = upper[i].symbol;
				lower->addend = upper[i].addend;
				return NULL;
			}
	return object_malformed(object,
				"relocation at %" PRIu64 " of section %s names a place that has no "
				"upper part",
				lower->offset, section->name);
}

static struct error *riscv64_fold_relocs(struct object *object, struct section *section)
{
	struct reloc *list = section->relocs.list;

	for (size_t i = 0; i < section->relocs.count; i++)
		if (is_lower(list[i].type))
			TRY(fold_lower(object, section, &list[i]));
	fold_sums(section, sums);
	return NULL;
}

static void riscv64_unfold_relocs(struct object *object, struct section *section)
{
	/* The label at each upper part, by the index of the upper part's relocation. */
	struct symbol **labels = xcalloc(section->relocs.count, sizeof(*labels));
	struct section old;

	section_sort_relocs(section);
	old = *section;
	memset(&section->relocs, 0, sizeof(section->relocs));
	for (size_t i = 0; i < old.relocs.count; i++) {
		const struct reloc *reloc = &old.relocs.list[i];
		size_t count;

		if (unfold_sum(object, section, sums, reloc))
			continue;
		if (is_lower(reloc->type) && reloc->upper) {
			uint64_t place = reloc->offset + reloc->upper;
			size_t upper = section_relocs(&old, place, place + 1, &count) -
				       old.relocs.list;
			struct symbol *label = count ? labels[upper] : NULL;

			if (!label)
				label = sum_label(object, section, place);
			if (count)
				labels[upper] = label;
			sum_add_reloc(section, *reloc, reloc->type, label, 0);
		} else {
			sum_add_reloc(section, *reloc, reloc->type, reloc->symbol, reloc->addend);
		}
	}
	free(labels);
	vec_deinit(&old.relocs);
}

/* ---- instructions ----------------------------------------------------------------- */

/* -fpatchable-function-entry=8 makes NOPs of two bytes with compressed instructions. */
static int64_t riscv64_patchable_entry(struct object *object, const struct atom *function)
{
	return arch_listed_entry(object, function, "__patchable_function_entries");
}

static int64_t branch_offset(uint32_t i)
{
	return sign_extend((i >> 31 & 1) << 12 | (i >> 7 & 1) << 11 | (i >> 25 & 0x3f) << 5 |
				   (i >> 8 & 0xf) << 1,
			   13);
}

static int64_t jal_offset(uint32_t i)
{
	return sign_extend((i >> 31 & 1) << 20 | (i >> 12 & 0xff) << 12 | (i >> 20 & 1) << 11 |
				   (i >> 21 & 0x3ff) << 1,
			   21);
}

static int64_t short_branch_offset(uint32_t i)
{
	return sign_extend((i >> 12 & 1) << 8 | (i >> 5 & 3) << 6 | (i >> 2 & 1) << 5 |
				   (i >> 10 & 3) << 3 | (i >> 3 & 3) << 1,
			   9);
}

static int64_t short_jump_offset(uint32_t i)
{
	return sign_extend((i >> 12 & 1) << 11 | (i >> 8 & 1) << 10 | (i >> 9 & 3) << 8 |
				   (i >> 6 & 1) << 7 | (i >> 7 & 1) << 6 | (i >> 2 & 1) << 5 |
				   (i >> 11 & 1) << 4 | (i >> 3 & 7) << 1,
			   12);
}

static const struct local_form riscv64_local_forms[] = {
	{0x0000007f, 0x00000063, R_RISCV_BRANCH, branch_offset},
	{0x0000007f, 0x0000006f, R_RISCV_JAL, jal_offset},
	{0x0000c003, 0x0000c001, R_RISCV_RVC_BRANCH, short_branch_offset}, /* c.beqz, c.bnez */
	{0x0000e003, 0x0000a001, R_RISCV_RVC_JUMP, short_jump_offset},	   /* c.j */
	{0},
};

/* The lowest two bits say if it has two bytes, when the upper half is zero, or four. */
static uint32_t get_instruction(const struct object *object, const struct section *section,
				uint64_t at, uint64_t end, unsigned int *ret_size)
{
	uint32_t instruction = code_get16(object, section, at);

	*ret_size = 2;
	if ((instruction & 3) == 3 && at + 4 <= end) {
		instruction |= (uint32_t)code_get16(object, section, at + 2) << 16;
		*ret_size = 4;
	}
	return instruction;
}

/* The offset that an instruction adds to the register of an auipc; false: it adds none. */
static bool lower_part(uint32_t instruction, uint32_t *ret_type, int64_t *ret)
{
	switch (instruction & 0x7f) {
	case 0x03: /* loads */
	case 0x07:
	case 0x67: /* jalr */
	case 0x13: /* addi, if funct3 is 0 */
		if ((instruction & 0x7f) == 0x13 && (instruction >> 12 & 7))
			return false;
		*ret_type = R_RISCV_PCREL_LO12_I;
		*ret = sign_extend(instruction >> 20, 12);
		return true;
	case 0x23: /* stores */
	case 0x27:
		*ret_type = R_RISCV_PCREL_LO12_S;
		*ret = sign_extend((instruction >> 25) << 5 | (instruction >> 7 & 0x1f), 12);
		return true;
	default:
		return false;
	}
}

/*
 * Whether an instruction writes an integer register.  Stores and branches have bits of a constant
 * where others name the register.  (RISC-V unprivileged ISA, chapters on RV32I and on "C")
 */
static bool writes_register(uint32_t i, unsigned int size, unsigned int reg)
{
	const unsigned int first = i >> 7 & 0x1f, second = 8 + (i >> 2 & 7);
	const unsigned int function = i >> 13 & 7;

	if (size == 4)
		return first == reg && (i & 0x7f) != 0x23 && (i & 0x7f) != 0x27 && (i & 0x7f) != 0x63;
	switch (i & 3) {
	case 0: /* c.addi4spn, c.lw, c.ld; stores */
		return second == reg && (function == 0 || function == 2 || function == 3);
	case 1: /* c.addi, c.addiw, c.li, c.lui; c.andi and the like; jumps */
		return function <= 3 ? first == reg : function == 4 && 8 + (i >> 7 & 7) == reg;
	default: /* c.slli, c.lwsp, c.ldsp; c.mv, c.add, but not c.jr; stores */
		return first == reg && (function == 0 || function == 2 || function == 3 ||
					(function == 4 && (i >> 2 & 0x1f)));
	}
}

/*
 * clang -mno-relax makes of "call two" in .noinstr.text an auipc and a jalr without a relocation.
 * The instruction that uses the auipc's register is the next one or follows closely.
 */
static void upper_reference(struct object *object, const struct section *section, uint64_t at,
			    uint64_t end, uint32_t auipc, found_reference found, void *context)
{
	uint32_t target_register = auipc >> 7 & 0x1f;
	int64_t upper = sign_extend(auipc & U_BITS, 32), lower;
	struct local_reference reference = {.offset = at};
	unsigned int size;
	bool first = true;

	for (uint64_t next = at + 4; next + 2 <= end && next < at + 64; next += size) {
		uint32_t instruction = get_instruction(object, section, next, end, &size), type;

		if (size != 4 || (instruction >> 15 & 0x1f) != target_register ||
		    !lower_part(instruction, &type, &lower)) {
			if (writes_register(instruction, size, target_register))
				return; /* another value from here on */
			continue;
		}
		reference.target = at + upper + lower;
		if (first && next == at + 4 && (instruction & 0x7f) == 0x67) {
			reference.type = R_RISCV_CALL_PLT;
			found(context, &reference);
			return;
		}
		if (first) {
			reference.type = R_RISCV_PCREL_HI20;
			found(context, &reference);
			first = false;
		}
		struct local_reference low = {
			.offset = next,
			.target = reference.target,
			.type = type,
			.upper = at - next,
		};
		found(context, &low);
		if (type == R_RISCV_PCREL_LO12_I && (instruction >> 7 & 0x1f) == target_register)
			return;
	}
}

static void riscv64_local_references(struct object *object, const struct section *section,
				     uint64_t start, uint64_t end, found_reference found,
				     void *context)
{
	unsigned int size;

	for (uint64_t range_end = start; next_code_range(section, &start, &range_end, end);)
		for (uint64_t at = start; at + 2 <= range_end; at += size) {
			uint32_t instruction =
				get_instruction(object, section, at, range_end, &size);
			const struct local_form *form = riscv64_local_forms;
			size_t count;

			section_relocs(section, at, at + 1, &count);
			if (count)
				continue;
			if ((instruction & 0x7f) == 0x17) {
				upper_reference(object, section, at, range_end, instruction, found,
						context);
				continue;
			}
			while (form->displacement && (instruction & form->mask) != form->match)
				form++;
			if (!form->displacement)
				continue;
			struct local_reference reference = {
				.offset = at,
				.target = at + form->displacement(instruction),
				.type = form->type,
			};
			found(context, &reference);
		}
}

/*
 * "auipc a0, %pcrel_hi(sym)" makes a part of the address, and "addi a0, a0, ..." completes it.  The
 * code after that is not followed, so the completed address counts as a value.
 */
static uint8_t operand_kind(uint32_t instruction)
{
	switch (instruction & 0x7f) {
	case 0x13: /* addi */
	case 0x1b: /* addiw */
		return OPERAND_VALUE | OPERAND_INDEXED;
	default:
		return OPERAND_DIRECT;
	}
}

static void riscv64_operand_kinds(struct object *object, const struct section *section,
				  uint64_t start, uint64_t end, uint8_t *kinds)
{
	unsigned int size;

	memset(kinds, OPERAND_VALUE | OPERAND_STORED, end - start);
	for (uint64_t at = start, range_end = start;
	     next_code_range(section, &at, &range_end, end);)
		for (; at + 2 <= range_end; at += size) {
			uint32_t instruction =
				get_instruction(object, section, at, range_end, &size);

			memset(kinds + (at - start), operand_kind(instruction), size);
		}
}

/* A part of a constant, which an instruction adds to a register or to zero. */
struct part {
	unsigned int to, from; /* registers; 0: zero */
	int64_t value;
	uint32_t bits; /* of the instruction, that hold the value */
};

static bool upper_part_of(uint32_t i, unsigned int size, struct part *ret)
{
	ret->to = i >> 7 & 0x1f;
	ret->from = 0;
	if (size == 4) { /* lui */
		ret->bits = U_BITS;
		ret->value = sign_extend(i & U_BITS, 32);
		return (i & 0x7f) == 0x37;
	}
	ret->bits = 0x107c;
	ret->value = sign_extend((i >> 12 & 1) << 5 | (i >> 2 & 0x1f), 6) * 4096;
	return (i & 0xe003) == 0x6001 && ret->to != 2; /* c.lui */
}

static bool lower_part_of(uint32_t i, unsigned int size, struct part *ret)
{
	ret->to = i >> 7 & 0x1f;
	if (size == 4) { /* addi, addiw */
		ret->from = i >> 15 & 0x1f;
		ret->bits = 0xfff00000;
		ret->value = sign_extend(i >> 20, 12);
		return (i & 0x707f) == 0x13 || (i & 0x707f) == 0x1b;
	}
	ret->from = (i & 0xe003) == 0x4001 ? 0 : ret->to; /* c.li; c.addi, c.addiw */
	ret->bits = 0x107c;
	ret->value = sign_extend((i >> 12 & 1) << 5 | (i >> 2 & 0x1f), 6);
	return (i & 0xe003) == 0x4001 || (i & 0xe003) == 0x0001 || (i & 0xe003) == 0x2001;
}

/* Whether an instruction may use a register: whether a field of any format names it. */
static bool may_use(uint32_t i, unsigned int size, unsigned int reg)
{
	if ((i >> 7 & 0x1f) == reg)
		return true;
	if (size == 4)
		return (i >> 15 & 0x1f) == reg || (i >> 20 & 0x1f) == reg;
	return (i >> 2 & 0x1f) == reg || 8 + (i >> 7 & 7) == reg || 8 + (i >> 2 & 7) == reg;
}

/* Clear the constant's bits of one instruction in the rest of a load. */
static void clear_bits(struct constant_load *load, uint64_t at, uint32_t bits)
{
	for (unsigned int i = 0; bits; i++, bits >>= 8)
		load->rest[at - load->start + i] &= ~bits;
}

/*
 * "li a1, 5001" is lui and addi, each of which may be compressed.  gcc puts other instructions
 * between them:	lui a1,0x1; auipc a0,%pcrel_hi(file); addi a1,a1,905
 */
static bool find_lower_part(struct object *object, const struct section *section, uint64_t at,
			    uint64_t end, unsigned int reg, struct part *ret, uint64_t *ret_at,
			    uint64_t *ret_end)
{
	unsigned int size;

	for (; at + 2 <= end; at += size) {
		uint32_t i = get_instruction(object, section, at, end, &size);

		if (lower_part_of(i, size, ret) && ret->from == reg && ret->to == reg) {
			*ret_at = at;
			*ret_end = at + size;
			return true;
		}
		if (may_use(i, size, reg))
			return false;
	}
	return false;
}

static void riscv64_constant_loads(struct object *object, const struct section *section,
				   uint64_t start, uint64_t end,
				   void (*found)(void *context, const struct constant_load *load),
				   void *context)
{
	unsigned int size;

	for (uint64_t range_end = start; next_code_range(section, &start, &range_end, end);)
		for (uint64_t at = start; at + 2 <= range_end; at += size) {
			uint32_t i = get_instruction(object, section, at, range_end, &size);
			uint64_t limit = range_end - at < CONSTANT_LOAD_MAX ? range_end
									    : at + CONSTANT_LOAD_MAX;
			struct constant_load load = {.start = at, .end = at + size};
			struct part first, second = {0};
			uint64_t second_at = 0;
			bool upper = upper_part_of(i, size, &first);

			if (!upper && (!lower_part_of(i, size, &first) || first.from))
				continue;
			if (!upper ||
			    !find_lower_part(object, section, at + size, limit, first.to, &second,
					     &second_at, &load.end))
				second = (struct part){0};
			load.value = (uint32_t)(first.value + second.value);
			memcpy(load.rest, section->data + at, load.end - at);
			clear_bits(&load, at, first.bits);
			if (second.bits)
				clear_bits(&load, second_at, second.bits);
			found(context, &load);
			size = load.end - at;
		}
}

static bool riscv64_is_padding(struct object *object, const struct section *section,
			       uint64_t start, uint64_t end)
{
	unsigned int size;

	for (; start + 2 <= end; start += size) {
		uint32_t instruction = get_instruction(object, section, start, end, &size);

		if (instruction && instruction != 0x0001 && instruction != 0x00000013)
			return false;
	}
	return start == end || !section->data[start];
}

const struct arch arch_riscv64 = {
	.name = "riscv",
	.tools = {
		.debian = "riscv64",
		.source_arch = "riscv",
		.gnu = "riscv64-linux-gnu",
	},
	.elf = {
		.machine = EM_RISCV,
		.class = ELFCLASS64,
		.data = ELFDATA2LSB,
	},
	.sections = riscv64_sections,
	.relocs = {
		.kinds = riscv64_relocs,
		.count = ARRAY_SIZE(riscv64_relocs),
		.address = R_RISCV_64,
		.fold = riscv64_fold_relocs,
		.unfold = riscv64_unfold_relocs,
	},
	.symbols = {
		.mark = riscv64_symbol_mark,
		.code_tails = true,
	},
	.entries = {.find = riscv64_patchable_entry},
	.code = {
		.local_references = riscv64_local_references,
		.operand_kinds = riscv64_operand_kinds,
		.constant_loads = riscv64_constant_loads,
		.is_padding = riscv64_is_padding,
	},
	.loader = {.site_tables = riscv64_sites},
};
