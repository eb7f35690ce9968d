// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of exact.h (verify.c): functions and their cold parts, as each gcc names them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/machines.h"
#include "pokepatch-build/exact.h"

static void test_cold_parts(void **state)
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
		const struct symbol *cold = exact_cold(&functions, cases[i].function);

		assert_string_equal(exact_function(&functions, cases[i].function)->name,
				    cases[i].function);
		if (cases[i].cold)
			assert_string_equal(cold->name, cases[i].cold);
		else
			assert_null(cold);
	}
	exact_functions_deinit(&functions);
	object_deinit(&object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cold_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
