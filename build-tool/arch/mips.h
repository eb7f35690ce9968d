/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the architectures of MIPS: 32 and 64 bits, both byte orders. */
#ifndef POKEPATCH_MIPS_H
#define POKEPATCH_MIPS_H

#include <elf.h>

#include "object/arch.h"
#include "object/object.h"
#include "object/sections.h"

/* Not in every elf.h. */
#ifndef R_MIPS_PC21_S2
#define R_MIPS_PC21_S2 60
#define R_MIPS_PC26_S2 61
#endif
#ifndef R_MIPS_PC32
#define R_MIPS_PC32 248
#endif

/*
 * Rows of both tables of relocations, below and above the rows for 64 bits only;
 * arch/mips/kernel/module.c.  All jumps are near: the kernel is in KSEG0, modules are in a segment
 * 1 GB away, and "j" and "jal" stay within 256 MB.
 */
#define MIPS_LOW_RELOCS                                                                            \
	RELOC(R_MIPS_NONE, .idle = true),                                                          \
	RELOC(R_MIPS_32, .size = 4),                                                               \
	RELOC(R_MIPS_26, .near = true, .size = 4, .mask = 0x03ffffff, .branch = true,              \
	      .shift = 2),                                                                         \
	RELOC(R_MIPS_HI16, .size = 4, .mask = 0xffff, .shift = 16),                                \
	RELOC(R_MIPS_LO16, .size = 4, .mask = 0xffff),                                             \
	RELOC(R_MIPS_PC16, .near = true, .size = 4, .mask = 0xffff, .pc_relative = true,           \
	      .branch = true, .origin = 4, .shift = 2)
#define MIPS_HIGH_RELOCS                                                                           \
	RELOC(R_MIPS_JALR, .idle = true), /* marks a call that could be a direct one */            \
	/* Release 6 */                                                                            \
	RELOC(R_MIPS_PC21_S2, .near = true, .size = 4, .mask = 0x001fffff,                         \
	      .pc_relative = true, .branch = true, .origin = 4, .shift = 2),                       \
	RELOC(R_MIPS_PC26_S2, .near = true, .size = 4, .mask = 0x03ffffff,                         \
	      .pc_relative = true, .branch = true, .origin = 4, .shift = 2),                       \
	RELOC(R_MIPS_PC32, .size = 4, .pc_relative = true, .linker = true)

/* Rows of both tables of sections, by the size of an address. */
#define MIPS_SECTIONS(address)                                                                     \
	/* struct exception_table_entry: instruction, fixup; the same for bus errors */            \
	{.name = "__ex_table", .policy = SECTION_TABLE,                                            \
	 .layouts = {{.size = 2 * (address), .partner = (address)}}},                              \
	{.name = "__dbe_table", .policy = SECTION_TABLE,                                           \
	 .layouts = {{.size = 2 * (address), .partner = (address)}}},                              \
	{.name = ".fixup", .policy = SECTION_PARTNER},                                             \
	/* struct jump_entry: code, target, key */                                                 \
	{.name = "__jump_table", .policy = SECTION_TABLE,                                          \
	 .layouts = {{.size = 3 * (address), .key = 2 * (address)}}},                              \
	/* struct bug_entry is not used: BUG() is an instruction and no more (asm/bug.h). */       \
                                                                                                   \
	/* The compiler's options, and information for debuggers. */                               \
	{.name = ".reginfo", .policy = SECTION_DROP},                                              \
	{.name = ".MIPS.options", .policy = SECTION_DROP},                                         \
	{.name = ".MIPS.abiflags", .policy = SECTION_DROP},                                        \
	{.name = ".gnu.attributes", .policy = SECTION_DROP},                                       \
	{.name = ".mdebug.abi", .prefix = true, .policy = SECTION_DROP},                           \
	{.name = ".pdr", .policy = SECTION_DROP},                                                  \
                                                                                                   \
	/* Within the kernel's init memory. */                                                     \
	{.name = ".appended_dtb", .policy = SECTION_INIT},                                         \
	{.name = "__mips_machines", .prefix = true, .policy = SECTION_INIT},                       \
	{.name = ".mips.machines.init", .policy = SECTION_INIT}

/* arch/mips/kernel/jump_label.c; and the entries, into which pokepatch's core writes. */
#define MIPS_LATE_TABLES(address)                                                                  \
	{.section = "__patchable_function_entries", .entry = (address), .length = 16,              \
	 .nops = true},                                                                            \
	{.section = "__jump_table", .entry = 3 * (address), .length = 4}

/* ---- jumps to the kernel ------------------------------------------------------------- */

#define MIPS_LITTLE(word)                                                                          \
	(word) & 0xff, (word) >> 8 & 0xff, (word) >> 16 & 0xff, (word) >> 24
