// SPDX-License-Identifier: GPL-2.0-or-later
#include "arch.h"

#include "util.h"



static const struct arch *const archs[] = {
	&arch_x86_64,
};

const struct arch *arch_find(uint16_t machine, uint8_t elf_class, uint8_t elf_data)
{
	for (size_t i = 0; i < ARRAY_SIZE(archs); i++)
		if (archs[i]->machine == machine && archs[i]->elf_class == elf_class &&
		    archs[i]->elf_data == elf_data)
			return archs[i];
	return NULL;
}

const struct reloc_kind *arch_reloc(const struct arch *arch, uint32_t type)
{
	for (const struct reloc_kind *kind = arch->relocs; kind->name; kind++)
		if (kind->type == type)
			return kind;
	return NULL;
}
