/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The texts of old functions, which the core compares live code with (texts.c). */
#ifndef POKEPATCH_PROOF_TEXTS_H
#define POKEPATCH_PROOF_TEXTS_H

#include <stdint.h>

struct check;
struct error;
struct row_symbol;
struct source;

/* texts_read - find out where the kernel rewrites the code of the unit's exact object. */
void texts_read(struct source *source);
/*
 * text_check - error: the text at runs, of room bytes, is not that of the old symbol.  ret: how
 * many bytes it takes.
 */
struct error *text_check(const struct check *check, const struct source *source,
			 const struct row_symbol *old, const unsigned char *runs, uint64_t room,
			 uint64_t *ret);

#endif /* POKEPATCH_PROOF_TEXTS_H */
