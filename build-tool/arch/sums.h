/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Distances that take two relocations, one that adds to what stands there and one that
 * subtracts: riscv, loongarch.
 */
#ifndef POKEPATCH_SUMS_H
#define POKEPATCH_SUMS_H

#include "object/object.h"

struct sum_types {
	uint32_t add, sub;
	uint32_t both; /* the type where it counts from its own place, or 0 */
	uint8_t size;
	bool split; /* that type is not for files: it is written as two again */
};

/* fold_sums - make one relocation, or a constant, of each pair; types end with a size of 0. */
void fold_sums(struct section *section, const struct sum_types *types);
/* unfold_sum - add a relocation as two if it was; false if it is not such. */
bool unfold_sum(struct object *object, struct section *section, const struct sum_types *types,
		const struct reloc *reloc);

/* sum_add_reloc, sum_label - for a struct arch's own unfolding. */
void sum_add_reloc(struct section *section, struct reloc reloc, uint32_t type,
		   struct symbol *symbol, int64_t addend);
struct symbol *sum_label(struct object *object, struct section *section, uint64_t place);

#endif /* POKEPATCH_SUMS_H */
