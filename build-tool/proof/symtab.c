// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The symbol table of a vmlinux or module, for the names that a patch uses.  vmlinux has some
 * 120,000 symbols, so one pass finds all names that are new.
 */
#include "proof/proof_symtab.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gelf.h>

#include "object/object.h"
#include "proof/proof_notes.h"

static void read_build_id(struct symtab *symtab, Elf_Scn *scn, const GElf_Shdr *header)
{
	const char *ident = elf_getident(symtab->elf, NULL);
	const Elf_Data *data = elf_rawdata(scn, NULL);
	struct note_contents id;

	if (!data || !ident)
		return;
	const struct note_bytes notes = {
		.data = data->d_buf,
		.size = data->d_size,
		.align = header->sh_addralign,
		.big = ident[EI_DATA] == ELFDATA2MSB,
	};
	if (!note_find(&notes, NT_GNU_BUILD_ID, &id) || id.size > sizeof(symtab->build_id))
		return;
	symtab->build_id_length = id.size;
	memcpy(symtab->build_id, id.data, id.size);
}

static struct error *unusable(const struct symtab *symtab)
{
	return error_new(STATUS_FAILED, "%s: its symbol table cannot be read", symtab->path);
}

static struct error *read_sections(struct symtab *symtab)
{
	size_t names;

	if (elf_getshdrnum(symtab->elf, &symtab->section_count) ||
	    elf_getshdrstrndx(symtab->elf, &names))
		return unusable(symtab);
	symtab->sections = xcalloc(symtab->section_count + 1, sizeof(*symtab->sections));
	for (size_t i = 1; i < symtab->section_count; i++) {
		Elf_Scn *scn = elf_getscn(symtab->elf, i);
		GElf_Shdr header;

		if (!scn || !gelf_getshdr(scn, &header))
			return unusable(symtab);
		symtab->sections[i] = elf_strptr(symtab->elf, names, header.sh_name) ?: "";
		if (header.sh_type == SHT_NOTE && !symtab->build_id_length)
			read_build_id(symtab, scn, &header);
		if (header.sh_type == SHT_SYMTAB && header.sh_entsize) {
			symtab->data = elf_getdata(scn, NULL);
			symtab->strings = header.sh_link;
			symtab->count = header.sh_size / header.sh_entsize;
		}
	}
	return symtab->data && symtab->build_id_length ? NULL : unusable(symtab);
}

struct error *symtab_open(const char *name, const char *path, struct symtab **ret)
{
	struct symtab *symtab = xcalloc(1, sizeof(*symtab));

	symtab->name = name;
	symtab->vmlinux = !strcmp(name, "vmlinux");
	symtab->path = xstrdup(path);
	symtab->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (symtab->fd < 0) {
		struct error *error = error_errno("cannot open %s", path);

		symtab_close(symtab);
		return error;
	}
	elf_version(EV_CURRENT);
	symtab->elf = elf_begin(symtab->fd, ELF_C_READ_MMAP, NULL);

	struct error *error = symtab->elf ? read_sections(symtab) : unusable(symtab);
	if (!error && symtab->vmlinux) {
		static const char *const names[] = {"_stext"};

		symtab_load(symtab, names, 1);
		const struct known_symbol *text = symtab_get(symtab, "_stext");
		if (text)
			symtab->text = text->value;
		else
			error = unusable(symtab);
	}
	if (error) {
		symtab_close(symtab);
		return error;
	}
	*ret = symtab;
	return NULL;
}

void symtab_close(struct symtab *symtab)
{
	if (!symtab)
		return;
	elf_end(symtab->elf);
	if (symtab->fd >= 0)
		close(symtab->fd);
	for (size_t i = 0; i < symtab->symbols.count; i++)
		free(symtab->symbols.list[i]);
	for (size_t i = 0; i < symtab->names.count; i++)
		free(symtab->names.list[i]);
	vec_deinit(&symtab->symbols);
	vec_deinit(&symtab->names);
	vec_deinit(&symtab->seals);
	map_deinit(&symtab->by_name);
	free(symtab->sections);
	free(symtab->path);
	free(symtab);
}

/* The first symbol of a name that was asked for and not found yet. */
static struct known_symbol wanted;

