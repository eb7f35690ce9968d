// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes a struct object as a relocatable ELF file (gABI, chapter "Object Files"). */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "object/object.h"

struct writer {
	struct object *object;
	Elf *elf;
	/* String tables.  One string may be the end of another. */
	Dwelf_Strtab *names, *symbol_names;
	VEC(Dwelf_Strent *) section_entries; /* in names, for each section from the first */
	size_t symtab;	/* number of the symbol table, known before the first section is written */
	size_t first_global;
	VEC(void *) buffers; /* owned; libelf reads them in elf_update() */
};

/* The writer makes these sections anew. */
static bool is_derived(const struct section *section)
{
	if (section->target) /* livepatch's relocations have a section of their own */
		return false;
	return section->type == SHT_SYMTAB || section->type == SHT_SYMTAB_SHNDX ||
	       section->type == SHT_RELA || section->type == SHT_REL ||
	       (section->type == SHT_STRTAB && !(section->flags & SHF_ALLOC));
}

static struct error *elf_failed(const char *what)
{
	return error_new(STATUS_FAILED, "cannot make %s: %s", what, elf_errmsg(-1));
}

static struct error *add_section(struct writer *writer, const GElf_Shdr *header, const char *name,
				 void *bytes, Elf_Type type)
{
	Elf_Scn *scn = elf_newscn(writer->elf);
	GElf_Shdr copy = *header;

	if (!scn)
		return elf_failed(name);
	Dwelf_Strent *entry = dwelf_strtab_add(writer->names, name);
	Elf_Data *data = elf_newdata(scn);
	*vec_push(&writer->section_entries) = entry;
	if (!entry || !data)
		return elf_failed(name);
	data->d_buf = bytes;
	data->d_size = copy.sh_size;
	data->d_align = copy.sh_addralign ?: 1;
	data->d_type = type;
	data->d_version = EV_CURRENT;
	if (!gelf_update_shdr(scn, &copy))
		return elf_failed(name);
	return NULL;
}

/* Number sections in the order of the file, and symbols with the local ones first. */
static void assign_numbers(struct writer *writer)
{
	struct object *object = writer->object;
	size_t number = 1, symbol_number = 1;

	for (size_t i = 0; i < object->sections.count; i++) {
		struct section *section = object->sections.list[i];

		if (!section || is_derived(section))
			continue;
		section->index = number++;
		number += section->relocs.count > 0 && !section->target;
	}
	writer->symtab = number;
	for (int global = 0; global < 2; global++) {
		if (global)
			writer->first_global = symbol_number;
		for (size_t i = 0; i < object->symbols.count; i++) {
			struct symbol *symbol = object->symbols.list[i];

			if (symbol && (symbol->bind != STB_LOCAL) == global)
				symbol->index = symbol_number++;
		}
	}
}

static void *keep(struct writer *writer, void *buffer)
{
	return *vec_push(&writer->buffers) = buffer;
}

/* The parts of a section that the file has in another form than memory. */
struct contents {
	unsigned char *data;
	const struct reloc *relocs;
};

static struct error *bad_addend(const struct writer *writer, const struct section *section,
				const struct reloc *reloc)
{
	return object_malformed(writer->object,
				"a relocation of section %s would have addend %" PRId64,
				section->name, reloc->addend);
}

/* Copy data and relocations, and put the addends into the fields of the copy. */
static struct error *put_addends(struct writer *writer, const struct section *section,
				 struct contents *ret)
{
	struct object *object = writer->object;
	size_t count = section->relocs.count;
	struct reloc *list = keep(writer, xcalloc(count, sizeof(*list)));

