// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unit tests of how the proof splits the compiler's output into things (proof/source.c), and of
 * where it finds code that the kernel rewrites (proof/texts.c).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/machines.h"
#include "folder.h"
#include "proof/proof_rules.h"
#include "proof/proof_source.h"
#include "proof/proof_texts.h"

static const GElf_Ehdr header = {
	.e_ident = {[EI_CLASS] = ELFCLASS64, [EI_DATA] = ELFDATA2LSB},
	.e_machine = EM_AARCH64,
};

static const unsigned char nop[] = {0x1f, 0x20, 0x03, 0xd5}, ret[] = {0xc0, 0x03, 0x5f, 0xd6};

/*
 * A section of code: functions of four instructions, NOPs in front of each, and instructions or
 * padding behind the last one.
 */
struct layout {
	unsigned int functions, nops, behind;
	bool padding;
};

static void add_layout(struct object *object, const struct layout *layout)
{
	static const char *const names[] = {"first", "second"};
	struct section *code = object_add_section(object, ".text.first", SHT_PROGBITS,
						  SHF_ALLOC | SHF_EXECINSTR, 4, 0);

	for (unsigned int i = 0; i < layout->functions; i++) {
		for (unsigned int j = 0; j < layout->nops; j++)
			section_append(code, nop, sizeof(nop), 4);
		const uint64_t start = code->size;
		for (unsigned int j = 0; j < 4; j++)
			section_append(code, ret, sizeof(ret), 4);
		object_add_symbol(object, names[i], code, start, 16, STT_FUNC, STB_LOCAL);
	}
	for (unsigned int i = 0; i < layout->behind; i++)
		section_append(code, layout->padding ? nop : ret, sizeof(ret), 4);
}

/* Where the last function ends, in bytes from its start, once the proof has split the section. */
static uint64_t last_function(const struct layout *layout)
{
	const struct proof_unit unit = {.orig = file, .exact = file};
	struct source *source = xcalloc(1, sizeof(*source));
	struct object object;
	uint64_t length = 0;

	object_init(&object, &arch_arm64, &header);
	add_layout(&object, layout);
	assert_no_error(object_write(&object, file));
	object_deinit(&object);
	assert_no_error(source_open(source, &unit, "unit", file, NULL));
	for (size_t i = 0; i < source->things.count; i++) {
		const struct thing *thing = source->things.list[i];

		if (thing->symbol)
			length = thing->end - thing->start;
	}
	source_close(source);
	return length;
}

/* The code behind the only function, its replacements, belongs to it, with NOPs in front or not. */
static void code_behind_the_only_function(void **state)
{
	(void)state;
	assert_int_equal(last_function(&(struct layout){.functions = 1, .behind = 2}), 24);
	assert_int_equal(last_function(&(struct layout){.functions = 1, .nops = 2, .behind = 2}),
			 24);
	assert_int_equal(last_function(&(struct layout){.functions = 1, .nops = 2}), 16);
}

static void padding_behind_it(void **state)
{
	(void)state;
	assert_int_equal(last_function(&(struct layout){1, 0, 2, true}), 16);
	assert_int_equal(last_function(&(struct layout){1, 2, 2, true}), 16);
}

/* Of several functions any may use the code behind the last one. */
static void code_behind_several_functions(void **state)
{
	(void)state;
	assert_int_equal(last_function(&(struct layout){.functions = 2, .behind = 2}), 16);
	assert_int_equal(last_function(&(struct layout){.functions = 2, .nops = 2, .behind = 2}),
			 16);
}

/* ---- where the kernel rewrites code (proof/texts.c) ---------------------------------- */

static const unsigned char entry[] = {0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5};

/* A section of code that is one entry, and a table of its own for it, as gcc 14 makes them. */
static void add_code(struct object *object, const char *name)
{
	struct section *code =
		object_add_section(object, name, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 8, 0);
	struct section *table = object_add_section(object, "__patchable_function_entries",
						   SHT_PROGBITS, SHF_ALLOC, 8, 0);

	section_append(code, entry, sizeof(entry), 1);
	section_append(table, NULL, 8, 1);
	section_add_reloc(table, 0, R_AARCH64_ABS64, object_section_symbol(object, code), 0);
}

static void every_table_of_a_name(void **state)
{
	struct source source = {.rules = &proof_rules_arm64};

	(void)state;
	object_init(&source.exact, &arch_arm64, &header);
	add_code(&source.exact, ".init.text");
	add_code(&source.exact, ".text");
	texts_read(&source);
	assert_int_equal(source.live.count, 2);
	assert_ptr_not_equal(source.live.list[0].section, source.live.list[1].section);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(source.live.list[i].length, sizeof(entry));
		assert_true(source.live.list[i].entry);
	}
	vec_deinit(&source.live);
	map_deinit(&source.exact_by_name);
	object_deinit(&source.exact);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(code_behind_the_only_function, setup, teardown),
		cmocka_unit_test_setup_teardown(padding_behind_it, setup, teardown),
		cmocka_unit_test_setup_teardown(code_behind_several_functions, setup, teardown),
		cmocka_unit_test(every_table_of_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
