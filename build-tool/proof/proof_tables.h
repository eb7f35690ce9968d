/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The special sections of the module (tables.c). */
#ifndef POKEPATCH_PROOF_TABLES_H
#define POKEPATCH_PROOF_TABLES_H

struct check;
struct error;
struct section;
struct thing;

/* tables_read - read all entries of the module's special sections. */
struct error *tables_read(struct check *check);
/*
 * tables_check_header - error: flags or alignment are not as the compiler or objtool made them, in
 * the sections that they call name.
 */
struct error *tables_check_header(const struct check *check, const struct section *section,
				  const char *name);
/* tables_match - error: the module lacks an entry of the thing, has it twice, or has another. */
struct error *tables_match(struct check *check, struct thing *thing);
/* tables_check_used - error: an entry belongs to nothing. */
struct error *tables_check_used(struct check *check);

#endif /* POKEPATCH_PROOF_TABLES_H */
