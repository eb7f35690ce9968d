// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks up architectures, and answers from their tables. */
#include "object/arch.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/search.h"
#include "object/atoms.h"
#include "common/util.h"

const struct arch *arch_find(uint16_t machine, uint8_t elf_class, uint8_t elf_data)
{
	for (size_t i = 0; arch_all[i]; i++)
		if (arch_all[i]->elf.machine == machine && arch_all[i]->elf.class == elf_class &&
		    arch_all[i]->elf.data == elf_data)
			return arch_all[i];
	return NULL;
}

const struct arch *arch_of_file(const char *path)
{
	_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr header = {0}; /* up to e_machine the same for 32 bits */
	const unsigned char *machine = (const unsigned char *)&header.e_machine;
	bool big;

	if (fd < 0 || read(fd, &header, sizeof(header)) != sizeof(header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG))
		return NULL;
	big = header.e_ident[EI_DATA] == ELFDATA2MSB;
	return arch_find(machine[big] | machine[!big] << 8, header.e_ident[EI_CLASS],
			 header.e_ident[EI_DATA]);
}

const struct arch *arch_find_debian(const char *name)
{
	for (size_t i = 0; arch_all[i]; i++) {
		if (arch_all[i]->tools.debian && !strcmp(arch_all[i]->tools.debian, name))
			return arch_all[i];
	}
	return NULL;
}

bool arch_is_native(const struct arch *arch)
{
	return arch == arch_of_file("/proc/self/exe");
}

static int type_order(const struct reloc_kind *kind, uint32_t type)
{
	return kind->type < type ? -1 : kind->type > type;
}

const struct reloc_kind *arch_reloc(const struct arch *arch, uint32_t type)
{
	return sorted_find(arch->relocs.kinds, arch->relocs.count, type, type_order);
}

uint32_t arch_reloc_meaning(const struct arch *arch, uint32_t type)
{
	const struct reloc_kind *kind = arch_reloc(arch, type);

	return kind && kind->same_as ? kind->same_as : type;
}

unsigned int arch_address_size(const struct arch *arch)
{
	return arch_reloc(arch, arch->relocs.address)->size;
}

uint64_t arch_wide_address(const struct arch *arch, uint64_t offset)
{
	return arch_is_big(arch) ? offset + sizeof(uint64_t) - arch_address_size(arch) : offset;
}

bool arch_is_big(const struct arch *arch)
{
	return arch->elf.data == ELFDATA2MSB;
}

enum symbol_mark arch_symbol_mark(const struct arch *arch, const struct symbol *symbol)
{
	if (symbol->type != STT_NOTYPE || symbol->bind != STB_LOCAL || !arch->symbols.mark)
		return MARK_NONE;
	return arch->symbols.mark(symbol->name);
}

/* The place that an entry of a table names. */
static uint64_t entry_target(struct object *object, const struct entry *entry)
{
	size_t count;
	struct reloc *reloc =
		section_relocs(entry->section, entry->start, entry->start + 1, &count);

	return reloc_reference(object, entry->section, reloc).target;
}

int64_t arch_listed_entry(struct object *object, const struct atom *function, const char *table)
{
	uint64_t lowest = UINT64_MAX;

	for (size_t i = 0; i < function->entries.count; i++) {
		const struct entry *entry = &function->entries.list[i];

		if (strcmp(entry->section->name, table))
			continue;
		uint64_t target = entry_target(object, entry);
		if (target < lowest && target >= function->start)
			lowest = target;
	}
	return lowest == UINT64_MAX ? -1 : (int64_t)(lowest - function->start);
}

bool arch_lists_entry(struct object *object, const struct atom *function, const char *table,
		      int64_t distance)
{
	for (size_t i = 0; i < function->entries.count; i++) {
		const struct entry *entry = &function->entries.list[i];

		if (!strcmp(entry->section->name, table) &&
		    entry_target(object, entry) == function->start + distance)
			return true;
	}
	return false;
}
