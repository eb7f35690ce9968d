/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patchable function entries of MIPS, put where they belong.
 *
 * With -fpatchable-function-entry=N, GCC 8 to 12 write the N NOPs before the label of a MIPS
 * function (GCC bug 99217: the target prints the label itself, after the hook that prints the
 * NOPs has run).  Who calls the function jumps over them.
 */
#ifndef POKEPATCH_AS_ENTRIES_H
#define POKEPATCH_AS_ENTRIES_H

#include "common/util.h"

/*
 * entries_move - append the assembly text to ret, with each block of NOPs moved behind the label
 * of its function; entries that are there already stay.  name stands for the text in messages.
 * ret_moved: how many were moved; where it is 0, ret may be left empty, and the text holds.
 * Errors: assembly in which it is not certain to which function a block belongs, and encodings
 * with other NOPs (MIPS16, microMIPS).  The text need not end in a newline or a NUL.
 */
struct error *entries_move(const char *name, const char *text, size_t length, struct buffer *ret,
			   size_t *ret_moved) __attribute__((warn_unused_result));

/* What entries_check() found. */
struct entries_check {
	size_t entries;	  /* of the table in the file */
	size_t at_start;  /* at the start of a function, and all its slots are NOPs inside it */
	size_t overridden; /* the same, of a weak function whose symbol is another's now */
	size_t duplicate; /* listed once more */
	size_t discarded; /* of functions that the linker left out: the address is 0 */
	size_t functions; /* symbols of functions with a size, one for each address */
};

/*
 * entries_check - is every entry of a kernel or shared object inside its function?  Each address
 * of __patchable_function_entries in the linked file at path must be where a function starts,
 * with that many NOPs, all of them inside; a function without a symbol is known by the debugging
 * information, if there is any.  bad: one line is added for each that is not.
 * Errors: no such file, no table, no symbols.
 */
struct error *entries_check(const char *path, unsigned int slots, struct entries_check *ret,
			    struct buffer *bad) __attribute__((warn_unused_result));

#endif /* POKEPATCH_AS_ENTRIES_H */
