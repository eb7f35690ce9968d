/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code that the loader rewrites, and the jumps that pokepatch adds (sites.c). */
#ifndef POKEPATCH_PROOF_SITES_H
#define POKEPATCH_PROOF_SITES_H

#include <stdbool.h>
#include <stdint.h>

struct check;
struct error;
struct fixup;
struct reloc;
struct section;
struct thing;

/* sites_check - error: the core would relocate what the loader has rewritten or copied. */
struct error *sites_check(struct check *check);
/*
 * veneer_follow - does a call or jump of from lead to a jump of pokepatch's that leaves the
 * module?  Then ret is the field of that jump, as if it were the call's.
 */
struct error *veneer_follow(struct check *check, const struct thing *from,
			    const struct reloc *reloc, const struct fixup *fixup, bool *is_veneer,
			    struct fixup *ret);

/*
 * If a thing jumps to a neighbour with one byte for the distance, jumps that pokepatch adds follow
 * the thing's code, and the byte leads to one of them.
 *
 * is_short_field - is the byte at this offset such a distance?
 */
bool is_short_field(const struct thing *thing, uint64_t offset);
/* thing_tail - bytes of the jumps that follow the thing at that place of the module. */
uint64_t thing_tail(const struct check *check, const struct thing *thing,
		    const struct section *section, uint64_t place);
/* match_tail - error: one of them does not lead to where the thing's short jump does. */
struct error *match_tail(struct check *check, struct thing *thing);

#endif /* POKEPATCH_PROOF_SITES_H */
