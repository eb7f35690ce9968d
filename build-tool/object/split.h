/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of object_split() share: atoms.c, references.c, tables.c. */
#ifndef POKEPATCH_SPLIT_H
#define POKEPATCH_SPLIT_H

#include "object/atoms.h"

/* add_atom - for [start, end) of a section; those of a section come in order. */
struct atom *add_atom(struct object *object, struct section *section, struct symbol *symbol,
		      uint64_t start, uint64_t end);

/* reloc_target - the place in the symbol's section that is meant. */
uint64_t reloc_target(const struct reloc *reloc);

/*
 * prepare_code - of a text section: make relocations of references that the assembler
 * resolved, and find out where PC-relative ones count from.
 */
void prepare_code(struct object *object, struct section *section);

/*
 * check_fields - refuse a relocated field that is in [start, end) of a section only in
 * part: a field belongs to one thing, and across the end of it could not be carried.
 */
void check_fields(struct object *object, const struct section *section, uint64_t start,
		  uint64_t end, const char *unit, struct refusals *refusals);

/* measure_table - set "behind" of a table's relocations, from its layout. */
void measure_table(struct object *object, struct section *section);
/* split_partner - split a section whose pieces follow from who points to them. */
void split_partner(struct object *object, struct section *partner);
/*
 * split_tail - split what lies behind the last function of a section: replacements that
 * table entries name, and the rest.
 */
void split_tail(struct object *object, struct section *section, uint64_t start);
/* attach_entries - give each entry of a table to the code that it is about. */
void attach_entries(struct object *object, struct section *section, const char *unit,
		    struct refusals *refusals);
/* sort_entries - once all are attached. */
void sort_entries(struct object *object);

#endif /* POKEPATCH_SPLIT_H */
