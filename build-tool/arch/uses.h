/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of an address that an instruction has put into a register: is it, whichever way is
 * taken from there, nothing but the base of loads and stores?  The walk is the same for all
 * machines whose instructions have 4 bytes; what each of them does is the architecture's.
 */
#ifndef POKEPATCH_USES_H
#define POKEPATCH_USES_H

#include "object/atoms.h"

struct walk_place;

struct walk {
	struct object *object;
	const struct section *section;
	uint64_t start, end; /* of the function */
	struct walk_place *places; /* one an instruction */
	uint64_t *todo;
	size_t todo_count;
};

void walk_init(struct walk *walk, struct object *object, const struct section *section,
	       uint64_t start, uint64_t end);
void walk_deinit(struct walk *walk);

/*
 * walk_add - the registers (a bit each) hold the address when the instruction at @at is reached.
 * False if that is in another function.  None is held: nothing is to be done, wherever it is.
 */
bool walk_add(struct walk *walk, int64_t at, uint32_t held);

/*
 * walk_run - go on from all that was added until there is nothing left.  The step calls walk_add()
 * for where the instruction at @at leads to while the address is in @reg, and gives false if the
 * address may be passed on there; as does walk_run().
 */
bool walk_run(struct walk *walk, bool (*step)(struct walk *walk, uint64_t at, unsigned int reg));

/*
 * walk_is_plain - no table names the instruction at @at: where it does (alternatives, jump labels,
 * exceptions), the kernel may have another there, or go on elsewhere.
 */
bool walk_is_plain(const struct walk *walk, uint64_t at);

/* walk_relocs - of the instruction at @at. */
const struct reloc *walk_relocs(const struct walk *walk, uint64_t at, size_t *ret_count);

/*
 * walk_target - where the branch at @at leads, which is @displacement on unless a relocation says
 * otherwise; -1 if that is no place of this section.
 */
int64_t walk_target(const struct walk *walk, uint64_t at, int64_t displacement);

/* walk_result_size - bytes that the function with the instruction at @at returns; -1: not known. */
int64_t walk_result_size(const struct walk *walk, uint64_t at);

#endif /* POKEPATCH_USES_H */