static void found(struct symtab *symtab, const GElf_Sym *entry, const char *name, uint32_t block,
		  uint32_t order)
{
	struct known_symbol *symbol = xcalloc(1, sizeof(*symbol));
	bool absolute = entry->st_shndx >= symtab->section_count;

	*vec_push(&symtab->symbols) = symbol;
	symbol->name = name;
	symbol->value = entry->st_value;
	symbol->size = entry->st_size;
	symbol->absolute = absolute;
	symbol->section = absolute ? "" : symtab->sections[entry->st_shndx];
	symbol->section_number = absolute ? 0 : entry->st_shndx;
	/*
	 * x86-64 links per-CPU symbols at 0, so they do not move with the kernel, whose addresses
	 * are in the upper half.
	 */
	symbol->percpu = !strcmp(symbol->section, ".data..percpu") && (int64_t)entry->st_value >= 0;
	symbol->global = GELF_ST_BIND(entry->st_info) != STB_LOCAL;
	symbol->function = GELF_ST_TYPE(entry->st_info) == STT_FUNC;
	symbol->block = block;
	symbol->order = order;

	/* kallsyms has vmlinux's symbols by address, and a module's in the order of its table. */
	struct known_symbol **place = (struct known_symbol **)map_slot(&symtab->by_name, name);
	if (*place == &wanted)
		*place = NULL;
	while (*place && (!symtab->vmlinux || (*place)->value <= symbol->value))
		place = &(*place)->next;
	symbol->next = *place;
	*place = symbol;
}

void symtab_load(struct symtab *symtab, const char *const *names, size_t count)
{
	VEC(const char *) missing = {0};
	uint32_t block = 0;

	for (size_t i = 0; i < count; i++) {
		if (map_has(&symtab->by_name, names[i]))
			continue;
		char *name = xstrdup(names[i]);
		*vec_push(&symtab->names) = name;
		*vec_push(&missing) = name;
		*map_slot(&symtab->by_name, name) = &wanted;
	}
	for (size_t i = 1; missing.count && i < symtab->count; i++) {
		GElf_Sym entry;

		if (!gelf_getsym(symtab->data, i, &entry))
			continue;
		unsigned char type = GELF_ST_TYPE(entry.st_info);
		if (type == STT_FILE)
			block++;
		if (type == STT_FILE || type == STT_SECTION || entry.st_shndx == SHN_UNDEF)
			continue;
		const char *name = elf_strptr(symtab->elf, symtab->strings, entry.st_name);
		if (!name || !*name || !map_has(&symtab->by_name, name))
			continue;
		const struct known_symbol *first = map_get(&symtab->by_name, name);
		bool now = first == &wanted;
		for (size_t j = 0; !now && j < missing.count; j++)
			now = !strcmp(missing.list[j], name);
		if (now)
			found(symtab, &entry, name, block, i);
	}
	for (size_t i = 0; i < missing.count; i++)
		if (map_get(&symtab->by_name, missing.list[i]) == &wanted)
			*map_slot(&symtab->by_name, missing.list[i]) = NULL;
	vec_deinit(&missing);
}

const struct known_symbol *symtab_get(const struct symtab *symtab, const char *name)
{
	return map_get(&symtab->by_name, name);
}

const unsigned char *symtab_bytes(const struct symtab *symtab, const struct known_symbol *symbol)
{
	Elf_Scn *scn = symbol->section_number ? elf_getscn(symtab->elf, symbol->section_number)
					      : NULL;
	GElf_Shdr header;

	if (!scn || !gelf_getshdr(scn, &header) || header.sh_type != SHT_PROGBITS)
		return NULL;
	Elf_Data *data = elf_rawdata(scn, NULL);
	/* In a module sh_addr means nothing: newer linker scripts leave it to ld. */
	uint64_t offset = symbol->value - (symtab->vmlinux ? header.sh_addr : 0);
	if (!data || offset > data->d_size || symbol->size > data->d_size - offset)
		return NULL;
	return (const unsigned char *)data->d_buf + offset;
}

uint32_t symtab_position(const struct symtab *symtab, const struct known_symbol *symbol)
{
	uint32_t position = 1;

	for (const struct known_symbol *other = symtab_get(symtab, symbol->name);
	     other && other != symbol; other = other->next)
		position++;
	return position;
}

void symtab_blocks(const struct symtab *symtab, const char *base, const struct map *locals,
		   struct blocks *ret)
{
	uint32_t block = 0;
	size_t best = 0, score = 0;
	bool ours = false;

	for (size_t i = 1; i <= symtab->count; i++) {
		GElf_Sym entry = {0};
		bool end = i == symtab->count || !gelf_getsym(symtab->data, i, &entry);
		bool file = !end && GELF_ST_TYPE(entry.st_info) == STT_FILE;
		bool global = !end && GELF_ST_BIND(entry.st_info) != STB_LOCAL;

		if ((end || file || global) && ours) {
			if (score > best)
				ret->list.count = 0;
			if (score >= best)
				*vec_push(&ret->list) = block;
			best = score > best ? score : best;
			ours = false;
		}
		if (end)
			continue;
		const char *name = elf_strptr(symtab->elf, symtab->strings, entry.st_name);
		if (file) {
			const char *slash = name ? strrchr(name, '/') : NULL;

			block++; /* the name may be a path (gcc for MIPS) */
			ours = name && !strcmp(slash ? slash + 1 : name, base);
			score = 0;
		} else if (ours && name) {
			const struct symbol *local = map_get(locals, name);

			score += local && local->bind == STB_LOCAL && local->size == entry.st_size;
		}
	}
}
