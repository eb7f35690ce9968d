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

static bool names_are_alike(const char *a, const char *b)
{
	const char *x, *y;
	size_t x_at, x_digits, y_at, y_digits;

	if (!a || !b)
		return false;
	if (!strcmp(a, b))
		return true;
	x = counted_part(a);
	y = counted_part(b);
	if (!x || !y || x - a != y - b || memcmp(a, b, (size_t)(x - a)) ||
	    !counted_number(x, strlen(x), &x_at, &x_digits) ||
	    !counted_number(y, strlen(y), &y_at, &y_digits))
		return false;
	return x_at == y_at && !memcmp(x, y, x_at) &&
	       !strcmp(x + x_at + x_digits, y + y_at + y_digits);
}

static bool symbols_are_alike(Elf *a, Elf *b, const GElf_Shdr *header, Elf_Data *x, Elf_Data *y)
{
	size_t count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;

	for (size_t i = 0; i < count; i++) {
		GElf_Sym left, right;

		if (!gelf_getsym(x, (int)i, &left) || !gelf_getsym(y, (int)i, &right))
			return false;
		if (left.st_info != right.st_info || left.st_other != right.st_other ||
		    left.st_shndx != right.st_shndx || left.st_value != right.st_value ||
		    left.st_size != right.st_size ||
		    !names_are_alike(elf_strptr(a, header->sh_link, left.st_name),
				     elf_strptr(b, header->sh_link, right.st_name)))
			return false;
	}
	return true;
}

static bool sections_are_alike(Elf *a, Elf *b, Elf_Scn *x, Elf_Scn *y, size_t a_names,
			       size_t b_names)
{
	GElf_Shdr left, right;
	Elf_Data *left_data, *right_data;

	if (!gelf_getshdr(x, &left) || !gelf_getshdr(y, &right) ||
	    !names_are_alike(elf_strptr(a, a_names, left.sh_name),
			     elf_strptr(b, b_names, right.sh_name)))
		return false;
	if (left.sh_type != right.sh_type || left.sh_flags != right.sh_flags ||
	    left.sh_link != right.sh_link || left.sh_info != right.sh_info ||
	    left.sh_addralign != right.sh_addralign || left.sh_entsize != right.sh_entsize)
		return false;
	if (left.sh_type == SHT_STRTAB)
		return true;
	if (left.sh_size != right.sh_size)
		return false;
	left_data = elf_getdata(x, NULL);
	right_data = elf_getdata(y, NULL);
	if (!left_data || !right_data)
		return false;
	if (left.sh_type == SHT_SYMTAB)
		return symbols_are_alike(a, b, &left, left_data, right_data);
	return left.sh_type == SHT_NOBITS || !left.sh_size ||
	       !memcmp(left_data->d_buf, right_data->d_buf, left.sh_size);
}

static bool elves_are_alike(Elf *a, Elf *b)
{
	Elf_Scn *x = NULL, *y = NULL;
	size_t a_names, b_names;
	GElf_Ehdr left, right;

	if (!a || !b || !gelf_getehdr(a, &left) || !gelf_getehdr(b, &right) ||
	    left.e_machine != right.e_machine || left.e_flags != right.e_flags ||
	    left.e_type != ET_REL || right.e_type != ET_REL || elf_getshdrstrndx(a, &a_names) ||
	    elf_getshdrstrndx(b, &b_names))
		return false;
	for (;;) {
		x = elf_nextscn(a, x);
		y = elf_nextscn(b, y);
		if (!x || !y)
			return !x && !y;
		if (!sections_are_alike(a, b, x, y, a_names, b_names))
			return false;
	}
}

bool objects_are_alike(char *a, size_t a_length, char *b, size_t b_length)
{
	Elf *left, *right;
	bool alike;

	if (a_length == b_length && !memcmp(a, b, a_length))
		return true;
	elf_version(EV_CURRENT);
	left = elf_memory(a, a_length);
	right = elf_memory(b, b_length);
	alike = elves_are_alike(left, right);
	elf_end(left);
	elf_end(right);
	return alike;
}
