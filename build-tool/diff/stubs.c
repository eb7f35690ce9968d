// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adds stubs for short branches.  The source puts all functions of kernel/locking/mutex.c into one
 * section, .sched.text.  So mutex_lock() ends with
 *
 *	eb xx			jmp __mutex_lock_slowpath
 *
 * which the assembler resolved to two bytes.  In the patch module, the two functions may be far
 * from each other, or only one of them is in the module.  So append a stub to the function, which
 * is "jmp __mutex_lock_slowpath" with room for a relocation, and let the short branch lead there.
 * The stub is a part of the function's symbol, so stack traces and tables know it.
 */
#include "diff/stubs.h"

#include <stdlib.h>

void stubs_deinit(struct stubs *stubs)
{
	free(stubs->places);
	*stubs = (struct stubs){0};
}

bool stubs_place(const struct arch_veneers *veneers, const struct atom *atom, struct stubs *ret)
{
	uint64_t size = atom->end - atom->start;

	*ret = (struct stubs){0};
	if (!atom->short_branches.count)
		return true;
	ret->places = xcalloc(atom->short_branches.count, sizeof(*ret->places));
	for (size_t i = 0; i < atom->short_branches.count; i++) {
		const struct short_branch *branch = &atom->short_branches.list[i];
		unsigned char field[sizeof(uint64_t)] = {0};

		if (!veneers->call || !veneers->point_branch)
			return false;
		if (i && branch[-1].target == branch->target) {
			ret->places[i] = ret->places[i - 1];
		} else {
			ret->places[i] = size + ret->size;
			ret->size += veneers->call->size;
		}
		if (!veneers->point_branch(field, ret->places[i] - (branch->field - atom->start)))
			return false;
	}
	return true;
}

void stubs_append(const struct arch_veneers *veneers, const struct atom *atom,
		  const struct stubs *stubs, struct section *out, uint64_t start)
{
	const struct veneer *veneer = veneers->call;

	for (uint64_t done = 0; done < stubs->size; done += veneer->size)
		section_append(out, veneer->code, veneer->size, 1);
	for (size_t i = 0; i < atom->short_branches.count; i++) {
		uint64_t field = atom->short_branches.list[i].field - atom->start;

		veneers->point_branch(out->data + start + field, stubs->places[i] - field);
	}
}
