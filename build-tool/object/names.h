/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What compilers make of the names in the source. */
#ifndef POKEPATCH_NAMES_H
#define POKEPATCH_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

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

/* unpromoted_length - of a name without what ThinLTO adds when it makes one global, ".llvm.1234". */
size_t unpromoted_length(const char *symbol);

/* is_numbered_name - is a symbol's name more than the key, that is what the source says? */
static inline bool is_numbered_name(const char *symbol, const char *key)
{
	size_t length = unpromoted_length(symbol);

	return strlen(key) != length || strncmp(symbol, key, length);
}

/*
 * clone_family - a function's name without the numbers of clones: "foo.constprop.isra" of
 * "foo.constprop.1.isra.0", all of "foo" and of "foo.cold".
 */
char *clone_family(const char *symbol);

#endif /* POKEPATCH_NAMES_H */
