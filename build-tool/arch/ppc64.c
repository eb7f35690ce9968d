// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The struct arch of ppc64le.  Relocations: "64-Bit ELF V2 ABI Specification: Power Architecture",
 * section 3.5; arch/powerpc/kernel/module_64.c.
 */
#include <elf.h>
#include <string.h>

#include "arch/machines.h"
#include "arch/fixed.h"
#include "object/object.h"
#include "object/sections.h"

#define PPC_NOP	      0x60000000
#define PPC_GROUP_NOP 0x60420000
/* Not in every elf.h. */
#ifndef R_PPC64_ENTRY
#define R_PPC64_ENTRY 118
#endif

static const struct reloc_kind ppc64_relocs[] = {
	RELOC(R_PPC64_NONE, .idle = true),
	RELOC(R_PPC64_ADDR32, .size = 4),
	RELOC(R_PPC64_ADDR16_LO, .size = 2),
	RELOC(R_PPC64_ADDR16_HI, .size = 2),
	RELOC(R_PPC64_ADDR16_HA, .size = 2),
	RELOC(R_PPC64_REL24, .size = 4, .pc_relative = true, .branch = true, .mask = 0x03fffffc),
	RELOC(R_PPC64_REL14, .size = 4, .pc_relative = true, .branch = true, .mask = 0xfffc),
	RELOC(R_PPC64_REL32, .size = 4, .pc_relative = true),
	RELOC(R_PPC64_ADDR64, .size = 8),
	RELOC(R_PPC64_ADDR16_HIGHER, .size = 2),
	RELOC(R_PPC64_ADDR16_HIGHERA, .size = 2),
	RELOC(R_PPC64_ADDR16_HIGHEST, .size = 2),
	RELOC(R_PPC64_ADDR16_HIGHESTA, .size = 2),
	RELOC(R_PPC64_REL64, .size = 8, .pc_relative = true),
	RELOC(R_PPC64_TOC16, .size = 2),
	RELOC(R_PPC64_TOC16_LO, .size = 2),
	RELOC(R_PPC64_TOC16_HI, .size = 2),
	RELOC(R_PPC64_TOC16_HA, .size = 2),
	RELOC(R_PPC64_TOC, .size = 8),
	RELOC(R_PPC64_TOC16_DS, .size = 2, .mask = 0xfffc),
	RELOC(R_PPC64_TOC16_LO_DS, .size = 2, .mask = 0xfffc),
	/* Marks on instructions that the linker could optimise. */
	RELOC(R_PPC64_TOCSAVE, .idle = true),
	RELOC(R_PPC64_ENTRY, .idle = true),
	RELOC(R_PPC64_REL16, .size = 2, .pc_relative = true),
	RELOC(R_PPC64_REL16_LO, .size = 2, .pc_relative = true),
	RELOC(R_PPC64_REL16_HI, .size = 2, .pc_relative = true),
	RELOC(R_PPC64_REL16_HA, .size = 2, .pc_relative = true),
};

/* struct fixup_entry: u64 mask, value; s64 start and end of the code and of the alternative */
#define FEATURE_FIXUPS(section)                               \
	{.name = section,                                     \
	 .policy = SECTION_TABLE,                             \
	 .layouts = {{.size = 48,                             \
		      .code = 16,                             \
		      .code_end = 24,                         \
		      .partner = 32,                          \
		      .partner_end = 40,                      \
		      .from_entry = true}}}
/* s64 place */
#define FLUSH_FIXUPS(section) \
	{.name = section, .policy = SECTION_TABLE, .layouts = {{.size = 8}}}

