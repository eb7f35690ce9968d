// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * hostile GOOD.ko FOLDER - for each row of a table, write a copy of the patch module GOOD.ko to
 * FOLDER/CASE.ko.  One field of its pokepatch_image, or of a table to which that points, is wrong
 * in the copy.  Print "CASE TEXT" for each: TEXT is a part of the line with which the core must
 * refuse the module.
 *
 * hostile --twice GOOD.ko FOLDER CASE [NAME] - write one copy, whose second function is the first again, or
 * is at the first's place by this other name.
 *
 * hostile --rename GOOD.ko FOLDER NAME - write one copy, a module called NAME with the same patch.
 *
 * hostile --edits GOOD.ko FOLDER CORPUS NR - write NR copies, FOLDER/N.ko, with the changes that inputs of
 * the fuzzer of images are (fuzz/image_edits.h): the first of the folder CORPUS, by their names.
 *
 * A field that holds an address is changed through the addend of its relocation.
 */
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../core-module/include/pokepatch_format.h"
#include "../../../core-module/include/pokepatch_mark.h"
#include "../../fuzz/image_edits.h"

/* How to change the field's value.  The addend of an address is always added to. */
enum change { SET, ADD };

struct hostile {
	const char *name;
	enum image_table table;
	size_t offset, size;
	enum change change;
	uint64_t value;
	const char *text;
};

#define FIELD(table, type, member) \
	table, offsetof(struct type, member), sizeof(((struct type *)0)->member)
#define I(member) FIELD(IMAGE, pokepatch_image, member)
#define O(member) FIELD(OBJECTS, pokepatch_object, member)
#define S(member) FIELD(SYMBOLS, pokepatch_symbol, member)
#define F(member) FIELD(FUNCS, pokepatch_func, member)
#define R(member) FIELD(RELOCS, pokepatch_reloc, member)
#define C(member) FIELD(CALLBACKS, pokepatch_callback, member)
/* Modules lie in the last GiB, so this leads to the end of the address space, or near it. */
#define WRAP 0x3ffffff0
#define T(offset) TEXTS, offset, 1 /* a byte of the first function's text */
#define FAR 0x40000000 /* outside every module, within the range of an addend */

