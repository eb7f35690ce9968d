// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads an object and compares its functions, with no code of the differ. */
#include <capstone/capstone.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "selfcheck.h"

/* ---- reading ---------------------------------------------------------------------- */

static int by_offset(const void *left, const void *right)
{
	const GElf_Rela *a = left, *b = right;

	return a->r_offset < b->r_offset ? -1 : a->r_offset > b->r_offset;
}

static void read_relocs(Elf_Scn *scn, const GElf_Shdr *header, struct image *image)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	struct image_section *section = &image->sections.list[header->sh_info];

	section->reloc_count = header->sh_size / header->sh_entsize;
	section->relocs = xcalloc(section->reloc_count + 1, sizeof(*section->relocs));
	for (size_t i = 0; i < section->reloc_count; i++)
		gelf_getrela(data, (int)i, &section->relocs[i]);
	qsort(section->relocs, section->reloc_count, sizeof(*section->relocs), by_offset);
}

static void read_symbols(Elf_Scn *scn, const GElf_Shdr *header, Elf_Data *numbers,
			 struct image *image)
{
	Elf_Data *data = elf_getdata(scn, NULL);

	for (size_t i = 0; i < header->sh_size / header->sh_entsize; i++) {
		struct image_symbol *symbol = vec_push(&image->symbols);
		Elf32_Word number;

		gelf_getsymshndx(data, numbers, (int)i, &symbol->sym, &number);
		symbol->name = elf_strptr(image->elf, header->sh_link, symbol->sym.st_name) ?: "";
		if (symbol->sym.st_shndx == SHN_XINDEX)
			symbol->section = number;
		else if (symbol->sym.st_shndx < SHN_LORESERVE)
			symbol->section = symbol->sym.st_shndx;
	}
}

static size_t function_at(const struct image *image, size_t section, uint64_t offset)
{
	for (size_t i = 0; i < image->symbols.count; i++) {
		const struct image_symbol *symbol = &image->symbols.list[i];

		if (GELF_ST_TYPE(symbol->sym.st_info) == STT_FUNC && symbol->section == section &&
		    offset - symbol->sym.st_value < symbol->sym.st_size)
			return i;
	}
	return 0;
}

static void add_branch(struct image *image, size_t number, size_t function, const cs_insn *insn)
{
	struct image_section *section = &image->sections.list[number];
	const struct image_symbol *from = &image->symbols.list[function];
	const cs_x86 *x86 = &insn->detail->x86;
	uint64_t target = (uint64_t)x86->operands[0].imm;
	uint64_t field = insn->address + x86->encoding.imm_offset;
	size_t to = function_at(image, number, target);

	if (!to || target - from->sym.st_value < from->sym.st_size)
		return;
	for (size_t i = 0; i < section->reloc_count; i++)
		if (section->relocs[i].r_offset == field)
			return;
	memset(section->copy + field, 0, x86->encoding.imm_size);
	section->relocs =
		xreallocarray(section->relocs, section->reloc_count + 2, sizeof(*section->relocs));
	section->relocs[section->reloc_count++] = (GElf_Rela){
		.r_offset = field,
		.r_info = GELF_R_INFO(to,
				      x86->encoding.imm_size == 4 ? R_X86_64_PLT32 : R_X86_64_PC8),
		.r_addend = (int64_t)(target - image->symbols.list[to].sym.st_value) -
			    x86->encoding.imm_size,
	};
}

/*
 * The assembler resolves calls between functions of one section (.noinstr.text) by itself; make
 * relocations of them, so that it does not matter what lies in between.
 */
static void read_branches(struct image *image, size_t number, csh handle, cs_insn *insn)
{
	struct image_section *section = &image->sections.list[number];

	section->copy = xcalloc(section->header.sh_size, 1);
	memcpy(section->copy, section->data, section->header.sh_size);
	for (size_t i = 0; i < image->symbols.count; i++) {
		const struct image_symbol *symbol = &image->symbols.list[i];
		const uint8_t *code = section->data + symbol->sym.st_value;
		uint64_t address = symbol->sym.st_value;
		size_t size = symbol->sym.st_size;

		if (symbol->section != number || GELF_ST_TYPE(symbol->sym.st_info) != STT_FUNC)
			continue;
		while (cs_disasm_iter(handle, &code, &size, &address, insn))
			if (cs_insn_group(handle, insn, X86_GRP_BRANCH_RELATIVE))
				add_branch(image, number, i, insn);
	}
	section->data = section->copy;
	if (section->reloc_count)
		qsort(section->relocs, section->reloc_count, sizeof(*section->relocs), by_offset);
}

