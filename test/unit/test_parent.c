// SPDX-License-Identifier: GPL-2.0-or-later
/* Unit tests of parents (object/parent.c): tell symbols of one name apart, in tables made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "arch/machines.h"
#include "folder.h"
#include "object/object.h"
#include "object/parent.h"
#include "object/parent_users.h"
#include "object/symvers.h"

struct made {
	struct object object;
	struct section *text, *data, *percpu;
};

static void make(struct made *made, bool build_id)
{
	static const GElf_Ehdr header = {
		.e_ident = {[EI_CLASS] = ELFCLASS64, [EI_DATA] = ELFDATA2LSB},
		.e_machine = EM_X86_64,
	};
	/* gABI, "Note Section": sizes of name and description, type, name, description */
	static const unsigned char note[] = {4, 0, 0,	0,   20,  0, 0, 0, 3, 0,  0,  0,
					     'G', 'N', 'U', 0,   1,	 2, 3, 4, 5, 6,  7,  8,
					     9, 10, 11, 12,  13,  14, 15, 16, 17, 18, 19, 20};

	object_init(&made->object, &arch_x86_64, &header);
	if (build_id)
		section_append(object_add_section(&made->object, ".note.gnu.build-id", SHT_NOTE,
						  SHF_ALLOC, 4, 0),
			       note, sizeof(note), 1);
	made->text = object_add_section(&made->object, ".text", SHT_PROGBITS,
					SHF_ALLOC | SHF_EXECINSTR, 16, 0);
	made->data = object_add_section(&made->object, ".data", SHT_PROGBITS,
					SHF_ALLOC | SHF_WRITE, 16, 0);
	made->percpu = object_add_section(&made->object, ".data..percpu", SHT_PROGBITS,
					  SHF_ALLOC | SHF_WRITE, 16, 0);
	for (int i = 0; i < 64; i++) {
		section_append(made->text, &(char){i}, 1, 1);
		section_append(made->data, &(char){i + 100}, 1, 1);
		section_append(made->percpu, NULL, 1, 1);
	}
}

static void add_file(struct made *made, const char *name)
{
	object_add_symbol(&made->object, name, NULL, 0, 0, STT_FILE, STB_LOCAL)->special = SHN_ABS;
}

static void add_function(struct made *made, const char *name, uint64_t value, unsigned char bind)
{
	object_add_symbol(&made->object, name, made->text, value, 4, STT_FUNC, bind);
}

static struct parent *finish(struct made *made, const char *name)
{
	struct parent *parent;

	assert_no_error(object_write(&made->object, file));
	object_deinit(&made->object);
	assert_no_error(parent_open(name, file, &parent));
	return parent;
}

/* Three units of two names; statics "init" in all, at addresses in another order. */
static void add_units(struct made *made)
{
	add_file(made, "core.c");
	add_function(made, "init", 48, STB_LOCAL);
	add_function(made, "first", 52, STB_LOCAL);
	add_file(made, "core.c");
	add_function(made, "init", 16, STB_LOCAL);
	add_function(made, "second", 20, STB_LOCAL);
	add_file(made, "tcp.c");
	add_function(made, "init", 32, STB_LOCAL);
	add_function(made, "_stext", 0, STB_GLOBAL);
	add_function(made, "weak", 4, STB_WEAK);
	object_add_symbol(&made->object, "counter", made->percpu, 8, 8, STT_OBJECT, STB_GLOBAL);
}

static void test_globals(void **state)
{
	struct made made;

	(void)state;
	make(&made, true);
	add_units(&made);
	struct parent *parent = finish(&made, "vmlinux");

	assert_int_equal(parent->build_id_length, 20);
	assert_int_equal(parent->build_id[19], 20);
	assert_int_equal(parent->base, 0);
	assert_null(parent_global(parent, "init"));
	assert_null(parent_global(parent, "missing"));
	assert_int_equal(parent_global(parent, "weak")->value, 4);
	assert_true(parent_global(parent, "weak")->function);
	assert_false(parent_global(parent, "weak")->percpu);

	const struct parent_symbol *counter = parent_global(parent, "counter");
	assert_true(counter->percpu);
	assert_false(counter->function);
	assert_string_equal(counter->section, ".data..percpu");
	assert_int_equal(counter->size, 8);
	parent_close(parent);
}

