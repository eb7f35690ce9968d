// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unit tests of reading a patch module's file.  The tests make a module section by section, as the
 * build tool does, then cut it off and damage it at every offset.
 */
#include <fcntl.h>
#include <gelf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

#include "pokepatch/cli.h"
#include "errors.h"
#include "pokepatch/patch_file.h"
#include "pokepatch_format.h"
#include "pokepatch/table.h"

static int make_folder(void **state)
{
	char *dir;
	struct error *error = temp_dir(&dir);

	if (error)
		return -1;
	*state = dir;
	setenv("POKEPATCH_SYSFS", dir, 1);
	return 0;
}

static int remove_folder(void **state)
{
	struct error *error = remove_tree(*state);
	int result = error ? -1 : 0;

	error_destroy(error);
	free(*state);
	unsetenv("POKEPATCH_SYSFS");
	return result;
}

/* ---- making a module ------------------------------------------------------- */

/* String table of the patch; offsets below. */
static const char strings[] = "\0fix_one\0vmlinux\0nf_tables\0do_thing\0nft_do";
enum { STR_NAME = 1, STR_VMLINUX = 9, STR_NFT = 17, STR_DO_THING = 27, STR_NFT_DO = 36 };

/* The tables' section: what the image points to, one after the other. */
struct tables {
	struct pokepatch_object objects[2];
	struct pokepatch_symbol symbols[2];
	struct pokepatch_func funcs[2];
	struct pokepatch_callback callbacks[2];
};

static const struct tables tables = {
	.objects = {{.name = STR_VMLINUX, .build_id_len = 2, .build_id = {0x0f, 0xa0}},
		    {.name = STR_NFT}},
	.symbols =
		{
			{.offset = 0x1000, .size = 16, .object = 0, .name = STR_DO_THING, .pos = 1},
			{.offset = 0x20, .size = 100, .object = 1, .name = STR_NFT_DO, .pos = 2},
		},
	.funcs =
		{
			{.new_size = 32,
			 .symbol = 0,
			 .cold = POKEPATCH_NONE,
			 .mode = POKEPATCH_MODE_AUTO},
			{.new_size = 90,
			 .symbol = 1,
			 .cold = POKEPATCH_NONE,
			 .mode = POKEPATCH_MODE_FTRACE},
		},
	.callbacks = {{.object = 1, .kind = POKEPATCH_CALLBACK_PRE_PATCH},
		      {.object = 0, .kind = POKEPATCH_CALLBACK_POST_UNPATCH}},
};

static const struct pokepatch_image plain_image = {
	.magic = POKEPATCH_MAGIC,
	.format = POKEPATCH_FORMAT,
	.size = sizeof(struct pokepatch_image),
	.transition = POKEPATCH_TRANSITION_STOP,
	.nr_objects = 2,
	.nr_symbols = 2,
	.nr_funcs = 2,
	.nr_relocs = 5,
	.nr_callbacks = 2,
	.strings_size = sizeof(strings),
	.name = STR_NAME,
};

/* The format's number, as modinfo has it. */
#define TEXT(number) #number
#define TEXT_OF(macro) TEXT(macro)
#define FORMAT TEXT_OF(POKEPATCH_FORMAT)

#define VERMAGIC "vermagic=6.1.0-5-tiny SMP mod_unload"
#define MODINFO                                                                                    \
	"license=GPL\0name=pokepatch_fix_one\0pokepatch=" FORMAT "\0"                              \
	"pokepatch_kernel=6.1.0-5-tiny\0"                                                          \
	"pokepatch_build_id=00ff10\0pokepatch_source=abcd\0depends=pokepatch\0" VERMAGIC
static const char modinfo[] = MODINFO;
static const char report[] = "{ \"functions\": [ { \"name\": \"helper\", \"parent\": \"vmlinux\", "
			     "\"change\": \"new\", \"new_size\": 7 }, { \"name\": \"do_thing\", "
			     "\"parent\": \"vmlinux\", \"change\": \"changed\" } ] }";

