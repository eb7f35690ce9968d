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

static void x86_64_instruction_ends(const struct section *section, uint64_t start, uint64_t end,
				    uint64_t *ends)
{
	const uint8_t *code = section->data + start;
	size_t size = end - start;
	uint64_t address = start;
	csh handle;

	memset(ends, 0, size * sizeof(*ends));
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle))
		return;
	cs_option(handle, CS_OPT_SKIPDATA, CS_OPT_ON);

	cs_insn *insn = cs_malloc(handle);
	while (size && cs_disasm_iter(handle, &code, &size, &address, insn))
		for (uint64_t i = insn->address; insn->id && i < address; i++)
			ends[i - start] = address;
	cs_free(insn, 1);
	cs_close(&handle);
}

static void x86_64_direct_branches(const struct section *section, uint64_t start, uint64_t end,
				   void (*found)(void *context, uint64_t field, unsigned int size,
						 uint64_t target),
				   void *context)
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
	while (size && cs_disasm_iter(handle, &code, &size, &address, insn)) {
		if (!insn->id || !cs_insn_group(handle, insn, X86_GRP_BRANCH_RELATIVE))
			continue;
		const cs_x86 *x86 = &insn->detail->x86;
		found(context, insn->address + x86->encoding.imm_offset, x86->encoding.imm_size,
		      x86->operands[0].imm);
	}
	cs_free(insn, 1);
	cs_close(&handle);
}

/* An immediate, or the displacement of a lea: "mov $sym, %rdi", "lea sym(%rip), %rdi". */
static void x86_64_address_fields(const struct section *section, uint64_t start, uint64_t end,
				  bool *taken)
{
	const uint8_t *code = section->data + start;
	size_t size = end - start;
	uint64_t address = start;
	csh handle;

	memset(taken, 0, size * sizeof(*taken));
	if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle))
		return;
	cs_option(handle, CS_OPT_SKIPDATA, CS_OPT_ON);
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);

	cs_insn *insn = cs_malloc(handle);
	while (size && cs_disasm_iter(handle, &code, &size, &address, insn)) {
		if (!insn->id || cs_insn_group(handle, insn, X86_GRP_BRANCH_RELATIVE))
			continue;
		const cs_x86_encoding *encoding = &insn->detail->x86.encoding;
		uint64_t at = insn->address - start;

		if (encoding->imm_offset)
			taken[at + encoding->imm_offset] = true;
		if (encoding->disp_offset && insn->id == X86_INS_LEA)
			taken[at + encoding->disp_offset] = true;
	}
	cs_free(insn, 1);
	cs_close(&handle);
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
	.address_fields = x86_64_address_fields,
	.address_reloc = R_X86_64_64,
	.branch_reloc = R_X86_64_PC32,
};
