/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The module's modinfo, and the symbols that it asks the loader for (modinfo.c). */
#ifndef POKEPATCH_PROOF_MODINFO_H
#define POKEPATCH_PROOF_MODINFO_H

struct check;
struct error;

/* modinfo_check - error: a line is missing, or should not be there. */
struct error *modinfo_check(struct check *check);
/*
 * versions_check - error: an undefined symbol is not exported, or its version is not the
 * kernel's.
 */
struct error *versions_check(struct check *check);

#endif /* POKEPATCH_PROOF_MODINFO_H */
