/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the parts of object_split(): atoms.c, references.c, tables.c. */
#ifndef POKEPATCH_SPLIT_H
#define POKEPATCH_SPLIT_H

#include "object/atoms.h"

/* add_atom - make an atom of [start, end) of a section; callers go through a section in order. */
struct atom *add_atom(struct object *object, struct section *section, struct symbol *symbol,
		      uint64_t start, uint64_t end);

/* reloc_target - the offset in the symbol's section that a relocation means. */
uint64_t reloc_target(const struct reloc *reloc);

/*
 * prepare_code - make relocations again of the references that the assembler has resolved in a
 * text section, and find out where its PC-relative relocations count from.
 */
void prepare_code(struct object *object, struct section *section);

/*
 * check_fields - refuse a relocated field that reaches beyond the end of [start, end), the bytes of
 * one thing in a section: a patch could not include that thing alone.
 */
void check_fields(struct object *object, const struct section *section, uint64_t start,
		  uint64_t end, const char *unit, struct refusals *refusals);

/* measure_table - set "behind" of a table's relocations, from its layout. */
void measure_table(struct object *object, struct section *section);
/* split_partner - split a section without symbols into the pieces that references name. */
void split_partner(struct object *object, struct section *partner);
/*
 * split_tail - split the bytes behind the last function of a section, from start on, into the
 * replacements that table entries name and the rest.
 */
void split_tail(struct object *object, struct section *section, uint64_t start);
/* attach_entries - attach each entry of a table to the code that it describes. */
void attach_entries(struct object *object, struct section *section, const char *unit,
		    struct refusals *refusals);
/* sort_entries - put the entries of every atom in order, once all tables are attached. */
void sort_entries(struct object *object);

#endif /* POKEPATCH_SPLIT_H */
