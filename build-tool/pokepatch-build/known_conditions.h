/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conditions (#if) that have the same value in all C that a kernel is compiled from, because they
 * ask for its configuration, for assembly or for C++.
 */
#ifndef POKEPATCH_KNOWN_CONDITIONS_H
#define POKEPATCH_KNOWN_CONDITIONS_H

#include "pokepatch-build/c_tokens.h"
#include "pokepatch-build/item_index.h"

/*
 * known_conditions_init - read a kernel's configuration.  Without it, no symbol's value is known.
 * @autoconf: the text of include/generated/autoconf.h
 */
void known_conditions_init(struct item_index *index, const char *autoconf, size_t length);

/*
 * known_condition - the value of a condition.  The symbols that are asked for get WORD_ASKED:
 * should a file define one of these itself, the value is not valid where it is included.
 * @word: if, ifdef, ifndef or elif
 * @line: what follows it
 * Return: 1 if it is true, -1 if it is false, 0 if that depends on the unit
 */
int known_condition(struct item_index *index, const struct token *word, struct cursor line);

#endif /* POKEPATCH_KNOWN_CONDITIONS_H */