static const struct hostile cases[] = {
	{ "magic", I(magic), SET, 1, "wrong magic number" },
	{ "format", I(format), ADD, 1, "this core knows" },
	{ "format-stale", I(format), ADD, -1ULL, "this core knows" },
	{ "format-none", I(format), SET, 0, "format 0 of" },
	{ "size", I(size), ADD, 8, "this core knows" },
	{ "size-stale", I(size), ADD, -8ULL, "this core knows" },
	{ "transition", I(transition), SET, 7, "transition 7" },
	{ "flags", I(flags), SET, 1U << 31, "flags" },
	{ "least-level", I(least_level), SET, 1, "level 0 would revoke levels below 1" },
	{ "a-marker", I(nr_markers), SET, 1, "table of markers" },
	{ "most-markers", I(nr_markers), SET, 0xffffffff, "markers" },
	{ "many-callbacks", I(nr_callbacks), SET, 100000, "table of callbacks" },
	{ "more-callbacks", I(nr_callbacks), ADD, 1U << 16, "table of callbacks" },
	{ "most-callbacks", I(nr_callbacks), SET, 0xffffffff, "callbacks" },
	{ "far-callbacks", I(callbacks), ADD, FAR, "table of callbacks" },
	{ "odd-callbacks", I(callbacks), ADD, 1, "table of callbacks" },
	{ "wrap-callbacks", I(callbacks), ADD, WRAP, "table of callbacks" },
	{ "no-objects", I(nr_objects), SET, 0, "0 parent objects" },
	{ "many-objects", I(nr_objects), SET, 100000, "table of objects" },
	{ "many-symbols", I(nr_symbols), SET, 0xffffffff, "symbols" },
	{ "more-symbols", I(nr_symbols), SET, 100000, "table of symbols" },
	{ "no-funcs", I(nr_funcs), SET, 0, "0 functions" },
	{ "many-funcs", I(nr_funcs), SET, 100000, "table of functions" },
	{ "many-relocs", I(nr_relocs), SET, 1U << 22, "table of relocations" },
	{ "no-strings", I(strings_size), SET, 0, "strings" },
	{ "open-strings", I(strings_size), SET, 2, "strings" },
	{ "long-strings", I(strings_size), SET, 0xffffffff, "strings" },
	{ "name", I(name), SET, 1 << 20, "name of the patch" },
	{ "empty-name", I(name), SET, 0, "name of the patch" },
	{ "far-objects", I(objects), ADD, FAR, "table of objects" },
	{ "wrap-objects", I(objects), ADD, WRAP, "table of objects" },
	{ "far-symbols", I(symbols), ADD, FAR, "table of symbols" },
	{ "odd-symbols", I(symbols), ADD, 1, "table of symbols" },
	{ "far-funcs", I(funcs), ADD, FAR, "table of functions" },
	{ "far-relocs", I(relocs), ADD, FAR, "table of relocations" },
	{ "far-strings", I(strings), ADD, FAR, "strings" },
	{ "wrap-strings", I(strings), ADD, WRAP, "strings" },
	{ "far-texts", I(texts), ADD, FAR, "the texts are not in the module" },
	{ "wrap-texts", I(texts), ADD, WRAP, "the texts are not in the module" },
	{ "no-texts", I(texts_size), SET, 0, "the texts are not in the module" },
	{ "long-texts", I(texts_size), SET, 0xffffffff, "the texts are not in the module" },
	{ "short-texts", I(texts_size), SET, 8, "the text of the old function" },
	{ "more-stubs", I(nr_stubs), ADD, 1, "stubs" },
	{ "most-stubs", I(nr_stubs), SET, 0xffffffff, "stubs" },
	{ "far-stubs", I(stubs), ADD, FAR, "stubs" },
	{ "wrap-stubs", I(stubs), ADD, WRAP, "stubs" },
	{ "odd-stubs", I(stubs), ADD, 1, "stubs" },
	{ "object-name", O(name), ADD, 1, "vmlinux is object 0" },
	{ "object-name-far", O(name), SET, 1 << 20, "name of object 0" },
	{ "build-id-none", O(build_id_len), SET, 0, "build id of vmlinux" },
	{ "build-id-long", O(build_id_len), SET, 21, "build id of vmlinux" },
	{ "build-id-short", O(build_id_len), SET, 19, "made for the kernel with build id" },
	{ "build-id-other", O(build_id), ADD, 1, "made for the kernel with build id" },
	{ "object-reserved", O(reserved), SET, 1, "build id of vmlinux" },
	{ "symbol-name", S(name), SET, 1 << 20, "name of symbol" },
	{ "symbol-other", S(name), ADD, 1, "kallsyms does not list it" },
	{ "symbol-object", S(object), SET, 9, "object 9" },
	{ "symbol-section", S(section), SET, 1 << 20, "section" },
	{ "symbol-flags", S(flags), SET, 1 << 20, "unknown flags" },
	{ "symbol-reserved", S(reserved), SET, 1, "unknown flags" },
	{ "symbol-absolute", S(flags), SET, 3, "absolute" },
	{ "symbol-data", S(flags), SET, 0, "is not a function" },
	{ "symbol-longer", S(size), ADD, 1, "the text of the old function" },
	{ "symbol-shorter", S(size), ADD, -1, "the text of the old function" },
	{ "symbol-size", S(size), SET, 0, "is not a function" },
	{ "symbol-long", S(size), SET, 1ULL << 32, "size" },
	{ "symbol-far", S(offset), SET, 0x7ffffff0, "outside the kernel" },
	{ "symbol-beyond", S(offset), SET, ~0ULL, "offset" },
	{ "symbol-moved", S(offset), ADD, 16, "offset and kallsyms disagree" },
	{ "symbol-pos", S(pos), ADD, 1, "offset and kallsyms disagree" },
	{ "func-symbol", F(symbol), SET, 1 << 20, "a function's symbol" },
	{ "func-addr", F(new_addr), ADD, FAR, "new function is not in the module's text" },
	{ "func-empty", F(new_size), SET, 0, "new function is not in the module's text" },
	{ "func-long", F(new_size), SET, 0x7fffffff, "new function is not in the module's text" },
	{ "func-wrap", F(new_addr), ADD, WRAP, "new function is not in the module's text" },
	{ "func-whole", F(new_size), SET, 0xffffffff, "new function is not in the module's text" },
	{ "func-new-cold-far", F(new_cold_addr), SET, FAR, "new .cold part" },
	{ "func-cold-self", F(cold), SET, 0xfffffffe, ".cold part's symbol" },
	{ "func-new-cold", F(new_cold_size), SET, 1, "new .cold part" },
	{ "func-cold", F(cold), SET, 1 << 20, ".cold part's symbol" },
	{ "func-mode", F(mode), SET, 9, "mode 9" },
	{ "func-flags", F(flags), SET, 4, "flags 0x4" },
	{ "func-no-first", F(flags), SET, POKEPATCH_FUNC_OVERWRITTEN, "0 bytes of first instructions" },
	{ "func-long-first", F(flags), SET,
	  POKEPATCH_FUNC_OVERWRITTEN | POKEPATCH_FUNC_FIRST_FLAGS(0, 200, 0), "200 bytes of first instructions" },
	{ "func-first-field", F(flags), SET,
	  POKEPATCH_FUNC_OVERWRITTEN | POKEPATCH_FUNC_FIRST_FLAGS(0, 9, 6), "9 bytes of first instructions" },
	{ "func-text", F(text), SET, 1 << 20, "the text of the old function" },
	{ "func-text-none", F(text), SET, POKEPATCH_NONE, "the text of the old function" },
	{ "func-cold-text", F(cold_text), SET, 0, ".cold part's symbol" },
	{ "text-any", T(0), SET, 255, "the text of the old function" },
	{ "text-same", T(1), SET, 255, "the text of the old function" },
	{ "text-other", T(2), ADD, 1, "is refused: the code of" },
	{ "reloc-symbol", R(symbol), SET, 1 << 20, "relocation 0: symbol" },
	{ "reloc-type", R(type), SET, 200, "type 200 is not known" },
	{ "callback-object", C(object), SET, 9, "callback 0: object 9" },
	{ "callback-kind", C(kind), SET, 4, "callback 0: object 0, kind 4" },
	{ "callback-kind-most", C(kind), SET, 0xffffffff, "callback 0: object 0, kind" },
	{ "callback-wrap", C(func), ADD, WRAP, "callback 0 is not in the module's text" },
	{ "callback-twice", C(kind), SET, 3, "vmlinux has two callbacks of kind 3" },
	{ "callback-addr", C(func), ADD, FAR, "callback 0 is not in the module's text" },
	{ "reloc-wrap", R(where), ADD, WRAP, "relocation 0: place" },
	{ "reloc-where", R(where), ADD, FAR, "relocation 0: place" },
};

