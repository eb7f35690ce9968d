/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names that the kernel's macros make unique with __COUNTER__: __UNIQUE_ID_x12,
 * __compiletime_assert_7.  A header that counts once more changes the number in each such name
 * behind it, and nothing else: the names are private to the unit.
 */
#ifndef POKEPATCH_COUNTED_NAMES_H
#define POKEPATCH_COUNTED_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* counted_number - the place and length of the number in such a name; false: it is another name. */
bool counted_number(const char *name, size_t length, size_t *ret_at, size_t *ret_digits);

/*
 * objects_are_alike - whether two relocatable objects (ELF64) are the same but for the numbers in
 * names of sections and symbols.  False if one cannot be read.
 */
bool objects_are_alike(char *a, size_t a_length, char *b, size_t b_length);

#endif /* POKEPATCH_COUNTED_NAMES_H */