/* A note as the linker makes it: sizes, type 3 (NT_GNU_BUILD_ID), name, descriptor. */
#define BUILD_ID_NOTE(id) "\4\0\0\0\4\0\0\0\3\0\0\0GNU\0" id
#define BUILD_ID_NOTE_LENGTH (sizeof(BUILD_ID_NOTE("abcd")) - 1)

/* What a test may want otherwise. */
struct module {
	struct pokepatch_image image;
	const char *modinfo;
	size_t modinfo_length;
	const char *report;
	size_t report_length;
	const char *note; /* BUILD_ID_NOTE_LENGTH bytes */
	bool no_relocations;
};

static struct module usual(void)
{
	return (struct module){
		.image = plain_image,
		.modinfo = modinfo,
		.modinfo_length = sizeof(modinfo),
		.report = report,
		.report_length = sizeof(report) - 1,
		.note = BUILD_ID_NOTE("\x12\x34\xab\xcd"),
	};
}

/* Section names, and where each begins in the table. */
static const char names[] = "\0.modinfo\0.pokepatch.image\0.pokepatch.tables\0.pokepatch.strings\0"
			    ".pokepatch.report\0.note.gnu.build-id\0.rela.pokepatch.image\0"
			    ".symtab\0.strtab";
enum {
	SEC_NULL,
	SEC_MODINFO,
	SEC_IMAGE,
	SEC_TABLES,
	SEC_STRINGS,
	SEC_REPORT,
	SEC_NOTE,
	SEC_RELA,
	SEC_SYMTAB,
	SEC_NAMES
};

static uint32_t name_offset(int index)
{
	const char *name = names;

	for (int i = 0; i < index; i++)
		name += strlen(name) + 1;
	return name - names;
}

static Elf_Scn *add_section(Elf *elf, int index, uint32_t type, const void *bytes, size_t length)
{
	Elf_Scn *section = elf_newscn(elf);
	Elf_Data *data = elf_newdata(section);
	GElf_Shdr header;

	assert_int_equal(elf_ndxscn(section), index);
	data->d_buf = (void *)bytes;
	data->d_size = length;
	data->d_align = type == SHT_PROGBITS ? 1 : 8;
	data->d_type = type == SHT_RELA ? ELF_T_RELA : type == SHT_SYMTAB ? ELF_T_SYM : ELF_T_BYTE;
	gelf_getshdr(section, &header);
	header.sh_name = name_offset(index);
	header.sh_type = type;
	if (type == SHT_RELA)
		header.sh_entsize = sizeof(Elf64_Rela);
	if (type == SHT_SYMTAB)
		header.sh_entsize = sizeof(Elf64_Sym);
	gelf_update_shdr(section, &header);
	return section;
}

static void link_section(Elf_Scn *section, uint32_t link, uint32_t info)
{
	GElf_Shdr header;

	gelf_getshdr(section, &header);
	header.sh_link = link;
	header.sh_info = info;
	gelf_update_shdr(section, &header);
}