struct module {
	unsigned char *bytes;
	size_t size;
	const Elf64_Shdr *sections;
	unsigned int nr;
	const char *names;
};

static void die(const char *what, const char *detail)
{
	fprintf(stderr, "hostile: %s: %s\n", what, detail);
	exit(1);
}

static void module_read(struct module *m, const char *path)
{
	const Elf64_Ehdr *header;
	struct stat st;
	int fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &st))
		die("cannot read", path);
	m->size = st.st_size;
	m->bytes = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	if (m->bytes == MAP_FAILED)
		die("cannot map", path);
	close(fd);
	header = (const void *)m->bytes;
	m->sections = (const void *)(m->bytes + header->e_shoff);
	m->nr = header->e_shnum;
	m->names = (const char *)m->bytes + m->sections[header->e_shstrndx].sh_offset;
}

/* The relocation of the 8 bytes at @place in the file, or NULL. */
static Elf64_Rela *rela_of(const struct module *m, size_t place)
{
	for (unsigned int i = 0; i < m->nr; i++) {
		const Elf64_Shdr *sec = &m->sections[i], *target = &m->sections[sec->sh_info];
		Elf64_Rela *rela = (void *)(m->bytes + sec->sh_offset);

		if (sec->sh_type != SHT_RELA || place < target->sh_offset ||
		    place >= target->sh_offset + target->sh_size)
			continue;
		for (size_t j = 0; j < sec->sh_size / sizeof(*rela); j++)
			if (target->sh_offset + rela[j].r_offset == place)
				return &rela[j];
	}
	return NULL;
}

