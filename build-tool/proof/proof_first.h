/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions whose first instructions the core overwrites: first.c. */
#ifndef POKEPATCH_PROOF_FIRST_H
#define POKEPATCH_PROOF_FIRST_H

#include "proof/proof_check.h"

/*
 * check_first - the flags of a function's row say which of its first instructions the core is to
 * overwrite.  Are these all that the jump covers, may they be executed in another place, and does
 * nothing lead to them, or describe them, but to call the function?
 * @orig, @cold: the function in the compiler's output of the original, and its cold part or NULL
 */
struct error *check_first(const struct check *check, const struct thing *thing,
			  const struct symbol *orig, const struct symbol *cold, uint32_t flags);

#endif /* POKEPATCH_PROOF_FIRST_H */
