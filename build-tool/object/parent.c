// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the symbol tables of vmlinux and modules, and finds the symbols of one unit in them. */
#include "object/parent.h"

#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdw.h>

#include "common/build_id.h"
#include "common/search.h"

/* ---- reading ------------------------------------------------------------------ */

bool parent_is_vmlinux(const struct parent *parent)
{
	return !strcmp(parent->name, "vmlinux");
}

static struct error *unusable(const struct parent *parent, const char *what)
{
	return error_new(STATUS_FAILED,
			 "%s: %s; give the file with symbols and DWARF, from the kernel's -dbg "
			 "package",
			 parent->path, what);
}

static void read_build_id(struct parent *parent, const Elf_Data *data)
{
	size_t length;
	const uint8_t *id = build_id_find(data->d_buf, data->d_size, &length);

	if (!id || length > sizeof(parent->build_id))
		return;
	memcpy(parent->build_id, id, length);
	parent->build_id_length = length;
}

/* .modinfo holds strings "key=value", each with its NUL. */
static const char *read_depends(const Elf_Data *data)
{
	static const char key[] = "depends=";
	const char *line = data->d_buf, *end = line + data->d_size;

	for (; line && line < end; line += strlen(line) + 1) {
		if (strnlen(line, end - line) == (size_t)(end - line))
			break;
		if (has_prefix(line, key))
			return line + strlen(key);
	}
	return "";
}

struct section_info {
	const char *name;
	bool percpu;
};

static struct error *read_symbol(struct parent *parent, const GElf_Sym *entry, const char *name,
				 size_t shndx, const struct section_info *sections, size_t count)
{
	unsigned char type = GELF_ST_TYPE(entry->st_info);

	if (type == STT_FILE) {
		const char *slash = strrchr(name, '/'); /* gcc for MIPS writes the whole path */

		*vec_push(&parent->blocks) = (struct parent_block){
			.file = slash ? slash + 1 : name,
			.first = parent->symbol_count,
			.end = parent->symbol_count,
		};
		return NULL;
	}
	if (type == STT_SECTION || shndx == SHN_UNDEF || !*name)
		return NULL;
	bool absolute = shndx == SHN_ABS;
	if (!absolute && shndx >= count)
		return unusable(parent, "malformed symbol table");
	parent->symbols[parent->symbol_count] = (struct parent_symbol){
		.name = name,
		.value = entry->st_value,
		.size = entry->st_size,
		.section = absolute ? "" : sections[shndx].name,
		.section_number = absolute ? 0 : shndx,
		.global = GELF_ST_BIND(entry->st_info) != STB_LOCAL,
		.weak = GELF_ST_BIND(entry->st_info) == STB_WEAK,
		.function = type == STT_FUNC,
		/*
		 * By their section index __per_cpu_load and __init_begin are there, too.  But they
		 * are addresses of the kernel's image: negative, and KASLR moves them.
		 */
		.percpu = !absolute && sections[shndx].percpu && (int64_t)entry->st_value >= 0,
		.block = parent->blocks.count ? parent->blocks.count - 1 : 0,
		.order = parent->symbol_count,
	};
	parent->symbol_count++;
	if (parent->blocks.count && GELF_ST_BIND(entry->st_info) == STB_LOCAL)
		parent->blocks.list[parent->blocks.count - 1].end = parent->symbol_count;
	return NULL;
}

static struct error *read_symbols(struct parent *parent, Elf *elf, Elf_Scn *symtab,
				  const struct section_info *sections, size_t section_count)
{
	GElf_Shdr header;
	Elf_Data *data = elf_getdata(symtab, NULL);

	if (!data || !gelf_getshdr(symtab, &header) || !header.sh_entsize)
		return unusable(parent, "unreadable symbol table");
	size_t count = data->d_size / header.sh_entsize;
	parent->symbols = xcalloc(count, sizeof(*parent->symbols));
	for (size_t i = 1; i < count; i++) {
		GElf_Sym entry;

		if (!gelf_getsym(data, i, &entry))
			return unusable(parent, "unreadable symbol table");
		const char *name = elf_strptr(elf, header.sh_link, entry.st_name);
		TRY(read_symbol(parent, &entry, name ?: "", entry.st_shndx, sections,
				section_count));
	}
	return NULL;
}

static struct error *read_elf(struct parent *parent)
{
	size_t count, names;
	Elf_Scn *symtab = NULL;

