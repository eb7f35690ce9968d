// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Unit tests of addends in the fields of relocations (32-bit MIPS).  The tests make objects word by
 * word and read them, and read written objects as the module loader does.
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
#include "object/object.h"

#ifndef R_MIPS_PC21_S2
#define R_MIPS_PC21_S2 60
#define R_MIPS_PC26_S2 61
#endif

/* ---- making an object ----------------------------------------------------------------- */

enum { TEXT = 1, DATA, REL, SYMTAB, STRTAB, SECTIONS };
enum { DATA_SYMBOL = 1, X, Y, SYMBOLS };

struct place {
	uint32_t offset, type, symbol;
};

static uint32_t order32(bool big, uint32_t value)
{
	return big ? htobe32(value) : htole32(value);
}

static uint16_t order16(bool big, uint16_t value)
{
	return big ? htobe16(value) : htole16(value);
}

/* .text with these words, .data, symbols x and y that are elsewhere; it ends with words of 0. */
static void make(bool big, const uint32_t *words, size_t nr_words, const struct place *places,
		 size_t nr_places)
{
	static const char strings[] = "\0x\0y\0.text\0.data\0.rel.text\0.symtab\0.strtab";
	static const uint32_t names[SECTIONS] = {0, 5, 11, 17, 27, 35};
	struct {
		Elf32_Ehdr header;
		Elf32_Shdr sections[SECTIONS];
		Elf32_Sym symbols[SYMBOLS];
		Elf32_Rel rels[16];
		uint32_t text[16], data[4];
		char strings[sizeof(strings)];
	} image = {0};
	struct {
		uint32_t type, flags, size, link, info, entsize;
		const void *data;
	} sections[SECTIONS] = {
		[TEXT] = {SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 4 * nr_words,
			  .data = image.text},
		[DATA] = {SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, sizeof(image.data),
			  .data = image.data},
		[REL] = {SHT_REL, 0, nr_places * sizeof(Elf32_Rel), SYMTAB, TEXT, sizeof(Elf32_Rel),
			 image.rels},
		[SYMTAB] = {SHT_SYMTAB, 0, sizeof(image.symbols), STRTAB, X, sizeof(Elf32_Sym),
			    image.symbols},
		[STRTAB] = {SHT_STRTAB, 0, sizeof(strings), .data = image.strings},
	};

	memcpy(image.header.e_ident, ELFMAG, SELFMAG);
	image.header.e_ident[EI_CLASS] = ELFCLASS32;
	image.header.e_ident[EI_DATA] = big ? ELFDATA2MSB : ELFDATA2LSB;
	image.header.e_ident[EI_VERSION] = EV_CURRENT;
	image.header.e_type = order16(big, ET_REL);
	image.header.e_machine = order16(big, EM_MIPS);
	image.header.e_version = order32(big, EV_CURRENT);
	image.header.e_flags = order32(big, 0x70001001); /* mips32r2, o32, noreorder */
	image.header.e_shoff = order32(big, offsetof(typeof(image), sections));
	image.header.e_ehsize = order16(big, sizeof(Elf32_Ehdr));
	image.header.e_shentsize = order16(big, sizeof(Elf32_Shdr));
	image.header.e_shnum = order16(big, SECTIONS);
	image.header.e_shstrndx = order16(big, STRTAB);
	for (size_t i = 1; i < SECTIONS; i++)
		image.sections[i] = (Elf32_Shdr){
			.sh_name = order32(big, names[i]),
			.sh_type = order32(big, sections[i].type),
			.sh_flags = order32(big, sections[i].flags),
			.sh_offset = order32(big, (char *)sections[i].data - (char *)&image),
			.sh_size = order32(big, sections[i].size),
			.sh_link = order32(big, sections[i].link),
			.sh_info = order32(big, sections[i].info),
			.sh_addralign = order32(big, 4),
			.sh_entsize = order32(big, sections[i].entsize),
		};
	image.symbols[DATA_SYMBOL].st_info = ELF32_ST_INFO(STB_LOCAL, STT_SECTION);
	image.symbols[DATA_SYMBOL].st_shndx = order16(big, DATA);
	for (size_t i = X; i < SYMBOLS; i++) {
		image.symbols[i].st_name = order32(big, i == X ? 1 : 3);
		image.symbols[i].st_info = ELF32_ST_INFO(STB_GLOBAL, STT_NOTYPE);
	}
	for (size_t i = 0; i < nr_words; i++)
		image.text[i] = order32(big, words[i]);
	for (size_t i = 0; i < nr_places; i++)
		image.rels[i] = (Elf32_Rel){
			order32(big, places[i].offset),
			order32(big, ELF32_R_INFO(places[i].symbol, places[i].type)),
		};
	memcpy(image.strings, strings, sizeof(strings));
	assert_no_error(file_write(file, (const char *)&image, sizeof(image)));
}