static void write_module(const char *path, const struct module *module)
{
	/* A section symbol for the tables, one for the strings; addends do the rest. */
	const Elf64_Sym symbols[] = {
		{0},
		{.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION), .st_shndx = SEC_TABLES},
		{.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION), .st_shndx = SEC_STRINGS},
	};
	const Elf64_Rela relocations[] = {
		{offsetof(struct pokepatch_image, objects), ELF64_R_INFO(1, R_X86_64_64),
		 offsetof(struct tables, objects)},
		{offsetof(struct pokepatch_image, symbols), ELF64_R_INFO(1, R_X86_64_64),
		 offsetof(struct tables, symbols)},
		{offsetof(struct pokepatch_image, funcs), ELF64_R_INFO(1, R_X86_64_64),
		 offsetof(struct tables, funcs)},
		{offsetof(struct pokepatch_image, callbacks), ELF64_R_INFO(1, R_X86_64_64),
		 offsetof(struct tables, callbacks)},
		{offsetof(struct pokepatch_image, strings), ELF64_R_INFO(2, R_X86_64_64), 0},
	};
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	GElf_Ehdr header;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_WRITE, NULL);
	assert_non_null(elf);
	gelf_newehdr(elf, ELFCLASS64);
	gelf_getehdr(elf, &header);
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_type = ET_REL;
	header.e_machine = EM_X86_64;
	header.e_version = EV_CURRENT;
	header.e_shstrndx = SEC_NAMES;
	gelf_update_ehdr(elf, &header);
	add_section(elf, SEC_MODINFO, SHT_PROGBITS, module->modinfo, module->modinfo_length);
	add_section(elf, SEC_IMAGE, SHT_PROGBITS, &module->image, sizeof(module->image));
	add_section(elf, SEC_TABLES, SHT_PROGBITS, &tables, sizeof(tables));
	add_section(elf, SEC_STRINGS, SHT_PROGBITS, strings, sizeof(strings));
	add_section(elf, SEC_REPORT, SHT_PROGBITS, module->report, module->report_length);
	add_section(elf, SEC_NOTE, SHT_NOTE, module->note, module->note ? BUILD_ID_NOTE_LENGTH : 0);
	link_section(add_section(elf, SEC_RELA, SHT_RELA, relocations,
				 module->no_relocations ? 0 : sizeof(relocations)),
		     SEC_SYMTAB, SEC_IMAGE);
	link_section(add_section(elf, SEC_SYMTAB, SHT_SYMTAB, symbols, sizeof(symbols)), SEC_NAMES,
		     ARRAY_SIZE(symbols));
	add_section(elf, SEC_NAMES, SHT_STRTAB, names, sizeof(names));
	assert_true(elf_update(elf, ELF_C_WRITE) > 0);
	elf_end(elf);
	close(fd);
}

static char *module_path(void **state)
{
	return xasprintf("%s/pokepatch-fix-one.ko", (const char *)*state);
}

/* ---- tests ----------------------------------------------------------------- */

static void test_reads_everything(void **state)
{
	_free_ char *path = module_path(state);
	struct module module = usual();
	struct patch_file file;

	write_module(path, &module);
	assert_no_error(patch_file_read(path, &file));
	assert_string_equal(file.name, "fix_one");
	assert_string_equal(file.transition, "stop");
	assert_int_equal(file.nr_relocs, 5);
	assert_string_equal(file.report, report);
	assert_string_equal(file.build_id, "1234abcd");
	assert_string_equal(patch_file_modinfo(&file, "name"), "pokepatch_fix_one");
	assert_string_equal(patch_file_modinfo(&file, "pokepatch"), FORMAT);
	assert_null(patch_file_modinfo(&file, "poke"));
	assert_int_equal(file.objects.count, 2);
	assert_string_equal(file.objects.list[0].build_id, "0fa0");
	assert_string_equal(file.objects.list[1].name, "nf_tables");
	assert_string_equal(file.objects.list[1].build_id, "");
	assert_int_equal(file.symbols.count, 2);
	assert_string_equal(file.symbols.list[1].name, "nft_do");
	assert_string_equal(file.symbols.list[1].parent, "nf_tables");
	assert_int_equal(file.symbols.list[1].pos, 2);
	assert_int_equal(file.symbols.list[0].offset, 0x1000);
	assert_int_equal(file.functions.count, 2);
	assert_string_equal(file.functions.list[0].name, "do_thing");
	assert_string_equal(file.functions.list[0].parent, "vmlinux");
	assert_string_equal(file.functions.list[0].mode, "auto");
	assert_string_equal(file.functions.list[1].name, "nft_do");
	assert_string_equal(file.functions.list[1].parent, "nf_tables");
	assert_int_equal(file.functions.list[1].pos, 2);
	assert_int_equal(file.functions.list[1].old_size, 100);
	assert_int_equal(file.functions.list[1].new_size, 90);
	assert_string_equal(file.functions.list[1].mode, "ftrace");
	patch_file_deinit(&file);
}

