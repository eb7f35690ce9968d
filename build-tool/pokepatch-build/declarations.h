/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a changed header matters to a unit, judged from the unit's preprocessed text before and
 * after (gcc -E).  A unit is compiled unless the answer is a certain no.
 *
 * Numbers that __COUNTER__ gives names count for preprocessed_differs() alone (counted_names.h).
 * Both functions are for C, not for assembler, and disregard line markers (# N "file").  Lines
 * reach code in two ways.  __LINE__ is a number in the text, and counts.  What the compiler itself
 * writes down does not: debug information, and the places of -fsanitize's checks.
 */
#ifndef POKEPATCH_DECLARATIONS_H
#define POKEPATCH_DECLARATIONS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * preprocessed_differs - whether two preprocessed texts differ in a token.  Line markers, blanks
 * between tokens, blank lines and #pragma GCC diagnostic do not count.
 */
bool preprocessed_differs(const char *a, size_t a_length, const char *b, size_t b_length);

/*
 * declarations_reach_code - whether the declarations in which two preprocessed texts differ can
 * change code or data of the unit.
 *
 * A declaration that is new, gone or changed matters if it emits code or data itself, or if one
 * that does so leads to it: by its identifiers, those of the declarations of these, and so on.  So
 * does one that was moved past what it depends on (declaration_pairs.h).
 * Return: false only if no changed declaration matters; true also for text that is not understood.
 */
bool declarations_reach_code(const char *a, size_t a_length, const char *b, size_t b_length);

#endif /* POKEPATCH_DECLARATIONS_H */
