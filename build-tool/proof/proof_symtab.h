/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbol table of a parent, for the names that a patch uses (symtab.c). */
#ifndef POKEPATCH_PROOF_SYMTAB_H
#define POKEPATCH_PROOF_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "common/util.h"
#include "pokepatch_format.h"

struct known_symbol {
	const char *name;
	uint64_t value, size;
	const char *section; /* "" for an absolute symbol */
	size_t section_number;
	bool global, function, percpu, absolute;
	uint32_t block; /* number of the FILE symbol before it */
	uint32_t order; /* its number in the table */
	struct known_symbol *next; /* the next one of this name, in the order of kallsyms */
};

/* A landing pad that the kernel overwrites. */
struct seal {
	size_t section; /* number of the code's section in a module; 0 in vmlinux */
	uint64_t value;
};

/* The local symbols between a FILE symbol and the next one, or the first global symbol. */
struct symtab_block {
	uint32_t number;   /* of the FILE symbol, from 1 on */
	size_t first, end; /* numbers in the table */
	struct symtab_block *next; /* of the same base name */
};

struct symtab {
	const char *name;
	bool vmlinux;
	char *path;
	int fd;
	void *elf;  /* Elf */
	void *data; /* Elf_Data of the symbol table */
	size_t strings, count;
	const char **sections; /* names, by number */
	size_t section_count;
	unsigned char build_id[POKEPATCH_BUILD_ID_MAX];
	uint32_t build_id_length;
	uint64_t text; /* of vmlinux: the address of _stext */
	struct map by_name; /* struct known_symbol *, the first of each loaded name */
	VEC(struct known_symbol *) symbols;
	struct map first;   /* number of the first symbol of a name, cast to a pointer */
	uint32_t *next;	    /* by symbol: number of the next one of its name; 0: none */
	uint32_t *block_of; /* by symbol: number of its block */
	struct map blocks_by_base; /* first struct symtab_block of a base name; symtab_blocks() */
	VEC(struct symtab_block *) blocks;
	VEC(char *) names;
	bool seals_loaded; /* seals.c reads them when it needs them */
	VEC(struct seal) seals; /* by section and value */
};

/* symtab_open - errors: the file has no symbol table or no build id (STATUS_FAILED). */
struct error *symtab_open(const char *name, const char *path, struct symtab **ret);
void symtab_close(struct symtab *symtab);
/* symtab_load - find the symbols of these names; each once. */
void symtab_load(struct symtab *symtab, const char *const *names, size_t count);
/* symtab_get - the first symbol of a name that was loaded, or NULL. */
const struct known_symbol *symtab_get(const struct symtab *symtab, const char *name);
/* symtab_bytes - all bytes of a symbol, borrowed; NULL: the file does not have them. */
const unsigned char *symtab_bytes(const struct symtab *symtab, const struct known_symbol *symbol);
/* symtab_depends_on - whether loading this module first loads the one called name. */
bool symtab_depends_on(const struct symtab *symtab, const char *name);
/* symtab_position - which one of its name the symbol is, from 1 on, as kallsyms counts. */
uint32_t symtab_position(const struct symtab *symtab, const struct known_symbol *symbol);

/* A list of FILE symbols' numbers. */
struct blocks {
	VEC(uint32_t) list;
};
/*
 * symtab_blocks - of the FILE symbols with this base name, those that the most of these local
 * symbols (struct symbol *, by name; sizes count) follow.
 */
void symtab_blocks(struct symtab *symtab, const char *base, const struct map *locals,
		   struct blocks *ret);

#endif /* POKEPATCH_PROOF_SYMTAB_H */
