/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of places in text, each for a time: those of code that went away are kept. */
#ifndef POKEPATCH_SYMBOL_LIST_H
#define POKEPATCH_SYMBOL_LIST_H

#include "history/span.h"

struct text_symbol {
	uint64_t address, size;
	uint64_t born, died;  /* as in struct past_life */
	const char *name;     /* borrowed */
	const char *module;   /* borrowed; NULL: the kernel's own */
};

struct symbol_list {
	VEC(struct text_symbol) symbols;
	/* Made by symbol_list_settle(). */
	struct span_list by_place;
	VEC(size_t) by_name;
};

void symbol_list_settle(struct symbol_list *list);
void symbol_list_deinit(struct symbol_list *list);

/* symbol_list_at - the one that an address lies in at that time, or NULL. */
const struct text_symbol *symbol_list_at(const struct symbol_list *list, uint64_t address,
					 uint64_t time);
/*
 * symbol_list_find - the address that a text means at that time: "0x..." or NAME, or
 * MODULE:NAME, each perhaps with "+NUMBER".  @ret_symbol: the symbol there, or NULL.
 * Errors: no such name, or several; then the text tells their addresses.
 */
struct error *symbol_list_find(const struct symbol_list *list, const char *text, uint64_t time,
			       uint64_t *ret, const struct text_symbol **ret_symbol);
/* symbol_text - "NAME+0x10", "NAME+0x10 [MODULE]", or NULL where none is; the caller's. */
char *symbol_text(const struct symbol_list *list, uint64_t address, uint64_t time);

/* parse_address - a whole text: decimal, 0x..., or 16 hexadecimal digits; false if it is none. */
bool parse_address(const char *text, uint64_t *ret);

#endif /* POKEPATCH_SYMBOL_LIST_H */