#define MIPS_BIG(word)                                                                             \
	(word) >> 24, (word) >> 16 & 0xff, (word) >> 8 & 0xff, (word) & 0xff

/* "addiu" and "daddiu" of registers 0 */
#define MIPS_ADDIU  0x24000000
#define MIPS_DADDIU 0x64000000

/*
 *	lui	at, %hi(sym)
 *	addiu	at, at, %lo(sym)
 *	jalr	$0, at		"jr", which release 6 has only in this form
 *	nop
 *
 * No compiler has a value in $at at a call.  (It may have one in $t8: gcc's -fipa-ra knows the
 * registers that a static callee leaves alone.)
 */
#define MIPS_THROUGH_AT(order, add)                                                                \
	order(0x3c010000), order((add) | 0x00210000), order(0x00200009), order(0)
/*
 * But raw_copy_from_user() of asm/uaccess.h calls with "addu $1, %1, %2" in the delay slot, and
 * __raw_copy_from_user() reads $at.  The inline assembly says that it clobbers $t8.
 */
#define MIPS_THROUGH_T8(order, add)                                                                \
	order(0x3c180000), order((add) | 0x03180000), order(0x03000009), order(0)

#define MIPS_VENEER(bytes, ...)                                                                    \
	{                                                                                          \
		.every_call = true, .exported = true, .code = (const uint8_t[]){bytes},            \
		.size = 16, .align = 4, .reloc_at = 0, .reloc_type = R_MIPS_HI16,                  \
		.second_at = 4, .second_type = R_MIPS_LO16, ##__VA_ARGS__                          \
	}

/* Index 0 is little-endian, 1 big-endian.  Calls that pass a value in $at go through $t8. */
#define MIPS_VENEERS_THROUGH_AT(add)                                                               \
	{                                                                                          \
		MIPS_VENEER(MIPS_THROUGH_AT(MIPS_LITTLE, add)),                                    \
			MIPS_VENEER(MIPS_THROUGH_AT(MIPS_BIG, add))                                \
	}
#define MIPS_VENEERS_THROUGH_T8(add)                                                               \
	{                                                                                          \
		MIPS_VENEER(MIPS_THROUGH_T8(MIPS_LITTLE, add), .kind = "_t8"),                     \
			MIPS_VENEER(MIPS_THROUGH_T8(MIPS_BIG, add), .kind = "_t8")                 \
	}

/* mips_hands_over_at - whether the call at an offset passes a value to its callee in $at. */
bool mips_hands_over_at(const struct object *object, const struct section *section,
			uint64_t offset);

/* ---- operations of struct arch --------------------------------------------------------- */

int64_t mips_patchable_entry(struct object *object, const struct atom *function);
void mips_local_references(struct object *object, const struct section *section, uint64_t start,
			   uint64_t end, found_reference found, void *context);
void mips_linked_jumps(struct object *object, const struct section *section, uint64_t address,
		       found_reference found, void *context);
bool mips_must_stay(struct object *object, const struct section *section, uint64_t start,
		    uint64_t end);
void mips_operand_kinds(struct object *object, const struct section *section, uint64_t start,
			uint64_t end, uint8_t *kinds);
void mips_constant_loads(struct object *object, const struct section *section, uint64_t start,
			 uint64_t end,
			 void (*found)(void *context, const struct constant_load *load),
			 void *context);
bool mips_is_padding(struct object *object, const struct section *section, uint64_t start,
		     uint64_t end);

size_t mips_load(const struct arch *arch, uint64_t value, uint8_t size,
		 uint8_t ret[RETURN_LOAD_MAX]);
uint64_t mips_entry_end(const uint8_t *code, uint64_t length, int64_t place);
extern const struct error_number mips_errors[];

/* The bits of e_flags for MIPS16 and microMIPS, which have instructions of 2 bytes. */
#define MIPS_SHORT_CODE_FLAGS (0x04000000 | 0x02000000)

/* The members of struct arch that are the same for all. */
#define MIPS_COMMON                                                                                \
	.name = "mips", .tools.source_arch = "mips", .elf.machine = EM_MIPS,                       \
	.symbols.short_sizes = true,                                                               \
	.entries.find = mips_patchable_entry, .entries.by_as = true,                               \
	.code.local_references = mips_local_references,                                            \
	.code.linked_jumps = mips_linked_jumps, .code.must_stay = mips_must_stay,                  \
	.code.operand_kinds = mips_operand_kinds, .code.constant_loads = mips_constant_loads,      \
	.code.is_padding = mips_is_padding,                                                        \
	.loader.reads_keys = true

#endif /* POKEPATCH_MIPS_H */
