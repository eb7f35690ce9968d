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
	VEC(struct gone) gone;
	size_t *gone_of; /* by index of the atom of orig: 1 more than its index in gone; or 0 */
	bool *fresh;	 /* by index of the atom of patched */
};

static bool is_unpaired_state(const struct atom *atom)
{
	return atom->class == ATOM_DATA && !atom->twin && !atom->ambiguous && atom->symbol &&
	       atom->section->flags & SHF_WRITE;
}

/* Call visit for each variable to which a function of the object refers. */
static void each_use(struct object *object, struct renamed *renamed,
		     void (*visit)(struct renamed *renamed, struct atom *used, struct atom *user))
{
	for (size_t i = 0; i < object->atoms.count; i++) {
		struct atom *user = object->atoms.list[i];

		if (user->class != ATOM_CODE)
			continue;
		for (size_t j = 0; j < user->reloc_count; j++) {
			struct atom *used =
				reloc_reference(object, user->section, &user->relocs[j]).atom;

			if (used && used->class == ATOM_DATA)
				visit(renamed, used, atom_function(user));
		}
	}
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

void renamed_refuse(struct selection *selection)
{
	struct object *orig = selection->orig, *patched = selection->patched;
	struct renamed renamed = {.selection = selection};
	bool any = false;

	renamed.gone_of = xcalloc(orig->atoms.count + 1, sizeof(*renamed.gone_of));
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
	if (any) {
		each_use(orig, &renamed, note_user);
		each_use(patched, &renamed, judge_use);
	}
	for (size_t i = 0; i < renamed.gone.count; i++)
		map_deinit(&renamed.gone.list[i].users);
	vec_deinit(&renamed.gone);
	free(renamed.gone_of);
	free(renamed.fresh);
}