static struct error *read_all_branches(struct image *image)
{
	_free_ size_t *functions = xcalloc(image->sections.count, sizeof(*functions));
	cs_insn *insn;
	csh handle;

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) ||
	    cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON))
		return error_new(STATUS_FAILED, "capstone cannot read x86-64");
	insn = cs_malloc(handle);
	for (size_t i = 0; i < image->symbols.count; i++)
		if (GELF_ST_TYPE(image->symbols.list[i].sym.st_info) == STT_FUNC)
			functions[image->symbols.list[i].section]++;
	for (size_t i = 1; i < image->sections.count; i++)
		if (functions[i] > 1 && image->sections.list[i].data)
			read_branches(image, i, handle, insn);
	cs_free(insn, 1);
	cs_close(&handle);
	return NULL;
}

struct error *image_open(const char *path, struct image *ret)
{
	Elf_Scn *scn = NULL;
	Elf_Data *numbers = NULL;
	size_t names;

	*ret = (struct image){.fd = open(path, O_RDONLY | O_CLOEXEC)};
	if (ret->fd < 0)
		return error_errno("cannot open %s", path);
	elf_version(EV_CURRENT);
	ret->elf = elf_begin(ret->fd, ELF_C_READ_MMAP, NULL);
	if (!ret->elf || elf_getshdrstrndx(ret->elf, &names))
		return error_new(STATUS_FAILED, "%s: %s", path, elf_errmsg(-1));
	vec_push(&ret->sections);
	while ((scn = elf_nextscn(ret->elf, scn))) {
		struct image_section *section = vec_push(&ret->sections);
		Elf_Data *data;

		gelf_getshdr(scn, &section->header);
		section->name = elf_strptr(ret->elf, names, section->header.sh_name) ?: "";
		data = section->header.sh_type != SHT_NOBITS ? elf_getdata(scn, NULL) : NULL;
		section->data = data ? data->d_buf : NULL;
		if (section->header.sh_type == SHT_SYMTAB_SHNDX)
			numbers = data;
	}
	for (size_t i = 1; i < ret->sections.count; i++) {
		const GElf_Shdr *header = &ret->sections.list[i].header;

		if (header->sh_type == SHT_RELA)
			read_relocs(elf_getscn(ret->elf, i), header, ret);
		if (header->sh_type == SHT_SYMTAB)
			read_symbols(elf_getscn(ret->elf, i), header, numbers, ret);
	}
	return read_all_branches(ret);
}

void image_close(struct image *image)
{
	for (size_t i = 0; i < image->sections.count; i++) {
		free(image->sections.list[i].relocs);
		free(image->sections.list[i].copy);
	}
	vec_deinit(&image->sections);
	vec_deinit(&image->symbols);
	elf_end(image->elf);
	cleanup_close(&image->fd);
}

/* ---- functions --------------------------------------------------------------------- */

static bool is_function(const struct image_symbol *symbol)
{
	return GELF_ST_TYPE(symbol->sym.st_info) == STT_FUNC && symbol->section;
}

const struct image_symbol *image_function(const struct image *image, const char *name)
{
	for (size_t i = 0; i < image->symbols.count; i++)
		if (is_function(&image->symbols.list[i]) &&
		    !strcmp(image->symbols.list[i].name, name))
			return &image->symbols.list[i];
	return NULL;
}

const struct image_symbol *image_primary(const struct image *image,
					 const struct image_symbol *symbol)
{
	for (size_t i = 0; i < image->symbols.count; i++) {
		const struct image_symbol *other = &image->symbols.list[i];

		if (is_function(other) && other->section == symbol->section &&
		    other->sym.st_value == symbol->sym.st_value)
			return other;
	}
	return symbol;
}

bool image_is_cold(const char *name)
{
	const char *cold = strstr(name, ".cold");

	return cold && strspn(cold + 5, ".0123456789") == strlen(cold + 5);
}

