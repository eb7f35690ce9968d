/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Operations of struct arch, by tables, for machines whose instructions all have 4 bytes. */
#ifndef POKEPATCH_FIXED_H
#define POKEPATCH_FIXED_H

#include "object/atoms.h"
#include "object/disasm.h"

/* An instruction that names a place relative to itself. */
struct local_form {
	uint32_t mask, match;
	uint32_t type;				   /* of the relocation for it, or 0 */
	int64_t (*displacement)(uint32_t instruction); /* bytes from the instruction */
};

/* fixed_local_references - for arch_code.local_references; forms end with a NULL function. */
void fixed_local_references(struct object *object, const struct section *section, uint64_t start,
			    uint64_t end, const struct local_form *forms, found_reference found,
			    void *context);

/* How an instruction uses an address whose relocation is in it; the first form that fits counts. */
struct operand_form {
	uint32_t mask, match;
	uint8_t kind;
};

/* fixed_operand_kinds - the last form has mask 0 and fits all. */
void fixed_operand_kinds(struct object *object, const struct section *section, uint64_t start,
			 uint64_t end, const struct operand_form *forms, uint8_t *kinds);

/* An instruction that loads a constant: size bits of the instruction, from bit shift on. */
struct constant_form {
	uint32_t mask, match;
	uint8_t shift, size;
};

/* fixed_constant_loads - for arch_code.constant_loads; forms end with a zero mask. */
void fixed_constant_loads(struct object *object, const struct section *section, uint64_t start,
			  uint64_t end, const struct constant_form *forms,
			  void (*found)(void *context, const struct constant_load *load),
			  void *context);

/* fixed_is_padding - whether a range holds only this instruction and zeroes. */
bool fixed_is_padding(struct object *object, const struct section *section, uint64_t start,
		      uint64_t end, uint32_t nop);

/* sign_extend - the low bits of a value as a signed number. */
static inline int64_t sign_extend(uint64_t value, unsigned int bits)
{
	return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

#endif /* POKEPATCH_FIXED_H */
