// SPDX-License-Identifier: GPL-2.0-or-later
/* The struct arch of x86-64.  Relocations: System V psABI for AMD64, section 4.4. */
#include <elf.h>
#include <string.h>

#include "arch/machines.h"
#include "arch/x86_call_changes.h"
#include "object/atoms.h"
#include "object/disasm.h"
#include "object/sections.h"

/* The processor counts from the end of the instruction, which mostly is the end of the field. */
static const struct reloc_kind x86_64_relocs[] = {
	RELOC(R_X86_64_NONE, .idle = true),
	RELOC(R_X86_64_64, .size = 8),
	RELOC(R_X86_64_PC32, .size = 4, .pc_relative = true, .origin = 4),
	RELOC(R_X86_64_PLT32, .size = 4, .pc_relative = true, .branch = true, .origin = 4,
	      .same_as = R_X86_64_PC32),
	RELOC(R_X86_64_32, .size = 4),
	RELOC(R_X86_64_32S, .size = 4, .same_as = R_X86_64_32),
	RELOC(R_X86_64_PC64, .size = 8, .pc_relative = true, .origin = 8),
};

static const struct section_rule x86_64_sections[] = {
	/* struct bug_entry: s32 address, (s32 format, since 6.19,) s32 file, u16 line, u16 flags */
	{.name = "__bug_table",
	 .policy = SECTION_TABLE,
	 .layouts = {{.size = 12, .ignored = {8, 2}}, {.size = 16, .ignored = {12, 2}}}},
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
	/* DEFINE_VVAR() puts it into a page that user space reads (kernel/time/vsyscall.c). */
	{.name = ".vvar_", .prefix = true, .policy = SECTION_PARENT},
	{.name = ".altinstr_aux", .policy = SECTION_PARTNER},
	{.name = ".smp_locks", .policy = SECTION_TABLE, .layouts = {{.size = 4}}},
	/* struct paravirt_patch_site: u8 *instr, u8 type, u8 len, padding */
	{.name = ".parainstructions",
	 .policy = SECTION_TABLE,
	 .layouts = {{.size = 16, .short_last = true}}},
	{.name = ".kcfi_traps", .policy = SECTION_TABLE, .layouts = {{.size = 4}}},
	/* IBT_NOSEAL(): functions whose landing pad objtool must leave alone */
	{.name = ".discard.ibt_endbr_noseal", .policy = SECTION_TABLE, .layouts = {{.size = 8}}},
	{.name = ".discard.unwind_hints", .policy = SECTION_TABLE, .layouts = {{.size = 12}}},
	/* Within the kernel's init memory (arch/x86/kernel/vmlinux.lds.S). */
	{.name = ".apicdrivers", .policy = SECTION_INIT},
	{.name = ".x86_cpu_dev.init", .policy = SECTION_INIT},
	{0},
};

static const struct site_table x86_64_sites[] = {
	{".altinstructions", 12, 10, 0, 0, 0},
	{".altinstructions", 14, 12, 0, 0, 0},
	{".parainstructions", 16, 9, 0, 0, 0},
	{".retpoline_sites", 4, 0, 5, 0, 0}, /* call or jmp to a thunk */
	{".return_sites", 4, 0, 5, 0, 0},    /* jmp to the return thunk */
	{0},
};

/* Linux 6.1's arch/x86/kernel: ftrace.c, jump_label.c, static_call.c, alternative.c */
static const struct late_table x86_64_late_tables[] = {
	{.section = "__mcount_loc", .entry = 8, .length = 5},
	/* short: jmp, xchg %ax,%ax */
	{.section = "__jump_table",
	 .entry = 16,
	 .length = 5,
	 .first = "\xeb\x66",
	 .first_length = 2},
	/* call or jmp; with a prefix, jcc */
	{.section = ".static_call_sites",
	 .entry = 8,
	 .length = 5,
	 .first = "\x2e\x0f",
	 .first_length = 6},
	{.section = ".retpoline_sites",
	 .entry = 4,
	 .length = 5,
	 .first = "\x2e\x0f",
	 .first_length = 6},
	/* clang aligns the jump to the return thunk with a prefix */
	{.section = ".return_sites",
	 .entry = 4,
	 .length = 5,
	 .first = "\x2e",
	 .first_length = 6},
	{.section = ".smp_locks", .entry = 4, .length = 1},  /* the lock prefix */
	/*
	 * clang's kCFI: movl $hash, %r10d; addl -15(%r11), %r10d; je; and the UD2 that is listed.
	 * Since 6.2 the kernel changes all hashes when it boots, or makes FineIBT's code of all
	 * 14 bytes (cfi_rand_callers(), cfi_rewrite_callers()).
	 */
	{.section = ".kcfi_traps", .entry = 4, .length = 14, .before = 12},
	/* Not .call_sites: the core can tell what a call was before the kernel changed it. */
	{0},
};

