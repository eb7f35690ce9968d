/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parent objects: the symbols of the vmlinux or module that a unit is part of. */
#ifndef POKEPATCH_PARENT_H
#define POKEPATCH_PARENT_H

#include "pokepatch_format.h"
#include "common/util.h"
#include "object/parent_relocs.h"
#include "object/parent_sites.h"

struct parent_symbol {
	const char *name;
	uint64_t value;	     /* address in vmlinux; offset in the section in a module */
	uint64_t size;
	const char *section; /* name; "" for an absolute symbol */
	uint32_t section_number;
	bool global, weak, function, percpu;
	uint32_t block;	     /* index of its block; local symbols only */
	uint32_t order;	     /* place in the symbol table */
	struct parent_symbol *next; /* of the name, by address (vmlinux) or order (module) */
};

/* The local symbols of one unit, which follow its FILE symbol: [first, end) of symbols. */
struct parent_block {
	const char *file; /* base name of the unit */
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
	const char *depends; /* of a module, the names of others, separated by commas; else "" */
	struct map sites; /* struct parent_sites *, by the table's name (parent_sites.c) */
	VEC(struct parent_sites *) sites_owned;
	VEC(struct parent_relocs *) relocs_owned; /* by number of section (parent_relocs.c) */
	VEC(const struct parent_symbol *) by_address; /* once parent_function_at() is asked */
	int fd;
	void *elf; /* Elf *, owns the names */
	void *dwarf; /* Dwarf *, opened when first needed; or NULL */
};

/*
 * parent_open - read the symbol table of a vmlinux (name "vmlinux") or a .ko.  It must have FILE
 * symbols, as the file with DWARF has.  Errors: unreadable, no symbol table, no build id.
 */
struct error *parent_open(const char *name, const char *path, struct parent **ret);
void parent_close(struct parent *parent);

/* parent_depends - whether loading the module first loads the module called name. */
bool parent_depends(const struct parent *parent, const char *name);

/* parent_global - a global or weak symbol, or NULL. */
const struct parent_symbol *parent_global(const struct parent *parent, const char *name);

/*
 * parent_find_block - find the block of a unit: the one with its base name that has all of names.
 * If several blocks do (the kernel has 21 "core.c"), take the one whose functions belong to the
 * unit's path by DWARF.  False, with a refusal: there is none, or DWARF cannot tell them apart.
 */
bool parent_find_block(struct parent *parent, const char *unit, const char *const *names,
		       size_t count, struct refusals *refusals, uint32_t *ret);
/*
 * parent_read_ahead - read of vmlinux what parent_find_block() will need for this unit, so that it
 * takes no time then.
 */
void parent_read_ahead(struct parent *parent, const char *unit);
/* parent_local - a local symbol of a block, or NULL. */
const struct parent_symbol *parent_local(const struct parent *parent, uint32_t block,
					 const char *name);
/* parent_function_at - a global function that begins at an address of a vmlinux, or NULL. */
const struct parent_symbol *parent_function_at(const struct parent *parent, uint64_t address);
/* parent_position - a symbol's place among those of its name in kallsyms; the first has 1. */
uint32_t parent_position(const struct parent *parent, const struct parent_symbol *symbol);

/*
 * parent_bytes - contents at a symbol, borrowed; NULL where the file has none.  ret_room gets the
 * number of bytes from the symbol to the end of its section.
 */
const unsigned char *parent_bytes(const struct parent *parent, const struct parent_symbol *symbol,
				  uint64_t *ret_room);
/* parent_contents - the same at an address of a vmlinux, or at an offset in a module's section. */
const unsigned char *parent_contents(const struct parent *parent, uint32_t section,
				     uint64_t value, uint64_t *ret_room);
/* parent_is_vmlinux - whether it is linked, so that values are addresses. */
bool parent_is_vmlinux(const struct parent *parent);

#endif /* POKEPATCH_PARENT_H */