	parent->fd = open(parent->path, O_RDONLY | O_CLOEXEC);
	if (parent->fd < 0)
		return error_errno("cannot open %s", parent->path);
	elf_version(EV_CURRENT);
	Elf *elf = parent->elf = elf_begin(parent->fd, ELF_C_READ_MMAP, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getshdrnum(elf, &count) ||
	    elf_getshdrstrndx(elf, &names))
		return unusable(parent, "not an ELF file");

	struct section_info *sections _free_ = xcalloc(count, sizeof(*sections));
	for (size_t i = 1; i < count; i++) {
		Elf_Scn *scn = elf_getscn(elf, i);
		GElf_Shdr header;

		if (!scn || !gelf_getshdr(scn, &header))
			return unusable(parent, "unreadable section table");
		sections[i].name = elf_strptr(elf, names, header.sh_name) ?: "";
		/* x86-64 has it at address 0; on other machines KASLR moves its symbols, too. */
		sections[i].percpu = !strcmp(sections[i].name, ".data..percpu") && !header.sh_addr;
		if (header.sh_type == SHT_SYMTAB)
			symtab = scn;
		if (header.sh_type == SHT_NOBITS && header.sh_flags & SHF_EXECINSTR &&
		    header.sh_size)
			return unusable(parent, "it has debug information alone, and no code");
		if (!strcmp(sections[i].name, ".modinfo") && header.sh_type != SHT_NOBITS) {
			Elf_Data *data = elf_getdata(scn, NULL);

			if (data)
				parent->depends = read_depends(data);
		}
		if (header.sh_type == SHT_NOTE && !parent->build_id_length) {
			Elf_Data *data = elf_getdata(scn, NULL);

			if (data)
				read_build_id(parent, data);
		}
	}
	if (!symtab)
		return unusable(parent, "no symbol table");
	if (!parent->build_id_length)
		return unusable(parent, "no build id");
	return read_symbols(parent, elf, symtab, sections, count);
}

