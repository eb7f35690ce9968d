// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arguments why a change of a module does not matter.  The proof must catch every change that no
 * argument covers.
 */
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mutate.h"
#include "pokepatch_format.h"

#define ORC_SIZE 6 /* struct orc_entry of 6.1 */

/* The linker sums up which processor MIPS objects need.  Only loaders of programs read that. */
static bool is_summary(const struct section *section)
{
	return !strcmp(section->name, ".MIPS.options") || !strcmp(section->name, ".MIPS.abiflags");
}

/* The bytes of vmlinux at an address, or NULL. */
static const unsigned char *bytes_at(Elf *elf, uint64_t address, uint64_t size)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		Elf_Data *data;
		GElf_Shdr head;

		if (!gelf_getshdr(scn, &head) || head.sh_type == SHT_NOBITS ||
		    !(head.sh_flags & SHF_ALLOC) || address < head.sh_addr ||
		    address - head.sh_addr + size > head.sh_size)
			continue;
		data = elf_rawdata(scn, NULL);
		return data ? (unsigned char *)data->d_buf + (address - head.sh_addr) : NULL;
	}
	return NULL;
}

/* The address of a symbol of vmlinux, or 0. */
static uint64_t address_of(Elf *elf, const char *name)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		Elf_Data *data;
		GElf_Shdr head;
		GElf_Sym symbol;

		if (!gelf_getshdr(scn, &head) || head.sh_type != SHT_SYMTAB)
			continue;
		data = elf_getdata(scn, NULL);
		for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
			const char *its = elf_strptr(elf, head.sh_link, symbol.st_name);

			if (its && !strcmp(its, name))
				return symbol.st_value;
		}
	}
	return 0;
}

bool same_contents(const char *vmlinux, uint64_t a, uint64_t b, uint64_t size)
{
	int file = open(vmlinux, O_RDONLY | O_CLOEXEC);
	Elf *elf = file >= 0 ? elf_begin(file, ELF_C_READ_MMAP, NULL) : NULL;
	uint64_t stext = elf ? address_of(elf, "_stext") : 0;
	const unsigned char *first = stext ? bytes_at(elf, stext + a, size) : NULL;
	const unsigned char *second = stext ? bytes_at(elf, stext + b, size) : NULL;
	bool same = first && second && !memcmp(first, second, size);

	elf_end(elf);
	if (file >= 0)
		close(file);
	return same;
}

bool is_loaded(const struct section *section)
{
	return section && (section->flags & SHF_ALLOC) && section->size && !is_summary(section);
}