static void test_info(void **state)
{
	_free_ char *path = module_path(state);
	struct module module = usual();
	struct buffer out;

	write_module(path, &module);
	assert_no_error(
		cli_run(cli_commands, 3, (char *[]){"pokepatch", "info", path, NULL}, &out));
	assert_non_null(strstr(out.text, "kernel:         6.1.0-5-tiny\n"));
	assert_non_null(strstr(out.text, "callback: pre-patch of nf_tables\n"
					 "callback: post-unpatch of vmlinux\n"));
	assert_non_null(strstr(out.text,
			       "FUNCTION  PARENT     CHANGE   MODE    OLD SIZE  NEW SIZE\n"
			       "do_thing  vmlinux    changed  auto    16        32\n"
			       "nft_do    nf_tables  changed  ftrace  100       90\n"
			       "helper    vmlinux    new      -       -         7\n"));
	buffer_deinit(&out);
}

/* A module that the kernel would refuse anyway: each is one clear line. */
static void test_what_is_wrong_with_it(void **state)
{
	static const char other_format[] = "name=pokepatch_x\0pokepatch=999";
	static const char no_patch[] = "name=ext4\0license=GPL";
	static const char no_name[] = "pokepatch=" FORMAT;
	_free_ char *path = module_path(state);
	struct module module;
	struct patch_file file;

	module = usual();
	module.modinfo = other_format;
	module.modinfo_length = sizeof(other_format);
	write_module(path, &module);
	assert_error(patch_file_read(path, &file), STATUS_REFUSED,
		     "refused [wrong-format]: it has patch format 999");

	module.modinfo = no_patch;
	module.modinfo_length = sizeof(no_patch);
	write_module(path, &module);
	assert_error(patch_file_read(path, &file), STATUS_FAILED,
		     "not a patch made by pokepatch-build");

	module.modinfo = no_name;
	module.modinfo_length = sizeof(no_name);
	write_module(path, &module);
	assert_error(patch_file_read(path, &file), STATUS_FAILED, "module's name");

	module = usual();
	module.no_relocations = true;
	write_module(path, &module);
	assert_error(patch_file_read(path, &file), STATUS_FAILED, "damaged");

	module = usual();
	module.image.magic++;
	write_module(path, &module);
	assert_error(patch_file_read(path, &file), STATUS_FAILED, "byte order");

	module = usual();
	module.image.nr_funcs = 0x20000000;
	write_module(path, &module);
	assert_error(patch_file_read(path, &file), STATUS_FAILED, "its table of functions");

	module = usual();
	module.image.nr_callbacks = 0x20000000;
	write_module(path, &module);
	assert_error(patch_file_read(path, &file), STATUS_FAILED, "its table of callbacks");

	module = usual();
	module.image.name = sizeof(strings) + 1;
	write_module(path, &module);
	assert_error(patch_file_read(path, &file), STATUS_FAILED, "has no name");

	module = usual();
	module.image.strings_size = 0xffffffff;
	write_module(path, &module);
	assert_error(patch_file_read(path, &file), STATUS_FAILED, "has no name");
}

static void test_report_that_is_no_json(void **state)
{
	_free_ char *path = module_path(state);
	struct module module = usual();
	_json_ json_object *info = NULL;
	struct patch_file file;

	module.report = "[ 1 ]";
	module.report_length = 5;
	write_module(path, &module);
	assert_no_error(patch_file_read(path, &file));
	assert_error(patch_file_json(&file, &info), STATUS_FAILED, "is not a JSON object");
	patch_file_deinit(&file);
}

