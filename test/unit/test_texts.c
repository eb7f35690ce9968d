// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unit tests of the runs of a function's code that the core compares (pokepatch-build/texts.c), and
 * of which functions these are (exact.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/machines.h"
#include "object/object.h"
#include "object/parent.h"
#include "pokepatch_format.h"
#include "pokepatch-build/exact.h"
#include "pokepatch-build/texts.h"
#include "common/util.h"

#define BASE 0xffffffff81000000ull
#define SIZE 600

/* A function of SIZE bytes at 0x10 of .text; each byte is its place. */
struct unit {
	struct object object;
	struct section *text;
	struct symbol *function;
	unsigned char bytes[SIZE + 0x20]; /* in the parent */
	struct parent_sites seals;	  /* of the parent */
};

static void unit_init_for(struct unit *unit, const struct arch *arch)
{
	GElf_Ehdr header = {.e_machine = arch->elf.machine};

	*unit = (struct unit){0};
	object_init(&unit->object, arch, &header);
	for (size_t i = 0; i < sizeof(unit->bytes); i++)
		unit->bytes[i] = i;
	unit->text = object_add_section(&unit->object, ".text", SHT_PROGBITS,
					SHF_ALLOC | SHF_EXECINSTR, 16, 0);
	section_append(unit->text, unit->bytes, sizeof(unit->bytes), 1);
	unit->function = object_add_symbol(&unit->object, "f", unit->text, 0x10, SIZE, STT_FUNC,
					   STB_GLOBAL);
}

static void unit_init(struct unit *unit)
{
	unit_init_for(unit, &arch_x86_64);
}

/* A section of one entry of that size, for the place at that offset of the function. */
static struct section *add_entry(struct unit *unit, const char *name, size_t size, uint64_t at)
{
	struct section *section =
		object_add_section(&unit->object, name, SHT_PROGBITS, SHF_ALLOC, 1, 0);

	section_append(section, NULL, size, 1);
	section_add_reloc(section, 0, size == 8 || size == 16 ? R_X86_64_64 : R_X86_64_PC32,
			  object_section_symbol(&unit->object, unit->text), 0x10 + at);
	return section;
}

/*
 * The runs, decoded: what[i] is 'x' where byte i may be anything, else '.'; the bytes
 * are checked.
 */
static void decode(const struct unit *unit, const char *parent_name, char *what)
{
	struct parent parent = {.name = (char *)parent_name, .base = BASE};
	struct parent_symbol old = {.value = BASE + 0x1000, .size = SIZE};
	struct rewritten rewritten;
	struct buffer runs = {0};
	size_t next = 0, at = 0;

	*map_slot(&parent.sites, ".ibt_endbr_seal") = (void *)&unit->seals;
	rewritten_init(&unit->object, &rewritten);
	text_source_add_runs(&(struct text_source){.object = &unit->object,
						   .rewritten = &rewritten,
						   .symbol = unit->function,
						   .parent = &parent,
						   .old = &old,
						   .bytes = unit->bytes + 0x10},
		  &runs);
	while (at < SIZE) {
		const unsigned char *run = (const unsigned char *)runs.text + next;

		assert_true(next + 2 <= runs.length && run[0] + run[1] > 0);
		memset(what + at, 'x', run[0]);
		memset(what + at + run[0], '.', run[1]);
		assert_memory_equal(run + 2, unit->bytes + 0x10 + at + run[0], run[1]);
		at += run[0] + run[1];
		next += 2 + run[1];
	}
	what[SIZE] = 0;
	assert_int_equal(at, SIZE);
	assert_int_equal(next, runs.length);
	buffer_deinit(&runs);
	rewritten_deinit(&rewritten);
	parent_sites_free(&parent);
}

/* Exactly the bytes of these ranges, which end with a length of 0, are left out. */
static void left_out(const struct unit *unit, const char *parent, const int (*ranges)[2])
{
	char what[SIZE + 1], wanted[SIZE + 1];

	memset(wanted, '.', SIZE);
	wanted[SIZE] = 0;
	for (; (*ranges)[1]; ranges++)
		memset(wanted + (*ranges)[0], 'x', (*ranges)[1]);
	decode(unit, parent, what);
	assert_string_equal(what, wanted);
}

static void everything_is_compared(void **state)
{
	struct unit unit;

	(void)state;
	unit_init(&unit);
	left_out(&unit, "vmlinux", (const int[][2]){{0, 0}});
	object_deinit(&unit.object);
}

static void fields_that_are_relocated(void **state)
{
	struct unit unit;

	(void)state;
	unit_init(&unit);
	struct symbol *symbol =
		object_add_symbol(&unit.object, "g", NULL, 0, 0, STT_NOTYPE, STB_GLOBAL);
	section_add_reloc(unit.text, 0x10, R_X86_64_32S, symbol, 0);
	section_add_reloc(unit.text, 0x10 + 100, R_X86_64_64, symbol, 0);
	section_add_reloc(unit.text, 0x10 + 200, R_X86_64_PC32, symbol, -4);
	section_add_reloc(unit.text, 0x10 + 300, R_X86_64_PC32, symbol, -4);
	section_add_reloc(unit.text, 0x10 + SIZE, R_X86_64_64, symbol, 0); /* behind it */
	/* To a place of the kernel, and to one with a small number, as per-CPU ones. */
	object_put32(&unit.object, unit.bytes + 0x10 + 200, 0x2000);
	object_put32(&unit.object, unit.bytes + 0x10 + 300, 0x100 - (uint32_t)(BASE + 0x1000 + 300));
	left_out(&unit, "vmlinux", (const int[][2]){{0, 4}, {100, 8}, {300, 4}, {0, 0}});
	left_out(&unit, "ext4", (const int[][2]){{0, 4}, {100, 8}, {200, 4}, {300, 4}, {0, 0}});
	object_deinit(&unit.object);
}

/* Distances in instructions stay in vmlinux; halves and offsets of addresses do not. */
static void fields_of_instructions(void **state)
{
	static const struct {
		const struct arch *arch;
		uint32_t distance, address;
	} machines[] = {
		{&arch_arm64, R_AARCH64_CALL26, R_AARCH64_ADD_ABS_LO12_NC},
		{&arch_arm64, R_AARCH64_ADR_PREL_PG_HI21, R_AARCH64_LDST64_ABS_LO12_NC},
		{&arch_mips64el, R_MIPS_PC16, R_MIPS_26},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		struct unit unit;

		unit_init_for(&unit, machines[i].arch);
		struct symbol *symbol =
			object_add_symbol(&unit.object, "g", NULL, 0, 0, STT_NOTYPE, STB_GLOBAL);
		section_add_reloc(unit.text, 0x10 + 100, machines[i].distance, symbol, 0);
		section_add_reloc(unit.text, 0x10 + 200, machines[i].address, symbol, 0);
		left_out(&unit, "vmlinux", (const int[][2]){{200, 4}, {0, 0}});
		left_out(&unit, "ext4", (const int[][2]){{100, 4}, {200, 4}, {0, 0}});
		object_deinit(&unit.object);
	}
}

static void places_that_are_rewritten(void **state)
{
	static const struct {
		const char *section;
		size_t entry;
		unsigned char first; /* byte of the place */
		int length;
	} places[] = {
		{"__mcount_loc", 8, 0xe8, 5},	     {"__jump_table", 16, 0x0f, 5},
		{"__jump_table", 16, 0xe9, 5},	     {"__jump_table", 16, 0x66, 2},
		{"__jump_table", 16, 0xeb, 2},	     {".static_call_sites", 8, 0xe8, 5},
		{".retpoline_sites", 4, 0xe8, 5},    {".retpoline_sites", 4, 0x2e, 6},
		{".retpoline_sites", 4, 0x0f, 6},    {".return_sites", 4, 0xe9, 5},
		{".smp_locks", 4, 0xf0, 1},	     {".call_sites", 4, 0xe8, 0},
		{"runtime_ptr_dentry_hashtable", 4, 0xef, 8},
		{"runtime_shift_d_hash_shift", 4, 12, 1},
		{"__ex_table", 12, 0x90, 0},	     {".discard.reachable", 4, 0x90, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		struct unit unit;

		unit_init(&unit);
		unit.text->data[0x10 + 40] = places[i].first;
		unit.bytes[0x10 + 40] = places[i].first;
		add_entry(&unit, places[i].section, places[i].entry, 40);
		left_out(&unit, "vmlinux", (const int[][2]){{40, places[i].length}, {0, 0}});
		object_deinit(&unit.object);
	}
}

/* Which landing pads the kernel seals depends on the whole parent, so its table alone counts. */
static void landing_pads_that_are_sealed(void **state)
{
	struct unit unit;

	(void)state;
	unit_init(&unit);
	add_entry(&unit, ".ibt_endbr_seal", 4, 40);
	left_out(&unit, "vmlinux", (const int[][2]){{0, 0}});
	for (uint64_t at = 0; at <= SIZE; at += SIZE / 2)
		*vec_push(&unit.seals.list) = (struct parent_site){0, BASE + 0x1000 + at};
	left_out(&unit, "vmlinux", (const int[][2]){{0, 4}, {SIZE / 2, 4}, {0, 0}});
	vec_deinit(&unit.seals.list);
	object_deinit(&unit.object);
}

/* MIPS: as many as the kernel was compiled with, but no more than the core writes to. */
static void entries_of_some_nops(void **state)
{
	static const struct {
		int nops, length;
	} entries[] = {{3, 12}, {4, 16}, {6, 16}, {1, 4}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		struct unit unit;

		unit_init_for(&unit, &arch_mips64el);
		memset(unit.text->data + 0x10, 0, 4 * (size_t)entries[i].nops);
		memset(unit.bytes + 0x10, 0, 4 * (size_t)entries[i].nops);
		struct section *section = object_add_section(
			&unit.object, "__patchable_function_entries", SHT_PROGBITS, SHF_ALLOC, 8, 0);
		section_append(section, NULL, 8, 1);
		section_add_reloc(section, 0, R_MIPS_64,
				  object_section_symbol(&unit.object, unit.text), 0x10);
		left_out(&unit, "vmlinux", (const int[][2]){{0, entries[i].length}, {0, 0}});
		object_deinit(&unit.object);
	}
}

/* Tables whose entries have the length; 14 bytes from 6.3 on; the last without padding. */
/*
 * arm64 with two NOPs in front of each function: the table names these, and the kernel rewrites as
 * many at the function's start, or behind "bti c".
 */
static void entries_named_by_the_nops_in_front(void **state)
{
	static const unsigned char bti[] = {0x5f, 0x24, 0x03, 0xd5};
	struct unit unit;

	(void)state;
	for (int landing_pad = 0; landing_pad < 2; landing_pad++) {
		unit_init_for(&unit, &arch_arm64);
		if (landing_pad)
			memcpy(unit.text->data + 0x10, bti, sizeof(bti));
		add_entry(&unit, "__patchable_function_entries", 8, -8)->relocs.list[0].type =
			R_AARCH64_ABS64;
		left_out(&unit, "vmlinux", (const int[][2]){{4 * landing_pad, 8}, {0, 0}});
		object_deinit(&unit.object);
	}
	/* What lies farther in front of the function is another one's. */
	unit_init_for(&unit, &arch_arm64);
	add_entry(&unit, "__patchable_function_entries", 8, -12)->relocs.list[0].type =
		R_AARCH64_ABS64;
	left_out(&unit, "vmlinux", (const int[][2]){{0, 0}});
	object_deinit(&unit.object);
}

static void places_with_a_length(void **state)
{
	static const struct {
		const char *section;
		size_t entry, length_at;
	} tables[] = {
		{".altinstructions", 12, 10},
		{".altinstructions", 14, 12},
		{".parainstructions", 16, 9},
		{".parainstructions", 10, 9},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(tables); i++) {
		struct unit unit;

		unit_init(&unit);
		struct section *section =
			add_entry(&unit, tables[i].section, tables[i].entry, SIZE - 10);
		section->data[tables[i].length_at] = 255; /* does not reach into the next one */
		left_out(&unit, "vmlinux", (const int[][2]){{SIZE - 10, 10}, {0, 0}});
		object_deinit(&unit.object);
	}
}

/* More than a run can leave out. */
static void long_stretches(void **state)
{
	struct unit unit;

	(void)state;
	unit_init(&unit);
	struct section *section =
		object_add_section(&unit.object, ".altinstructions", SHT_PROGBITS, SHF_ALLOC, 1, 0);
	for (size_t i = 0; i < 2; i++) {
		uint64_t entry = section_append(section, NULL, 12, 1);

		section_add_reloc(section, entry, R_X86_64_PC32,
				  object_section_symbol(&unit.object, unit.text),
				  0x10 + 20 + i * 250);
		section->data[entry + 10] = 255;
	}
	left_out(&unit, "vmlinux", (const int[][2]){{20, 250 + 255}, {0, 0}});
	object_deinit(&unit.object);
}

static void cold_parts_as_each_gcc_names_them(void **state)
{
	static const GElf_Ehdr header = {
		.e_ident = {[EI_CLASS] = ELFCLASS64, [EI_DATA] = ELFDATA2LSB},
		.e_machine = EM_X86_64,
	};
	static const struct {
		const char *function, *cold; /* the cold part's name */
	} cases[] = {
		{"plain", "plain.cold"},       {"numbered", "numbered.cold.17"},
		{"clone.isra.0", "clone.isra.0.cold.2"}, {"newer.isra.0", "newer.isra.0.cold"},
		{"none", NULL},
	};
	struct exact_functions functions;
	struct object object;

	(void)state;
	object_init(&object, &arch_x86_64, &header);
	struct section *text = object_add_section(&object, ".text", SHT_PROGBITS,
						  SHF_ALLOC | SHF_EXECINSTR, 16, 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		object_add_symbol(&object, cases[i].function, text, 0, 0, STT_FUNC, STB_LOCAL);
		if (cases[i].cold)
			object_add_symbol(&object, cases[i].cold, text, 0, 0, STT_FUNC, STB_LOCAL);
	}
	object_add_symbol(&object, "none.cold.x", text, 0, 0, STT_FUNC, STB_LOCAL);
	exact_functions_init(&object, &functions);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct symbol *cold;
		char *name;

		assert_string_equal(exact_function(&functions, cases[i].function)->name,
				    cases[i].function);
		for (int number = 0; number < 2; number++) {
			name = xasprintf("%s.cold%s", cases[i].function, number ? ".3" : "");
			cold = exact_function(&functions, name);
			if (cases[i].cold)
				assert_string_equal(cold->name, cases[i].cold);
			else
				assert_null(cold);
			free(name);
		}
	}
	exact_functions_deinit(&functions);
	object_deinit(&object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_compared),
		cmocka_unit_test(fields_that_are_relocated),
		cmocka_unit_test(fields_of_instructions),
		cmocka_unit_test(places_that_are_rewritten),
		cmocka_unit_test(landing_pads_that_are_sealed),
		cmocka_unit_test(entries_of_some_nops),
		cmocka_unit_test(entries_named_by_the_nops_in_front),
		cmocka_unit_test(places_with_a_length),
		cmocka_unit_test(long_stretches),
		cmocka_unit_test(cold_parts_as_each_gcc_names_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
