/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The notes that the author of a patch writes into its source with the macros of pokepatch_patch.h:
 * refusals to allow, and functions and sections whose changes to ignore.
 */
#ifndef POKEPATCH_AUTHOR_H
#define POKEPATCH_AUTHOR_H

#include "diff/select.h"

#define AUTHOR_SECTION ".pokepatch.notes"

/* What a note can ask the differ to ignore. */
enum author_kind { AUTHOR_FUNCTION, AUTHOR_SECTION_NAME, AUTHOR_KINDS };

struct author_note {
	enum author_kind kind;
	const char *subject; /* the name of the function or section */
	bool used; /* it had a change to ignore */
};

struct author {
	VEC(struct author_note) notes;
	struct map by_subject[AUTHOR_KINDS]; /* index + 1 */
	VEC(char *) texts; /* the subjects */
	/* By index of the atom: its change is ignored.  NULL: ignore none. */
	bool *orig_ignored, *patched_ignored;
	size_t allowed_before; /* number of allowances before the unit's own */
};

/*
 * author_read - read the notes of the patched object.  Add its allowances to the refusals, until
 * author_finish().  Refuse notes of an unknown form.
 */
void author_read(struct author *author, struct selection *selection);
/*
 * author_drop_sections - drop the unknown sections that notes name.  Call it before the objects are
 * split, which refuses unknown sections.
 */
void author_drop_sections(struct author *author, struct selection *selection);
/* author_ignore - after the comparison: mark the atoms that notes name as unchanged. */
void author_ignore(struct author *author, struct selection *selection);
/* author_ignored - whether the change of an atom is ignored; @ignored: its object's array. */
static inline bool author_ignored(const bool *ignored, const struct atom *atom)
{
	return ignored && ignored[atom->index];
}
/* author_finish - warn of notes without effect, drop the unit's allowances, and free @author. */
void author_finish(struct author *author, struct selection *selection);

#endif /* POKEPATCH_AUTHOR_H */