static void test_cut_off_anywhere(void **state)
{
	_free_ char *path = module_path(state);
	struct module module = usual();
	struct patch_file file;
	struct stat st;

	write_module(path, &module);
	assert_int_equal(stat(path, &st), 0);
	for (off_t cut = st.st_size - 1; cut >= 0; cut--) {
		struct error *error;

		assert_int_equal(truncate(path, cut), 0);
		error = patch_file_read(path, &file);
		if (!error)
			fail_msg("cut off at %lld of %lld bytes, it was still taken",
				 (long long)cut, (long long)st.st_size);
		error_destroy(error);
	}
}

/* No byte that is changed may make it crash; what comes of it is not asked. */
static void test_damaged_anywhere(void **state)
{
	static const unsigned char masks[] = {0x01, 0x80, 0xff};
	_free_ char *path = module_path(state);
	struct module module = usual();
	_free_ char *bytes = NULL;
	size_t length;
	int fd;

	write_module(path, &module);
	assert_no_error(file_read(path, &bytes, &length));
	fd = open(path, O_WRONLY);
	for (size_t i = 0; i < length * ARRAY_SIZE(masks); i++) {
		char changed = bytes[i / ARRAY_SIZE(masks)] ^ masks[i % ARRAY_SIZE(masks)];
		off_t at = i / ARRAY_SIZE(masks);
		struct patch_file file;
		json_object *info;
		struct error *error;

		assert_int_equal(pwrite(fd, &changed, 1, at), 1);
		error = patch_file_read(path, &file);
		if (!error) {
			error = patch_file_json(&file, &info);
			if (!error)
				json_object_put(info);
			patch_file_deinit(&file);
		}
		error_destroy(error);
		assert_int_equal(pwrite(fd, &bytes[at], 1, at), 1);
	}
	close(fd);
}

/* A notes file with another note before the build id (00ff10), as Xen's are on real kernels. */
static void put_notes(const char *dir, unsigned char last)
{
	const unsigned char notes[] = {
		4, 0, 0, 0, 2, 0, 0, 0, 6, 0, 0, 0, 'X', 'e', 'n', 0, 'a', 'b',  0,    0,
		4, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0,   0xff, last, 0,
	};
	_free_ char *folder = xasprintf("%s/kernel", dir);
	_free_ char *path = xasprintf("%s/notes", folder);

	assert_no_error(make_dirs(folder));
	assert_no_error(file_write(path, notes, sizeof(notes)));
}

static void test_wrong_kernel(void **state)
{
	_free_ char *path = module_path(state);
	struct module module = usual();
	struct patch_file file;

	write_module(path, &module);
	assert_no_error(patch_file_read(path, &file));
	put_notes(*state, 0x10);
	assert_no_error(patch_file_check_kernel(&file, "6.1.0-5-tiny"));
	assert_error(patch_file_check_kernel(&file, "6.1.0-5-tin"), STATUS_REFUSED,
		     "refused [wrong-kernel]: made for kernel 6.1.0-5-tiny");
	put_notes(*state, 0x11);
	assert_error(patch_file_check_kernel(&file, "6.1.0-5-tiny"), STATUS_REFUSED,
		     "refused [wrong-kernel]: made for another build");
	patch_file_deinit(&file);
}

static void put(const char *dir, const char *name, const void *bytes, size_t length)
{
	_free_ char *path = xasprintf("%s/%s", dir, name);
	_free_ char *folder = xstrdup(path);

	*strrchr(folder, '/') = '\0';
	assert_no_error(make_dirs(folder));
	assert_no_error(file_write(path, bytes, length));
}

/* A module made for the machine that the test runs on. */
static void write_module_for_here(const char *path, const char *note)
{
	struct module module = usual();
	struct buffer info = {0};
	struct utsname names;

	assert_int_equal(uname(&names), 0);
	/* All but the vermagic, which comes last. */
	buffer_add(&info, modinfo, sizeof(modinfo) - sizeof(VERMAGIC));
	buffer_printf(&info, "vermagic=%s SMP", names.release);
	module.modinfo = info.text;
	module.modinfo_length = info.length + 1;
	module.note = note;
	write_module(path, &module);
	buffer_deinit(&info);
}

