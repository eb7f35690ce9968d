/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Patchable function entries of MIPS: moving them into their functions, and checking the result.
 *
 * With -fpatchable-function-entry=N, GCC 8 to 12 write the N NOPs before the label of a MIPS
 * function (GCC bug 99217: the target prints the label itself, after the hook that prints the
 * NOPs has run).  A caller of the function jumps past them.
 */
#ifndef POKEPATCH_AS_ENTRIES_H
#define POKEPATCH_AS_ENTRIES_H

#include "common/util.h"

/*
 * entries_move - append the assembly text to ret, with each block of NOPs moved after the label of
 * its function.  Entries that are after the label already stay.
 * @name: the text's name for messages.
 * @text: need not end in a newline or a NUL.
 * @ret: may stay empty if no entry was moved; the original text is then valid.
 * @ret_moved: the number of moved entries.
 * Errors: assembly in which it is not certain to which function a block belongs, and encodings
 * with other NOPs (MIPS16, microMIPS).
 */
struct error *entries_move(const char *name, const char *text, size_t length, struct buffer *ret,
			   size_t *ret_moved) __attribute__((warn_unused_result));

/* What entries_check() found. */
struct entries_check {
	size_t entries;	  /* in the file's table */
	size_t at_start;  /* at the start of a function, and all its slots are NOPs inside it */
	size_t overridden; /* likewise, of an overridden weak function, which has no symbol */
	size_t duplicate; /* equal to an entry counted before */
	size_t discarded; /* of functions that the linker discarded: the address is 0 */
	size_t functions; /* function symbols with a size, one for each address */
};

/*
 * entries_check - is every entry of a kernel or shared object inside its function?
 * @path: a linked file.  Each address in its __patchable_function_entries must be the start of a
 * function with at least that many NOPs.  Debugging information, if the file has any, tells the
 * start of functions without a symbol.
 * @slots: NOPs of an entry.
 * @bad: gets a line for each entry that is wrong.
 * Errors: the file cannot be read, or has no table or no symbols.
 */
struct error *entries_check(const char *path, unsigned int slots, struct entries_check *ret,
			    struct buffer *bad) __attribute__((warn_unused_result));

#endif /* POKEPATCH_AS_ENTRIES_H */