static const struct section_rule ppc64_sections[] = {
	/* struct bug_entry: s32 address, s32 file, u16 line, u16 flags; without BUGVERBOSE 8 */
	{.name = "__bug_table",
	 .policy = SECTION_TABLE,
	 .layouts = {{.size = 12, .ignored = {8, 2}}}},
	/* struct exception_table_entry: s32 instruction, s32 fixup */
	{.name = "__ex_table", .policy = SECTION_TABLE, .layouts = {{.size = 8, .partner = 4}}},
	{.name = ".fixup", .policy = SECTION_PARTNER},
	/* struct jump_entry: s32 code, s32 target, s64 key */
	{.name = "__jump_table", .policy = SECTION_TABLE, .layouts = {{.size = 16, .key = 8}}},
	FEATURE_FIXUPS("__ftr_fixup"),
	FEATURE_FIXUPS("__mmu_ftr_fixup"),
	FEATURE_FIXUPS("__fw_ftr_fixup"),
	{.name = "__ftr_alt_", .prefix = true, .policy = SECTION_PARTNER},
	FLUSH_FIXUPS("__lwsync_fixup"),
	FLUSH_FIXUPS("__barrier_nospec_fixup"),
	FLUSH_FIXUPS("__btb_flush_fixup"),
	FLUSH_FIXUPS("__rfi_flush_fixup"),
	FLUSH_FIXUPS("__entry_flush_fixup"),
	FLUSH_FIXUPS("__scv_entry_flush_fixup"),
	FLUSH_FIXUPS("__uaccess_flush_fixup"),
	FLUSH_FIXUPS("__stf_entry_barrier_fixup"),
	FLUSH_FIXUPS("__stf_exit_barrier_fixup"),
	/* Addresses of other units' symbols, eight bytes each, which code reads by .LC0@toc. */
	{.name = ".toc", .policy = SECTION_PARTNER},
	{.name = ".machine.desc", .policy = SECTION_PARENT},
	/* Empty in every module, for the loader's own code; the glue has them. */
	{.name = ".stubs", .policy = SECTION_DROP},
	{.name = ".ftrace.tramp", .policy = SECTION_DROP},
	{0},
};

static const struct site_table ppc64_sites[] = {
	{"__lwsync_fixup", 8, 0, 4, 0, 0},
	{"__barrier_nospec_fixup", 8, 0, 12, 0, 0},
	{"__btb_flush_fixup", 8, 0, 4, 0, 0},
	{"__rfi_flush_fixup", 8, 0, 12, 0, 0},
	{"__entry_flush_fixup", 8, 0, 12, 0, 0},
	{"__scv_entry_flush_fixup", 8, 0, 12, 0, 0},
	{"__uaccess_flush_fixup", 8, 0, 16, 0, 0},
	{"__stf_entry_barrier_fixup", 8, 0, 12, 0, 0},
	{"__stf_exit_barrier_fixup", 8, 0, 24, 0, 0},
	{0},
};

/* STO_PPC64_LOCAL: the distance to the local entry is 2 to the power of the three upper bits. */
static uint64_t ppc64_local_entry(uint8_t other)
{
	unsigned int power = other >> 5;

	return power < 2 || power == 7 ? 0 : 1 << power;
}

/*
 * With -mcmodel=large, which modules are compiled with, the distance to the TOC is in front of the
 * function: ".quad .TOC.-f; f: ld r2,-8(r12); add r2,r2,r12".
 */
static uint64_t ppc64_lead_in(const struct object *object, const struct section *section,
			      uint64_t start)
{
	size_t count;
	const struct reloc *relocs = section_relocs(section, start < 8 ? 0 : start - 8, start, &count);

	(void)object;
	return count == 1 && relocs->type == R_PPC64_REL64 && relocs->offset + 8 == start &&
			       !strcmp(relocs->symbol->name, ".TOC.")
		       ? 8
		       : 0;
}

/*
 * gcc -pg -mprofile-kernel: "mflr r0; bl _mcount" at the local entry, where gcc before 8
 * has a "std r0,16(r1)" between them.
 */
static int64_t ppc64_patchable_entry(struct object *object, const struct atom *function)
{
	const struct section *section = function->section;
	uint64_t entry = function->start;
	size_t count;

	if (function->symbol)
		entry += ppc64_local_entry(function->symbol->other);
	const struct reloc *relocs = section_relocs(section, entry, entry + 12, &count);
	for (size_t i = 0; i < count; i++)
		if (relocs[i].type == R_PPC64_REL24 && !strcmp(relocs[i].symbol->name, "_mcount"))
			return relocs[i].offset - function->start;
	(void)object;
	return -1;
}

static int64_t li24(uint32_t instruction)
{
	return sign_extend(instruction & 0x03fffffc, 26);
}

static int64_t bd14(uint32_t instruction)
{
	return sign_extend(instruction & 0xfffc, 16);
}

static const struct local_form ppc64_local_forms[] = {
	{0xfc000002, 0x48000000, R_PPC64_REL24, li24}, /* b, bl */
	{0xfc000002, 0x40000000, R_PPC64_REL14, bd14}, /* bc, bcl */
	{0},
};