static struct error *load(char *path)
{
	struct buffer out = {0};
	struct error *error =
		cli_run(cli_commands, 3, (char *[]){"pokepatch", "load", path, NULL}, &out);

	buffer_deinit(&out);
	return error;
}

/* The name alone does not tell that a file is what is loaded. */
static void test_another_build_is_loaded(void **state)
{
	static const char notes[] = "module/pokepatch_fix_one/notes/.note.gnu.build-id";
	static const char loaded[] = BUILD_ID_NOTE("\x12\x34\xab\xcd");
	static const char another[] = "another build of patch 'fix_one' is loaded; unload it first";
	_free_ char *path = module_path(state);

	put_notes(*state, 0x10);
	put(*state, "kernel/pokepatch/fix_one/enabled", "1\n", 2);
	put(*state, notes, loaded, BUILD_ID_NOTE_LENGTH);
	write_module_for_here(path, loaded);
	assert_error(load(path), STATUS_NOTHING, "loaded and enabled already");
	write_module_for_here(path, BUILD_ID_NOTE("\x12\x34\xab\xce"));
	assert_error(load(path), STATUS_FAILED, another);
	/* One without a build id is not the loaded one, unless that has none either. */
	write_module_for_here(path, NULL);
	assert_error(load(path), STATUS_FAILED, another);
	put(*state, notes, loaded, BUILD_ID_NOTE_LENGTH - 1);
	assert_error(load(path), STATUS_NOTHING, "loaded and enabled already");
	/* Also when it is switched off: enabling it would not be what was asked for. */
	put(*state, "kernel/pokepatch/fix_one/enabled", "0\n", 2);
	write_module_for_here(path, loaded);
	assert_error(load(path), STATUS_FAILED, another);
}

/* load gets that far on any machine: nothing is inserted for another kernel. */
static void test_load_on_the_wrong_kernel(void **state)
{
	_free_ char *path = module_path(state);
	struct module module = usual();
	struct buffer out;

	write_module(path, &module);
	put_notes(*state, 0x10);
	assert_error(cli_run(cli_commands, 3, (char *[]){"pokepatch", "load", path, NULL}, &out),
		     STATUS_REFUSED, "refused [wrong-kernel]");
}

/* On the right one it looks for the core, and tells where. */
static void test_load_without_core(void **state)
{
	static const char format[] =
		"name=pokepatch_fix_one%cpokepatch=" FORMAT "%cpokepatch_build_id=00ff10%c"
		"vermagic=%s SMP%c";
	_free_ char *path = module_path(state);
	_free_ char *text = NULL;
	struct module module = usual();
	struct utsname names;
	struct error *error;
	struct buffer out;

	assert_int_equal(uname(&names), 0);
	module.modinfo_length = asprintf(&text, format, 0, 0, 0, names.release, 0);
	module.modinfo = text;
	write_module(path, &module);
	put_notes(*state, 0x10);
	error = cli_run(cli_commands, 3, (char *[]){"pokepatch", "load", path, NULL}, &out);
	assert_error(error, STATUS_FAILED, geteuid() ? "only root" : "name it with --core FILE");
	if (geteuid() == 0) {
		error = cli_run(cli_commands, 5,
				(char *[]){"pokepatch", "load", "--core", "/none.ko", path, NULL},
				&out);
		assert_error(error, STATUS_FAILED, "cannot read the core module '/none.ko'");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_reads_everything, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_info, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_what_is_wrong_with_it, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(test_report_that_is_no_json, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(test_cut_off_anywhere, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_damaged_anywhere, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_wrong_kernel, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_another_build_is_loaded, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(test_load_on_the_wrong_kernel, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(test_load_without_core, make_folder, remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