/*
 * r_info has the symbol's number in its upper half, or, where it consists of several fields, in its
 * lower half and types in the upper one, which then is larger than any symbol's number.
 */
static size_t symbol_of(const Elf64_Shdr *symtab, const Elf64_Rela *rela)
{
	const size_t upper = ELF64_R_SYM(rela->r_info);

	return upper < symtab->sh_size / sizeof(Elf64_Sym) ? upper : (uint32_t)rela->r_info;
}

/* The offset in the file to which the address at @place points. */
static size_t follow(const struct module *m, size_t place)
{
	const Elf64_Rela *rela = rela_of(m, place);

	if (!rela)
		die("no relocation", "of a table's address");
	for (unsigned int i = 0; i < m->nr; i++) {
		const Elf64_Shdr *sec = &m->sections[i];
		const Elf64_Sym *sym;

		if (sec->sh_type != SHT_SYMTAB)
			continue;
		sym = (const Elf64_Sym *)(m->bytes + sec->sh_offset) + symbol_of(sec, rela);
		return m->sections[sym->st_shndx].sh_offset + sym->st_value + rela->r_addend;
	}
	die("no symbols", "in the module");
	return 0;
}

static size_t image_of(const struct module *m)
{
	for (unsigned int i = 0; i < m->nr; i++)
		if (!strcmp(m->names + m->sections[i].sh_name, POKEPATCH_SECTION_IMAGE))
			return m->sections[i].sh_offset;
	die("no section", POKEPATCH_SECTION_IMAGE);
	return 0;
}

/* The tables, by where the image has their address and number, and the size of an entry. */
#define TABLE(address, number, type) \
	{ offsetof(struct pokepatch_image, address), offsetof(struct pokepatch_image, number), \
	  sizeof(type) }
static const struct {
	size_t address, number, entry;
} tables[] = {
	[OBJECTS] = TABLE(objects, nr_objects, struct pokepatch_object),
	[SYMBOLS] = TABLE(symbols, nr_symbols, struct pokepatch_symbol),
	[FUNCS] = TABLE(funcs, nr_funcs, struct pokepatch_func),
	[RELOCS] = TABLE(relocs, nr_relocs, struct pokepatch_reloc),
	[CALLBACKS] = TABLE(callbacks, nr_callbacks, struct pokepatch_callback),
	[MARKERS] = TABLE(markers, nr_markers, struct pokepatch_marker),
	[TEXTS] = TABLE(texts, texts_size, uint8_t),
	[STRINGS] = TABLE(strings, strings_size, uint8_t),
};

/* Where an entry is in the file; 0: the module has no such table. */
static size_t entry_of(const struct module *m, enum image_table table, unsigned int entry)
{
	const size_t image = image_of(m);
	uint32_t number;

	if (table == IMAGE)
		return image;
	memcpy(&number, m->bytes + image + tables[table].number, sizeof(number));
	if (!number)
		return 0;
	return follow(m, image + tables[table].address) + entry % number * tables[table].entry;
}

/* The entry that a row of cases is about: the first, or what the first function has. */
static size_t table_of(const struct module *m, enum image_table table)
{
	const struct pokepatch_func *func = (const void *)(m->bytes + entry_of(m, FUNCS, 0));

	return entry_of(m, table, table == SYMBOLS ? func->symbol : table == TEXTS ? func->text : 0);
}

static void corrupt(const struct module *m, const struct hostile *h)
{
	const struct image_field field = { h->table, h->offset, h->size, false };
	const struct image_edit edit = { &field, 0, h->change == ADD, h->value };
	const size_t place = table_of(m, h->table) + h->offset;
	Elf64_Rela *rela = h->size == 8 ? rela_of(m, place) : NULL;

	if (rela)
		rela->r_addend += h->value;
	else
		image_edit_number(&edit, m->bytes + place);
}

static void module_write(const struct module *m, const char *folder, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.ko", folder, name);
	file = fopen(path, "w");
	if (!file || fwrite(m->bytes, 1, m->size, file) != m->size || fclose(file))
		die("cannot write", path);
}

