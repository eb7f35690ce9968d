/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparing a function as kbuild compiles it here with the same function of the kernel. */
#ifndef POKEPATCH_EXACT_H
#define POKEPATCH_EXACT_H

#include "common/args.h"
#include "object/object.h"
#include "object/parent.h"
#include "pokepatch-build/linked_fields.h"

/* How a function of the exact object differs from the parent's. */
struct verify_difference {
	uint64_t at;	   /* first byte that differs outside relocated fields */
	const char *table; /* or that objtool's table has other places of it; else NULL */
	struct linked_fields fields; /* or that a field leads elsewhere */
};

/*
 * verify_differs - whether they differ.
 * @names: of the unit's exact object, after objtool; @symbol: its function
 * @old: the parent's function; bytes, room: what parent_bytes() gives for it
 */
bool verify_differs(const struct exact_names *names, const struct symbol *symbol,
		    const struct parent *parent, const struct parent_symbol *old,
		    const unsigned char *bytes, uint64_t room, struct verify_difference *ret);

/* The functions of an exact object and their cold parts. */
struct exact_functions {
	struct map by_name; /* struct symbol; a cold part "foo.cold.3" as "foo.cold" */
	struct args names;  /* that were shortened */
};

/* exact_functions_init - of an object that lives longer; the caller deinits it. */
void exact_functions_init(const struct object *object, struct exact_functions *ret);
void exact_functions_deinit(struct exact_functions *functions);
/* exact_function - a function, or the cold part of one by any number, by its name; or NULL. */
const struct symbol *exact_function(const struct exact_functions *functions, const char *name);

#endif /* POKEPATCH_EXACT_H */