	memcpy(list, section->relocs.list, count * sizeof(*list));
	ret->relocs = list;
	if (object->arch->addends.split)
		TRY(object->arch->addends.split(object, section, list, count));
	if (!section->data)
		return NULL;
	ret->data = keep(writer, xmalloc(section->size));
	memcpy(ret->data, section->data, section->size);
	for (size_t i = 0; i < count; i++)
		if (!reloc_put_addend(object, ret->data + list[i].offset,
				      arch_reloc(object->arch, list[i].type), list[i].addend))
			return bad_addend(writer, section, &list[i]);
	return NULL;
}

static bool update_entry(Elf_Data *data, size_t i, bool rel, GElf_Rela *entry)
{
	GElf_Rel without = {.r_offset = entry->r_offset, .r_info = entry->r_info};

	return rel ? gelf_update_rel(data, i, &without) : gelf_update_rela(data, i, entry);
}

static struct error *add_relocs(struct writer *writer, const struct section *section,
				const struct reloc *relocs)
{
	const struct arch *arch = writer->object->arch;
	bool rel = arch->addends.in_fields;
	size_t size = gelf_fsize(writer->elf, rel ? ELF_T_REL : ELF_T_RELA, 1, EV_CURRENT);
	GElf_Shdr header = {
		.sh_type = rel ? SHT_REL : SHT_RELA,
		.sh_flags = SHF_INFO_LINK,
		.sh_size = section->relocs.count * size,
		.sh_link = writer->symtab,
		.sh_info = section->index,
		.sh_addralign = arch_address_size(arch),
		.sh_entsize = size,
	};
	if (section->target) {
		header.sh_flags = section->flags;
		header.sh_info = section->target->index;
	}
	/* libelf's structure in memory has the size of the one in the file, for either class. */
	void *entries = keep(writer, xcalloc(section->relocs.count, size));
	const char *name = section->target ? section->name
					   : keep(writer, xasprintf(".rel%s%s", rel ? "" : "a",
								    section->name));
	size_t number = section->index + !section->target;

	TRY(add_section(writer, &header, name, entries, rel ? ELF_T_REL : ELF_T_RELA));
	Elf_Data *written = elf_getdata(elf_getscn(writer->elf, number), NULL);
	for (size_t i = 0; i < section->relocs.count; i++) {
		const struct reloc *reloc = &relocs[i];
		size_t symbol = reloc->symbol->index;
		GElf_Rela entry = {
			.r_offset = reloc->offset,
			.r_info = arch->relocs.info_join
					  ? arch->relocs.info_join(symbol, reloc->type)
					  : GELF_R_INFO(symbol, reloc->type),
			.r_addend = reloc->addend,
		};
		if (reloc->addend > OBJECT_ADDEND_LIMIT || reloc->addend < -OBJECT_ADDEND_LIMIT)
			return bad_addend(writer, section, reloc);
		if (!update_entry(written, i, rel, &entry))
			return elf_failed(name);
	}
	return NULL;
}

static struct error *add_sections(struct writer *writer)
{
	struct object *object = writer->object;

	for (size_t i = 0; i < object->sections.count; i++) {
		struct section *section = object->sections.list[i];

		if (!section || is_derived(section))
			continue;
		if (section->target) {
			TRY(add_relocs(writer, section, section->relocs.list));
			continue;
		}
		GElf_Shdr header = {
			.sh_type = section->type,
			.sh_flags = section->flags & ~(uint64_t)SHF_GROUP,
			.sh_size = section->size,
			.sh_addralign = section->align,
			.sh_entsize = section->entsize,
		};
		struct contents contents = {section->data, section->relocs.list};
		if (section->relocs.count && object->arch->addends.in_fields)
			TRY(put_addends(writer, section, &contents));
		TRY(add_section(writer, &header, section->name, contents.data, ELF_T_BYTE));
		if (section->relocs.count)
			TRY(add_relocs(writer, section, contents.relocs));
	}
	return NULL;
}

/*
 * Put the symbols' names into a table.
 * @entries: for each symbol's number, its name
 */
static struct error *add_symbol_names(struct writer *writer, Dwelf_Strent **entries, Elf_Data *ret)
{
	const struct object *object = writer->object;

