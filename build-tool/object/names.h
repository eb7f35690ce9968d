/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the source's names in the names that compilers make of them. */
#ifndef POKEPATCH_NAMES_H
#define POKEPATCH_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A name without the compiler's additions; points into the symbol's name, not terminated. */
struct source_name {
	const char *text;
	size_t length;
	const char *owner; /* the function that declares a static variable, or NULL: not known */
	size_t owner_length;
	bool local; /* the variable is in a function, or the compiler has made it */
};

/*
 * source_name_of - the name of a static variable: "count" for "count", gcc's "count.12", clang's
 * "f.count" and "f.count.3", and any of these with ".llvm.1234" behind it.
 */
struct source_name source_name_of(const char *symbol);

/* unpromoted_length - length of a name without ".llvm.1234", which ThinLTO adds to statics. */
size_t unpromoted_length(const char *symbol);

/* is_numbered_name - whether a compiler added to the key, the source's name, in a symbol's name. */
static inline bool is_numbered_name(const char *symbol, const char *key)
{
	size_t length = unpromoted_length(symbol);

	return strlen(key) != length || strncmp(symbol, key, length);
}

/*
 * clone_family - a function's name without the numbers of clones: "foo.constprop.isra" for
 * "foo.constprop.1.isra.0"; "foo" and "foo.cold" stay.  The caller frees it.
 */
char *clone_family(const char *symbol);

/*
 * is_device_table_name - whether MODULE_DEVICE_TABLE() gives a table this name beside its own.
 * Only modpost looks for such symbols, and makes module aliases of what they name, by which udev
 * loads the module for a device (include/linux/module.h; since Linux 6.14 the type is behind
 * "device_table__").
 */
bool is_device_table_name(const char *symbol);

#endif /* POKEPATCH_NAMES_H */
