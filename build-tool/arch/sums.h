/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Distances that are expressed by two relocations, one that adds to the field and one that
 * subtracts from it: riscv, loongarch.
 */
#ifndef POKEPATCH_SUMS_H
#define POKEPATCH_SUMS_H

#include "object/object.h"

struct sum_types {
	uint32_t add, sub;
	uint32_t both; /* type for a distance from the field itself, or 0 */
	uint8_t size;  /* bytes of the field */
	bool split; /* files must not have type both: write it as two again */
};

/* fold_sums - replace each pair by one relocation or a constant; types end with a size of 0. */
void fold_sums(struct section *section, const struct sum_types *types);
/* unfold_sum - add a relocation as the pair that a file has; false: a file has no pair for it. */
bool unfold_sum(struct object *object, struct section *section, const struct sum_types *types,
		const struct reloc *reloc);

/* sum_add_reloc, sum_label - for an architecture's arch_relocs.unfold. */
void sum_add_reloc(struct section *section, struct reloc reloc, uint32_t type,
		   struct symbol *symbol, int64_t addend);
struct symbol *sum_label(struct object *object, struct section *section, uint64_t place);

#endif /* POKEPATCH_SUMS_H */
