// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of where the proof finds code that the kernel rewrites (proof/texts.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "arch/machines.h"
#include "object/object.h"
#include "proof/proof_rules.h"
#include "proof/proof_source.h"
#include "proof/proof_texts.h"

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
	GElf_Ehdr header = {.e_machine = arch_arm64.elf.machine};
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
		cmocka_unit_test(every_table_of_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