static bool find_block(struct parent *parent, const char *unit, const char *const *marks,
		       size_t count, struct refusals *refusals, uint32_t *ret)
{
	*refusals = (struct refusals){0};
	return parent_find_block(parent, unit, marks, count, refusals, ret);
}

static const struct parent_symbol *local_of(struct parent *parent, const char *unit,
					    const char *mark, const char *name)
{
	struct refusals refusals;
	uint32_t block;

	assert_true(find_block(parent, unit, &mark, 1, &refusals, &block));
	assert_int_equal(refusals.count, 0);
	return parent_local(parent, block, name);
}

static void check_refused(struct parent *parent, const char *unit, const char *first,
			  const char *second, const char *code, const char *text)
{
	const char *const marks[] = {first, second};
	struct refusals refusals;
	uint32_t block;

	assert_false(find_block(parent, unit, marks, second ? 2 : 1, &refusals, &block));
	assert_int_equal(refusals.count, 1);
	assert_string_equal(refusals.list[0].code, code);
	assert_string_equal(refusals.list[0].location, unit);
	assert_non_null(strstr(refusals.list[0].text, text));
	refusals_deinit(&refusals);
}

static void test_units_of_one_name(void **state)
{
	struct made made;

	(void)state;
	make(&made, true);
	add_units(&made);
	struct parent *parent = finish(&made, "vmlinux");

	assert_int_equal(local_of(parent, "kernel/sched/core.c", "first", "init")->value, 48);
	assert_int_equal(local_of(parent, "drivers/base/core.c", "second", "init")->value, 16);
	assert_int_equal(local_of(parent, "net/ipv4/tcp.c", "init", "init")->value, 32);
	/* Another unit's, and a global one */
	assert_null(local_of(parent, "net/ipv4/tcp.c", "init", "first"));
	assert_null(local_of(parent, "net/ipv4/tcp.c", "init", "weak"));

	/* Both have "init", and there is no DWARF to ask. */
	check_refused(parent, "net/core.c", "init", NULL, "symbol-ambiguous", "called 'core.c'");
	check_refused(parent, "net/core.c", "first", "second", "symbol-missing", "no unit 'core.c'");
	check_refused(parent, "net/udp.c", "init", NULL, "symbol-missing", "has no unit 'udp.c'");
	parent_close(parent);
}

/* By address in vmlinux, as its kallsyms are sorted; by symbol table in a module. */
static void test_positions(void **state)
{
	static const struct {
		const char *parent, *unit, *mark;
		uint32_t position;
	} cases[] = {
		{"vmlinux", "core.c", "first", 3},     {"vmlinux", "core.c", "second", 1},
		{"vmlinux", "tcp.c", "init", 2},       {"some_module", "core.c", "first", 1},
		{"some_module", "core.c", "second", 2}, {"some_module", "tcp.c", "init", 3},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct made made;

		make(&made, true);
		add_units(&made);
		/* kallsyms has no absolute symbols. */
		add_file(&made, "assembly.S");
		object_add_symbol(&made.object, "init", NULL, 1, 0, STT_NOTYPE, STB_LOCAL)->special =
			SHN_ABS;
		struct parent *parent = finish(&made, cases[i].parent);
		assert_int_equal(parent_position(parent, local_of(parent, cases[i].unit,
								  cases[i].mark, "init")),
				 cases[i].position);
		parent_close(parent);
	}
}

static void test_bytes(void **state)
{
	struct made made;
	uint64_t room;

	(void)state;
	make(&made, true);
	add_units(&made);
	object_add_symbol(&made.object, "absolute", NULL, 5, 0, STT_NOTYPE, STB_GLOBAL)->special =
		SHN_ABS;
	struct parent *parent = finish(&made, "vmlinux");

	const unsigned char *bytes = parent_bytes(parent, parent_global(parent, "weak"), &room);
	assert_non_null(bytes);
	assert_int_equal(bytes[0], 4);
	assert_int_equal(room, 60);
	assert_null(parent_bytes(parent, parent_global(parent, "absolute"), &room));
	parent_close(parent);
}