const struct table *find_table(const struct object *object, const struct section *section)
{
	static const struct table tables[] = {
		{.name = "__ex_table", .machine = EM_MIPS, .size = 16, .used = 16},
		{.name = "__jump_table", .machine = EM_MIPS, .size = 24, .used = 24},
		{.name = "__bug_table", .size = 12, .used = 12},
		{.name = "__ex_table", .size = 12, .used = 12},
		{.name = "__jump_table", .size = 16, .used = 16},
		{.name = ".altinstructions",
		 .size = 12,
		 .used = 12,
		 .ordered = true,
		 .piece = 4,
		 .length = 11},
		{.name = ".smp_locks", .size = 4, .used = 4},
		{.name = ".parainstructions", .size = 16, .used = 10},
		{.name = "__mcount_loc", .size = 8, .used = 8},
		{.name = "__patchable_function_entries", .size = 8, .used = 8},
		{.name = ".return_sites", .size = 4, .used = 4},
		{.name = ".call_sites", .size = 4, .used = 4},
		{.name = ".ibt_endbr_seal", .size = 4, .used = 4},
		{.name = ".retpoline_sites", .size = 4, .used = 4},
		{.name = ".static_call_sites", .size = 8, .used = 8},
		{.name = ".orc_unwind_ip", .size = 4, .used = 4},
		{.name = ".orc_unwind", .size = ORC_SIZE, .used = ORC_SIZE},
		{.name = ".pokepatch.funcs",
		 .size = sizeof(struct pokepatch_func),
		 .used = sizeof(struct pokepatch_func)},
		{.name = ".pokepatch.callbacks",
		 .size = sizeof(struct pokepatch_callback),
		 .used = sizeof(struct pokepatch_callback)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		if (!strcmp(tables[i].name, section->name) &&
		    (!tables[i].machine || tables[i].machine == object->arch->elf.machine))
			return &tables[i];
	return NULL;
}

const struct reloc *reloc_over(const struct object *object, const struct section *section,
			       uint64_t at)
{
	for (size_t i = 0; i < section->relocs.count; i++) {
		const struct reloc *reloc = &section->relocs.list[i];
		const struct reloc_kind *kind = arch_reloc(object->arch, reloc->type);

		if (at >= reloc->offset && at < reloc->offset + (kind ? kind->size : 0))
			return reloc;
	}
	return NULL;
}

bool same_place(const struct symbol *a, const struct symbol *b)
{
	return a == b || (a->section && a->section == b->section && a->value == b->value) ||
	       (!a->section && !b->section && !strcmp(a->name, b->name));
}

bool is_used(const struct object *object, const struct symbol *symbol)
{
	for (size_t i = 1; i < object->sections.count; i++) {
		const struct section *section = object->sections.list[i];

		for (size_t j = 0; is_loaded(section) && j < section->relocs.count; j++)
			if (section->relocs.list[j].symbol == symbol)
				return true;
	}
	return false;
}

/* ---- bits --------------------------------------------------------------------------- */

static bool within_symbol(const struct object *object, const struct section *section, uint64_t at)
{
	for (size_t i = 1; i < object->symbols.count; i++) {
		const struct symbol *symbol = object->symbols.list[i];

		if (symbol->section == section && at >= symbol->value &&
		    at - symbol->value < symbol->size)
			return true;
	}
	return false;
}

/* The unwinder reads a register's offset only where it knows the register. */
static bool orc_bit_is_read(const unsigned char *entry, uint64_t at, uint8_t bit)
{
	bool sp = entry[4] & 0x0f, bp = entry[4] & 0xf0;

	return at < 2 ? sp : at < 4 ? bp : at == 4 || bit < 4;
}

/*
 * Does the loader overwrite this bit of a relocated field without reading it?  (On x86-64 it
 * reads the field, which must be 0.)  A field in data has the size of its type.  In code it is
 * some bits of the instruction.
 */
static bool is_written_over(const struct object *object, const struct section *section, uint64_t at,
			    uint8_t bit)
{
	const struct reloc *reloc = reloc_over(object, section, at);
	const struct reloc_kind *kind = arch_reloc(object->arch, reloc->type);
	uint64_t byte = at - reloc->offset;

	if (object->arch->elf.data == ELFDATA2MSB)
		byte = kind->size - 1 - byte;
	return !kind->adds && (!kind->mask || kind->mask >> (8 * byte + bit) & 1);
}

const char *bit_argument(const struct object *object, const struct section *section, uint64_t at,
			 uint8_t bit)
{
	const unsigned char *data = section->data;
	const struct table *table = find_table(object, section);

	if (!strcmp(section->name, ".note.gnu.build-id") && at >= 16)
		return "the linker's hash of the file, which nothing is compared with";
	if (reloc_over(object, section, at))
		return object->arch->elf.machine != EM_X86_64 &&
				       is_written_over(object, section, at, bit)
			       ? "a field that the loader writes over"
			       : NULL; /* on x86-64 the loader refuses a field that is not 0 */
	if (!strcmp(section->name, ".orc_unwind"))
		return orc_bit_is_read(data + at / ORC_SIZE * ORC_SIZE, at % ORC_SIZE, bit)
			       ? NULL
			       : "the unwinder does not look there";
	if (table)
		return at % table->size < table->used ? NULL : "padding of an entry";
	if (section_is_text(section) || section->flags & SHF_WRITE)
		return within_symbol(object, section, at) ||
				       !strcmp(section->name, ".altinstr_replacement")
			       ? NULL
			       : "padding between functions or variables";
	if (!strcmp(section->name, "__versions")) /* 4 bytes of CRC, 4 zeroes, a name */
		return at % 64 < 8 || data[at] || data[at - 1] ? NULL : "behind a name's end";
	return data[at] || (at && data[at - 1]) ||
			       !strcmp(section->name, ".pokepatch.strings") ||
			       within_symbol(object, section, at)
		       ? NULL
		       : "zeroes that align what follows";
}

/*
 * arch/arm64/kernel/module-plts.c, module_frob_arch_sections(): the sections must exist, and the
 * loader sets their type, flags and size.
 */
const char *plt_argument(const struct section *section)
{
	static const char *const names[] = {".plt", ".init.plt", ".text.ftrace_trampoline",
						".init.text.ftrace_trampoline"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(section->name, names[i]))
			return "a section that the loader fills";
	return NULL;
}

/* ---- entries ------------------------------------------------------------------------ */

/* An entry as text: the texts of two entries are equal if the entries say the same. */
struct form {
	char *place, *text;
	size_t order;
};
struct forms {
	VEC(struct form) list;
};

static void describe_target(struct buffer *out, const struct reloc *reloc)
{
	const struct symbol *symbol = reloc->symbol;

	if (symbol->section)
		buffer_printf(out, "%s+%" PRId64, symbol->section->name,
			      (int64_t)(symbol->value + reloc->addend));
	else
		buffer_printf(out, "%s%+" PRId64, symbol->name, reloc->addend);
}

static void describe_relocs(struct buffer *out, const struct object *object,
			    const struct section *section, uint64_t start, uint64_t size,
			    uint64_t skip)
{
	for (uint64_t at = start; at < start + size; at++)
		for (size_t i = 0; at != skip && i < section->relocs.count; i++) {
			const struct reloc *reloc = &section->relocs.list[i];

			if (reloc->offset != at)
				continue;
			buffer_printf(out, " %" PRIu64 ":%u:", at - start,
				      arch_reloc_meaning(object->arch, reloc->type));
			describe_target(out, reloc);
		}
}

static void describe_piece(struct buffer *out, const struct object *object,
			   const struct section *section, uint64_t at, uint64_t length)
{
	const struct reloc *reloc = reloc_over(object, section, at);
	const struct section *code = reloc ? reloc->symbol->section : NULL;
	uint64_t start = code ? reloc->symbol->value + reloc->addend : 0;

	for (uint64_t i = 0; code && i < length && start + i < code->size && code->data; i++)
		buffer_printf(out, "%02x", code->data[start + i]);
	if (code && length)
		describe_relocs(out, object, code, start, length, UINT64_MAX);
	buffer_printf(out, " %d", !length || (reloc && reloc->offset == at && code));
}

static void add_form(struct forms *forms, const struct object *object,
		     const struct section *section, const struct table *table, uint64_t start,
		     uint64_t size)
{
	struct buffer place = {0}, text = {0};
	uint64_t used = table ? table->used : size, skip = UINT64_MAX;

	if (table && table->piece) { /* its contents count, not its place */
		skip = start + table->piece;
		describe_piece(&text, object, section, skip, section->data[start + table->length]);
	}
	for (uint64_t i = 0; i < used && start + i < section->size; i++)
		buffer_printf(&text, "%02x", section->data[start + i]);
	describe_relocs(&place, object, section, start, 1, UINT64_MAX);
	describe_relocs(&text, object, section, start, size, skip);
	if (!strcmp(section->name, ".orc_unwind_ip")) { /* its other half is in another section */
		const struct section *rest = object_find_section(object, ".orc_unwind");
		uint64_t at = start / 4 * ORC_SIZE;

		for (uint64_t i = 0; rest && i < ORC_SIZE && at + i < rest->size; i++)
			buffer_printf(&text, "%02x", rest->data[at + i]);
	}
	buffer_add(&place, "", 1);
	buffer_add(&text, "", 1);
	*vec_push(&forms->list) = (struct form){place.text, text.text, forms->list.count};
}

static int by_text(const void *left, const void *right)
{
	return strcmp(((const struct form *)left)->text, ((const struct form *)right)->text);
}

static int by_place(const void *left, const void *right)
{
	const struct form *a = left, *b = right;

	return strcmp(a->place, b->place) ?: a->order < b->order ? -1 : 1;
}

/* The core's relocations among its tables.  What is before and behind them is an entry each. */
static bool image_relocs(const struct object *object, const struct section *section,
			 uint64_t *ret_start, uint64_t *ret_end)
{
	const struct section *image = object_find_section(object, POKEPATCH_SECTION_IMAGE);
	const struct reloc *reloc =
		image ? reloc_over(object, image, offsetof(struct pokepatch_image, relocs)) : NULL;

	if (!reloc || reloc->symbol->section != section)
		return false;
	*ret_start = reloc->symbol->value + reloc->addend;
	*ret_end = *ret_start + sizeof(struct pokepatch_reloc) *
					object_get32(object, image->data +
							     offsetof(struct pokepatch_image,
								      nr_relocs));
	return *ret_start <= *ret_end && *ret_end <= section->size;
}

static bool read_forms(const struct object *object, const struct section *section,
		       struct forms *ret)
{
	const struct table *table = find_table(object, section);
	uint64_t start = 0, end = section->size, size = table ? table->size : 0;

	if (!strcmp(section->name, POKEPATCH_SECTION_TABLES)) {
		if (!image_relocs(object, section, &start, &end))
			return false;
		size = sizeof(struct pokepatch_reloc);
		add_form(ret, object, section, NULL, 0, start);
		add_form(ret, object, section, NULL, end, section->size - end);
	}
	if (!size || !section->data || (end - start) % size)
		return false;
	for (uint64_t at = start; at < end; at += size)
		add_form(ret, object, section, table, at, size);
	qsort(ret->list.list, ret->list.count, sizeof(*ret->list.list),
	      table && table->ordered ? by_place : by_text);
	return true;
}

static void free_forms(struct forms *forms)
{
	for (size_t i = 0; i < forms->list.count; i++) {
		free(forms->list.list[i].place);
		free(forms->list.list[i].text);
	}
	vec_deinit(&forms->list);
}

const char *entries_argument(const struct mutation *mutation)
{
	const struct section *section = object_find_section(mutation->object,
							    mutation->section->name);
	const struct section *was = object_find_section(mutation->before, mutation->section->name);
	struct forms before = {0}, after = {0};

	/* The entries of the two sections belong together. */
	if (section && !strcmp(section->name, ".orc_unwind")) {
		section = object_find_section(mutation->object, ".orc_unwind_ip");
		was = object_find_section(mutation->before, ".orc_unwind_ip");
		if (section->size / 4 * ORC_SIZE != mutation->section->size)
			return NULL;
	}
	bool same = section && was && section->size == was->size && section->type == was->type &&
		    section->flags == was->flags && section->align == was->align &&
		    section->relocs.count == was->relocs.count &&
		    read_forms(mutation->before, was, &before) &&
		    read_forms(mutation->object, section, &after) &&
		    before.list.count == after.list.count;
	for (size_t i = 0; same && i < before.list.count; i++)
		same = !strcmp(before.list.list[i].text, after.list.list[i].text);
	free_forms(&before);
	free_forms(&after);
	return same ? "the same entries, in an order that means the same" : NULL;
}
