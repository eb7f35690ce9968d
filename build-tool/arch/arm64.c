// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The struct arch of arm64.  Relocations: ELF for the Arm 64-bit Architecture, section 5.7;
 * instructions: Arm Architecture Reference Manual, C4.1.
 */
#include <elf.h>
#include <string.h>

#include "arch/machines.h"
#include "arch/arm64_note.h"
#include "arch/arm64_uses.h"
#include "arch/fixed.h"
#include "object/sections.h"

#define ADR_BITS    0x60ffffe0 /* immlo, immhi */
#define IMM12_BITS  0x003ffc00
#define IMM14_BITS  0x0007ffe0
#define IMM16_BITS  0x001fffe0
#define IMM19_BITS  0x00ffffe0
#define IMM26_BITS  0x03ffffff

#define NOP	   0xd503201f
#define BTI_C	   0xd503245f
#define ENTRY_LEAD 8 /* bytes of NOPs in front of a function: -fpatchable-function-entry=4,2 */

#define MOVW(number, ...)  RELOC(number, .size = 4, .mask = IMM16_BITS, ##__VA_ARGS__)
#define LO12(number)	   RELOC(number, .size = 4, .mask = IMM12_BITS)

/*
 * The types that the module loader knows (arch/arm64/kernel/module.c), and two of a GOT, which the
 * loader has not: gcc uses one for "extern const void __start_notes __weak" (kernel/ksysfs.c), as
 * adrp cannot reach the address 0.
 */
static const struct reloc_kind arm64_relocs[] = {
	RELOC(R_AARCH64_NONE, .idle = true),
	{.type = 256, .name = "R_AARCH64_NONE", .idle = true}, /* the withdrawn number */
	RELOC(R_AARCH64_ABS64, .size = 8),
	RELOC(R_AARCH64_ABS32, .size = 4),
	RELOC(R_AARCH64_ABS16, .size = 2),
	RELOC(R_AARCH64_PREL64, .size = 8, .pc_relative = true),
	RELOC(R_AARCH64_PREL32, .size = 4, .pc_relative = true),
	RELOC(R_AARCH64_PREL16, .size = 2, .pc_relative = true),
	MOVW(R_AARCH64_MOVW_UABS_G0),
	MOVW(R_AARCH64_MOVW_UABS_G0_NC, .same_as = R_AARCH64_MOVW_UABS_G0),
	MOVW(R_AARCH64_MOVW_UABS_G1),
	MOVW(R_AARCH64_MOVW_UABS_G1_NC, .same_as = R_AARCH64_MOVW_UABS_G1),
	MOVW(R_AARCH64_MOVW_UABS_G2),
	MOVW(R_AARCH64_MOVW_UABS_G2_NC, .same_as = R_AARCH64_MOVW_UABS_G2),
	MOVW(R_AARCH64_MOVW_UABS_G3),
	MOVW(R_AARCH64_MOVW_SABS_G0),
	MOVW(R_AARCH64_MOVW_SABS_G1),
	MOVW(R_AARCH64_MOVW_SABS_G2),
	RELOC(R_AARCH64_LD_PREL_LO19, .near = true, .size = 4, .mask = IMM19_BITS,
	      .pc_relative = true),
	RELOC(R_AARCH64_ADR_PREL_LO21, .near = true, .size = 4, .mask = ADR_BITS,
	      .pc_relative = true),
	RELOC(R_AARCH64_ADR_PREL_PG_HI21, .size = 4, .mask = ADR_BITS, .pc_relative = true),
	RELOC(R_AARCH64_ADR_PREL_PG_HI21_NC, .size = 4, .mask = ADR_BITS, .pc_relative = true,
	      .same_as = R_AARCH64_ADR_PREL_PG_HI21),
	LO12(R_AARCH64_ADD_ABS_LO12_NC),
	LO12(R_AARCH64_LDST8_ABS_LO12_NC),
	RELOC(R_AARCH64_TSTBR14, .near = true, .size = 4, .mask = IMM14_BITS, .pc_relative = true,
	      .branch = true),
	RELOC(R_AARCH64_CONDBR19, .near = true, .size = 4, .mask = IMM19_BITS, .pc_relative = true,
	      .branch = true),
	RELOC(R_AARCH64_JUMP26, .near = true, .size = 4, .mask = IMM26_BITS, .pc_relative = true,
	      .branch = true),
	RELOC(R_AARCH64_CALL26, .near = true, .size = 4, .mask = IMM26_BITS, .pc_relative = true,
	      .branch = true, .same_as = R_AARCH64_JUMP26),
	LO12(R_AARCH64_LDST16_ABS_LO12_NC),
	LO12(R_AARCH64_LDST32_ABS_LO12_NC),
	LO12(R_AARCH64_LDST64_ABS_LO12_NC),
	MOVW(R_AARCH64_MOVW_PREL_G0, .pc_relative = true),
	MOVW(R_AARCH64_MOVW_PREL_G0_NC, .pc_relative = true, .same_as = R_AARCH64_MOVW_PREL_G0),
	MOVW(R_AARCH64_MOVW_PREL_G1, .pc_relative = true),
	MOVW(R_AARCH64_MOVW_PREL_G1_NC, .pc_relative = true, .same_as = R_AARCH64_MOVW_PREL_G1),
	MOVW(R_AARCH64_MOVW_PREL_G2, .pc_relative = true),
	MOVW(R_AARCH64_MOVW_PREL_G2_NC, .pc_relative = true, .same_as = R_AARCH64_MOVW_PREL_G2),
	MOVW(R_AARCH64_MOVW_PREL_G3, .pc_relative = true),
	LO12(R_AARCH64_LDST128_ABS_LO12_NC),
	RELOC(R_AARCH64_ADR_GOT_PAGE, .size = 4, .mask = ADR_BITS, .pc_relative = true,
	      .linker = true),
	RELOC(R_AARCH64_LD64_GOT_LO12_NC, .size = 4, .mask = IMM12_BITS, .linker = true),
};