static const struct image_symbol *cold_part(const struct image *image,
					    const struct image_symbol *function)
{
	_free_ char *name = xasprintf("%s.cold", function->name);

	return image_function(image, name);
}

static const GElf_Rela *first_reloc(const struct image_section *section, uint64_t offset)
{
	const GElf_Rela *reloc = section->relocs, *end = reloc + section->reloc_count;

	while (reloc < end && reloc->r_offset < offset)
		reloc++;
	return reloc;
}

static const struct image_symbol *reloc_symbol(const struct image *image, const GElf_Rela *reloc)
{
	return &image->symbols.list[GELF_R_SYM(reloc->r_info)];
}

bool image_has_entry(const struct image *image, const struct image_symbol *function)
{
	const struct image_section *section = &image->sections.list[function->section];
	const GElf_Rela *reloc = first_reloc(section, function->sym.st_value);

	return reloc < section->relocs + section->reloc_count &&
	       reloc->r_offset <= function->sym.st_value + 5 &&
	       !strcmp(reloc_symbol(image, reloc)->name, "__fentry__");
}

/* By its address, which is more than a call; any: in whatever way. */
static bool part_refers(const struct image *image, const struct image_symbol *from,
			const struct image_symbol *to, bool any)
{
	const struct image_section *section = &image->sections.list[from->section];
	const GElf_Rela *end = section->relocs + section->reloc_count;

	for (const GElf_Rela *reloc = first_reloc(section, from->sym.st_value);
	     reloc < end && reloc->r_offset < from->sym.st_value + from->sym.st_size; reloc++) {
		const struct image_symbol *symbol = reloc_symbol(image, reloc);
		uint32_t type = GELF_R_TYPE(reloc->r_info);

		if (!any && type != R_X86_64_32S && type != R_X86_64_64)
			continue;
		if (symbol == to || (symbol->section == to->section &&
				     (GELF_ST_TYPE(symbol->sym.st_info) == STT_SECTION ||
				      symbol->sym.st_value == to->sym.st_value)))
			return true;
	}
	return false;
}

bool image_refers(const struct image *image, const struct image_symbol *from,
		  const struct image_symbol *to)
{
	const struct image_symbol *cold = cold_part(image, from);

	return part_refers(image, from, to, true) || (cold && part_refers(image, cold, to, true));
}

bool image_takes_address(const struct image *image, const struct image_symbol *from,
			 const struct image_symbol *to)
{
	const struct image_symbol *cold = cold_part(image, from);

	return part_refers(image, from, to, false) || (cold && part_refers(image, cold, to, false));
}

/* ---- comparing ------------------------------------------------------------------------ */

/* "CSWTCH.12" and "CSWTCH.13", ".rodata.__func__.4" and ".rodata.__func__.5". */
static bool same_name(const char *a, const char *b)
{
	for (; *a && *a == *b; a++, b++)
		;
	if (!*a && !*b)
		return true;
	/* Within a number, or at its end. */
	a += strspn(a, "0123456789");
	b += strspn(b, "0123456789");
	return !strcmp(a, b);
}

static bool same_part(const struct image *a, const struct image_section *section_a,
		      uint64_t start_a, const struct image *b,
		      const struct image_section *section_b, uint64_t start_b, uint64_t size,
		      unsigned int depth);

static bool is_constant(const struct image_section *section)
{
	return !(section->header.sh_flags & (SHF_WRITE | SHF_EXECINSTR)) &&
	       section->header.sh_flags & SHF_ALLOC && section->data;
}

/* A field that counts from its end. */
static int64_t behind(const GElf_Rela *reloc)
{
	uint32_t type = GELF_R_TYPE(reloc->r_info);

	return type == R_X86_64_PC32 || type == R_X86_64_PLT32 ? 4 : 0;
}

