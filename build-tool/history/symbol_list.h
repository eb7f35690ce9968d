/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols of text, each for a time: a list also has those of code that has gone. */
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
	/* Made by symbol_list_settle(), which is called after the last addition. */
	struct span_list by_place;
	VEC(size_t) by_name;
};

void symbol_list_settle(struct symbol_list *list);
void symbol_list_deinit(struct symbol_list *list);

/* symbol_list_at - the symbol that an address lay in at a time, or NULL. */
const struct text_symbol *symbol_list_at(const struct symbol_list *list, uint64_t address,
					 uint64_t time);
/*
 * symbol_list_find - the address that a text meant at a time.
 * @text: "0x...", NAME or MODULE:NAME, each with an optional "+NUMBER"
 * @ret_symbol: the symbol there, or NULL
 * Errors: no symbol has the name, or several have it; then the error lists their addresses.
 */
struct error *symbol_list_find(const struct symbol_list *list, const char *text, uint64_t time,
			       uint64_t *ret, const struct text_symbol **ret_symbol);
/* symbol_text - "NAME+0x10" or "NAME+0x10 [MODULE]"; NULL if no symbol is there.  Owned. */
char *symbol_text(const struct symbol_list *list, uint64_t address, uint64_t time);

/* parse_address - parse decimal, 0x..., or 16 hexadecimal digits; false: @text is none of them. */
bool parse_address(const char *text, uint64_t *ret);

#endif /* POKEPATCH_SYMBOL_LIST_H */
