// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the proof knows about arm64, from Linux 6.1 and 6.12 (arch/arm64/include/asm,
 * kernel/module.c) and from Arm's "ELF for the Arm 64-bit Architecture" (AAELF64).
 */
#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "object/object.h"
#include "proof/proof_notes.h"
#include "proof/proof_rules.h"

static const struct proof_table tables[] = {
	/* asm/asm-bug.h: addr, file and line with CONFIG_DEBUG_BUGVERBOSE, flags */
	{.section = "__bug_table", .sizes = {12, 8}},
	{.section = "__ex_table", .sizes = {12}}, /* asm/extable.h: insn, fixup, type, data */
	/* linux/jump_label.h: code, target, key */
	{.section = "__jump_table", .sizes = {16}, .key = 8, .live = LIVE_WORD},
	/* asm/alternative.h: offsets of original and replacement, feature, lengths */
	{.section = ".altinstructions",
	 .sizes = {12},
	 .ordered = true,
	 .piece = 4,
	 .piece_length = -1,
	 .site_length = -2,
	 .live = LIVE_SITE},
	/*
	 * kernel/ftrace.c, ftrace_init_nop(): "mov x9, x30", and a NOP or a call; in front of the
	 * function, if anything, the address of an ftrace_ops
	 */
	{.section = "__patchable_function_entries",
	 .sizes = {8},
	 .leads = true,
	 .live = LIVE_INSTRUCTION},
	{0},
};

static const char *const piece_sections[] = {NULL};

/* A patchable entry has two NOPs. */
static uint8_t live_length(const unsigned char *instruction)
{
	static const unsigned char entry[] = {0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5};

	for (size_t i = 0; i < sizeof(entry); i++)
		if (instruction[i] != entry[i])
			return 4;
	return sizeof(entry);
}

/*
 * Relocations that the core makes: a branch reaches 128 MB or less, and a module may be 2 GB from
 * the kernel (CONFIG_RANDOMIZE_MODULE_REGION_FULL).  Cortex-A53, erratum 843419: an ADRP must not
 * be one of the last two instructions of a page.
 */
static const char *late_problem(uint32_t type, uint64_t place)
{
	switch (type) {
	case R_AARCH64_TSTBR14:
	case R_AARCH64_CONDBR19:
	case R_AARCH64_JUMP26:
	case R_AARCH64_CALL26:
	case R_AARCH64_LD_PREL_LO19:
	case R_AARCH64_ADR_PREL_LO21:
		return "which does not reach as far as the kernel may be";
	case R_AARCH64_ADR_PREL_PG_HI21:
	case R_AARCH64_ADR_PREL_PG_HI21_NC:
		return (place & 0xfff) >= 0xff8 ? "where an ADRP must not be (erratum 843419)"
						: NULL;
	default:
		return NULL;
	}
}

static bool late_bound(uint32_t type)
{
	return late_problem(type, 0xfff) && !late_problem(type, 0);
}

/* The word of a program property (AAELF64, "Program Property"), or 0 where the list ends before. */
static uint32_t property_word(const struct note_contents *list, uint32_t property)
{
	uint64_t at = 0;

	/* A property is its type, the size of its data, and the data, padded to eight bytes. */
	while (list->size - at >= 8) {
		const unsigned char *header = list->data + at;
		const uint64_t size = note_word(header + 4, false), data = at + 8;

		if (size > list->size - data)
			return 0;
		if (note_word(header, false) == property)
			return size < 4 ? 0 : note_word(list->data + data, false);
		at = (data + size + 7) & ~(uint64_t)7;
		if (at > list->size)
			return 0;
	}
	return 0;
}

/*
 * Arm's "Build Attributes": 'A'; for each subsection its length, a name, two bytes, and pairs of
 * numbers.  All numbers that a compiler writes today take one byte.
 */
static bool is_attributed(const struct object *object)
{
	static const char name[] = "aeabi_feature_and_bits";
	const struct section *section = object_find_section(object, ".ARM.attributes");
	uint64_t end = 1;

	while (section && section->data && section->size > end + 4) {
		const uint64_t at = end + 4;

		end += object_get32(object, section->data + end);
		if (end < at || end > section->size)
			return false;
		if (end - at < sizeof(name) + 2 || memcmp(section->data + at, name, sizeof(name)))
			continue;
		for (uint64_t pair = at + sizeof(name) + 2; pair + 2 <= end; pair += 2)
			if (!section->data[pair] && section->data[pair + 1]) /* Tag_Feature_BTI */
				return true;
	}
	return false;
}

/*
 * Was the object compiled for guarded pages (CONFIG_ARM64_BTI_KERNEL)?  There a BR may lead only to
 * a landing pad, and a function that is only called need not begin with one.
 */
static bool is_guarded(const struct object *object)
{
	const struct section *section = object_find_section(object, ".note.gnu.property");
	struct note_contents properties;

	if (is_attributed(object))
		return true;
	if (!section)
		return false;
	const struct note_bytes notes = {
		.data = section->data, .size = section->size, .align = section->align};
	return note_find(&notes, NT_GNU_PROPERTY_TYPE_0, &properties) &&
	       (property_word(&properties, GNU_PROPERTY_AARCH64_FEATURE_1_AND) &
		GNU_PROPERTY_AARCH64_FEATURE_1_BTI);
}

const struct proof_rules proof_rules_arm64 = {
	.machine = EM_AARCH64,
	.elf_class = ELFCLASS64,
	.elf_data = ELFDATA2LSB,
	.tables = tables,
	.piece_sections = piece_sections,
	.tails = true,
	.entry_table = "__patchable_function_entries",
	.entry_listed = true,
	.entry_behind = 4, /* bti c */
	.entry_lead = 8,   /* kernel/ftrace.c, ftrace_call_adjust(): DYNAMIC_FTRACE_WITH_CALL_OPS */
	.veneer = {.code = "\x50\0\0\x58"	   /* ldr x16, .+8 */
			   "\0\x02\x1f\xd6"	   /* br x16 */
			   "\0\0\0\0\0\0\0",	   /* .quad symbol */
		   .size = 16,
		   .align = 8,
		   .place = 8,
		   .type = R_AARCH64_ABS64,
		   .addend = 0,
		   .other = "\x50\0\0\x58"	   /* the same with ret x16, for guarded code */
			    "\0\x02\x5f\xd6"
			    "\0\0\0\0\0\0\0",
		   .other_in = is_guarded},
	.late_problem = late_problem,
	.late_align = 4096,
	.late_bound = late_bound,
	.pc32 = R_AARCH64_PREL32,
	.padding = "\x1f\x20\x03\xd5",
	.padding_length = 4,
	.live_length = live_length,
};