/* Strings and constants without a name: by what is there. */
static bool same_content(const struct image_section *a, uint64_t at_a,
			 const struct image_section *b, uint64_t at_b)
{
	uint64_t room_a, room_b;

	if (at_a >= a->header.sh_size || at_b >= b->header.sh_size)
		return false;
	room_a = a->header.sh_size - at_a;
	room_b = b->header.sh_size - at_b;
	if (a->header.sh_flags & SHF_STRINGS)
		return !strncmp((const char *)a->data + at_a, (const char *)b->data + at_b,
				room_a < room_b ? room_a : room_b);
	return a->header.sh_entsize <= room_a && a->header.sh_entsize <= room_b &&
	       !memcmp(a->data + at_a, b->data + at_b, a->header.sh_entsize);
}

static bool same_target(const struct image *a, const GElf_Rela *reloc_a, const struct image *b,
			const GElf_Rela *reloc_b, unsigned int depth)
{
	const struct image_symbol *symbol_a = reloc_symbol(a, reloc_a);
	const struct image_symbol *symbol_b = reloc_symbol(b, reloc_b);
	const struct image_section *section_a = &a->sections.list[symbol_a->section];
	const struct image_section *section_b = &b->sections.list[symbol_b->section];

	if (!symbol_a->section || !symbol_b->section)
		return !symbol_a->section && !symbol_b->section &&
		       !strcmp(symbol_a->name, symbol_b->name) &&
		       reloc_a->r_addend == reloc_b->r_addend;
	if (section_a->header.sh_flags != section_b->header.sh_flags)
		return false;
	if (section_a->header.sh_flags & SHF_MERGE)
		return same_content(section_a,
				    symbol_a->sym.st_value + (uint64_t)reloc_a->r_addend +
					    (uint64_t)behind(reloc_a),
				    section_b,
				    symbol_b->sym.st_value + (uint64_t)reloc_b->r_addend +
					    (uint64_t)behind(reloc_b));
	if (reloc_a->r_addend != reloc_b->r_addend ||
	    !same_name(section_a->name, section_b->name) ||
	    !same_name(symbol_a->name, symbol_b->name))
		return false;
	/* Tables of a switch (CSWTCH, jump tables) are a part of the code that uses them. */
	return !is_constant(section_a) || depth > 2 ||
	       (section_a->header.sh_size == section_b->header.sh_size &&
		same_part(a, section_a, 0, b, section_b, 0, section_a->header.sh_size, depth + 1));
}

static bool same_part(const struct image *a, const struct image_section *section_a,
		      uint64_t start_a, const struct image *b,
		      const struct image_section *section_b, uint64_t start_b, uint64_t size,
		      unsigned int depth)
{
	const GElf_Rela *reloc_a = first_reloc(section_a, start_a);
	const GElf_Rela *reloc_b = first_reloc(section_b, start_b);
	const GElf_Rela *end_a = section_a->relocs + section_a->reloc_count;
	const GElf_Rela *end_b = section_b->relocs + section_b->reloc_count;

	if (memcmp(section_a->data + start_a, section_b->data + start_b, size))
		return false;
	for (;; reloc_a++, reloc_b++) {
		bool more_a = reloc_a < end_a && reloc_a->r_offset < start_a + size;
		bool more_b = reloc_b < end_b && reloc_b->r_offset < start_b + size;

		if (!more_a || !more_b)
			return more_a == more_b;
		if (reloc_a->r_offset - start_a != reloc_b->r_offset - start_b ||
		    GELF_R_TYPE(reloc_a->r_info) != GELF_R_TYPE(reloc_b->r_info) ||
		    !same_target(a, reloc_a, b, reloc_b, depth))
			return false;
	}
}

static bool same_function(const struct image *a, const struct image_symbol *function_a,
			  const struct image *b, const struct image_symbol *function_b)
{
	return function_a->sym.st_size == function_b->sym.st_size &&
	       same_part(a, &a->sections.list[function_a->section], function_a->sym.st_value, b,
			 &b->sections.list[function_b->section], function_b->sym.st_value,
			 function_a->sym.st_size, 0);
}

bool image_same(const struct image *a, const struct image_symbol *function_a, const struct image *b,
		const struct image_symbol *function_b)
{
	const struct image_symbol *cold_a = cold_part(a, function_a);
	const struct image_symbol *cold_b = cold_part(b, function_b);

	if (!cold_a != !cold_b || !same_function(a, function_a, b, function_b))
		return false;
	return !cold_a || same_function(a, cold_a, b, cold_b);
}
