/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The objects of a unit of --return, which no compiler makes: in place of those that a compiler
 * makes of the original and of the changed source (struct unit).
 */
#ifndef POKEPATCH_RETURN_OBJECTS_H
#define POKEPATCH_RETURN_OBJECTS_H

#include "object/arch.h"
#include "object/parent.h"

/* A function that is to return at once. */
struct returning {
	const struct parent_symbol *symbol;
	const struct parent_symbol *cold; /* its .cold part, or NULL */
	uint64_t value;	 /* extended to 64 bits as its type is */
	uint8_t size;	 /* of the type in bytes; 0: void */
};

struct return_paths {
	const char *exact;   /* the functions and all tables about them, as the parent has them */
	const char *orig;    /* the functions' entries, the rest zeroes */
	const char *patched; /* the entries, and code that returns */
};

/* return_has_entry - whether the parent has an entry at which calls of it can be rerouted. */
bool return_has_entry(const struct parent *parent, const struct arch *arch,
		      const struct parent_symbol *symbol);

/*
 * return_objects_write - write the three objects for functions of one unit.
 * @thunk: vmlinux exports the return thunk of the machine (arch_returns.thunk)
 */
struct error *return_objects_write(const struct parent *parent, const struct arch *arch,
				   const char *source, const struct returning *list, size_t count,
				   bool thunk, const struct return_paths *paths);

#endif /* POKEPATCH_RETURN_OBJECTS_H */