/* Have the second function's symbol be the first's, but for its name, which becomes @alias. */
static void add_alias(const struct module *m, const struct pokepatch_func *func, const char *alias)
{
	struct pokepatch_symbol *symbol = (void *)(m->bytes + entry_of(m, SYMBOLS, func[1].symbol));
	const uint32_t name = symbol->name;
	char *text = (char *)m->bytes + entry_of(m, STRINGS, name);

	if (strlen(alias) > strlen(text))
		die("the second function's name is shorter than", alias);
	strcpy(text, alias);
	memcpy(symbol, m->bytes + entry_of(m, SYMBOLS, func[0].symbol), sizeof(*symbol));
	symbol->name = name;
}

static void twice(const char *good, const char *folder, const char *name, const char *alias)
{
	struct pokepatch_func *func;
	struct module m;

	module_read(&m, good);
	func = (void *)(m.bytes + table_of(&m, FUNCS));
	if (alias)
		add_alias(&m, func, alias);
	else
		func[1].symbol = func[0].symbol;
	func[1].cold = func[0].cold;
	func[1].text = func[0].text;
	func[1].cold_text = func[0].cold_text;
	module_write(&m, folder, name);
}

/* Places first: a change may be of what leads to the next. */
static void apply(const struct module *m, const uint8_t *input, size_t size)
{
	enum { MOST = 512 };
	struct image_edit edits[MOST];
	size_t places[MOST], nr = 0;

	for (; nr < MOST && image_edit_read(input, size, nr, &edits[nr]); nr++) {
		const struct image_field *field = edits[nr].field;

		places[nr] = entry_of(m, field->table, edits[nr].entry);
		places[nr] += places[nr] ? field->offset : 0;
	}
	for (size_t i = 0; i < nr; i++) {
		Elf64_Rela *rela = edits[i].field->address ? rela_of(m, places[i]) : NULL;

		if (rela)
			rela->r_addend += edits[i].value;
		else if (places[i] && !edits[i].field->address)
			image_edit_number(&edits[i], m->bytes + places[i]);
	}
}

static int is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void edits(const char *good, const char *folder, const char *corpus, int wanted)
{
	struct dirent **inputs;
	int nr = scandir(corpus, &inputs, is_input, alphasort);

	if (nr < wanted)
		die("too few inputs", corpus);
	for (int i = 0; i < wanted; i++) {
		char path[4096], name[16];
		uint8_t input[4096];
		struct module m;
		size_t size;
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", corpus, inputs[i]->d_name);
		file = fopen(path, "r");
		if (!file)
			die("cannot read", path);
		size = fread(input, 1, sizeof(input), file);
		fclose(file);
		module_read(&m, good);
		apply(&m, input, size);
		snprintf(name, sizeof(name), "%d", i);
		module_write(&m, folder, name);
		munmap(m.bytes, m.size);
	}
}

/* struct module begins with its state and a list.  Then comes the name that the kernel uses. */
#define MODULE_NAME_AT 24
#define MODULE_NAME_LEN 56

static void rename_module(const char *good, const char *folder, const char *name)
{
	struct module m;

	module_read(&m, good);
	for (unsigned int i = 0; i < m.nr; i++)
		if (!strcmp(m.names + m.sections[i].sh_name, ".gnu.linkonce.this_module"))
			strncpy((char *)m.bytes + m.sections[i].sh_offset + MODULE_NAME_AT, name,
				MODULE_NAME_LEN - 1);
	module_write(&m, folder, name);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--rename")) {
		rename_module(argv[2], argv[3], argv[4]);
		return 0;
	}
	if ((argc == 5 || argc == 6) && !strcmp(argv[1], "--twice")) {
		twice(argv[2], argv[3], argv[4], argv[5]);
		return 0;
	}
	if (argc == 6 && !strcmp(argv[1], "--edits")) {
		edits(argv[2], argv[3], argv[4], atoi(argv[5]));
		return 0;
	}
	if (argc != 3)
		die("usage", "hostile GOOD.ko FOLDER");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct module m;

		module_read(&m, argv[1]);
		corrupt(&m, &cases[i]);
		module_write(&m, argv[2], cases[i].name);
		munmap(m.bytes, m.size);
		printf("%s %s\n", cases[i].name, cases[i].text);
	}
	return 0;
}
