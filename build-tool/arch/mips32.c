// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The struct archs of MIPS32, ABI o32, in both byte orders.  Relocations: "System V Application
 * Binary Interface, MIPS RISC Processor Supplement", chapter 4; arch/mips/kernel/module.c.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/search.h"
#include "object/disasm.h"
#include "arch/fixed.h"
#include "arch/mips.h"
#include "arch/machines.h"

/* mips32_join_addends() gives these types to a half without its other half; never included. */
enum { HI16_ALONE = 0x100 + R_MIPS_HI16, LO16_ALONE = 0x100 + R_MIPS_LO16 };

static const struct reloc_kind mips32_relocs[] = {
	MIPS_LOW_RELOCS,
	MIPS_HIGH_RELOCS,
	{.type = HI16_ALONE, .name = "R_MIPS_HI16 without R_MIPS_LO16", .size = 4, .mask = 0xffff,
	 .shift = 16, .linker = true},
	{.type = LO16_ALONE, .name = "R_MIPS_LO16 of one R_MIPS_HI16 or another", .size = 4,
	 .mask = 0xffff, .linker = true},
};

static const struct section_rule mips32_sections[] = {
	MIPS_SECTIONS(4),
	/* object/sections.c has these for addresses of 64 bits. */
	{.name = "__mcount_loc", .policy = SECTION_TABLE, .layouts = {{.size = 4}}},
	{.name = "__patchable_function_entries", .policy = SECTION_TABLE, .layouts = {{.size = 4}}},
	/* struct _ddebug: four pointers, then lineno:18 */
	{.name = "__dyndbg", .policy = SECTION_DATA, .keep_name = true,
	 .layouts = {{.ignored = {16, 2, 2}}}},
	{.name = ".rel", .prefix = true, .policy = SECTION_DROP},
	{0},
};

static const struct late_table mips32_late_tables[] = {MIPS_LATE_TABLES(4), {0}};

static const struct veneer through_at[] = MIPS_VENEERS_THROUGH_AT(MIPS_ADDIU);
static const struct veneer through_t8[] = MIPS_VENEERS_THROUGH_T8(MIPS_ADDIU);

static const struct veneer *mips32_veneer_for(const struct object *object,
					      const struct section *section, uint64_t offset)
{
	bool big = arch_is_big(object->arch);

	return mips_hands_over_at(object, section, offset) ? &through_t8[big] : &through_at[big];
}

/* ---- addends in two halves -------------------------------------------------------------- */

/*
 *	lui	v0, %hi(x + A)
 *	lw	a0, %lo(x + A)(v0)
 *
 * The first instruction holds the upper half of A, the second the lower half, which is signed.  The
 * upper half depends on the carry from the lower one, so a HI16 belongs to the next LO16 in the
 * file's order, which is not the order of the code.  Several HI16s may belong to one LO16.  A LO16
 * without a HI16 in front is "%lo(x + A)" once more, for an upper half in another instruction.
 *
 * lease_modify() of fs/locks.c has a HI16 without a LO16 with -freorder-blocks-and-partition: gcc
 * puts "lui a0,%hi($LC43)" into a delay slot, and the next instruction into the .cold part, which
 * is another section.  The linker accepts the upper half alone; the module loader refuses it:
 * "dangerous R_MIPS_LO16 relocation".
 */
static int64_t lower_half(int64_t addend)
{
	return sign_extend(addend, 16);
}

static uint32_t upper_half(int64_t addend)
{
	return (uint32_t)(addend - lower_half(addend));
}

