/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A walk that follows an address in registers through a function, on all paths, to find out whether
 * it is only the base of loads and stores.  All machines whose instructions have 4 bytes share the
 * walk; the architecture describes the instructions.
 */
#ifndef POKEPATCH_USES_H
#define POKEPATCH_USES_H

#include "object/atoms.h"

struct walk_place;

struct walk {
	struct object *object;
	const struct section *section;
	uint64_t start, end; /* of the function */
	struct walk_place *places; /* one for each instruction */
	uint64_t *todo;
	size_t todo_count;
};

void walk_init(struct walk *walk, struct object *object, const struct section *section,
	       uint64_t start, uint64_t end);
void walk_deinit(struct walk *walk);

/*
 * walk_add - note that the registers (a bit each) hold the address before the instruction at @at.
 * False if @at is outside the function.  With no register held, @at may be anywhere.
 */
bool walk_add(struct walk *walk, int64_t at, uint32_t held);

/*
 * walk_run - call step for every place and register that were added, until none is left.  The step
 * calls walk_add() for the instructions that follow @at while the address is in @reg.  It returns
 * false if the instruction at @at may pass the address on, and then so does walk_run().
 */
bool walk_run(struct walk *walk, bool (*step)(struct walk *walk, uint64_t at, unsigned int reg));

/*
 * walk_is_plain - whether no table names the instruction at @at.  Where one does (alternatives,
 * jump labels, exceptions), the kernel may put another instruction there, or go on elsewhere.
 */
bool walk_is_plain(const struct walk *walk, uint64_t at);

/* walk_relocs - the relocations of the instruction at @at. */
const struct reloc *walk_relocs(const struct walk *walk, uint64_t at, size_t *ret_count);

/*
 * walk_target - the offset that the branch at @at reaches: its relocation's target, or without one
 * @at + @displacement.  -1: the target is not in this section.
 */
int64_t walk_target(const struct walk *walk, uint64_t at, int64_t displacement);

/* walk_result_size - bytes of the result of the function around @at; -1: not known. */
int64_t walk_result_size(const struct walk *walk, uint64_t at);

#endif /* POKEPATCH_USES_H */