static void test_unusable(void **state)
{
	struct made made;
	struct parent *parent;

	(void)state;
	make(&made, false);
	add_units(&made);
	assert_no_error(object_write(&made.object, file));
	object_deinit(&made.object);
	assert_error(parent_open("vmlinux", file, &parent), STATUS_FAILED, "no build id");

	make(&made, true);
	add_function(&made, "f", 0, STB_GLOBAL);
	assert_no_error(object_write(&made.object, file));
	object_deinit(&made.object);
	assert_error(parent_open("vmlinux", file, &parent), STATUS_FAILED, "not a vmlinux");

	make(&made, true);
	add_units(&made);
	made.text->type = SHT_NOBITS;
	assert_no_error(object_write(&made.object, file));
	object_deinit(&made.object);
	assert_error(parent_open("m", file, &parent), STATUS_FAILED, "debug information alone");

	assert_no_error(file_write(file, "text\n", 5));
	assert_error(parent_open("vmlinux", file, &parent), STATUS_FAILED, "not an ELF file");
	assert_error(parent_open("vmlinux", folder, &parent), STATUS_FAILED, folder);
}

static void test_symvers(void **state)
{
	static const char text[] = "0x12345678\tprintk\tvmlinux\tEXPORT_SYMBOL\t\n"
				   "0x00000001\tnf_ct\tnet/netfilter/nf_conntrack\t"
				   "EXPORT_SYMBOL_GPL\tNF\n";
	struct symvers symvers;

	(void)state;
	assert_no_error(file_write(file, text, strlen(text)));
	assert_no_error(symvers_read(file, &symvers));
	const struct export *export = symvers_find(&symvers, "printk");
	assert_string_equal(export->module, "vmlinux");
	assert_int_equal(export->crc, 0x12345678);
	assert_false(export->gpl);
	assert_string_equal(export->namespace, "");
	export = symvers_find(&symvers, "nf_ct");
	assert_string_equal(export->module, "net/netfilter/nf_conntrack");
	assert_string_equal(export->namespace, "NF");
	assert_true(export->gpl);
	assert_null(symvers_find(&symvers, "nothing"));
	symvers_deinit(&symvers);

	assert_no_error(file_write(file, "0x1\tprintk\n", 11));
	assert_error(symvers_read(file, &symvers), STATUS_FAILED, ":1: not a line");
}

/* modinfo has the names of files: hid-nintendo.ko depends on "hid,ff-memless". */
static void test_depends(void **state)
{
	struct parent parent = { .depends = "hid,ff-memless,led_class" };
	(void)state;

	assert_true(parent_depends(&parent, "hid"));
	assert_true(parent_depends(&parent, "ff_memless"));
	assert_true(parent_depends(&parent, "led_class"));
	assert_false(parent_depends(&parent, "ff_mem"));
	assert_false(parent_depends(&parent, "led_class_multicolor"));
	assert_false(parent_depends(&parent, "hid_generic"));
}

static void note_user(void *context, const char *name, const struct parent_symbol *user)
{
	struct buffer *said = context;

	buffer_printf(said, "%s<%s ", name, user->name);
}

/* Two functions that call "callee", one that jumps to it, and one that calls another. */
static struct parent *make_callers(const char *name, bool relocations)
{
	static const struct {
		const char *name;
		uint64_t at;
		uint8_t opcode, target;
	} callers[] = {
		{"first", 8, 0xe8, 40},
		{"second", 16, 0xe9, 40},
		{"other", 24, 0xe8, 48},
		{"third", 32, 0xe8, 40},
	};
	struct made made;

