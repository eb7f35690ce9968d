/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the author of a patch said in its source, by the macros of pokepatch_patch.h. */
#ifndef POKEPATCH_AUTHOR_H
#define POKEPATCH_AUTHOR_H

#include "diff/select.h"

#define AUTHOR_SECTION ".pokepatch.notes"

/* What can be asked to be ignored. */
enum author_kind { AUTHOR_FUNCTION, AUTHOR_SECTION_NAME, AUTHOR_KINDS };

struct author_note {
	enum author_kind kind;
	const char *subject; /* "version_proc_show" */
	bool used;
};

struct author {
	VEC(struct author_note) notes; /* those that ask to ignore something */
	struct map by_subject[AUTHOR_KINDS]; /* index + 1 */
	VEC(char *) texts;
	/* author_ignore(): of each atom, by index, whether its change is ignored; NULL: of none. */
	bool *orig_ignored, *patched_ignored;
	size_t allowed_before; /* allowances that were there when the unit began */
};

/*
 * author_read - the notes of the patched object.  Allowances go to the refusals, until
 * author_finish().  Notes that are not understood are refused.
 */
void author_read(struct author *author, struct selection *selection);
/* author_drop_sections - before the objects are split: sections that nobody knows. */
void author_drop_sections(struct author *author, struct selection *selection);
/* author_ignore - after the comparison: what is to be taken for unchanged. */
void author_ignore(struct author *author, struct selection *selection);
/* author_ignored - of an atom, where ignored is the author's list of its object. */
static inline bool author_ignored(const bool *ignored, const struct atom *atom)
{
	return ignored && ignored[atom->index];
}
/* author_finish - warn of what was said and had no effect; free. */
void author_finish(struct author *author, struct selection *selection);

#endif /* POKEPATCH_AUTHOR_H */