static int by_address(const void *left, const void *right)
{
	const struct parent_symbol *a = *(struct parent_symbol *const *)left;
	const struct parent_symbol *b = *(struct parent_symbol *const *)right;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* Sort the chain of a name by address. */
static void sort_chain(struct parent_symbol **first)
{
	VEC(struct parent_symbol *) chain = {0};

	for (struct parent_symbol *symbol = *first; symbol; symbol = symbol->next)
		*vec_push(&chain) = symbol;
	qsort(chain.list, chain.count, sizeof(*chain.list), by_address);
	for (size_t i = 0; i < chain.count; i++)
		chain.list[i]->next = i + 1 < chain.count ? chain.list[i + 1] : NULL;
	*first = chain.list[0];
	vec_deinit(&chain);
}

/*
 * Chain the symbols of one name in the order of kallsyms: see parent_position().  Most names of
 * vmlinux have one symbol, so sort the chains and not all symbols.
 */
static void index_names(struct parent *parent)
{
	VEC(const char *) shared = {0};

	map_reserve(&parent->by_name, parent->symbol_count);
	for (size_t i = parent->symbol_count; i-- > 0;) {
		struct parent_symbol *symbol = &parent->symbols[i];
		void **slot = map_slot(&parent->by_name, symbol->name);

		symbol->next = *slot;
		*slot = symbol;
		if (symbol->next && !symbol->next->next) /* the second of its name */
			*vec_push(&shared) = symbol->name;
	}
	for (size_t i = 0; parent_is_vmlinux(parent) && i < shared.count; i++)
		sort_chain((struct parent_symbol **)map_slot(&parent->by_name, shared.list[i]));
	vec_deinit(&shared);
}

struct error *parent_open(const char *name, const char *path, struct parent **ret)
{
	struct parent *parent = xcalloc(1, sizeof(*parent));

	parent->name = xstrdup(name);
	parent->path = xstrdup(path);
	parent->fd = -1;
	parent->depends = "";

	struct error *error = read_elf(parent);
	if (!error) {
		index_names(parent);
		if (parent_is_vmlinux(parent)) {
			const struct parent_symbol *text = parent_global(parent, "_stext");

			if (text)
				parent->base = text->value;
			else
				error = unusable(parent, "no symbol _stext, so not a vmlinux");
		}
	}
	if (error) {
		parent_close(parent);
		return error;
	}
	*ret = parent;
	return NULL;
}

void parent_close(struct parent *parent)
{
	if (!parent)
		return;
	parent_sites_free(parent);
	parent_relocs_free(parent);
	map_deinit(&parent->by_name);
	vec_deinit(&parent->blocks);
	vec_deinit(&parent->by_address);
	free(parent->symbols);
	dwarf_end(parent->dwarf);
	elf_end(parent->elf);
	if (parent->fd >= 0)
		close(parent->fd);
	free(parent->name);
	free(parent->path);
	free(parent);
}

/* ---- looking up ------------------------------------------------------------------ */

/* Whether both name one module: "ff-memless" in modinfo is "ff_memless" in the kernel. */
static bool same_module(const char *file_name, const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((file_name[i] == '-' ? '_' : file_name[i]) != name[i])
			return false;
	return true;
}

bool parent_depends(const struct parent *parent, const char *name)
{
	size_t length = strlen(name);

	for (const char *p = parent->depends; *p; p += strcspn(p, ","), p += *p == ',')
		if (strcspn(p, ",") == length && same_module(p, name, length))
			return true;
	return false;
}

const struct parent_symbol *parent_global(const struct parent *parent, const char *name)
{
	const struct parent_symbol *symbol = map_get(&parent->by_name, name);

	while (symbol && !symbol->global)
		symbol = symbol->next;
	return symbol;
}

const struct parent_symbol *parent_local(const struct parent *parent, uint32_t block,
					 const char *name)
{
	const struct parent_symbol *symbol = map_get(&parent->by_name, name);

	while (symbol && (symbol->global || symbol->block != block))
		symbol = symbol->next;
	return symbol;
}

const struct parent_symbol *parent_function_at(const struct parent *parent, uint64_t address)
{
	struct parent *cache = (struct parent *)parent; /* its list alone changes */

	if (!parent->by_address.count) {
		for (size_t i = 0; i < parent->symbol_count; i++)
			if (parent->symbols[i].function && parent->symbols[i].global)
				*vec_push(&cache->by_address) = &parent->symbols[i];
		if (parent->by_address.count)
			qsort(cache->by_address.list, cache->by_address.count,
			      sizeof(*cache->by_address.list), by_address);
	}
	const struct parent_symbol *const *list = parent->by_address.list;
	const size_t count = parent->by_address.count;
	const size_t first = first_index(i, count, list[i]->value >= address);
	return first < count && list[first]->value == address ? list[first] : NULL;
}

uint32_t parent_position(const struct parent *parent, const struct parent_symbol *symbol)
{
	uint32_t position = 1;

	/* Absolute symbols are not in kallsyms (scripts/kallsyms.c, is_ignored_symbol()). */
	for (const struct parent_symbol *other = map_get(&parent->by_name, symbol->name);
	     other && other != symbol; other = other->next)
		position += other->section_number != 0;
	return position;
}

static bool block_has_all(const struct parent *parent, uint32_t block, const char *const *names,
			  size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!parent_local(parent, block, names[i]))
			return false;
	return true;
}

enum verdict { VERDICT_NO, VERDICT_UNKNOWN, VERDICT_YES };

/* Whether DWARF says that the code of this block comes from the unit. */
static enum verdict ask_dwarf(const struct parent *parent, const struct parent_block *block,
			      Dwarf *dwarf, const char *unit)
{
	for (size_t i = block->first; dwarf && i < block->end; i++) {
		const struct parent_symbol *symbol = &parent->symbols[i];
		Dwarf_Die die;

		if (!symbol->function || symbol->global ||
		    !dwarf_addrdie(dwarf, symbol->value, &die))
			continue;
		const char *name = dwarf_diename(&die);
		if (name)
			return has_suffix(name, unit) ? VERDICT_YES : VERDICT_NO;
	}
	return VERDICT_UNKNOWN;
}

/*
 * The DWARF of a vmlinux; NULL if it has none.  To find a unit by an address, libdw reads the
 * headers of all units once.
 */
static Dwarf *open_dwarf(struct parent *parent)
{
	if (!parent->dwarf)
		parent->dwarf = dwarf_begin_elf(parent->elf, DWARF_C_READ, NULL);
	return parent->dwarf;
}

static const char *base_name(const char *unit)
{
	return strrchr(unit, '/') ? strrchr(unit, '/') + 1 : unit;
}

