// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The symbol table of a vmlinux or module, for the names that a patch uses.  vmlinux has some
 * 120,000 symbols, so they are indexed once, by name and by unit.
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

/* Find all blocks, in one pass over the table. */
static void find_blocks(struct symtab *symtab)
{
	struct symtab_block *open = NULL;

	for (size_t i = 1; i < symtab->count; i++) {
		GElf_Sym entry = {0};

		if (!gelf_getsym(symtab->data, i, &entry))
			break;
		bool file = GELF_ST_TYPE(entry.st_info) == STT_FILE;
		if (open && (file || GELF_ST_BIND(entry.st_info) != STB_LOCAL)) {
			open->end = i;
			open = NULL;
		}
		if (!file)
			continue;
		const char *name = elf_strptr(symtab->elf, symtab->strings, entry.st_name) ?: "";
		const char *slash = strrchr(name, '/'); /* it may be a path (gcc for MIPS) */
		open = *vec_push(&symtab->blocks) = xcalloc(1, sizeof(*open));
		*open = (struct symtab_block){.number = (uint32_t)symtab->blocks.count,
					      .first = i + 1, .end = symtab->count};
		void **slot = map_slot(&symtab->blocks_by_base, slash ? slash + 1 : name);
		open->next = *slot; /* the last one comes first */
		*slot = open;
	}
}

/*
 * Chain the symbols of each name, in the order of the table, so that a name is found without
 * another pass: the proof asks for names of thousands of references, one at a time.
 */
static void index_names(struct symtab *symtab)
{
	uint32_t block = (uint32_t)symtab->blocks.count;

	map_reserve(&symtab->first, symtab->count);
	symtab->next = xcalloc(symtab->count + 1, sizeof(*symtab->next));
	symtab->block_of = xcalloc(symtab->count + 1, sizeof(*symtab->block_of));
	for (size_t i = symtab->count; i-- > 1;) { /* backwards, because each goes to the front */
		GElf_Sym entry;

		if (!gelf_getsym(symtab->data, (int)i, &entry))
			continue;
		unsigned char type = GELF_ST_TYPE(entry.st_info);
		if (type == STT_FILE)
			block--;
		if (type == STT_FILE || type == STT_SECTION || entry.st_shndx == SHN_UNDEF)
			continue;
		const char *name = elf_strptr(symtab->elf, symtab->strings, entry.st_name);
		if (!name || !*name)
			continue;
		void **first = map_slot(&symtab->first, name);
		symtab->next[i] = (uint32_t)(uintptr_t)*first;
		*first = (void *)(uintptr_t)i;
		symtab->block_of[i] = block;
	}
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
	if (!error) {
		find_blocks(symtab);
		index_names(symtab);
	}
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
	for (size_t i = 0; i < symtab->blocks.count; i++)
		free(symtab->blocks.list[i]);
	vec_deinit(&symtab->blocks);
	map_deinit(&symtab->blocks_by_base);
	map_deinit(&symtab->first);
	free(symtab->next);
	free(symtab->block_of);
	free(symtab->sections);
	free(symtab->path);
	free(symtab);
}

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
	while (*place && (!symtab->vmlinux || (*place)->value <= symbol->value))
		place = &(*place)->next;
	symbol->next = *place;
	*place = symbol;
}

void symtab_load(struct symtab *symtab, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		GElf_Sym entry;

		if (map_has(&symtab->by_name, names[i]))
			continue;
		char *name = xstrdup(names[i]);
		*vec_push(&symtab->names) = name;
		map_slot(&symtab->by_name, name); /* asked for, though there may be none */
		for (uint32_t at = (uint32_t)(uintptr_t)map_get(&symtab->first, name); at;
		     at = symtab->next[at])
			if (gelf_getsym(symtab->data, (int)at, &entry))
				found(symtab, &entry, name, symtab->block_of[at], at);
	}
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

/* Is the module in a list "nf_tables,libcrc32c"?  Names of files have "-" where others have "_". */
static bool list_has(const char *list, const char *name)
{
	for (size_t length; *list; list += length + (list[length] == ',')) {
		size_t i = 0;

		length = strcspn(list, ",");
		while (i < length && name[i] == (list[i] == '-' ? '_' : list[i]))
			i++;
		if (i == length && !name[i])
			return true;
	}
	return false;
}

bool symtab_depends_on(const struct symtab *symtab, const char *name)
{
	static const char line[] = "depends=";

	for (size_t i = 1; i < symtab->section_count; i++) {
		Elf_Scn *scn = strcmp(symtab->sections[i], ".modinfo") ? NULL
								       : elf_getscn(symtab->elf, i);
		const Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
		const char *text = data ? data->d_buf : NULL;

		if (!text || !data->d_size || text[data->d_size - 1])
			continue;
		for (size_t at = 0; at < data->d_size; at += strlen(text + at) + 1)
			if (has_prefix(text + at, line) && list_has(text + at + strlen(line), name))
				return true;
	}
	return false;
}

uint32_t symtab_position(const struct symtab *symtab, const struct known_symbol *symbol)
{
	uint32_t position = 1;

	for (const struct known_symbol *other = symtab_get(symtab, symbol->name);
	     other && other != symbol; other = other->next)
		position += !other->absolute; /* kallsyms has none of these */
	return position;
}

static size_t block_score(const struct symtab *symtab, const struct symtab_block *block,
			  const struct map *locals)
{
	size_t score = 0;

	for (size_t i = block->first; i < block->end; i++) {
		GElf_Sym entry = {0};
		const char *name = gelf_getsym(symtab->data, i, &entry)
					   ? elf_strptr(symtab->elf, symtab->strings, entry.st_name)
					   : NULL;
		const struct symbol *local = name ? map_get(locals, name) : NULL;

		score += local && local->bind == STB_LOCAL && local->size == entry.st_size;
	}
	return score;
}

void symtab_blocks(struct symtab *symtab, const char *base, const struct map *locals,
		   struct blocks *ret)
{
	size_t best = 0;

	for (const struct symtab_block *block = map_get(&symtab->blocks_by_base, base); block;
	     block = block->next) {
		size_t score = block_score(symtab, block, locals);

		if (score > best)
			ret->list.count = 0;
		if (score >= best)
			*vec_push(&ret->list) = block->number;
		best = score > best ? score : best;
	}
}
