// SPDX-License-Identifier: GPL-2.0-or-later
/* Looking for variables that take the place of others; see renamed.h. */
#include "diff/renamed.h"

#include <stdlib.h>

/* A variable that is gone, and the functions that used it, by their keys. */
struct gone {
	struct atom *atom;
	struct map users;
};

struct renamed {
	struct selection *selection;
	struct atom **asked; /* by index of the atom: the user for which it was looked at last */
	VEC(struct gone) gone;
	size_t *gone_of; /* by index of the atom of orig: 1 more than its index in gone; or 0 */
	bool *fresh;	 /* by index of the atom of patched */
};

static bool is_unpaired_state(const struct atom *atom)
{
	return atom->class == ATOM_DATA && !atom->twin && !atom->ambiguous && atom->symbol &&
	       atom->section->flags & SHF_WRITE;
}

static void note_user(struct renamed *renamed, struct atom *used, struct atom *user)
{
	size_t gone = renamed->gone_of[used->index];

	if (gone)
		*map_slot(&renamed->gone.list[gone - 1].users, user->key) = user;
}

static void judge_use(struct renamed *renamed, struct atom *used, struct atom *user)
{
	struct selection *selection = renamed->selection;

	if (!renamed->fresh[used->index])
		return;
	for (size_t i = 0; i < renamed->gone.count; i++) {
		struct gone *gone = &renamed->gone.list[i];

		if (!map_get(&gone->users, user->key))
			continue;
		refusals_add(selection->refusals, "static-renamed",
			     select_location(selection, used->name), used->name,
			     "'%s' begins with its initial value; %s() used '%s' before, which is "
			     "gone; if both are one variable, keep the old name and place, else "
			     "--allow static-renamed:%s",
			     used->name, user->name, gone->atom->name, used->name);
		renamed->fresh[used->index] = false; /* once */
		return;
	}
}

/*
 * Call visit for each variable that a function uses, or that functions use which it calls and the
 * other object lacks: the code that used a variable may be in one of these now.
 */
static void each_use(struct object *object, struct renamed *renamed, struct atom *user,
		     void (*visit)(struct renamed *renamed, struct atom *used, struct atom *user))
{
	VEC(const struct atom *) queue = {0};

	*vec_push(&queue) = user;
	for (size_t i = 0; i < queue.count; i++) {
		const struct atom *from = queue.list[i];

		for (size_t j = 0; j < from->reloc_count; j++) {
			struct atom *to =
				reloc_reference(object, from->section, &from->relocs[j]).atom;

			if (to && to->class == ATOM_DATA)
				visit(renamed, to, atom_function(user));
			if (!to || to->class != ATOM_CODE || to->twin || to->parent ||
			    renamed->asked[to->index] == user)
				continue;
			renamed->asked[to->index] = user;
			*vec_push(&queue) = to;
		}
	}
	vec_deinit(&queue);
}

void renamed_refuse(struct selection *selection)
{
	struct object *orig = selection->orig, *patched = selection->patched;
	struct renamed renamed = {.selection = selection};
	bool any = false;

	renamed.gone_of = xcalloc(orig->atoms.count + 1, sizeof(*renamed.gone_of));
	renamed.asked = xcalloc(orig->atoms.count + patched->atoms.count + 1,
				sizeof(*renamed.asked));
	renamed.fresh = xcalloc(patched->atoms.count + 1, sizeof(*renamed.fresh));
	for (size_t i = 0; i < orig->atoms.count; i++)
		if (is_unpaired_state(orig->atoms.list[i])) {
			*vec_push(&renamed.gone) = (struct gone){.atom = orig->atoms.list[i]};
			renamed.gone_of[i] = renamed.gone.count;
		}
	for (size_t i = 0; renamed.gone.count && i < selection->included.count; i++) {
		const struct atom *atom = selection->included.list[i];

		renamed.fresh[atom->index] = is_unpaired_state(atom);
		any |= renamed.fresh[atom->index];
	}
	for (size_t i = 0; any && i < orig->atoms.count; i++) {
		struct atom *user = orig->atoms.list[i];

		if (user->class == ATOM_CODE)
			each_use(orig, &renamed, user, note_user);
	}
	for (size_t i = 0; any && i < selection->included.count; i++) {
		struct atom *user = selection->included.list[i];

		if (user->class == ATOM_CODE)
			each_use(patched, &renamed, user, judge_use);
	}
	for (size_t i = 0; i < renamed.gone.count; i++)
		map_deinit(&renamed.gone.list[i].users);
	vec_deinit(&renamed.gone);
	free(renamed.gone_of);
	free(renamed.fresh);
	free(renamed.asked);
}