/* Where a field of consecutive bits begins, and how far its value is shifted to the right. */
struct bits {
	uint32_t type;
	uint8_t first, shift;
};

static const struct bits branch_bits[] = {
	{R_AARCH64_TSTBR14, 5, 2},
	{R_AARCH64_CONDBR19, 5, 2},
	{R_AARCH64_JUMP26, 0, 2},
	{R_AARCH64_CALL26, 0, 2},
};

static const struct bits lo12_bits[] = {
	{R_AARCH64_ADD_ABS_LO12_NC, 10, 0},    {R_AARCH64_LDST8_ABS_LO12_NC, 10, 0},
	{R_AARCH64_LDST16_ABS_LO12_NC, 10, 1}, {R_AARCH64_LDST32_ABS_LO12_NC, 10, 2},
	{R_AARCH64_LDST64_ABS_LO12_NC, 10, 3}, {R_AARCH64_LDST128_ABS_LO12_NC, 10, 4},
};

/* Section 5.7 of the ABI; the caller ignores the other bits of the result. */
static bool arm64_encode(uint32_t type, uint64_t value, uint64_t place, uint64_t *ret)
{
	uint64_t pages = (value >> 12) - (place >> 12);

	if (type == R_AARCH64_ADR_PREL_PG_HI21 || type == R_AARCH64_ADR_PREL_PG_HI21_NC) {
		*ret = (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5;
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(branch_bits); i++)
		if (branch_bits[i].type == type) {
			*ret = (value - place) >> branch_bits[i].shift << branch_bits[i].first;
			return true;
		}
	for (size_t i = 0; i < ARRAY_SIZE(lo12_bits); i++)
		if (lo12_bits[i].type == type) {
			*ret = (value & 0xfff) >> lo12_bits[i].shift << lo12_bits[i].first;
			return true;
		}
	return false;
}

/*
 * ld works around erratum 843419: it makes an ADR of an ADRP, or has the load or store behind one
 * branch to a copy.  A call of a weak function that is nowhere becomes a NOP.
 */
static bool arm64_relaxed(uint32_t type, uint64_t here, uint64_t found)
{
	const uint64_t is_adrp = 0x80000000, branch = 0x14000000;

	switch (type) {
	case R_AARCH64_ADR_PREL_PG_HI21:
	case R_AARCH64_ADR_PREL_PG_HI21_NC:
		return ((here ^ found) & ~(uint64_t)ADR_BITS) == is_adrp;
	case R_AARCH64_CALL26:
	case R_AARCH64_JUMP26:
		return found == NOP;
	default:
		return (found & 0xfc000000) == branch;
	}
}

#define NOT_LINUX "code that runs outside of the kernel's own mapping cannot be replaced"

static const struct section_rule arm64_sections[] = {
	/* struct bug_entry: s32 address, (s32 file, u16 line,) u16 flags */
	{.name = "__bug_table",
	 .policy = SECTION_TABLE,
	 .layouts = {{.size = 12, .ignored = {8, 2}}, {.size = 8, .short_last = true}}},
	/* struct exception_table_entry: s32 instruction, s32 fixup, s16 type, s16 data */
	{.name = "__ex_table", .policy = SECTION_TABLE, .layouts = {{.size = 12}}},
	/* struct jump_entry: s32 code, s32 target, long key */
	{.name = "__jump_table", .policy = SECTION_TABLE, .layouts = {{.size = 16, .key = 8}}},
	/*
	 * struct alt_instr: s32 instruction, s32 replacement, u16 feature, u8 lengths.  The
	 * replacements lie behind the function (.subsection 1).
	 */
	{.name = ".altinstructions",
	 .policy = SECTION_TABLE,
	 .layouts = {{.size = 12, .partner = 4, .partner_length = 11}}},
	/* arch/arm64/kernel/vmlinux.lds.S */
	{.name = ".idmap.text", .policy = SECTION_PARENT, .advice = NOT_LINUX},
	{.name = ".hyp.", .prefix = true, .policy = SECTION_PARENT, .advice = NOT_LINUX},
	{.name = "__kvm_ex_table", .policy = SECTION_PARENT, .advice = NOT_LINUX},
	{.name = ".ARM.attributes", .policy = SECTION_DROP}, /* see arm64_note.c */
	{.name = ".entry.tramp.", .prefix = true, .policy = SECTION_PARENT, .advice = NOT_LINUX},
	{.name = ".kexec_relocate.text", .policy = SECTION_PARENT, .advice = NOT_LINUX},
	{.name = ".hibernate_exit.text", .policy = SECTION_PARENT, .advice = NOT_LINUX},
	{.name = ".mmuoff.data.", .prefix = true, .policy = SECTION_PARENT,
	 .advice = "data for code that runs with the MMU off has a place of its own"},
	{0},
};

static const struct site_table arm64_sites[] = {
	{".altinstructions", 12, 10, 0, 4, 11},
	{0},
};

/*
 * Linux 6.1's and 6.12's arch/arm64/kernel: ftrace.c, jump_label.c.  An entry has "mov x9, x30",
 * and a NOP or a call.  With DYNAMIC_FTRACE_WITH_CALL_OPS the table names the two NOPs in front
 * of the function.  The kernel keeps the address of an ftrace_ops there, which no text covers.
 */
static const struct late_table arm64_late_tables[] = {
	{.section = "__patchable_function_entries",
	 .entry = 8,
	 .length = 8,
	 .lead = ENTRY_LEAD,
	 .landing_pad = "\x5f\x24\x03\xd5"}, /* bti c */
	{.section = "__jump_table", .entry = 16, .length = 4},
	{0},
};

/*
 * A call may clobber x16 (AAPCS64, "intra-procedure-call scratch").  "br x16" into guarded code
 * needs a "bti c" at its target, and a function that is only called may begin without one.
 * "ret x16" reaches any target, but the processor takes it for a return and mispredicts the real
 * returns that follow.
 */
#define VENEER(jump, name)                                                                         \
	{                                                                                          \
		.every_call = true,                                                                \
		.kind = name,                                                                      \
		.code = (const uint8_t[]){0x50, 0x00, 0x00, 0x58, /* ldr x16, .+8 */               \
					  0x00, 0x02, jump, 0xd6, /* br x16, or ret x16 */         \
					  0, 0, 0, 0, 0, 0, 0, 0 /* .quad sym */},                 \
		.size = 16, .align = 8, .reloc_at = 8, .reloc_type = R_AARCH64_ABS64,              \
	}
static const struct veneer arm64_veneer = VENEER(0x1f, NULL);
static const struct veneer guarded_veneer = VENEER(0x5f, "_ret");

static const struct veneer *arm64_veneer_of(const struct object *object)
{
	return arm64_is_guarded(object) ? &guarded_veneer : &arm64_veneer;
}

/* "$x", "$d", and "$x.12" of some assemblers. */
static enum symbol_mark arm64_symbol_mark(const char *name)
{
	if (name[0] == '$' && name[1] && (!name[2] || name[2] == '.'))
		return name[1] == 'x' ? MARK_CODE : name[1] == 'd' ? MARK_DATA : MARK_NONE;
	return has_prefix(name, ".L") ? MARK_LABEL : MARK_NONE;
}

static bool is_nop(struct object *object, const struct atom *function, uint64_t at)
{
	return at + 4 <= function->end && code_get32(object, function->section, at) == NOP;
}

/*
 * -fpatchable-function-entry=2 makes two NOPs, behind "bti c" if there is one, and in front of
 * pointer authentication.  With =4,2 there are two more in front of the function, and the table has
 * their address.
 */
static int64_t arm64_patchable_entry(struct object *object, const struct atom *function)
{
	const char *const table = "__patchable_function_entries";
	uint64_t at = function->start;

	if (function->prefix != ENTRY_LEAD || !arch_lists_entry(object, function, table, -ENTRY_LEAD))
		return arch_listed_entry(object, function, table);
	if (at + 4 <= function->end && code_get32(object, function->section, at) == BTI_C)
		at += 4;
	return is_nop(object, function, at) && is_nop(object, function, at + 4)
		       ? (int64_t)(at - function->start)
		       : -1;
}

static int64_t imm26(uint32_t instruction)
{
	return sign_extend(instruction, 26) * 4;
}

static int64_t imm19(uint32_t instruction)
{
	return sign_extend(instruction >> 5, 19) * 4;
}

static int64_t imm14(uint32_t instruction)
{
	return sign_extend(instruction >> 5, 14) * 4;
}

static int64_t adr21(uint32_t instruction)
{
	return sign_extend(instruction >> 3 & 0x1ffffc, 21) | (instruction >> 29 & 3);
}

static const struct local_form arm64_local_forms[] = {
	{0xfc000000, 0x14000000, R_AARCH64_JUMP26, imm26},	/* b */
	{0xfc000000, 0x94000000, R_AARCH64_CALL26, imm26},	/* bl */
	{0xff000000, 0x54000000, R_AARCH64_CONDBR19, imm19},	/* b.cond, bc.cond */
	{0x7e000000, 0x34000000, R_AARCH64_CONDBR19, imm19},	/* cbz, cbnz */
	{0x7e000000, 0x36000000, R_AARCH64_TSTBR14, imm14},	/* tbz, tbnz */
	{0x3b000000, 0x18000000, R_AARCH64_LD_PREL_LO19, imm19}, /* ldr, ldrsw, prfm (literal) */
	{0x9f000000, 0x10000000, R_AARCH64_ADR_PREL_LO21, adr21}, /* adr */
	{0},
};

static void arm64_local_references(struct object *object, const struct section *section,
				   uint64_t start, uint64_t end, found_reference found,
				   void *context)
{
	fixed_local_references(object, section, start, end, arm64_local_forms, found, context);
}

/*
 * "adrp x0, sym" makes a part of the address, and "add x0, x0, :lo12:sym" completes it.  The
 * completed address is a value, unless arm64_uses.c finds that the code only accesses memory by it.
 */
static const struct operand_form arm64_operand_forms[] = {
	{0x1f800000, 0x11000000, OPERAND_VALUE | OPERAND_INDEXED}, /* add, sub (immediate) */
	{0x9f000000, 0x10000000, OPERAND_VALUE | OPERAND_INDEXED}, /* adr */
	{0x1f800000, 0x12800000, OPERAND_VALUE | OPERAND_INDEXED}, /* movn, movz, movk */
	{0, 0, OPERAND_DIRECT},
};

static void arm64_operand_kinds(struct object *object, const struct section *section,
				uint64_t start, uint64_t end, uint8_t *kinds)
{
	fixed_operand_kinds(object, section, start, end, arm64_operand_forms, kinds);
	size_t count;
	const struct reloc *relocs = section_relocs(section, start, end, &count);
	for (size_t i = 0; i < count; i++) {
		uint8_t *kind = &kinds[relocs[i].offset - start];

		/* "ldr x0, [x0, :got_lo12:sym]" gives the address itself. */
		if (relocs[i].type == R_AARCH64_LD64_GOT_LO12_NC)
			*kind = OPERAND_VALUE | OPERAND_INDEXED;
		else if (relocs[i].type == R_AARCH64_ADD_ABS_LO12_NC &&
			 arm64_only_accessed(object, section, start, end, relocs[i].offset))
			*kind &= ~OPERAND_VALUE;
	}
}

static const struct constant_form arm64_constant_forms[] = {
	{0x7fe00000, 0x52800000, 5, 16}, /* movz */
	{0},
};

static void arm64_constant_loads(struct object *object, const struct section *section,
				 uint64_t start, uint64_t end,
				 void (*found)(void *context, const struct constant_load *load),
				 void *context)
{
	fixed_constant_loads(object, section, start, end, arm64_constant_forms, found, context);
}

/* Erratum 843419 of Cortex-A53 forbids an ADRP in the last two words of a page. */
static const struct late_limit arm64_late_limit = {
	.types = {R_AARCH64_ADR_PREL_PG_HI21, R_AARCH64_ADR_PREL_PG_HI21_NC},
	.align = 4096,
	.from = 0xff8,
};

static bool arm64_is_padding(struct object *object, const struct section *section, uint64_t start,
			     uint64_t end)
{
	return fixed_is_padding(object, section, start, end, NOP);
}

/* ---- functions that return at once ------------------------------------------------------ */

/* "movz" or "movn" of the first 16 bits that matter, and "movk" of the others, in w0 or x0. */
static size_t arm64_load(const struct arch *arch, uint64_t value, uint8_t size,
			 uint8_t ret[RETURN_LOAD_MAX])
{
	const bool wide = size > 4, inverted = value >> 63;
	const uint32_t form = wide ? 1u << 31 : 0, first = inverted ? 0x12800000 : 0x52800000;
	const unsigned int parts = wide ? 4 : 2;
	const uint16_t rest = inverted ? 0xffff : 0;
	const uint64_t others = inverted ? ~value : value;
	const bool alone = !(wide ? others : (uint32_t)others); /* 0 or -1 */
	size_t length = 0;

	(void)arch;
	for (unsigned int i = 0; i < parts; i++) {
		const uint16_t part = value >> 16 * i;

		if (part == rest && !(alone && !i))
			continue;
		const uint16_t field = !length && inverted ? (uint16_t)~part : part;
		const uint32_t insn = form | (length ? 0x72800000 : first) | i << 21 |
				      (uint32_t)field << 5;
		for (unsigned int j = 0; j < 4; j++)
			ret[length++] = insn >> 8 * j;
	}
	return length;
}

static uint32_t word_at(const uint8_t *code)
{
	return code[0] | code[1] << 8 | code[2] << 16 | (uint32_t)code[3] << 24;
}

/* Two NOPs, behind "bti c" if there is one; the table may name two more, in front of it. */
static uint64_t arm64_entry_end(const uint8_t *code, uint64_t length, int64_t place)
{
	uint64_t nops = place < 0 ? 0 : (uint64_t)place;

	if (place < 0 && length >= 4 && word_at(code) == BTI_C)
		nops = 4;
	return nops + 8 <= length && word_at(code + nops) == NOP && word_at(code + nops + 4) == NOP
		       ? nops + 8
		       : 0;
}

static const struct disasm_mode arm64_disasm = {CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN};

const struct arch arch_arm64 = {
	.name = "arm64",
	.live = true,
	.tools = {
		.debian = "arm64",
		.source_arch = "arm64",
		.gnu = "aarch64-linux-gnu",
		.emulator = "qemu-aarch64",
	},
	.elf = {
		.machine = EM_AARCH64,
		.class = ELFCLASS64,
		.data = ELFDATA2LSB,
	},
	.sections = arm64_sections,
	.relocs = {
		.kinds = arm64_relocs,
		.count = ARRAY_SIZE(arm64_relocs),
		.address = R_AARCH64_ABS64,
		.encode = arm64_encode,
		.relaxed = arm64_relaxed,
	},
	.symbols = {
		.mark = arm64_symbol_mark,
		.code_tails = true,
	},
	/*
	 * The kernel keeps a pointer in the two NOPs.  A module where they are not aligned, as
	 * gcc 12 leaves those of a cold function, ends in its BUG() (ftrace_call_adjust()).
	 */
	.entries = {.find = arm64_patchable_entry, .lead_align = ENTRY_LEAD},
	.code = {
		.disasm = &arm64_disasm,
		.local_references = arm64_local_references,
		.operand_kinds = arm64_operand_kinds,
		.constant_loads = arm64_constant_loads,
		.is_padding = arm64_is_padding,
	},
	.veneers = {
		.call = &arm64_veneer,
		.for_object = arm64_veneer_of,
	},
	.loader = {
		.site_tables = arm64_sites,
		.late_tables = arm64_late_tables,
		.late_limit = &arm64_late_limit,
		/*
		 * For the livepatch core, module.c makes the same relocations.  Linux 7.2 was read:
		 * - Its PLTs are counted from all sections of relocations, before that core's are
		 *   made.  None of those needs any: calls lead to veneers (below), whose ABS64
		 *   reaches everything, and late_limit keeps ADRP off the places of erratum 843419.
		 * - ADRP reaches 4 GB, and modules are within 2 GB of the kernel.
		 * - vmlinux's relocations are made before module_finalize() applies alternatives,
		 *   and before jump labels are read.
		 * - In a live module it writes with aarch64_insn_copy(), which may also write to
		 *   data, but which refuses an unaligned address, and WRITE_PLACE() ignores that.
		 * - A module that comes again is relocated again: each form clears its field first.
		 */
		.livepatch = true,
		.live_align = 4,
	},
	.returns = {
		.load = arm64_load,
		.leave = {.code = "\xc0\x03\x5f\xd6", .length = 4}, /* ret */
		.entry_table = "__patchable_function_entries",
		.entry_flags = SHF_ALLOC | SHF_WRITE,
		.entry_end = arm64_entry_end,
		.distance = R_AARCH64_PREL32,
	},
};
