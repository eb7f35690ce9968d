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
 * object_fingerprint - a hash of a relocatable object (ELF64) that is the same for another one
 * which differs only in these numbers and in debug information.
 * @ret: 64 hexadecimal digits and a NUL
 * What cannot be read as such an object has the hash of its bytes.
 */
void object_fingerprint(char *object, size_t length, char ret[65]);

#endif /* POKEPATCH_COUNTED_NAMES_H */
