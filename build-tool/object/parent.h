/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parent objects: the vmlinux or module that a unit is part of, as far as
 * references to their symbols need it, and the table of exported symbols.
 */
#ifndef POKEPATCH_PARENT_H
#define POKEPATCH_PARENT_H

#include "pokepatch_format.h"
#include "common/util.h"

struct parent_symbol {
	const char *name;
	uint64_t value;	     /* address in vmlinux; offset in the section in a module */
	uint64_t size;
	const char *section; /* name; "" for an absolute symbol */
	uint32_t section_number;
	bool global, weak, function, percpu;
	uint32_t block;	     /* which FILE symbol it follows; locals only */
	uint32_t order;	     /* place in the symbol table */
	struct parent_symbol *next; /* of the same name, by address (vmlinux) or order (module) */
};

/* The local symbols of one unit, as indexes into symbols. */
struct parent_block {
	const char *file; /* the FILE symbol: base name of the unit */
	size_t first, end;
};

struct parent {
	char *name; /* "vmlinux" or as in struct module: "nf_tables" */
	char *path;
	uint8_t build_id[POKEPATCH_BUILD_ID_MAX];
	uint32_t build_id_length;
	uint64_t base;	     /* vmlinux: address of _stext */
	struct parent_symbol *symbols;
	size_t symbol_count;
	struct map by_name;  /* first parent_symbol of a name */
	VEC(struct parent_block) blocks;
	const char *depends; /* modules: names with commas between; else "" */
	int fd;
	void *elf; /* Elf *, owns the names */
};

/*
 * parent_open - read the symbol table of a vmlinux (name "vmlinux") or
 * .ko (with FILE symbols: the one that has DWARF).  Errors: unreadable, no symbol table, no
 * build id.
 */
struct error *parent_open(const char *name, const char *path, struct parent **ret);
void parent_close(struct parent *parent);

/* parent_depends - does loading the module load the named one before it? */
bool parent_depends(const struct parent *parent, const char *name);

/* parent_global - a global or weak symbol, or NULL. */
const struct parent_symbol *parent_global(const struct parent *parent, const char *name);

/*
 * parent_find_block - which FILE block holds the local symbols of a unit: the
 * one of its base name that has all of names.  Several units of a base name may
 * qualify (there are 21 "core.c"); then the one whose functions DWARF gives to
 * the unit's path.  False: there is none, or they cannot be told apart, which is refused.
 */
bool parent_find_block(struct parent *parent, const char *unit, const char *const *names,
		       size_t count, struct refusals *refusals, uint32_t *ret);
/* parent_local - a local symbol of a block, or NULL. */
const struct parent_symbol *parent_local(const struct parent *parent, uint32_t block,
					 const char *name);
/* parent_position - 1-based place among symbols of the name, as kallsyms lists them. */
uint32_t parent_position(const struct parent *parent, const struct parent_symbol *symbol);

/*
 * parent_bytes - contents at a symbol, borrowed; NULL where the file has none.
 * ret_room: bytes from there to the end of the section.
 */
const unsigned char *parent_bytes(const struct parent *parent, const struct parent_symbol *symbol,
				  uint64_t *ret_room);

#endif /* POKEPATCH_PARENT_H */
