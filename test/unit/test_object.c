// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of the object model: make objects piece by piece, write, read and split them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "object/atoms.h"
#include "arch/machines.h"
#include "folder.h"
#include "object/object.h"

static const GElf_Ehdr header = {
	.e_ident = {[EI_CLASS] = ELFCLASS64, [EI_DATA] = ELFDATA2LSB},
	.e_machine = EM_X86_64,
};

static void make(struct object *object)
{
	object_init(object, &arch_x86_64, &header);
}

static struct section *add_text(struct object *object, const char *name, size_t size)
{
	struct section *section = object_add_section(object, name, SHT_PROGBITS,
						     SHF_ALLOC | SHF_EXECINSTR, 16, 0);
	char *nops = xmalloc(size);

	memset(nops, 0x90, size);
	section_append(section, nops, size, 1);
	free(nops);
	return section;
}

static void write_and_read(struct object *object, struct object *ret)
{
	assert_no_error(object_write(object, file));
	object_deinit(object);
	assert_no_error(object_read(file, ret));
}

static struct symbol *find_symbol(struct object *object, const char *name)
{
	for (size_t i = 1; i < object->symbols.count; i++)
		if (!strcmp(object->symbols.list[i]->name, name))
			return object->symbols.list[i];
	fail_msg("no symbol %s", name);
	return NULL;
}

static void test_what_is_written_is_read(void **state)
{
	struct object object, read;

	(void)state;
	make(&object);
	struct section *text = add_text(&object, ".text.f", 24);
	struct section *bss = object_add_section(&object, ".bss.b", SHT_NOBITS,
						 SHF_ALLOC | SHF_WRITE, 8, 0);
	section_append(bss, NULL, 4096, 1);
	/* A global one first: the writer sorts local ones before it. */
	struct symbol *global = object_add_symbol(&object, "elsewhere", NULL, 0, 0, STT_NOTYPE,
						  STB_GLOBAL);
	struct symbol *f = object_add_symbol(&object, "f", text, 0, 24, STT_FUNC, STB_LOCAL);
	object_add_symbol(&object, "b", bss, 8, 16, STT_OBJECT, STB_GLOBAL);
	section_add_reloc(text, 4, R_X86_64_PC32, global, -4);
	section_add_reloc(text, 12, R_X86_64_64, f, 0x123456789aLL);

	write_and_read(&object, &read);
	text = object_find_section(&read, ".text.f");
	assert_non_null(text);
	assert_int_equal(text->size, 24);
	assert_int_equal(text->align, 16);
	assert_int_equal(text->flags, SHF_ALLOC | SHF_EXECINSTR);
	assert_int_equal(text->data[23], 0x90);
	assert_int_equal(text->relocs.count, 2);
	assert_string_equal(text->relocs.list[0].symbol->name, "elsewhere");
	assert_int_equal(text->relocs.list[0].addend, -4);
	assert_int_equal(text->relocs.list[1].addend, 0x123456789aLL);
	assert_ptr_equal(text->relocs.list[1].symbol, find_symbol(&read, "f"));

	struct symbol *b = find_symbol(&read, "b");
	assert_string_equal(b->section->name, ".bss.b");
	assert_int_equal(b->section->type, SHT_NOBITS);
	assert_int_equal(b->section->size, 4096);
	assert_int_equal(b->value, 8);
	assert_int_equal(b->size, 16);
	assert_int_equal(b->bind, STB_GLOBAL);
	assert_int_equal(find_symbol(&read, "elsewhere")->special, SHN_UNDEF);
	object_deinit(&read);
}

/* Relocations that the kernel's livepatch core makes stay in a section of their own. */
static void test_livepatch_relocs(void **state)
{
	struct object object, read;

	(void)state;
	make(&object);
	struct section *text = add_text(&object, ".text", 32);
	struct symbol *usual = object_add_symbol(&object, "printk", NULL, 0, 0, 0, STB_GLOBAL);
	struct symbol *late = object_add_symbol(&object, ".klp.sym.vmlinux.foo,2", NULL, 0, 0, 0,
						STB_GLOBAL);
	late->special = SHN_LIVEPATCH;
	section_add_reloc(text, 4, R_X86_64_PLT32, usual, -4);
	struct section *klp = object_add_section(&object, ".klp.rela.vmlinux..text", SHT_RELA,
						 SHF_ALLOC | SHF_INFO_LINK | SHF_RELA_LIVEPATCH, 8,
						 0);
	klp->target = text;
	section_add_reloc(klp, 20, R_X86_64_PC32, late, -4);
	assert_no_error(object_write(&object, file));
	object_deinit(&object);

	/* A file for the differ must not have such symbols. */
	struct error *error = object_read(file, &read);
	assert_error(error, STATUS_REFUSED, "[elf-malformed]");

	assert_no_error(object_read_livepatch(file, &read));
	text = object_find_section(&read, ".text");
	klp = object_find_section(&read, ".klp.rela.vmlinux..text");
	assert_int_equal(text->relocs.count, 1);
	assert_string_equal(text->relocs.list[0].symbol->name, "printk");
	assert_ptr_equal(klp->target, text);
	assert_int_equal(klp->flags, SHF_ALLOC | SHF_INFO_LINK | SHF_RELA_LIVEPATCH);
	assert_int_equal(klp->relocs.count, 1);
	assert_int_equal(klp->relocs.list[0].offset, 20);
	assert_int_equal(klp->relocs.list[0].type, R_X86_64_PC32);
	assert_int_equal(klp->relocs.list[0].addend, -4);
	assert_string_equal(klp->relocs.list[0].symbol->name, ".klp.sym.vmlinux.foo,2");
	assert_int_equal(klp->relocs.list[0].symbol->special, SHN_LIVEPATCH);
	/* The linker could not know the field, so it is cleared as any other. */
	assert_int_equal(object_get32(&read, text->data + 20), 0);
	object_deinit(&read);
}