static void ppc64_local_references(struct object *object, const struct section *section,
				   uint64_t start, uint64_t end, found_reference found,
				   void *context)
{
	fixed_local_references(object, section, start, end, ppc64_local_forms, found, context);
}

/*
 * "addis r9,r2,x@toc@ha" makes a part of the address, and "addi r9,r9,x@toc@l" completes it.  The
 * code after that is not followed, so the completed address counts as a value.
 */
static const struct operand_form ppc64_operand_forms[] = {
	{0xfc000000, 0x38000000, OPERAND_VALUE | OPERAND_INDEXED}, /* addi */
	{0xfc000000, 0x60000000, OPERAND_VALUE | OPERAND_INDEXED}, /* ori: -mcmodel=large */
	{0, 0, OPERAND_DIRECT},
};

static void ppc64_operand_kinds(struct object *object, const struct section *section,
				uint64_t start, uint64_t end, uint8_t *kinds)
{
	fixed_operand_kinds(object, section, start, end, ppc64_operand_forms, kinds);
}

/*
 * Each module has a TOC pointer, in r2, and a callee in another module returns with its own one in
 * r2.  The module loader turns the NOP behind a call into "ld r2,24(r1)", which restores the
 * caller's.  The compiler puts a NOP there only if it takes the callee for another unit's.  Behind
 * a jump to a function no instruction can restore r2, as the jump does not return.
 */
static const struct call_refusal *ppc64_unlinkable_call(struct object *object,
							const struct section *section,
							const struct reloc *reloc)
{
	static const struct call_refusal sibling = {
		"sibling-call",
		"is a jump, so that nothing restores the TOC pointer for the caller; compile with "
		"-fno-optimize-sibling-calls",
	};
	static const struct call_refusal local = {
		"local-call",
		"is not followed by the NOP that becomes the TOC pointer's restoring; call it "
		"through a function pointer",
	};

	if (reloc->type != R_PPC64_REL24 || !strcmp(reloc->symbol->name, "_mcount"))
		return NULL;
	if (!(code_get32(object, section, reloc->offset) & 1))
		return &sibling;
	if (reloc->offset + 8 > section->size ||
	    code_get32(object, section, reloc->offset + 4) != PPC_NOP)
		return &local;
	return NULL;
}

static const struct constant_form ppc64_constant_forms[] = {
	{0xfc1f0000, 0x38000000, 0, 16}, /* li */
	{0},
};

static void ppc64_constant_loads(struct object *object, const struct section *section,
				uint64_t start, uint64_t end,
				void (*found)(void *context, const struct constant_load *load),
				void *context)
{
	fixed_constant_loads(object, section, start, end, ppc64_constant_forms, found, context);
}

/* gas ends a row of NOPs with "ori r2,r2,0", which ends a dispatch group on POWER7 and 8. */
static bool ppc64_is_padding(struct object *object, const struct section *section, uint64_t start,
			     uint64_t end)
{
	if (end - start >= 4 && end % 4 == 0 &&
	    code_get32(object, section, end - 4) == PPC_GROUP_NOP)
		end -= 4;
	return fixed_is_padding(object, section, start, end, PPC_NOP);
}

static const struct disasm_mode ppc64_disasm = {CS_ARCH_PPC, CS_MODE_64};

const struct arch arch_ppc64 = {
	.name = "powerpc",
	.tools = {
		.debian = "ppc64el",
		.source_arch = "powerpc",
		.gnu = "powerpc64le-linux-gnu",
	},
	.elf = {
		.machine = EM_PPC64,
		.class = ELFCLASS64,
		.data = ELFDATA2LSB,
	},
	.sections = ppc64_sections,
	.relocs = {
		.kinds = ppc64_relocs,
		.count = ARRAY_SIZE(ppc64_relocs),
		.address = R_PPC64_ADDR64,
	},
	.symbols = {.lead_in = ppc64_lead_in},
	.entries = {.find = ppc64_patchable_entry},
	.code = {
		.disasm = &ppc64_disasm,
		.common_callees = (const char *const[]){"_mcount", NULL},
		.local_references = ppc64_local_references,
		.operand_kinds = ppc64_operand_kinds,
		.constant_loads = ppc64_constant_loads,
		.is_padding = ppc64_is_padding,
		.unlinkable_call = ppc64_unlinkable_call,
	},
	.loader = {.site_tables = ppc64_sites},
};
