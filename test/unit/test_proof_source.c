// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of how the proof splits the compiler's output into things (proof/source.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/machines.h"
#include "folder.h"
#include "proof/proof_source.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(code_behind_the_only_function, setup, teardown),
		cmocka_unit_test_setup_teardown(padding_behind_it, setup, teardown),
		cmocka_unit_test_setup_teardown(code_behind_several_functions, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