#define MAKE(big, words, places) make(big, words, ARRAY_SIZE(words), places, ARRAY_SIZE(places))

static struct section *read_text(struct object *object)
{
	assert_no_error(object_read(file, object));
	return object_find_section(object, ".text");
}

/* ---- reading ---------------------------------------------------------------------------- */

/* One relocation of a word: the addend, and what is left of the word. */
static void field_is(uint32_t type, uint32_t word, int64_t addend, uint32_t rest)
{
	for (int big = 0; big < 2; big++) {
		struct object object;
		const uint32_t words[] = {0x12345678, word};
		const struct place places[] = {{4, type, X}};

		MAKE(big, words, places);
		struct section *text = read_text(&object);
		assert_int_equal(text->relocs.count, 1);
		assert_int_equal(text->relocs.list[0].addend, addend);
		assert_int_equal(object_get32(&object, text->data), 0x12345678);
		assert_int_equal(object_get32(&object, text->data + 4), rest);
		object_deinit(&object);
	}
}

static void test_fields(void **state)
{
	(void)state;
	field_is(R_MIPS_32, 0x12345678, 0x12345678, 0);
	field_is(R_MIPS_32, 0xfffffffc, -4, 0);
	field_is(R_MIPS_26, 0x0c000004, 16, 0x0c000000);
	field_is(R_MIPS_26, 0x0fffffff, -4, 0x0c000000);
	field_is(R_MIPS_PC16, 0x1000ffff, -4, 0x10000000);
	field_is(R_MIPS_PC16, 0x10007fff, 0x1fffc, 0x10000000);
	field_is(R_MIPS_PC21_S2, 0xd85fffff, -4, 0xd8400000);
	field_is(R_MIPS_PC26_S2, 0xe8000001, 4, 0xe8000000);
	field_is(R_MIPS_LO16, 0x8c42fff0, -16, 0x8c420000); /* "%lo" of a number */
}

#define LUI(reg, upper)	       (0x3c000000 | (reg) << 16 | (upper))
#define ADDIU(reg, base, low) (0x24000000 | (base) << 21 | (reg) << 16 | (low))

/* All relocations of .text, by place: those addends, and nothing left in the fields. */
static void addends_are(const uint32_t *words, size_t nr_words, const struct place *places,
			size_t nr_places, const int64_t *addends)
{
	for (int big = 0; big < 2; big++) {
		struct object object;

		make(big, words, nr_words, places, nr_places);
		struct section *text = read_text(&object);
		assert_int_equal(text->relocs.count, nr_places);
		for (size_t i = 0; i < nr_places; i++) {
			const struct reloc *reloc = &text->relocs.list[i];

			if (reloc->addend != addends[i])
				fail_msg("at %#lx: addend %#lx, not %#lx", (long)reloc->offset,
					 (long)reloc->addend, (long)addends[i]);
			assert_int_equal(object_get32(&object, text->data + reloc->offset) & 0xffff,
					 0);
		}
		object_deinit(&object);
	}
}
#define ADDENDS_ARE(words, places, ...)                                                            \
	addends_are(words, ARRAY_SIZE(words), places, ARRAY_SIZE(places), (int64_t[]){__VA_ARGS__})

