/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that the kernel closes to indirect calls (seals.c). */
#ifndef POKEPATCH_PROOF_SEALS_H
#define POKEPATCH_PROOF_SEALS_H

#include <stdbool.h>
#include <stdint.h>

struct check;
struct error;
struct known_symbol;
struct proof_rules;
struct section;
struct symtab;

/* seals_check - error: the module seals what is no function's start, or what it refers to. */
struct error *seals_check(struct check *check);
/*
 * seals_check_taken - error: code or data of the module takes the address of a parent's function
 * that cannot be called indirectly.
 */
struct error *seals_check_taken(struct check *check);
/* seals_has - does the parent seal the landing pad at this offset of its symbol? */
bool seals_has(struct symtab *symtab, const struct proof_rules *rules,
	       const struct known_symbol *symbol, uint64_t offset);

#endif /* POKEPATCH_PROOF_SEALS_H */