static void test_appending(void **state)
{
	struct object object;

	(void)state;
	make(&object);
	struct section *section =
		object_add_section(&object, ".data.d", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 1, 0);
	assert_int_equal(section_append(section, "abc", 3, 1), 0);
	assert_int_equal(section_append(section, "defg", 4, 8), 8);
	assert_int_equal(section_append(section, NULL, 0, 4), 12);
	assert_int_equal(section_append(section, NULL, 2, 1), 12);
	assert_int_equal(section->size, 14);
	assert_int_equal(section->align, 8);
	assert_memory_equal(section->data, "abc\0\0\0\0\0defg\0\0", 14);

	struct section *empty =
		object_add_section(&object, ".data.e", SHT_PROGBITS, SHF_ALLOC, 1, 0);
	assert_int_equal(section_append(empty, NULL, 0, 1), 0);
	object_deinit(&object);
}

static void test_many_sections(void **state)
{
	struct object object, read;
	const size_t count = SHN_LORESERVE + 1000;

	(void)state;
	make(&object);
	for (size_t i = 0; i < count; i++) {
		char *name = xasprintf(".data.v%zu", i);
		struct section *section = object_add_section(&object, name, SHT_PROGBITS,
							     SHF_ALLOC | SHF_WRITE, 1, 0);

		section_append(section, "x", 1, 1);
		object_add_symbol(&object, name + 6, section, 0, 1, STT_OBJECT, STB_LOCAL);
		free(name);
	}
	write_and_read(&object, &read);
	char *last = xasprintf("v%zu", count - 1), *last_section = xasprintf(".data.%s", last);
	struct symbol *symbol = find_symbol(&read, last);
	assert_string_equal(symbol->section->name, last_section);
	assert_true(symbol->section->index > SHN_LORESERVE);
	assert_string_equal(find_symbol(&read, "v0")->section->name, ".data.v0");
	free(last);
	free(last_section);
	object_deinit(&read);
}

/* Reads what was written after a change of one symbol or relocation; the reason is given. */
static void assert_malformed(struct object *object, const char *reason)
{
	struct object read;

	assert_no_error(object_write(object, file));
	object_deinit(object);
	struct error *error = object_read(file, &read);
	assert_non_null(error);
	assert_int_equal(error->status, STATUS_REFUSED);
	if (!strstr(error->text, reason) || !strstr(error->text, "refused [elf-malformed]"))
		fail_msg("'%s' does not tell '%s'", error->text, reason);
	error_destroy(error);
}

static void test_malformed(void **state)
{
	struct object object;

	(void)state;
	make(&object);
	object_add_symbol(&object, "f", add_text(&object, ".text.f", 8), 4, 5, STT_FUNC, STB_LOCAL);
	assert_malformed(&object, "symbol 'f' reaches beyond the end of section .text.f");

	make(&object);
	object_add_symbol(&object, "f", add_text(&object, ".text.f", 8), UINT64_MAX, 2, STT_FUNC,
			  STB_LOCAL);
	assert_malformed(&object, "symbol 'f' reaches beyond the end of section .text.f");

	make(&object);
	struct section *text = add_text(&object, ".text.f", 8);
	struct symbol *f = object_add_symbol(&object, "f", text, 0, 8, STT_FUNC, STB_LOCAL);
	section_add_reloc(text, 5, R_X86_64_PC32, f, 0);
	assert_malformed(&object, "relocation 0 lies outside section .text.f");
}

/* ---- splitting ------------------------------------------------------------------ */

static void split(struct object *object, size_t refused)
{
	struct refusals refusals = {0};

	assert_no_error(object_split(object, "unit.c", &refusals));
	if (refusals.count != refused)
		fail_msg("%zu refusals, not %zu; the first: %s", refusals.count, refused,
			 refusals.count ? refusals.list[0].text : "none");
	refusals_deinit(&refusals);
}