static void test_pairs(void **state)
{
	(void)state;
	{ /* without and with a carry */
		const uint32_t words[] = {LUI(2, 1), ADDIU(2, 2, 0x7ffc), LUI(3, 1),
					  ADDIU(3, 3, 0x8000), LUI(4, 0), ADDIU(4, 4, 0xfffc)};
		const struct place places[] = {
			{0, R_MIPS_HI16, X},	       {4, R_MIPS_LO16, X},
			{8, R_MIPS_HI16, DATA_SYMBOL}, {12, R_MIPS_LO16, DATA_SYMBOL},
			{16, R_MIPS_HI16, Y},	       {20, R_MIPS_LO16, Y}};

		ADDENDS_ARE(words, places, 0x17ffc, 0x17ffc, 0x8000, 0x8000, -4, -4);
	}
	{ /* the upper half of 0x80000000 */
		const uint32_t words[] = {LUI(2, 0x8000), ADDIU(2, 2, 4)};
		const struct place places[] = {{0, R_MIPS_HI16, X}, {4, R_MIPS_LO16, X}};

		ADDENDS_ARE(words, places, (int32_t)0x80000004, (int32_t)0x80000004);
	}
	{ /* several HI16s of one LO16, which is in front of one of them */
		const uint32_t words[] = {LUI(2, 2), ADDIU(2, 2, 0xfff0), LUI(2, 2), 0};
		const struct place places[] = {
			{8, R_MIPS_HI16, X}, {0, R_MIPS_HI16, X}, {4, R_MIPS_LO16, X}};

		ADDENDS_ARE(words, places, 0x1fff0, 0x1fff0, 0x1fff0);
	}
	{ /* a LO16 that is shared: with another symbol's pair in between, and in front */
		const uint32_t words[] = {ADDIU(4, 2, 0xfff4), LUI(2, 2),
					  ADDIU(4, 2, 0xfff0), LUI(3, 5),
					  ADDIU(3, 3, 1),      ADDIU(4, 2, 0xfff8)};
		const struct place places[] = {
			{0, R_MIPS_LO16, X}, {4, R_MIPS_HI16, X}, {8, R_MIPS_LO16, X},
			{12, R_MIPS_HI16, Y}, {16, R_MIPS_LO16, Y}, {20, R_MIPS_LO16, X}};

		ADDENDS_ARE(words, places, 0x1fff4, 0x1fff0, 0x1fff0, 0x50001, 0x50001, 0x1fff8);
	}
	{ /* two upper halves of one symbol: the register tells */
		const uint32_t words[] = {LUI(2, 1),	  ADDIU(4, 2, 0), LUI(3, 2),
					  ADDIU(4, 3, 0), ADDIU(5, 2, 4), ADDIU(5, 3, 8)};
		const struct place places[] = {
			{0, R_MIPS_HI16, DATA_SYMBOL},	{4, R_MIPS_LO16, DATA_SYMBOL},
			{8, R_MIPS_HI16, DATA_SYMBOL},	{12, R_MIPS_LO16, DATA_SYMBOL},
			{16, R_MIPS_LO16, DATA_SYMBOL}, {20, R_MIPS_LO16, DATA_SYMBOL}};

		ADDENDS_ARE(words, places, 0x10000, 0x10000, 0x20000, 0x20000, 0x10004, 0x20008);
	}
}

/* Check relocations of .text, by place: a type that is never included, or their own type. */
static void alone_are(const uint32_t *words, size_t nr_words, const struct place *places,
		      size_t nr_places, const bool *alone)
{
	for (int big = 0; big < 2; big++) {
		struct object object;

		make(big, words, nr_words, places, nr_places);
		struct section *text = read_text(&object);
		for (size_t i = 0; i < nr_places; i++)
			assert_int_equal(arch_reloc(object.arch, text->relocs.list[i].type)->linker,
					 alone[i]);
		object_deinit(&object);
	}
}
#define ALONE_ARE(words, places, ...)                                                              \
	alone_are(words, ARRAY_SIZE(words), places, ARRAY_SIZE(places), (bool[]){__VA_ARGS__})

static void test_no_pairs(void **state)
{
	const uint32_t words[] = {LUI(2, 1), ADDIU(2, 2, 8), LUI(2, 2), 0, ADDIU(2, 4, 8)};

	(void)state;
	{ /* a number, and nothing behind a HI16 */
		const struct place places[] = {{0, R_MIPS_LO16, X}, {8, R_MIPS_HI16, X}};

		ALONE_ARE(words, places, false, true);
	}
	{ /* of different symbols, and one of the same in between */
		const struct place places[] = {
			{0, R_MIPS_HI16, X}, {8, R_MIPS_HI16, Y}, {4, R_MIPS_LO16, Y}};

		ALONE_ARE(words, places, true, false, false);
		ADDENDS_ARE(words, places, 0x10000, 0x20008, 0x20008);
	}
	{ /* two upper halves, and neither's register */
		const struct place places[] = {{0, R_MIPS_HI16, X}, {4, R_MIPS_LO16, X},
					       {8, R_MIPS_HI16, X}, {12, R_MIPS_LO16, X},
					       {16, R_MIPS_LO16, X}};

		ALONE_ARE(words, places, false, false, false, false, true);
	}
	for (int big = 0; big < 2; big++) { /* of two addresses at once */
		const struct place places[] = {
			{0, R_MIPS_HI16, X}, {8, R_MIPS_HI16, X}, {4, R_MIPS_LO16, X}};
		struct object object;

		MAKE(big, words, places);
		struct error *error = object_read(file, &object);
		assert_non_null(error);
		assert_int_equal(error->status, STATUS_REFUSED);
		assert_non_null(strstr(error->text,
				       "refused [elf-malformed]: the R_MIPS_HI16 at 8 and another "
				       "one of the R_MIPS_LO16 at 4 of section .text are for"));
		error_destroy(error);
	}
}