/* asm/runtime-const.h, from 6.11 on: the immediate values of "mov $imm64" and "shr $imm8" */
static const struct late_table x86_64_late_prefixes[] = {
	{.section = "runtime_ptr_", .entry = 4, .length = 8},
	{.section = "runtime_shift_", .entry = 4, .length = 1},
	{0},
};

/* tools/objtool/check.c: the tables that follow from a function's own code */
static const char *const x86_64_objtool_tables[] = {
	".call_sites", ".retpoline_sites", ".return_sites", NULL,
};

/* jmp sym */
static const struct veneer x86_64_veneer = {
	.code = (const uint8_t[]){0xe9, 0, 0, 0, 0},
	.size = 5,
	.align = 16,
	.reloc_at = 1,
	.reloc_type = R_X86_64_PLT32,
	.addend = -4,
};

static bool is_endbr64(const unsigned char *p, uint64_t room)
{
	static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

	return room >= sizeof(endbr64) && !memcmp(p, endbr64, sizeof(endbr64));
}

/* gcc -mfentry: "call __fentry__" is the first instruction, behind ENDBR64 if there is one. */
static int64_t x86_64_patchable_entry(struct object *object, const struct atom *function)
{
	const struct section *section = function->section;
	uint64_t call = function->start;
	size_t count;

	(void)object;
	if (is_endbr64(section->data + call, function->end - call))
		call += 4;
	struct reloc *reloc = section_relocs(section, call + 1, call + 2, &count);
	if (!count || strcmp(reloc->symbol->name, "__fentry__"))
		return -1;
	return call - function->start;
}

/* The core's jump at the beginning of a function (core-module/arch/x86_detour.c). */
#define JUMP_SIZE 5

struct first_visit {
	uint64_t start, end;
	uint8_t field; /* as in struct first_insns */
	bool fixed;    /* one of the instructions cannot be moved */
};

static void visit_first(void *context, csh handle, const cs_insn *insn)
{
	static const unsigned int groups[] = {
		X86_GRP_JUMP, X86_GRP_CALL, X86_GRP_RET, X86_GRP_INT, X86_GRP_IRET,
		X86_GRP_BRANCH_RELATIVE,
	};
	struct first_visit *visit = context;
	const cs_x86 *x86 = &insn->detail->x86;

	if (visit->end - visit->start >= JUMP_SIZE)
		return;
	/* report_bug() looks up the address of a UD2 in __bug_table. */
	visit->fixed |= insn->address != visit->end || !insn->id || insn->id == X86_INS_UD2;
	visit->end = insn->address + insn->size;
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		visit->fixed |= cs_insn_group(handle, insn, groups[i]);
	for (size_t i = 0; insn->id && i < x86->op_count; i++) {
		if (x86->operands[i].type != X86_OP_MEM ||
		    x86->operands[i].mem.base != X86_REG_RIP)
			continue;
		visit->fixed |= visit->field || x86->encoding.disp_size != 4;
		visit->field = insn->address + x86->encoding.disp_offset - visit->start;
	}
}

static bool x86_64_first_insns(struct object *object, const struct atom *function,
			       struct first_insns *ret)
{
	const struct section *section = function->section;
	uint64_t start = function->start;

	if (is_endbr64(section->data + start, function->end - start))
		start += 4;
	struct first_visit visit = {.start = start, .end = start};
	disasm(object, section, start, function->end, visit_first, &visit);
	*ret = (struct first_insns){
		.pad = start - function->start,
		.length = visit.end - start,
		.field = visit.field,
	};
	return !visit.fixed && ret->length >= JUMP_SIZE && visit.end <= function->end;
}

struct measure_visit {
	struct reloc *next, *end;
};

static void visit_measured(void *context, csh handle, const cs_insn *insn)
{
	struct measure_visit *visit = context;
	uint64_t end = insn->address + insn->size;

	(void)handle;
	for (; visit->next < visit->end && visit->next->offset < end; visit->next++)
		if (visit->next->behind && visit->next->offset >= insn->address)
			visit->next->behind = end - visit->next->offset;
}

/* In "movl $1, counter(%rip)" an immediate value follows the field. */
static void x86_64_measure_relocs(struct object *object, const struct section *section,
				  uint64_t start, uint64_t end, struct reloc *relocs, size_t count)
{
	struct measure_visit visit = {relocs, relocs + count};

	disasm(object, section, start, end, visit_measured, &visit);
}

struct branch_visit {
	found_reference found;
	void *context;
};

