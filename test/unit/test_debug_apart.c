// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of debug_apart.c: a module and its debug file become one file, in objects made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>

#include "arch/machines.h"
#include "folder.h"
#include "object/object.h"
#include "pokepatch-build/debug_apart.h"

/* What the two files of a pair are made with. */
struct made {
	bool debug;	    /* with the names of a debug file, and without contents */
	unsigned char id;   /* first byte of the build id */
	const char *target; /* symbol of the relocation in .call_sites; NULL: section .text */
	int size;	    /* bytes of .text */
};

static struct section *add(struct object *object, const struct made *made, const char *name,
			   uint64_t flags, int size)
{
	struct section *section = object_add_section(object, name, SHT_PROGBITS, flags, 4, 0);

	for (int i = 0; i < size; i++)
		section_append(section, &(char){i + 1}, 1, 1);
	if (made->debug)
		section->type = SHT_NOBITS;
	return section;
}

static char *make(const char *name, const struct made *made)
{
	static const GElf_Ehdr header = {
		.e_ident = {[EI_CLASS] = ELFCLASS64, [EI_DATA] = ELFDATA2LSB},
		.e_machine = EM_X86_64,
	};
	char *path = xasprintf("%s/%s", folder, name);
	struct object object;

	object_init(&object, &arch_x86_64, &header);
	struct section *note = object_add_section(&object, ".note.gnu.build-id", SHT_NOTE,
						  SHF_ALLOC, 4, 0);
	section_append(note, &made->id, 1, 1);
	/* The symbols' numbers differ in the two files. */
	if (made->debug)
		object_add_symbol(&object, "x.c", NULL, 0, 0, STT_FILE, STB_LOCAL)->special =
			SHN_ABS;
	struct section *text = add(&object, made, ".text", SHF_ALLOC | SHF_EXECINSTR, made->size);
	struct section *sites = add(&object, made, ".call_sites", SHF_ALLOC, 4);
	struct symbol *f = object_add_symbol(&object, made->debug ? "f" : made->target ?: "f", text,
					     4, 4, STT_FUNC, STB_LOCAL);
	if (made->debug)
		add(&object, made, ".rela.call_sites", 0, 24);
	else
		section_add_reloc(sites, 0, R_X86_64_PC32,
				  made->target ? f : object_section_symbol(&object, text), 6);
	assert_no_error(object_write(&object, path));
	object_deinit(&object);
	return path;
}

static struct error *join(const struct made *debug, const struct made *module, char **ret)
{
	_free_ char *debug_path = make("x.ko.debug", debug), *module_path = make("x.ko", module);

	*ret = xasprintf("%s/joined.ko", folder);
	return debug_join(debug_path, module_path, *ret);
}

/* The debug file's symbols, with the module's contents and its relocations. */
static void test_joined(void **state)
{
	const struct made debug = {.debug = true, .id = 1, .size = 8};
	static const char *const targets[] = {NULL, "f"};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		_free_ char *path = NULL;
		struct object object;

		assert_no_error(join(&debug, &(struct made){.id = 1, .target = targets[i], .size = 8},
				     &path));
		assert_no_error(object_read(path, &object));
		const struct section *text = object_find_section(&object, ".text");
		const struct section *sites = object_find_section(&object, ".call_sites");

		assert_memory_equal(text->data, "\1\2\3\4\5\6\7\10", 8);
		assert_int_equal(sites->type, SHT_PROGBITS);
		assert_int_equal(sites->relocs.count, 1);
		assert_ptr_equal(sites->relocs.list[0].symbol->section, text);
		assert_int_equal(sites->relocs.list[0].symbol->type,
				 targets[i] ? STT_FUNC : STT_SECTION);
		assert_int_equal(sites->relocs.list[0].addend, 6);
		assert_string_equal(object.symbols.list[1]->name, "x.c");
		object_deinit(&object);
	}
}

static void test_of_another_build(void **state)
{
	const struct made debug = {.debug = true, .id = 1, .size = 8};
	static const struct {
		struct made module;
		const char *differs;
	} cases[] = {
		{{.id = 2, .size = 8}, "differ in build id"},
		{{.id = 1, .size = 12}, "differ in .text"},
		{{.id = 1, .size = 8, .target = "g"}, "differ in g"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_free_ char *path = NULL;

		assert_error(join(&debug, &cases[i].module, &path), STATUS_FAILED, cases[i].differs);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_joined, setup, teardown),
		cmocka_unit_test_setup_teardown(test_of_another_build, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