/* ---- writing ---------------------------------------------------------------------------- */

/* .text as the loader leaves it, with x and y at these addresses and .text at 0. */
static void load(const uint32_t *values, uint32_t *words)
{
	char *bytes _free_ = NULL;
	size_t length;
	const Elf32_Shdr *text = NULL, *rel = NULL, *sections;

	assert_no_error(file_read(file, &bytes, &length));
	const Elf32_Ehdr *header = (void *)bytes;
	bool big = header->e_ident[EI_DATA] == ELFDATA2MSB;
	sections = (void *)(bytes + order32(big, header->e_shoff));
	for (size_t i = 1; i < order16(big, header->e_shnum); i++) {
		assert_int_not_equal(order32(big, sections[i].sh_type), SHT_RELA);
		if (order32(big, sections[i].sh_type) == SHT_REL)
			rel = &sections[i];
	}
	assert_non_null(rel);
	text = &sections[order32(big, rel->sh_info)];
	const Elf32_Shdr *symtab = &sections[order32(big, rel->sh_link)];
	const Elf32_Sym *symbols = (void *)(bytes + order32(big, symtab->sh_offset));
	const uint32_t *code = (void *)(bytes + order32(big, text->sh_offset));
	for (size_t i = 0; i < order32(big, text->sh_size) / 4; i++)
		words[i] = order32(big, code[i]);

	/* arch/mips/kernel/module.c, __apply_relocate() with rela false */
	const Elf32_Rel *rels = (void *)(bytes + order32(big, rel->sh_offset));
	struct waiting {
		uint32_t *word, value;
	} waiting[16];
	size_t nr_waiting = 0;
	for (size_t i = 0; i < order32(big, rel->sh_size) / sizeof(*rels); i++) {
		uint32_t info = order32(big, rels[i].r_info);
		uint32_t *word = &words[order32(big, rels[i].r_offset) / 4], old = *word;
		uint32_t name = order32(big, symbols[ELF32_R_SYM(info)].st_name);
		uint32_t value = values[name];
		int16_t low = old;

		switch (ELF32_R_TYPE(info)) {
		case R_MIPS_32:
			*word += value;
			break;
		case R_MIPS_26:
			*word = (old & 0xfc000000) | ((old + (value >> 2)) & 0x03ffffff);
			break;
		case R_MIPS_PC16:
			*word = (old & 0xffff0000) |
				((old + ((value - order32(big, rels[i].r_offset)) >> 2)) & 0xffff);
			break;
		case R_MIPS_HI16:
			waiting[nr_waiting++] = (struct waiting){word, value};
			break;
		case R_MIPS_LO16:
			while (nr_waiting) {
				struct waiting *upper = &waiting[--nr_waiting];
				uint32_t whole = (*upper->word << 16) + low + value;

				assert_int_equal(upper->value, value);
				*upper->word = (*upper->word & 0xffff0000) |
					       ((whole + 0x8000) >> 16 & 0xffff);
			}
			*word = (old & 0xffff0000) | ((value + low) & 0xffff);
			break;
		default:
			fail_msg("type %u", ELF32_R_TYPE(info));
		}
	}
	assert_int_equal(nr_waiting, 0);
}

static struct section *begin(struct object *object, bool big, struct symbol **x, struct symbol **y)
{
	const GElf_Ehdr header = {
		.e_ident = {[EI_CLASS] = ELFCLASS32,
			    [EI_DATA] = big ? ELFDATA2MSB : ELFDATA2LSB},
		.e_machine = EM_MIPS,
		.e_flags = 0x70001001,
	};
	static const uint32_t words[8];

	object_init(object, big ? &arch_mips : &arch_mipsel, &header);
	struct section *text = object_add_section(object, ".text.f", SHT_PROGBITS,
						  SHF_ALLOC | SHF_EXECINSTR, 4, 0);
	section_append(text, words, sizeof(words), 4);
	/* Their places in the table of names: 1 and 3. */
	*x = object_add_symbol(object, "x", NULL, 0, 0, STT_NOTYPE, STB_GLOBAL);
	*y = object_add_symbol(object, "y", NULL, 0, 0, STT_NOTYPE, STB_GLOBAL);
	return text;
}