static void visit_branch(void *context, csh handle, const cs_insn *insn)
{
	const struct branch_visit *visit = context;
	const cs_x86 *x86 = &insn->detail->x86;

	if (!cs_insn_group(handle, insn, X86_GRP_BRANCH_RELATIVE))
		return;
	struct local_reference reference = {
		.offset = insn->address + x86->encoding.imm_offset,
		.target = x86->operands[0].imm,
		.type = x86->encoding.imm_size == 4 ? R_X86_64_PC32 : 0,
		.size = x86->encoding.imm_size,
	};
	visit->found(visit->context, &reference);
}

static void x86_64_local_references(struct object *object, const struct section *section,
				    uint64_t start, uint64_t end, found_reference found,
				    void *context)
{
	struct branch_visit visit = {found, context};

	disasm(object, section, start, end, visit_branch, &visit);
}

/* jmp, jcc, loop and jrcxz have a displacement of one byte, which counts from its end. */
static bool x86_64_point_branch(unsigned char *field, uint64_t distance)
{
	if (!distance || distance - 1 > INT8_MAX)
		return false;
	*field = distance - 1;
	return true;
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

static void x86_64_operand_kinds(struct object *object, const struct section *section,
				 uint64_t start, uint64_t end, uint8_t *kinds)
{
	struct operand_visit visit = {start, kinds};

	memset(kinds, OPERAND_DIRECT, end - start);
	disasm(object, section, start, end, visit_operand, &visit);
}

struct constants_visit {
	void (*found)(void *context, const struct constant_load *load);
	void *context;
};

/* "mov $120, %esi", "movl $120, 8(%rsp)", "push $120" */
static void visit_constant(void *context, csh handle, const cs_insn *insn)
{
	const struct constants_visit *visit = context;
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_encoding *encoding = &x86->encoding;
	struct constant_load load = {.start = insn->address, .end = insn->address + insn->size};

	(void)handle;
	if ((insn->id != X86_INS_MOV && insn->id != X86_INS_PUSH) || !encoding->imm_offset ||
	    !encoding->imm_size || encoding->imm_size > 4)
		return;
	for (unsigned int i = 0; i < insn->size; i++) {
		unsigned int at = i - encoding->imm_offset;

		if (at < encoding->imm_size)
			load.value |= (uint64_t)insn->bytes[i] << 8 * at;
		else
			load.rest[i] = insn->bytes[i];
	}
	visit->found(visit->context, &load);
}

static void x86_64_constant_loads(struct object *object, const struct section *section,
				  uint64_t start, uint64_t end,
				  void (*found)(void *context, const struct constant_load *load),
				  void *context)
{
	struct constants_visit visit = {found, context};

	disasm(object, section, start, end, visit_constant, &visit);
}

/* ---- functions that return at once ------------------------------------------------------ */

static void put_bytes(uint8_t *to, uint64_t value, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		to[i] = value >> 8 * i;
}

/* "mov $imm32, %eax", which clears the upper half; sign-extended "mov $imm32, %rax"; movabs. */
static size_t x86_64_load(const struct arch *arch, uint64_t value, uint8_t size,
			  uint8_t ret[RETURN_LOAD_MAX])
{
	static const uint8_t extended[] = {0x48, 0xc7, 0xc0}, wide[] = {0x48, 0xb8};

	(void)arch;
	if (size <= 4 || value <= UINT32_MAX) {
		ret[0] = 0xb8;
		put_bytes(ret + 1, value, 4);
		return 5;
	}
	if (value >= (uint64_t)INT32_MIN) {
		memcpy(ret, extended, sizeof(extended));
		put_bytes(ret + sizeof(extended), value, 4);
		return sizeof(extended) + 4;
	}
	memcpy(ret, wide, sizeof(wide));
	put_bytes(ret + sizeof(wide), value, 8);
	return sizeof(wide) + 8;
}

static uint64_t x86_64_entry_end(const uint8_t *code, uint64_t length, int64_t place)
{
	(void)code;
	return place >= 0 && (uint64_t)place + 5 <= length ? (uint64_t)place + 5 : 0;
}

struct moving_visit {
	uint64_t address; /* of the section's start in vmlinux */
	struct image_range image;
	found_moving found;
	void *context;
};

static uint64_t signed_field(const uint8_t *bytes, unsigned int size)
{
	uint64_t value = 0;

	for (unsigned int i = 0; i < size; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return size == 4 ? (uint64_t)(int64_t)(int32_t)value : value;
}

static bool is_in_image(const struct moving_visit *visit, uint64_t value)
{
	return value >= visit->image.start && value <= visit->image.end;
}

/*
 * "mov $sym, %rdi" and "mov sym(,%rax,8), %rdx" have an address of the image.  "mov %gs:sym(%rip),
 * %rax" has the distance to a per-CPU symbol, which does not move with the image.
 *
 * By the relocations of Debian's 6.1, this finds 69,384 of 69,398 such fields in .text.  The others
 * are a symbol and a large addend, __pa(empty_zero_page), or behind instructions that capstone does
 * not know; the core then refuses a patch of such a function when it is loaded (code-differs).
 */
static void visit_moving(void *context, csh handle, const cs_insn *insn)
{
	const struct moving_visit *visit = context;
	const cs_x86 *x86 = &insn->detail->x86;
	const cs_x86_encoding *encoding = &x86->encoding;
	bool relative = false;

	if (cs_insn_group(handle, insn, X86_GRP_BRANCH_RELATIVE))
		return;
	for (uint8_t i = 0; i < x86->op_count; i++)
		relative |= x86->operands[i].type == X86_OP_MEM &&
			    x86->operands[i].mem.base == X86_REG_RIP;
	/* Of "mov %ax, sym(%rcx)", with its prefix for 16 bits, capstone gives 2 as the size. */
	if (encoding->disp_offset && encoding->disp_size != 1 &&
	    encoding->disp_offset + 4 <= insn->size) {
		uint64_t at = insn->address + encoding->disp_offset;
		uint64_t value = signed_field(insn->bytes + encoding->disp_offset, 4);

		if (relative && !is_in_image(visit, visit->address + insn->address + insn->size + value))
			visit->found(visit->context, at, R_X86_64_PC32, visit->address + at + value);
		else if (!relative && is_in_image(visit, value))
			visit->found(visit->context, at, R_X86_64_32S, value);
	}
	if (encoding->imm_offset && encoding->imm_size >= 4) {
		uint64_t value = signed_field(insn->bytes + encoding->imm_offset, encoding->imm_size);

		if (is_in_image(visit, value))
			visit->found(visit->context, insn->address + encoding->imm_offset,
				     encoding->imm_size == 4 ? R_X86_64_32S : R_X86_64_64, value);
	}
}

static void x86_64_moving_fields(struct object *object, const struct section *section,
				 uint64_t start, uint64_t end, uint64_t address,
				 struct image_range image, found_moving found, void *context)
{
	struct moving_visit visit = {address - start, image, found, context};

	disasm(object, section, start, end, visit_moving, &visit);
}

static const struct disasm_mode x86_64_disasm = {CS_ARCH_X86, CS_MODE_64};

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.live = true,
	.tools = {
		.debian = "amd64",
		.source_arch = "x86",
		.gnu = "x86_64-linux-gnu",
	},
	.elf = {
		.machine = EM_X86_64,
		.class = ELFCLASS64,
		.data = ELFDATA2LSB,
	},
	.sections = x86_64_sections,
	.relocs = {
		.kinds = x86_64_relocs,
		.count = ARRAY_SIZE(x86_64_relocs),
		.address = R_X86_64_64,
	},
	.entries = {
		.find = x86_64_patchable_entry,
		.first_insns = x86_64_first_insns,
		.call_changes = x86_call_changes,
	},
	.code = {
		.disasm = &x86_64_disasm,
		.common_callees = (const char *const[]){"__fentry__", "__x86_return_thunk", NULL},
		.measure_relocs = x86_64_measure_relocs,
		.local_references = x86_64_local_references,
		.operand_kinds = x86_64_operand_kinds,
		.constant_loads = x86_64_constant_loads,
		.dead_end = "\x0f\x0b", /* ud2 */
		.dead_end_length = 2,
	},
	.veneers = {
		.call = &x86_64_veneer,
		.point_branch = x86_64_point_branch,
	},
	.loader = {
		.site_tables = x86_64_sites,
		.late_tables = x86_64_late_tables,
		.late_prefixes = x86_64_late_prefixes,
		.objtool_tables = x86_64_objtool_tables,
		.call_table = ".call_sites", /* arch/x86/kernel/callthunks.c */
		.call_length = 5,
		.livepatch = true,
		.seal_table = ".ibt_endbr_seal",
		.seal_length = 4,
		.landing_pad = "\xf3\x0f\x1e\xfa", /* ENDBR64 */
		.replacement_section = ".altinstr_replacement",
	},
	.returns = {
		.load = x86_64_load,
		/* INT3 stops speculation behind the return (-mharden-sls). */
		.leave = {.code = "\xc3\xcc", .length = 2},
		.thunk = {.code = "\xe9\0\0\0\0\xcc", /* jmp */
			  .length = 6,
			  .symbol = "__x86_return_thunk",
			  .at = 1,
			  .type = R_X86_64_PLT32,
			  .addend = -4},
		.entry_table = "__mcount_loc",
		.entry_flags = SHF_ALLOC,
		.entry_end = x86_64_entry_end,
		.call = {.code = "\xe8\0\0\0\0",
			 .length = 5,
			 .symbol = "__fentry__",
			 .at = 1,
			 .type = R_X86_64_PLT32,
			 .addend = -4},
		.distance = R_X86_64_PC32,
		.moving_fields = x86_64_moving_fields,
	},
};