static void test_split_by_symbols(void **state)
{
	struct object object, read;

	(void)state;
	make(&object);
	struct section *text = add_text(&object, ".sched.text", 48);
	object_add_symbol(&object, "b", text, 32, 16, STT_FUNC, STB_GLOBAL);
	object_add_symbol(&object, "a", text, 0, 20, STT_FUNC, STB_LOCAL);
	object_add_symbol(&object, "alias", text, 32, 16, STT_FUNC, STB_WEAK);
	object_add_symbol(&object, "label", text, 8, 0, STT_NOTYPE, STB_LOCAL);
	write_and_read(&object, &read);
	split(&read, 0);

	text = object_find_section(&read, ".sched.text");
	assert_int_equal(text->atoms.count, 2);
	assert_string_equal(text->atoms.list[0]->name, "a");
	assert_string_equal(text->atoms.list[1]->name, "b"); /* global before its alias */
	assert_ptr_equal(find_symbol(&read, "alias")->atom, text->atoms.list[1]);
	assert_null(find_symbol(&read, "label")->atom);
	assert_ptr_equal(atom_at(text, 0), text->atoms.list[0]);
	assert_ptr_equal(atom_at(text, 20), text->atoms.list[0]); /* behind its last byte */
	assert_null(atom_at(text, 21));				  /* padding */
	assert_ptr_equal(atom_at(text, 32), text->atoms.list[1]);
	object_unsplit(&read);
	object_deinit(&read);
}

static void test_gaps(void **state)
{
	struct object object, read;

	(void)state;
	make(&object); /* 15 bytes of padding are, 16 are not */
	struct section *text = add_text(&object, ".sched.text", 64);
	object_add_symbol(&object, "a", text, 0, 17, STT_FUNC, STB_LOCAL);
	object_add_symbol(&object, "b", text, 32, 32, STT_FUNC, STB_LOCAL);
	write_and_read(&object, &read);
	split(&read, 0);
	object_unsplit(&read);
	object_deinit(&read);

	make(&object);
	text = add_text(&object, ".sched.text", 64);
	object_add_symbol(&object, "a", text, 0, 16, STT_FUNC, STB_LOCAL);
	object_add_symbol(&object, "b", text, 32, 32, STT_FUNC, STB_LOCAL);
	write_and_read(&object, &read);
	split(&read, 1);
	object_unsplit(&read);
	object_deinit(&read);
}

static void test_contents(void **state)
{
	struct object object, read;

	(void)state;
	make(&object);
	struct section *strings = object_add_section(
		&object, ".rodata.f.str1.1", SHT_PROGBITS, SHF_ALLOC | SHF_MERGE | SHF_STRINGS, 1, 1);
	section_append(strings, "one\0three\0open", 14, 1);
	struct section *wide = object_add_section(
		&object, ".rodata.str2.2", SHT_PROGBITS, SHF_ALLOC | SHF_MERGE | SHF_STRINGS, 2, 2);
	section_append(wide, "a\0b\0\0\0c", 8, 1);
	struct section *constants = object_add_section(&object, ".rodata.cst8", SHT_PROGBITS,
						       SHF_ALLOC | SHF_MERGE, 8, 8);
	section_append(constants, "12345678abcdefgh", 16, 1);
	object_add_symbol(&object, "none", NULL, 0, 0, STT_NOTYPE, STB_GLOBAL);
	write_and_read(&object, &read);
	split(&read, 0);

	struct atom *atom = object_find_section(&read, ".rodata.f.str1.1")->atoms.list[0];
	assert_int_equal(atom->class, ATOM_STRINGS);
	assert_int_equal(content_size(atom, 0), 4);
	assert_int_equal(content_size(atom, 3), 1);
	assert_int_equal(content_size(atom, 5), 5);
	assert_int_equal(content_size(atom, 10), 4); /* ends with the section */
	assert_int_equal(content_size(atom, 14), 0);
	assert_int_equal(content_size(atom, UINT64_MAX), 0);
	atom = object_find_section(&read, ".rodata.str2.2")->atoms.list[0];
	assert_int_equal(content_size(atom, 0), 6);
	assert_int_equal(content_size(atom, 6), 2);
	assert_int_equal(content_size(atom, 7), 0);
	atom = object_find_section(&read, ".rodata.cst8")->atoms.list[0];
	assert_int_equal(atom->class, ATOM_CONST);
	assert_int_equal(content_size(atom, 8), 8);
	assert_int_equal(content_size(atom, 9), 0);
	object_unsplit(&read);
	object_deinit(&read);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_written_is_read),
		cmocka_unit_test(test_livepatch_relocs),
		cmocka_unit_test(test_appending),
		cmocka_unit_test(test_many_sections),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_split_by_symbols),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_contents),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