void parent_read_ahead(struct parent *parent, const char *unit)
{
	const char *base = base_name(unit);
	Dwarf_Aranges *aranges;
	size_t count, of_name = 0;

	for (size_t i = 0; i < parent->blocks.count; i++)
		of_name += !strcmp(parent->blocks.list[i].file, base);
	if (of_name > 1 && parent_is_vmlinux(parent) && open_dwarf(parent))
		dwarf_getaranges(parent->dwarf, &aranges, &count);
}

/* Count the blocks that have all the names, by DWARF's verdict, and note the last of each. */
static void judge_blocks(struct parent *parent, const char *unit, const char *base,
			 const char *const *names, size_t count, size_t found[3], uint32_t last[3])
{
	/* Not for a module: its DWARF is not relocated, and its few units have different names. */
	Dwarf *dwarf = parent_is_vmlinux(parent) ? open_dwarf(parent) : NULL;

	for (size_t i = 0; i < parent->blocks.count; i++) {
		const struct parent_block *block = &parent->blocks.list[i];

		if (strcmp(block->file, base) || !block_has_all(parent, i, names, count))
			continue;
		enum verdict verdict = ask_dwarf(parent, block, dwarf, unit);
		found[verdict]++;
		last[verdict] = i;
	}
}

bool parent_find_block(struct parent *parent, const char *unit, const char *const *names,
		       size_t count, struct refusals *refusals, uint32_t *ret)
{
	const char *base = base_name(unit);
	size_t found[3] = {0}, of_name = 0;
	uint32_t last[3] = {0};

	for (size_t i = 0; i < parent->blocks.count; i++)
		if (!strcmp(parent->blocks.list[i].file, base)) {
			*ret = i;
			of_name++;
		}
	if (of_name == 1 && block_has_all(parent, *ret, names, count))
		return true;
	/* The kernel has 21 files called core.c: the names alone may also fit a wrong one. */
	if (of_name > 1)
		judge_blocks(parent, unit, base, names, count, found, last);
	for (int verdict = VERDICT_YES; verdict >= VERDICT_UNKNOWN; verdict--) {
		if (found[verdict] == 1) {
			*ret = last[verdict];
			return true;
		}
		if (found[verdict] > 1) {
			refusals_add(refusals, "symbol-ambiguous", unit, base,
				     "%zu units of %s are called '%s' and have this unit's local "
				     "symbols",
				     found[verdict], parent->path, base);
			return false;
		}
	}
	refusals_add(refusals, "symbol-missing", unit, base,
		     "%s has no unit '%s' with this unit's local symbols; is the source that of "
		     "this kernel?",
		     parent->path, base);
	return false;
}

/* The section of a vmlinux that has an address. */
static Elf_Scn *section_at(const struct parent *parent, uint64_t address)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;

	while ((scn = elf_nextscn(parent->elf, scn)))
		if (gelf_getshdr(scn, &header) && header.sh_flags & SHF_ALLOC &&
		    address - header.sh_addr < header.sh_size)
			break;
	return scn;
}

static const unsigned char *section_contents(const struct parent *parent, Elf_Scn *scn,
					     uint64_t value, uint64_t *ret_room)
{
	GElf_Shdr header;

	if (!scn || !gelf_getshdr(scn, &header) || header.sh_type == SHT_NOBITS)
		return NULL;
	Elf_Data *data = elf_rawdata(scn, NULL);
	/*
	 * A value is an address in vmlinux and an offset in a module.  There sh_addr means nothing,
	 * and may be other than 0: module.lds of newer kernels gives .data no address.
	 */
	uint64_t offset = value - (parent_is_vmlinux(parent) ? header.sh_addr : 0);
	if (!data || offset > data->d_size)
		return NULL;
	*ret_room = data->d_size - offset;
	return (const unsigned char *)data->d_buf + offset;
}

const unsigned char *parent_bytes(const struct parent *parent, const struct parent_symbol *symbol,
				  uint64_t *ret_room)
{
	Elf_Scn *scn = symbol->section_number ? elf_getscn(parent->elf, symbol->section_number)
					      : NULL;

	return section_contents(parent, scn, symbol->value, ret_room);
}

const unsigned char *parent_contents(const struct parent *parent, uint32_t section,
				     uint64_t value, uint64_t *ret_room)
{
	Elf_Scn *scn = parent_is_vmlinux(parent) ? section_at(parent, value)
						 : elf_getscn(parent->elf, section);

	return section_contents(parent, scn, value, ret_room);
}
