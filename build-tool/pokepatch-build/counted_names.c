// SPDX-License-Identifier: GPL-2.0-or-later
/* Names with numbers of __COUNTER__; see counted_names.h. */
#include "pokepatch-build/counted_names.h"

#include <ctype.h>
#include <gelf.h>
#include <string.h>

#include "common/util.h"

/* What the names begin with (linux/compiler.h, compiler_types.h, btf_ids.h, init.h). */
static const struct {
	const char *text;
	bool is_initcall;
} prefixes[] = {
	{"__UNIQUE_ID_", false},
	{"__compiletime_assert_", false},
	{"__BTF_ID__", false},
	{"__initcall__kmod_", true},
};

static size_t digits_at(const char *name, size_t length, size_t at)
{
	size_t count = 0;

	while (at + count < length && isdigit((unsigned char)name[at + count]))
		count++;
	return count;
}

/* __initcall__kmod_MODULE__NUMBER_LINE_FUNCTIONID: the first number that "__" is in front of. */
static bool initcall_number(const char *name, size_t length, size_t *ret_at, size_t *ret_digits)
{
	for (size_t i = 2; i < length; i++) {
		size_t digits =
			name[i - 1] == '_' && name[i - 2] == '_' ? digits_at(name, length, i) : 0;

		if (digits && i + digits < length && name[i + digits] == '_') {
			*ret_at = i;
			*ret_digits = digits;
			return true;
		}
	}
	return false;
}

bool counted_number(const char *name, size_t length, size_t *ret_at, size_t *ret_digits)
{
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t begin = strlen(prefixes[i].text), at;
		const char *dot;

		if (length <= begin || memcmp(name, prefixes[i].text, begin))
			continue;
		if (prefixes[i].is_initcall)
			return initcall_number(name, length, ret_at, ret_digits);
		/* The compiler's own number for a local variable comes behind a dot. */
		dot = memchr(name, '.', length);
		if (dot)
			length = (size_t)(dot - name);
		for (at = length; at > begin && isdigit((unsigned char)name[at - 1]);)
			at--;
		*ret_at = at;
		*ret_digits = length - at;
		return at < length;
	}
	return false;
}

/* ---- objects ------------------------------------------------------------------ */

/* Such a name, with -fdata-sections in a section's: ".rela.data.__UNIQUE_ID_x12". */
static const char *counted_part(const char *name)
{
	const char *found;

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if ((found = strstr(name, prefixes[i].text)))
			return found;
	return NULL;
}

/* Append a name, and "#" in place of the number. */
static bool add_name(struct buffer *text, const char *name)
{
	const char *counted = name ? counted_part(name) : NULL;
	size_t at, digits;

	if (!name)
		return false;
	if (counted && counted_number(counted, strlen(counted), &at, &digits)) {
		buffer_add(text, name, (size_t)(counted + at - name));
		buffer_add_string(text, "#");
		name = counted + at + digits;
	}
	buffer_add(text, name, strlen(name) + 1);
	return true;
}

/* .debug_info, .rela.debug_info */
static bool is_debug(const char *name)
{
	return has_prefix(name, ".debug") || has_prefix(name, ".rela.debug") ||
	       has_prefix(name, ".rel.debug");
}

/* What is read of an object. */
struct fingerprint {
	Elf *elf;
	size_t names; /* the section with the names of sections */
	struct buffer text; /* what is hashed */
};

static void add_number(struct buffer *text, uint64_t number)
{
	buffer_add(text, &number, sizeof(number));
}

static bool add_symbols(struct fingerprint *print, const GElf_Shdr *header, Elf_Data *data)
{
	size_t count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

	for (size_t i = 0; i < count; i++) {
		GElf_Sym symbol;

		if (!gelf_getsym(data, (int)i, &symbol))
			return false;
		add_number(&print->text, (uint64_t)symbol.st_info << 32 | symbol.st_other << 16 |
						 symbol.st_shndx);
		add_number(&print->text, symbol.st_value);
		add_number(&print->text, symbol.st_size);
		if (!add_name(&print->text, elf_strptr(print->elf, header->sh_link, symbol.st_name)))
			return false;
	}
	return true;
}

static bool add_section(struct fingerprint *print, Elf_Scn *section)
{
	struct buffer *text = &print->text;
	const char *name;
	GElf_Shdr header;
	Elf_Data *data;

	if (!gelf_getshdr(section, &header))
		return false;
	name = elf_strptr(print->elf, print->names, header.sh_name);
	if (!add_name(text, name))
		return false;
	add_number(text, header.sh_type);
	add_number(text, header.sh_flags);
	add_number(text, (uint64_t)header.sh_link << 32 | header.sh_info);
	add_number(text, header.sh_addralign);
	add_number(text, header.sh_entsize);
	if (header.sh_type == SHT_STRTAB || is_debug(name))
		return true;
	add_number(text, header.sh_size);
	data = elf_getdata(section, NULL);
	if (!data)
		return false;
	if (header.sh_type == SHT_SYMTAB)
		return add_symbols(print, &header, data);
	if (header.sh_type != SHT_NOBITS && header.sh_size)
		buffer_add(text, data->d_buf, header.sh_size);
	return true;
}

static bool add_sections(struct fingerprint *print)
{
	Elf_Scn *section = NULL;
	GElf_Ehdr header;

	if (!print->elf || !gelf_getehdr(print->elf, &header) || header.e_type != ET_REL ||
	    elf_getshdrstrndx(print->elf, &print->names))
		return false;
	add_number(&print->text, (uint64_t)header.e_machine << 32 | header.e_flags);
	while ((section = elf_nextscn(print->elf, section)))
		if (!add_section(print, section))
			return false;
	return true;
}

void object_fingerprint(char *object, size_t length, char ret[65])
{
	struct fingerprint print = {};

	elf_version(EV_CURRENT);
	print.elf = elf_memory(object, length);
	if (add_sections(&print))
		sha256_hex(print.text.text, print.text.length, ret);
	else
		sha256_hex(object, length, ret);
	elf_end(print.elf);
	buffer_deinit(&print.text);
}
