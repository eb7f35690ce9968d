// SPDX-License-Identifier: GPL-2.0-or-later
/* x86-64; relocations: System V psABI for AMD64, section 4.4. */
#include <elf.h>
#include <string.h>

#include <capstone/capstone.h>

#include "arch.h"
#include "object.h"
#include "sections.h"

static const struct reloc_kind x86_64_relocs[] = {
	{R_X86_64_NONE, "R_X86_64_NONE", 0, false, false},
	{R_X86_64_64, "R_X86_64_64", 8, false, false},
	{R_X86_64_32, "R_X86_64_32", 4, false, false},
	{R_X86_64_32S, "R_X86_64_32S", 4, false, false},
	{R_X86_64_PC32, "R_X86_64_PC32", 4, true, false},
	{R_X86_64_PLT32, "R_X86_64_PLT32", 4, true, true},
	{R_X86_64_PC64, "R_X86_64_PC64", 8, true, false},
	{0},
};

static const struct section_rule x86_64_sections[] = {
	/* struct bug_entry: s32 address, s32 file, u16 line, u16 flags */
	{.name = "__bug_table",
	 .policy = SECTION_TABLE,
	 .layouts = {{.size = 12, .ignored = {8, 2}}}},
	/* struct exception_table_entry: s32 instruction, s32 fixup, s32 data */
	{.name = "__ex_table", .policy = SECTION_TABLE, .layouts = {{.size = 12}}},
	/* struct jump_entry: s32 code, s32 target, long key */
	{.name = "__jump_table", .policy = SECTION_TABLE, .layouts = {{.size = 16, .key = 8}}},
	/* struct alt_instr: s32 instruction, s32 replacement, u16 or u32 feature, u8 lengths */
	{.name = ".altinstructions",
	 .policy = SECTION_TABLE,
	 .layouts = {{.size = 12, .partner = 4, .partner_length = 11},
		     {.size = 14, .partner = 4, .partner_length = 13}}},
	{.name = ".altinstr_replacement", .policy = SECTION_PARTNER},
	{.name = ".altinstr_aux", .policy = SECTION_PARTNER},
	{.name = ".smp_locks", .policy = SECTION_TABLE, .layouts = {{.size = 4}}},
	/* struct paravirt_patch_site: u8 *instr, u8 type, u8 len, padding */
	{.name = ".parainstructions",
	 .policy = SECTION_TABLE,
	 .layouts = {{.size = 16, .short_last = true}}},
	{.name = ".discard.unwind_hints", .policy = SECTION_TABLE, .layouts = {{.size = 12}}},
	/* Within the kernel's init memory (arch/x86/kernel/vmlinux.lds.S). */
	{.name = ".apicdrivers", .policy = SECTION_INIT},
	{.name = ".x86_cpu_dev.init", .policy = SECTION_INIT},
	{0},
};

static const struct site_table x86_64_sites[] = {
	{".altinstructions", 12, 10, 0},
	{".altinstructions", 14, 12, 0},
	{".parainstructions", 16, 9, 0},
	{".retpoline_sites", 4, 0, 5}, /* call or jmp to a thunk */
	{".return_sites", 4, 0, 5},    /* jmp to the return thunk */
	{0},
};

static bool is_endbr64(const unsigned char *p, uint64_t room)
{
	static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

	return room >= sizeof(endbr64) && !memcmp(p, endbr64, sizeof(endbr64));
}

/* gcc -mfentry: "call __fentry__" is the first instruction, behind ENDBR64 if there is one. */
static int64_t x86_64_patchable_entry(const struct object *object, const struct section *section,
				      uint64_t start, uint64_t end)
{
	uint64_t call = start;

	(void)object;
	if (is_endbr64(section->data + call, end - call))
		call += 4;
	for (size_t low = 0, high = section->relocs.count; low < high;) {
		size_t middle = low + (high - low) / 2;
		const struct reloc *reloc = &section->relocs.list[middle];

		if (reloc->offset == call + 1)
			return !strcmp(reloc->symbol->name, "__fentry__") ? (int64_t)(call - start)
									   : -1;
		if (reloc->offset < call + 1)
			low = middle + 1;
		else
			high = middle;
	}
	return -1;
}

/* Calls visit for every instruction; bytes that are none are skipped. */
static void decode(const struct section *section, uint64_t start, uint64_t end,
		   void (*visit)(void *context, csh handle, const cs_insn *insn), void *context)
{
	const uint8_t *code = section->data + start;
	size_t size = end - start;
	uint64_t address = start;
	csh handle;

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle))
		return;
	cs_option(handle, CS_OPT_SKIPDATA, CS_OPT_ON);
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);

	cs_insn *insn = cs_malloc(handle);
	while (size && cs_disasm_iter(handle, &code, &size, &address, insn))
		if (insn->id)
			visit(context, handle, insn);
	cs_free(insn, 1);
	cs_close(&handle);
}