static const uint32_t values[] = {0, 0x80128000, 0, 0xc0007ffc};

static void test_written(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct object object;
		struct symbol *x, *y;
		struct section *text = begin(&object, big, &x, &y);
		uint32_t words[8];

		object_put32(&object, text->data, LUI(2, 0));
		object_put32(&object, text->data + 20, 0x0c000000);
		object_put32(&object, text->data + 24, 0x10000000);
		/* Not in the order that the loader needs. */
		section_add_reloc(text, 0, R_MIPS_HI16, x, 0x17ffc);
		section_add_reloc(text, 4, R_MIPS_HI16, y, -8);
		section_add_reloc(text, 8, R_MIPS_LO16, y, -4);
		section_add_reloc(text, 12, R_MIPS_LO16, x, 0x17ffc);
		section_add_reloc(text, 16, R_MIPS_HI16, x, 0x17ffc);
		section_add_reloc(text, 20, R_MIPS_26, x, -8);
		section_add_reloc(text, 24, R_MIPS_PC16, y, -4);
		section_add_reloc(text, 28, R_MIPS_32, y, -0x10);
		assert_no_error(object_write(&object, file));
		/* What is in memory is as it was. */
		assert_int_equal(object_get32(&object, text->data), LUI(2, 0));
		assert_int_equal(text->relocs.list[0].addend, 0x17ffc);
		object_deinit(&object);

		load(values, words);
		assert_int_equal(words[0], LUI(2, 0x8014)); /* 0x80128000 + 0x17ffc = 0x8013fffc */
		assert_int_equal(words[3], 0xfffc);
		assert_int_equal(words[4], 0x8014);
		assert_int_equal(words[1], 0xc000); /* 0xc0007ff8 */
		assert_int_equal(words[2], 0x7ff8);
		assert_int_equal(words[5], 0x0c000000 | (0x80127ff8 >> 2 & 0x03ffffff));
		assert_int_equal(words[6], 0x10000000 | ((0xc0007ff8 - 24) >> 2 & 0xffff));
		assert_int_equal(words[7], 0xc0007fec);

		struct object read;
		assert_no_error(object_read(file, &read));
		text = object_find_section(&read, ".text.f");
		assert_int_equal(text->relocs.list[0].addend, 0x17ffc);
		assert_int_equal(text->relocs.list[3].addend, 0x17ffc);
		assert_int_equal(text->relocs.list[7].addend, -0x10);
		object_deinit(&read);
	}
}

static void is_not_written(uint32_t type, int64_t addend, const char *reason)
{
	struct object object;
	struct symbol *x, *y;
	struct section *text = begin(&object, true, &x, &y);

	section_add_reloc(text, 4, type, x, addend);
	section_add_reloc(text, 8, R_MIPS_LO16, x, 32);
	section_add_reloc(text, 12, R_MIPS_LO16, y, 0);
	struct error *error = object_write(&object, file);
	assert_non_null(error);
	if (!strstr(error->text, reason))
		fail_msg("'%s' does not tell '%s'", error->text, reason);
	error_destroy(error);
	object_deinit(&object);
}

static void test_not_written(void **state)
{
	(void)state;
	is_not_written(R_MIPS_HI16, 0, "the R_MIPS_HI16 at 4 of section .text.f would have no");
	is_not_written(R_MIPS_HI16, 36, "the R_MIPS_HI16 at 4 of section .text.f would have no");
	is_not_written(R_MIPS_26, 2, "would have addend 2");
	is_not_written(R_MIPS_26, 1 << 27, "would have addend 134217728");
	is_not_written(R_MIPS_26, -(1 << 27) - 4, "would have addend -134217732");
	is_not_written(R_MIPS_PC16, 1 << 17, "would have addend 131072");
	is_not_written(R_MIPS_32, 1ll << 32, "would have addend 4294967296");
}

/* What is read and written again is the same file, but for the order: here, of one HI16. */
static void test_alone_stays(void **state)
{
	const uint32_t words[] = {LUI(2, 1), 0};
	const struct place places[] = {{0, R_MIPS_HI16, X}};

	(void)state;
	for (int big = 0; big < 2; big++) {
		struct object object;

		MAKE(big, words, places);
		read_text(&object);
		assert_no_error(object_write(&object, file));
		object_deinit(&object);
		struct section *text = read_text(&object);
		assert_int_equal(text->relocs.count, 1);
		assert_int_equal(text->relocs.list[0].addend, 0x10000);
		object_deinit(&object);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_no_pairs),
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_not_written),
		cmocka_unit_test(test_alone_stays),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
