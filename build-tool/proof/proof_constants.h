/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Constants that a patch replaces (constants.c). */
#ifndef POKEPATCH_PROOF_CONSTANTS_H
#define POKEPATCH_PROOF_CONSTANTS_H

struct check;
struct error;

/*
 * constants_check - error: something that the module does not replace refers to the original of a
 * constant that the differ reports as changed.  Call it when the table of functions was read.
 */
struct error *constants_check(struct check *check);

#endif /* POKEPATCH_PROOF_CONSTANTS_H */
