// SPDX-License-Identifier: GPL-2.0-or-later
/* The machines that the proof knows. */
#include "proof/proof_rules.h"

#include "common/util.h"
#include "object/object.h"
#include "proof/proof.h"

static const struct proof_rules *const all_rules[] = {
	&proof_rules_arm64,
	&proof_rules_mips64,
	&proof_rules_mips64el,
	&proof_rules_x86_64,
};

static const struct proof_rules *find(uint16_t machine, uint8_t elf_class, uint8_t elf_data)
{
	for (size_t i = 0; i < ARRAY_SIZE(all_rules); i++)
		if (all_rules[i]->machine == machine && all_rules[i]->elf_class == elf_class &&
		    all_rules[i]->elf_data == elf_data)
			return all_rules[i];
	return NULL;
}

const struct proof_rules *proof_rules_of(const struct object *object)
{
	const unsigned char *ident = object->header.e_ident;

	return find(object->header.e_machine, ident[EI_CLASS], ident[EI_DATA]);
}

bool proof_knows(uint16_t machine, uint8_t elf_class, uint8_t elf_data)
{
	return find(machine, elf_class, elf_data) != NULL;
}
