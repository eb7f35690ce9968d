// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which functions without a patchable entry can have their first instructions overwritten.
 *
 * core-module/detour.c says how the core does it, and why no task, interrupt or NMI is in their
 * midst then.  What it cannot see, it leaves to this file:
 *
 * - Nothing leads to these instructions but calls and pointers to the function's beginning.  A
 *   branch to them from within the function, as of a loop, would call the new function with the
 *   registers of an old one that is half done.  (So a function that calls itself is refused, too:
 *   the call looks like such a branch.)
 * - Each of them does the same in the detour, in another place.
 * - The new function changes the same registers, by which callers may have been compiled
 *   (gcc -fipa-ra).
 * - The kernel does not rewrite them itself, nor does it look up what faults there: an entry of a
 *   table that describes the function's code leads to it like the function's own code does.
 * - They are in ordinary code: not where the kernel is entered or left, nor where it allows no
 *   breakpoint.
 *
 * The proof reads all this again from the compiler's output (proof/first.c).
 */
#include "diff/overwrite.h"

#include <pokepatch_format.h>

#include "diff/select.h"

struct own_branches {
	uint64_t start, nearest;
};

static void note_branch(void *context, const struct local_reference *reference)
{
	struct own_branches *branches = context;

	if (reference->target >= branches->start &&
	    reference->target - branches->start < branches->nearest)
		branches->nearest = reference->target - branches->start;
}

/* The smallest offset in the function to which its own branches lead without a relocation. */
static uint64_t nearest_branch(const struct selection *selection, const struct atom *old)
{
	struct object *orig = selection->orig;
	struct own_branches branches = {.start = old->start, .nearest = UINT64_MAX};

	orig->arch->code.local_references(orig, old->section, old->start, old->end, note_branch,
					  &branches);
	return branches.nearest;
}

const char *overwrite_advice(const struct diff_options *options)
{
	if (options->livepatch)
		return "a patch for pokepatch's own core could overwrite its first instructions";
	if (options->live)
		return "a patch that is switched in a stop could overwrite its first instructions";
	if (options->mode != POKEPATCH_MODE_AUTO && options->mode != POKEPATCH_MODE_ENTRY)
		return "in entry mode, its first instructions could be overwritten";
	return NULL;
}

static bool changes_the_same(const struct selection *selection, const struct atom *function)
{
	const struct arch *arch = selection->orig->arch;
	uint64_t old, new;

	return arch->entries.call_changes(selection->orig, function->twin, &old) &&
	       arch->entries.call_changes(selection->patched, function, &new) && old == new;
}

struct first_insns overwrite_judge(struct selection *selection, const struct atom *function,
				   uint64_t nearest)
{
	const struct arch *arch = selection->orig->arch;
	const struct atom *old = function->twin;
	struct first_insns first = {0};

	if (!arch->entries.first_insns || !has_prefix(old->section->name, ".text") ||
	    !arch->entries.first_insns(selection->orig, old, &first))
		return (struct first_insns){0};
	uint64_t bytes = first.pad + first.length;
	if (nearest < bytes || nearest_branch(selection, old) < bytes ||
	    !changes_the_same(selection, function))
		return (struct first_insns){0};
	return first;
}

uint32_t overwrite_flags(const struct first_insns *first)
{
	return first->length ? POKEPATCH_FUNC_OVERWRITTEN |
				       POKEPATCH_FUNC_FIRST_FLAGS(first->pad, first->length,
								  first->field)
			     : 0;
}
