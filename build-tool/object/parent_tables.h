/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entries that a parent's tables of places in code have for one function. */
#ifndef POKEPATCH_PARENT_TABLES_H
#define POKEPATCH_PARENT_TABLES_H

#include "object/arch.h"
#include "object/parent.h"

struct parent_entry {
	const unsigned char *bytes; /* borrowed */
	uint8_t size;
	uint64_t place; /* that it begins with, as the symbol's value */
	bool distance;	/* it has the distance to the place in 4 bytes, not its address */
};

struct parent_entries {
	uint8_t size; /* bytes of each, but for a last one without its padding */
	VEC(struct parent_entry) list; /* in order of the table */
};

/*
 * parent_entries_read - the entries of a table whose place is in the function, or at most so many
 * bytes in front of it.  vmlinux has many of these tables not as sections, but between two symbols.
 * @sizes: that an entry may have, ends with 0; the one counts with which each entry begins with a
 *	   place in code
 * The caller frees *ret with vec_deinit(&ret->list); it is empty if the parent has no such table.
 */
void parent_entries_read(const struct parent *parent, const struct arch *arch, const char *table,
			 const uint8_t *sizes, const struct parent_symbol *function, uint64_t lead,
			 struct parent_entries *ret);

#endif /* POKEPATCH_PARENT_TABLES_H */
