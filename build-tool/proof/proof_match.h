/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A thing of the compiler's output and its place in the module, side by side (match.c). */
#ifndef POKEPATCH_PROOF_MATCH_H
#define POKEPATCH_PROOF_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check;
struct error;
struct proof_table;
struct reloc;
struct section;
struct thing;

/* A field of the module that the loader or the core relocates. */
struct fixup {
	uint64_t place;
	uint32_t type;
	int64_t addend;
	const struct symbol *symbol; /* of the loader's relocation; NULL: the core's */
	struct row *row;	     /* of the core's relocation; NULL: the loader's */
};

/* Goes through the fields of a section, by place. */
struct cursor {
	struct check *check;
	const struct section *section;
	size_t reloc, row; /* the next ones */
};
struct cursor cursor_at(struct check *check, const struct section *section, uint64_t start);
/* cursor_next - the next field before end; false: there is none. */
bool cursor_next(struct cursor *cursor, uint64_t end, struct fixup *ret);
/* cursor_at_row - does the next relocation of the core have this place? */
bool cursor_at_row(const struct cursor *cursor, uint64_t place);

/* place_thing - the thing must be exactly there; match_todo() compares it later. */
struct error *place_thing(struct check *check, struct thing *thing, const struct section *section,
			  int64_t place);
/* match_todo - compare all things that were placed, and those that these lead to. */
struct error *match_todo(struct check *check);
/*
 * match_target - error: the module's field does not lead to where the compiler's relocation does.
 * table: the special section that the relocation is in, or NULL.
 */
struct error *match_target(struct check *check, struct thing *from, const struct proof_table *table,
			   const struct reloc *reloc, bool in_code, const struct fixup *fixup);

#endif /* POKEPATCH_PROOF_MATCH_H */