struct ends_visit {
	uint64_t start, *ends;
};

static void visit_end(void *context, csh handle, const cs_insn *insn)
{
	struct ends_visit *visit = context;

	(void)handle;
	for (uint64_t i = 0; i < insn->size; i++)
		visit->ends[insn->address + i - visit->start] = insn->address + insn->size;
}

static void x86_64_instruction_ends(const struct section *section, uint64_t start, uint64_t end,
				    uint64_t *ends)
{
	struct ends_visit visit = {start, ends};

	memset(ends, 0, (end - start) * sizeof(*ends));
	decode(section, start, end, visit_end, &visit);
}

struct branch_visit {
	void (*found)(void *context, uint64_t field, unsigned int size, uint64_t target);
	void *context;
};

static void visit_branch(void *context, csh handle, const cs_insn *insn)
{
	const struct branch_visit *visit = context;
	const cs_x86 *x86 = &insn->detail->x86;

	if (cs_insn_group(handle, insn, X86_GRP_BRANCH_RELATIVE))
		visit->found(visit->context, insn->address + x86->encoding.imm_offset,
			     x86->encoding.imm_size, x86->operands[0].imm);
}

static void x86_64_direct_branches(const struct section *section, uint64_t start, uint64_t end,
				   void (*found)(void *context, uint64_t field, unsigned int size,
						 uint64_t target),
				   void *context)
{
	struct branch_visit visit = {found, context};

	decode(section, start, end, visit_branch, &visit);
}

struct operand_visit {
	uint64_t start;
	uint8_t *kinds;
};

/* "mov $sym, %rdi", "movq $sym, 8(%rbx)", "cmp $sym, %rax" */
static uint8_t immediate_kind(const cs_insn *insn)
{
	if (insn->id == X86_INS_CMP || insn->id == X86_INS_TEST)
		return OPERAND_COMPARED;
	return insn->detail->x86.operands[0].type == X86_OP_MEM ? OPERAND_VALUE | OPERAND_STORED
								 : OPERAND_VALUE;
}

/* "lea sym(%rip), %rdi", "mov sym(,%rax,8), %rdx", "mov sym(%rip), %eax" */
static uint8_t displacement_kind(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	uint8_t kind = insn->id == X86_INS_LEA ? OPERAND_VALUE : OPERAND_DIRECT;

	for (uint8_t i = 0; i < x86->op_count; i++) {
		const x86_op_mem *memory = &x86->operands[i].mem;

		if (x86->operands[i].type != X86_OP_MEM)
			continue;
		if (memory->index != X86_REG_INVALID ||
		    (memory->base != X86_REG_INVALID && memory->base != X86_REG_RIP))
			kind |= OPERAND_INDEXED;
	}
	return kind;
}

static void visit_operand(void *context, csh handle, const cs_insn *insn)
{
	const struct operand_visit *visit = context;
	const cs_x86_encoding *encoding = &insn->detail->x86.encoding;
	uint64_t at = insn->address - visit->start;

	if (cs_insn_group(handle, insn, X86_GRP_BRANCH_RELATIVE))
		return;
	if (encoding->imm_offset)
		visit->kinds[at + encoding->imm_offset] = immediate_kind(insn);
	if (encoding->disp_offset)
		visit->kinds[at + encoding->disp_offset] = displacement_kind(insn);
}

static void x86_64_operand_kinds(const struct section *section, uint64_t start, uint64_t end,
				 uint8_t *kinds)
{
	struct operand_visit visit = {start, kinds};

	memset(kinds, OPERAND_DIRECT, end - start);
	decode(section, start, end, visit_operand, &visit);
}

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.debian = "amd64",
	.source_arch = "x86",
	.machine = EM_X86_64,
	.elf_class = ELFCLASS64,
	.elf_data = ELFDATA2LSB,
	.relocs = x86_64_relocs,
	.sections = x86_64_sections,
	.site_tables = x86_64_sites,
	.replacement_section = ".altinstr_replacement",
	.patchable_entry = x86_64_patchable_entry,
	.instruction_ends = x86_64_instruction_ends,
	.direct_branches = x86_64_direct_branches,
	.operand_kinds = x86_64_operand_kinds,
	.address_reloc = R_X86_64_64,
	.branch_reloc = R_X86_64_PC32,
};
