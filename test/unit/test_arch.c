// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of rules that the tables of each architecture must keep (struct arch). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "object/arch.h"
#include "object/sections.h"
#include "common/util.h"

#define FOR_EACH_ARCH(arch)                                                                       \
	for (const struct arch *const *place = arch_all, *arch; (arch = *place); place++)

static void relocation_types_are_sorted(void **state)
{
	(void)state;
	FOR_EACH_ARCH(arch) {
		for (size_t i = 1; i < arch->relocs.count; i++)
			if (arch->relocs.kinds[i - 1].type >= arch->relocs.kinds[i].type)
				fail_msg("%s: %s", arch->name, arch->relocs.kinds[i].name);
		for (size_t i = 0; i < arch->relocs.count; i++)
			assert_ptr_equal(arch_reloc(arch, arch->relocs.kinds[i].type),
					 &arch->relocs.kinds[i]);
	}
}

/* A mask fits the field, and two types that mean the same write the same bytes. */
static void relocation_rows_are_sound(void **state)
{
	(void)state;
	FOR_EACH_ARCH(arch) {
		assert_non_null(arch_reloc(arch, arch->relocs.address));
		assert_int_equal(arch_reloc(arch, arch->relocs.address)->size,
				 arch->elf.class == 2 ? 8 : 4);
		assert_int_equal(arch_address_size(arch), arch->elf.class == 2 ? 8 : 4);
		for (size_t i = 0; i < arch->relocs.count; i++) {
			const struct reloc_kind *kind = &arch->relocs.kinds[i], *same;

			if (kind->size > 8 || (kind->idle && kind->size) ||
			    (kind->size < 8 && kind->mask >> 8 * kind->size))
				fail_msg("%s: size and mask of %s", arch->name, kind->name);
			if (!kind->same_as)
				continue;
			same = arch_reloc(arch, kind->same_as);
			if (!same || same->same_as || same->size != kind->size ||
			    same->mask != kind->mask || same->pc_relative != kind->pc_relative)
				fail_msg("%s: what %s is the same as", arch->name, kind->name);
		}
	}
}

static void a_machine_is_found_by_its_header(void **state)
{
	(void)state;
	FOR_EACH_ARCH(arch)
		assert_ptr_equal(arch_find(arch->elf.machine, arch->elf.class, arch->elf.data), arch);
	assert_null(arch_find(0xffff, 2, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(relocation_types_are_sorted),
		cmocka_unit_test(relocation_rows_are_sound),
		cmocka_unit_test(a_machine_is_found_by_its_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
