// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The functions of kernel/locking/mutex.c stand in one section, .sched.text, by the source's
 * wish.  There mutex_lock() ends with
 *
 *	eb xx			jmp __mutex_lock_slowpath
 *
 * which the assembler has resolved in two bytes.  Carried, the two are anywhere.  So
 * "jmp __mutex_lock_slowpath" with room for its relocation is put behind the function, as a
 * part of it that stack traces and tables know, and the short one leads there.
 */
#include "diff/stubs.h"

bool stubs_place(const struct arch *arch, struct atom *atom)
{
	uint64_t size = atom->end - atom->start;
	const struct short_branch *before = NULL;

	atom->stubs = 0;
	for (size_t i = 0; i < atom->short_branches.count; i++) {
		struct short_branch *branch = &atom->short_branches.list[i];
		unsigned char field[sizeof(uint64_t)] = {0};

		if (!arch->veneer || !arch->point_branch)
			return false;
		if (before && before->target == branch->target) {
			branch->stub = before->stub;
		} else {
			branch->stub = size + atom->stubs;
			atom->stubs += arch->veneer->size;
		}
		if (!arch->point_branch(field, branch->stub - (branch->field - atom->start)))
			return false;
		before = branch;
	}
	return true;
}

void stubs_append(const struct arch *arch, const struct atom *atom)
{
	const struct veneer *veneer = arch->veneer;

	for (uint64_t done = 0; done < atom->stubs; done += veneer->size)
		section_append(atom->out, veneer->code, veneer->size, 1);
	for (size_t i = 0; i < atom->short_branches.count; i++) {
		const struct short_branch *branch = &atom->short_branches.list[i];
		uint64_t field = branch->field - atom->start;

		arch->point_branch(atom->out->data + atom->out_offset + field, branch->stub - field);
	}
}
