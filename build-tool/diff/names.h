/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What compilers make of the names in the source. */
#ifndef POKEPATCH_NAMES_H
#define POKEPATCH_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* A name without what the compiler added; parts of the symbol's name, not terminated. */
struct source_name {
	const char *text;
	size_t length;
	const char *owner; /* the function that a static variable is declared in, or NULL */
	size_t owner_length;
	bool local; /* of a variable in a function, or otherwise made by the compiler */
};

/*
 * source_name_of - of a local variable's symbol: "count" for "count", for gcc's "count.12", for
 * clang's "f.count" and "f.count.3", and with ".llvm.1234" behind any of them.
 */
struct source_name source_name_of(const char *symbol);

/*
 * clone_family_length - how much of a function's name is not the number of a clone:
 * "foo.constprop" of "foo.constprop.1", all of "foo" and of "foo.cold".
 */
size_t clone_family_length(const char *symbol);

#endif /* POKEPATCH_NAMES_H */