/* Order by symbol, then by place in the code. */
static int half_order(const struct reloc *a, const struct reloc *b)
{
	if (a->symbol != b->symbol)
		return a->symbol->index < b->symbol->index ? -1 : 1;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static unsigned int loaded_register(const struct object *object, const struct section *section,
				    const struct reloc *upper)
{
	return code_get32(object, section, upper->offset) >> 16 & 31;
}

static unsigned int base_register(const struct object *object, const struct section *section,
				  const struct reloc *lower)
{
	if (!section->data)
		return 0;
	return code_get32(object, section, lower->offset) >> 21 & 31;
}

struct upper {
	struct reloc *reloc;
	bool alike; /* all HI16s of its symbol have the same upper half */
};

struct halves {
	VEC(struct upper) uppers;  /* HI16s, in the order of half_order() */
	VEC(struct reloc *) alone; /* LO16s without a HI16 in front */
};

static int upper_order(const void *left, const void *right)
{
	const struct upper *a = left, *b = right;

	return half_order(a->reloc, b->reloc);
}

static void sort_uppers(struct halves *halves)
{
	struct upper *list = halves->uppers.list;
	size_t count = halves->uppers.count;

	if (count)
		qsort(list, count, sizeof(*list), upper_order);
	for (size_t first = 0, end = 0; first < count; first = end) {
		bool alike = true;

		for (; end < count && list[end].reloc->symbol == list[first].reloc->symbol; end++)
			alike &= upper_half(list[end].reloc->addend) ==
				 upper_half(list[first].reloc->addend);
		while (first < end)
			list[first++].alike = alike;
	}
}

/* How many HI16s come before a relocation in the order of half_order(). */
static size_t uppers_before(const struct halves *halves, const struct reloc *reloc)
{
	return first_index(i, halves->uppers.count,
			   half_order(halves->uppers.list[i].reloc, reloc) >= 0);
}

/* The last HI16 of a symbol before index behind that loads the wanted register, or NULL. */
static const struct upper *loaded_before(const struct object *object, const struct section *section,
					 const struct halves *halves, size_t behind,
					 const struct symbol *symbol, unsigned int wanted)
{
	const struct upper *list = halves->uppers.list;

	for (size_t i = behind; section->data && i && list[i - 1].reloc->symbol == symbol; i--)
		if (loaded_register(object, section, list[i - 1].reloc) == wanted)
			return &list[i - 1];
	return NULL;
}

/*
 * Find the upper half for a LO16 without a HI16 in front.  If all HI16s of the symbol have the same
 * upper half, as for a symbol of less than 64 KiB, that is the one.  Else take the last instruction
 * before the LO16 that loads its base register.
 */
static void find_upper(const struct object *object, const struct section *section,
		       const struct halves *halves, struct reloc *lower)
{
	const struct upper *list = halves->uppers.list, *chosen = NULL;
	size_t behind = uppers_before(halves, lower);

	if (behind < halves->uppers.count && list[behind].reloc->symbol == lower->symbol)
		chosen = &list[behind];
	else if (behind && list[behind - 1].reloc->symbol == lower->symbol)
		chosen = &list[behind - 1];
	if (!chosen) /* "%lo(x)" as a number; or a .cold part, whose HI16 is in another section */
		return;
	if (!chosen->alike)
		chosen = loaded_before(object, section, halves, behind, lower->symbol,
				       base_register(object, section, lower));
	if (!chosen) {
		lower->type = LO16_ALONE;
		return;
	}
	lower->addend += upper_half(chosen->reloc->addend);
	lower->addend = (int32_t)lower->addend;
}

/* Join the LO16 i with the HI16s of its symbol in [first, i). */
static struct error *join_pair(struct object *object, const struct section *section,
			       struct reloc *list, size_t first, size_t i, bool *ret_paired)
{
	struct reloc *lower = &list[i];
	int32_t low = lower->addend;

	*ret_paired = false;
	for (; first < i; first++) {
		struct reloc *upper = &list[first];

		if (upper->type != R_MIPS_HI16)
			continue;
		if (upper->symbol != lower->symbol) {
			upper->type = HI16_ALONE;
			continue;
		}
		upper->addend = (int32_t)(upper->addend + low);
		if (*ret_paired && upper->addend != lower->addend)
			return object_malformed(object,
						"the R_MIPS_HI16 at %" PRIu64
						" and another one of the R_MIPS_LO16 at %" PRIu64
						" of section %s are for different addresses",
						upper->offset, lower->offset, section->name);
		lower->addend = upper->addend;
		*ret_paired = true;
	}
	return NULL;
}

static struct error *join_pairs(struct object *object, struct section *section,
				struct halves *halves)
{
	struct reloc *list = section->relocs.list;
	size_t count = section->relocs.count, first = 0;
	bool paired;

	for (size_t i = 0; i < count; i++) {
		if (list[i].type != R_MIPS_LO16)
			continue;
		TRY(join_pair(object, section, list, first, i, &paired));
		if (!paired)
			*vec_push(&halves->alone) = &list[i];
		first = i + 1;
	}
	for (; first < count; first++)
		if (list[first].type == R_MIPS_HI16)
			list[first].type = HI16_ALONE;
	for (size_t i = 0; i < count; i++)
		if (list[i].type == R_MIPS_HI16)
			*vec_push(&halves->uppers) = (struct upper){.reloc = &list[i]};
	return NULL;
}

static struct error *mips32_join_addends(struct object *object, struct section *section)
{
	struct halves halves = {0};
	struct error *error = join_pairs(object, section, &halves);

	if (halves.alone.count)
		sort_uppers(&halves);
	for (size_t i = 0; !error && i < halves.alone.count; i++)
		find_upper(object, section, &halves, halves.alone.list[i]);
	vec_deinit(&halves.uppers);
	vec_deinit(&halves.alone);
	return error;
}

/* gcc uses one upper half for an access of up to 16 bytes: "%hi(x)", "%lo(x)", "%lo(x+4)". */
#define ONE_ACCESS 16

/* Order by symbol and addend, then by place in the list. */
static int addend_order(const void *left, const void *right)
{
	const struct reloc *a = *(struct reloc *const *)left, *b = *(struct reloc *const *)right;

	if (a->symbol != b->symbol)
		return a->symbol->index < b->symbol->index ? -1 : 1;
	if (a->addend != b->addend)
		return a->addend < b->addend ? -1 : 1;
	return a < b ? -1 : a > b;
}

typedef VEC(struct reloc *) reloc_pointers;

static bool is_below(const struct reloc *lower, const struct reloc *upper)
{
	return lower->symbol->index < upper->symbol->index ||
	       (lower->symbol == upper->symbol && lower->addend < upper->addend);
}

/*
 * A LO16 of the same address; or else of one right above, as the assembler chooses it, if the LO16
 * of the same address was in a function that is not included.
 */
static struct reloc *find_lower(const reloc_pointers *lowers, const struct reloc *upper)
{
	size_t first = first_index(i, lowers->count, !is_below(lowers->list[i], upper));

	return first < lowers->count && lowers->list[first]->symbol == upper->symbol &&
			       lowers->list[first]->addend - upper->addend < ONE_ACCESS
		       ? lowers->list[first]
		       : NULL;
}

static int written_order(const void *left, const void *right)
{
	const struct reloc *a = left, *b = right;

	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Put each HI16 right in front of the LO16 that gives its lower half. */
static struct error *mips32_split_addends(struct object *object, const struct section *section,
					  struct reloc *list, size_t count)
{
	reloc_pointers lowers = {0};
	struct error *error = NULL;

	for (size_t i = 0; i < count; i++) {
		list[i].order = 2 * i + 1;
		if (list[i].type == LO16_ALONE)
			list[i].type = R_MIPS_LO16;
		if (list[i].type == R_MIPS_LO16)
			*vec_push(&lowers) = &list[i];
	}
	if (lowers.count)
		qsort(lowers.list, lowers.count, sizeof(*lowers.list), addend_order);
	for (size_t i = 0; i < count && !error; i++) {
		const struct reloc *lower =
			list[i].type == R_MIPS_HI16 ? find_lower(&lowers, &list[i]) : NULL;

		if (lower) {
			list[i].order = lower->order - 1;
			list[i].addend = (int32_t)upper_half(lower->addend);
		} else if (list[i].type == R_MIPS_HI16) {
			error = object_malformed(object,
						 "the R_MIPS_HI16 at %" PRIu64
						 " of section %s would have no R_MIPS_LO16",
						 list[i].offset, section->name);
		}
	}
	vec_deinit(&lowers);
	for (size_t i = 0; i < count; i++)
		if (list[i].type == R_MIPS_LO16)
			list[i].addend = lower_half(list[i].addend);
		else if (list[i].type == HI16_ALONE)
			list[i].type = R_MIPS_HI16;
	qsort(list, count, sizeof(*list), written_order);
	return error;
}

/* ---- the table -------------------------------------------------------------------------- */

static const struct disasm_mode mips_disasm = {CS_ARCH_MIPS, CS_MODE_MIPS32 | CS_MODE_BIG_ENDIAN};
static const struct disasm_mode mipsel_disasm = {CS_ARCH_MIPS, CS_MODE_MIPS32};

/* Bits of e_flags: n32, and the values of EF_MIPS_ABI other than o32 (o64, EABI). */
#define FOREIGN_FLAGS (0x20 | 0x2000 | 0x4000 | 0x8000 | MIPS_SHORT_CODE_FLAGS)

#define MIPS32_COMMON                                                                              \
	MIPS_COMMON, .elf.class = ELFCLASS32, .elf.foreign_flags = FOREIGN_FLAGS,                  \
	.sections = mips32_sections,                                                               \
	.relocs.kinds = mips32_relocs, .relocs.count = ARRAY_SIZE(mips32_relocs),                  \
	.relocs.address = R_MIPS_32,                                                               \
	.addends.in_fields = true, .addends.join = mips32_join_addends,                            \
	.addends.split = mips32_split_addends,                                                     \
	.veneers.for_call = mips32_veneer_for, .loader.late_tables = mips32_late_tables

const struct arch arch_mips = {
	MIPS32_COMMON,
	.tools.debian = "mips",
	.tools.gnu = "mips-linux-gnu",
	.elf.data = ELFDATA2MSB,
	.code.disasm = &mips_disasm,
	.veneers.call = &through_at[1],
};

const struct arch arch_mipsel = {
	MIPS32_COMMON,
	.tools.debian = "mipsel",
	.tools.gnu = "mipsel-linux-gnu",
	.elf.data = ELFDATA2LSB,
	.code.disasm = &mipsel_disasm,
	.veneers.call = &through_at[0],
};
