/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparing a function as kbuild compiles it here with the same function of the kernel. */
#ifndef POKEPATCH_EXACT_H
#define POKEPATCH_EXACT_H

#include "object/object.h"
#include "object/parent.h"

/* How a function of the exact object differs from the parent's. */
struct verify_difference {
	uint64_t at;	   /* first byte that differs outside relocated fields */
	const char *table; /* or that objtool's table has other places of it; else NULL */
};

/*
 * verify_differs - whether they differ.
 * @object: the unit's exact object, after objtool; @symbol: its function
 * @old: the parent's function; bytes, room: what parent_bytes() gives for it
 */
bool verify_differs(const struct object *object, const struct symbol *symbol,
		    const struct parent *parent, const struct parent_symbol *old,
		    const unsigned char *bytes, uint64_t room, struct verify_difference *ret);

#endif /* POKEPATCH_EXACT_H */
