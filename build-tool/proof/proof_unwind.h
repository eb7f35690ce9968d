/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The unwind tables, which objtool makes (unwind.c). */
#ifndef POKEPATCH_PROOF_UNWIND_H
#define POKEPATCH_PROOF_UNWIND_H

#include <stdint.h>

struct check;
struct error;
struct section;

/* unwind_check - error: the tables differ from those that objtool makes for the units. */
struct error *unwind_check(struct check *check);
/*
 * unwind_check_gap - error: the tables say that there is code in this gap.  From start to padding
 * is an instruction that ends the path of the function in front of it (struct proof_rules).
 */
struct error *unwind_check_gap(const struct check *check, const struct section *section,
			       uint64_t start, uint64_t padding, uint64_t end);
void unwind_deinit(struct check *check);

#endif /* POKEPATCH_PROOF_UNWIND_H */