	for (size_t i = 0; i < object->symbols.count; i++) {
		const struct symbol *symbol = object->symbols.list[i];

		if (!symbol)
			continue;
		entries[symbol->index] = dwelf_strtab_add(
			writer->symbol_names, symbol->type == STT_SECTION ? "" : symbol->name);
		if (!entries[symbol->index])
			return elf_failed(symbol->name);
	}
	if (!dwelf_strtab_finalize(writer->symbol_names, ret))
		return elf_failed(".strtab");
	keep(writer, ret->d_buf);
	return NULL;
}

static struct error *add_symbols(struct writer *writer)
{
	struct object *object = writer->object;
	size_t size = gelf_fsize(writer->elf, ELF_T_SYM, 1, EV_CURRENT), count = 1;
	bool extended = writer->symtab >= SHN_LORESERVE;
	Elf_Data strings;

	for (size_t i = 0; i < object->symbols.count; i++)
		count += object->symbols.list[i] != NULL;
	Dwelf_Strent **names = keep(writer, xcalloc(count, sizeof(*names)));
	TRY(add_symbol_names(writer, names, &strings));

	GElf_Shdr header = {
		.sh_type = SHT_SYMTAB,
		.sh_size = count * size,
		.sh_link = writer->symtab + 1 + extended,
		.sh_info = writer->first_global,
		.sh_addralign = 8,
		.sh_entsize = size,
	};
	void *entries = keep(writer, xcalloc(count, size));
	TRY(add_section(writer, &header, ".symtab", entries, ELF_T_SYM));
	Elf_Data *table = elf_getdata(elf_getscn(writer->elf, writer->symtab), NULL);
	Elf_Data *numbers = NULL;
	if (extended) {
		GElf_Shdr numbers_header = {
			.sh_type = SHT_SYMTAB_SHNDX,
			.sh_size = count * sizeof(Elf32_Word),
			.sh_link = writer->symtab,
			.sh_addralign = 4,
			.sh_entsize = sizeof(Elf32_Word),
		};
		void *words = keep(writer, xcalloc(count, sizeof(Elf32_Word)));

		TRY(add_section(writer, &numbers_header, ".symtab_shndx", words, ELF_T_WORD));
		numbers = elf_getdata(elf_getscn(writer->elf, writer->symtab + 1), NULL);
	}
	for (size_t i = 0; i < object->symbols.count; i++) {
		const struct symbol *symbol = object->symbols.list[i];

		if (!symbol)
			continue;
		size_t section = symbol->section ? symbol->section->index : symbol->special;
		bool big = symbol->section && section >= SHN_LORESERVE;
		GElf_Sym entry = {
			.st_name = dwelf_strent_off(names[symbol->index]),
			.st_info = GELF_ST_INFO(symbol->bind, symbol->type),
			.st_other = symbol->other,
			.st_shndx = big ? SHN_XINDEX : section,
			.st_value = symbol->value,
			.st_size = symbol->size,
		};
		if (!gelf_update_symshndx(table, numbers, symbol->index, &entry,
					  big ? section : 0))
			return elf_failed(symbol->name);
	}
	GElf_Shdr strings_header = {
		.sh_type = SHT_STRTAB,
		.sh_size = strings.d_size,
		.sh_addralign = 1,
	};
	return add_section(writer, &strings_header, ".strtab", strings.d_buf, ELF_T_BYTE);
}

/* Add the last section, the sections' names, and tell all sections where their names are. */
static struct error *add_section_names(struct writer *writer)
{
	const GElf_Shdr header = {.sh_type = SHT_STRTAB, .sh_addralign = 1};
	Elf_Scn *scn = NULL;
	GElf_Shdr each;