	make(&made, true);
	add_file(&made, "core.c");
	add_function(&made, "first", 8, STB_LOCAL);
	add_function(&made, "_stext", 0, STB_GLOBAL);
	add_function(&made, "callee", 40, STB_GLOBAL);
	struct symbol *callee = made.object.symbols.list[made.object.symbols.count - 1];
	add_function(&made, "another", 48, STB_GLOBAL);
	memset(made.text->data, 0x90, made.text->size);
	for (size_t i = 0; i < ARRAY_SIZE(callers); i++) {
		unsigned char *code = made.text->data + callers[i].at;

		if (i)
			add_function(&made, callers[i].name, callers[i].at, STB_GLOBAL);
		code[0] = callers[i].opcode;
		object_put32(&made.object, code + 1,
			     relocations ? 0 : (uint32_t)(callers[i].target - callers[i].at - 5));
		if (relocations && callers[i].target == 40)
			section_add_reloc(made.text, callers[i].at + 1, R_X86_64_PLT32, callee, -4);
	}
	return finish(&made, name);
}

static void test_users(void **state)
{
	static const struct {
		const char *parent;
		bool relocations;
	} parents[] = {{"vmlinux", true}, {"vmlinux", false}, {"module", true}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(parents); i++) {
		struct parent *parent = make_callers(parents[i].parent, parents[i].relocations);
		struct buffer said = {0};
		struct map names = {0};

		map_slot(&names, "callee");
		parent_users(parent, &arch_x86_64, &names, note_user, &said);
		assert_string_equal(said.text, "callee<first callee<second callee<third ");
		map_deinit(&names);
		buffer_deinit(&said);
		parent_close(parent);
	}
}

/* Give a section of the file the address that a linker would. */
static void link_at(const char *name, uint64_t address)
{
	int fd = open(file, O_RDWR);
	Elf *elf = elf_begin(fd, ELF_C_RDWR, NULL);
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &header))
		if (!strcmp(elf_strptr(elf, names, header.sh_name), name)) {
			header.sh_addr = address;
			assert_true(gelf_update_shdr(scn, &header));
		}
	assert_true(elf_update(elf, ELF_C_WRITE) > 0);
	elf_end(elf);
	close(fd);
}

/* MIPS: j and jal name their target by the low bits of its address, 4 bytes each. */
static void test_users_in_region(void **state)
{
	static const struct {
		const char *name;
		uint64_t at;
		uint32_t instruction;
	} callers[] = {
		{"jumps", 8, 0x08000000 | (0x1000 + 40) >> 2},	 /* j */
		{"calls", 16, 0x0c000000 | (0x1000 + 40) >> 2},	 /* jal */
		{"other", 24, 0x0c000000 | (0x1000 + 48) >> 2},
		{"branches", 32, 0x10000001},			 /* b .+8 */
	};
	struct buffer said = {0};
	struct map names = {0};
	struct made made;

	(void)state;
	make(&made, true);
	add_file(&made, "core.c");
	add_function(&made, "_stext", 0xffffffff80001000, STB_GLOBAL);
	add_function(&made, "callee", 0xffffffff80001028, STB_GLOBAL);
	memset(made.text->data, 0, made.text->size);
	for (size_t i = 0; i < ARRAY_SIZE(callers); i++) {
		add_function(&made, callers[i].name, 0xffffffff80001000 + callers[i].at, STB_GLOBAL);
		object_put32(&made.object, made.text->data + callers[i].at, callers[i].instruction);
	}
	assert_no_error(object_write(&made.object, file));
	object_deinit(&made.object);
	link_at(".text", 0xffffffff80001000);
	struct parent *parent;
	assert_no_error(parent_open("vmlinux", file, &parent));
	map_slot(&names, "callee");
	parent_users(parent, &arch_mips64el, &names, note_user, &said);
	assert_string_equal(said.text, "callee<branches callee<jumps callee<calls ");
	map_deinit(&names);
	buffer_deinit(&said);
	parent_close(parent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_globals),	      cmocka_unit_test(test_units_of_one_name),
		cmocka_unit_test(test_positions),     cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_unusable),      cmocka_unit_test(test_symvers),
		cmocka_unit_test(test_depends),
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_users_in_region),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
