/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of places in a parent's code that objtool made. */
#ifndef POKEPATCH_PARENT_SITES_H
#define POKEPATCH_PARENT_SITES_H

#include "common/util.h"

struct parent;
struct parent_symbol;

struct parent_site {
	uint32_t section; /* number of the code's section in a module; 0 in vmlinux */
	uint64_t value;	  /* as in struct parent_symbol */
};

struct parent_sites {
	bool present; /* the parent has such a section */
	VEC(struct parent_site) list; /* by section and value */
};

/*
 * parent_sites - the places in a table, of that section's name.  They are read once and belong to
 * the parent.
 */
const struct parent_sites *parent_sites(const struct parent *parent, const char *table);
/* parent_sites_free - for parent_close(). */
void parent_sites_free(struct parent *parent);
/* parent_sites_in - the first of the places within a symbol, and how many there are. */
const struct parent_site *parent_sites_in(const struct parent *parent,
					  const struct parent_sites *sites,
					  const struct parent_symbol *symbol, size_t *ret_count);

#endif /* POKEPATCH_PARENT_SITES_H */