	TRY(add_section(writer, &header, ".shstrtab", NULL, ELF_T_BYTE));
	Elf_Data *data =
		elf_getdata(elf_getscn(writer->elf, writer->section_entries.count), NULL);
	if (!dwelf_strtab_finalize(writer->names, data))
		return elf_failed(".shstrtab");
	keep(writer, data->d_buf);
	for (size_t i = 0; (scn = elf_nextscn(writer->elf, scn)); i++) {
		if (!gelf_getshdr(scn, &each))
			return elf_failed("a section");
		each.sh_name = dwelf_strent_off(writer->section_entries.list[i]);
		gelf_update_shdr(scn, &each);
	}
	return NULL;
}

static void unfold_relocs(struct object *object)
{
	size_t count = object->sections.count;

	if (!object->arch->relocs.unfold)
		return;
	for (size_t i = 0; i < count; i++)
		if (object->sections.list[i] && object->sections.list[i]->relocs.count)
			object->arch->relocs.unfold(object, object->sections.list[i]);
}

static struct error *write_elf(struct writer *writer)
{
	const GElf_Ehdr *from = &writer->object->header;
	GElf_Ehdr header;

	if (!gelf_newehdr(writer->elf, from->e_ident[EI_CLASS]) ||
	    !gelf_getehdr(writer->elf, &header))
		return elf_failed("the ELF header");
	header.e_ident[EI_DATA] = from->e_ident[EI_DATA];
	header.e_ident[EI_OSABI] = from->e_ident[EI_OSABI];
	header.e_machine = from->e_machine;
	header.e_type = ET_REL;
	header.e_version = EV_CURRENT;
	header.e_flags = from->e_flags;
	if (!gelf_update_ehdr(writer->elf, &header))
		return elf_failed("the ELF header");

	unfold_relocs(writer->object);
	assign_numbers(writer);
	TRY(add_sections(writer));
	TRY(add_symbols(writer));
	TRY(add_section_names(writer));

	size_t count;
	elf_getshdrnum(writer->elf, &count);
	gelf_getehdr(writer->elf, &header);
	if (count - 1 < SHN_LORESERVE) {
		header.e_shstrndx = count - 1;
	} else { /* gABI: sh_link of section 0 then holds the number */
		Elf_Scn *first = elf_getscn(writer->elf, 0);
		GElf_Shdr null;

		header.e_shstrndx = SHN_XINDEX;
		if (!gelf_getshdr(first, &null))
			return elf_failed("section 0");
		null.sh_link = count - 1;
		gelf_update_shdr(first, &null);
	}
	gelf_update_ehdr(writer->elf, &header);
	if (elf_update(writer->elf, ELF_C_WRITE) < 0)
		return elf_failed("the file");
	return NULL;
}

struct error *object_write(struct object *object, const char *path)
{
	struct writer writer = {.object = object};
	char *temporary _free_ = xasprintf("%s.XXXXXX", path);
	int fd _close_ = mkostemp(temporary, O_CLOEXEC);

	if (fd < 0)
		return error_errno("cannot write %s", path);
	elf_version(EV_CURRENT);
	writer.elf = elf_begin(fd, ELF_C_WRITE, NULL);
	writer.names = dwelf_strtab_init(true);
	writer.symbol_names = dwelf_strtab_init(true);

	struct error *error = writer.elf && writer.names && writer.symbol_names
				      ? write_elf(&writer)
				      : elf_failed("the file");
	if (error)
		error = error_prefix(error, "cannot write %s", path);
	else if (fchmod(fd, 0644) || rename(temporary, path))
		error = error_errno("cannot write %s", path);
	if (error)
		unlink(temporary);
	elf_end(writer.elf);
	for (size_t i = 0; i < writer.buffers.count; i++)
		free(writer.buffers.list[i]);
	vec_deinit(&writer.buffers);
	vec_deinit(&writer.section_entries);
	if (writer.names)
		dwelf_strtab_free(writer.names);
	if (writer.symbol_names)
		dwelf_strtab_free(writer.symbol_names);
	return error;
}
