/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the host programs know about an architecture: one struct arch for each, in a file of its own
 * in arch/, listed in arch.c.  A pointer may be NULL where its group says what that means, and an
 * operation may be NULL where the architecture has no use for it.
 */
#ifndef POKEPATCH_ARCH_H
#define POKEPATCH_ARCH_H

#include "object/arch_code.h"
#include "object/arch_loader.h"
#include "object/arch_relocs.h"
#include "object/arch_returns.h"

struct section_rule;
struct symbol;

/* Names of the architecture in the places where tools and sources come from. */
struct arch_tools {
	const char *debian;	 /* Debian's architecture: "amd64" */
	const char *source_arch; /* folder below arch/ in the kernel: "x86"; also good for ARCH= */
	const char *gnu;	 /* prefix of Debian's tools for it: "x86_64-linux-gnu" */
	const char *emulator;	 /* program of package qemu-user that runs its compiler; or NULL */
};

/* The ELF header of its objects. */
struct arch_elf {
	uint16_t machine; /* EM_ */
	uint8_t class;	  /* ELFCLASS64 or ELFCLASS32 */
	uint8_t data;	  /* ELFDATA2LSB or ELFDATA2MSB */
	uint32_t foreign_flags; /* an object with one of these in e_flags is for another ABI */
};

struct arch {
	const char *name; /* as in the kernel's ARCH: "x86_64" */
	bool live; /* pokepatch's core can switch patches on it while everything runs */
	struct arch_tools tools;
	struct arch_elf elf;
	/* Sections that only this architecture has (sections.h); ends with a NULL name. */
	const struct section_rule *sections;
	struct arch_relocs relocs;
	struct arch_addends addends;
	struct arch_symbols symbols;
	struct arch_entries entries;
	struct arch_code code;
	struct arch_veneers veneers;
	struct arch_loader loader;
	struct arch_returns returns;
};

/* arch_find - by ELF machine, class and byte order; NULL if pokepatch does not support it. */
const struct arch *arch_find(uint16_t machine, uint8_t elf_class, uint8_t elf_data);
/* arch_of_file - of an ELF file; NULL if it is no ELF file, or pokepatch does not support it. */
const struct arch *arch_of_file(const char *path);
/* arch_find_debian - by Debian's name ("amd64"); NULL if pokepatch does not support it. */
const struct arch *arch_find_debian(const char *name);
/* arch_is_native - whether this program itself runs on it. */
bool arch_is_native(const struct arch *arch);
/* arch_reloc - NULL for a type that the table does not have. */
const struct reloc_kind *arch_reloc(const struct arch *arch, uint32_t type);
/* arch_reloc_meaning - a number that is equal for two types if and only if they write the same. */
uint32_t arch_reloc_meaning(const struct arch *arch, uint32_t type);
/* arch_address_size - bytes of a pointer, and of C's long. */
unsigned int arch_address_size(const struct arch *arch);
/*
 * arch_wide_address - pokepatch_format.h has a field of 64 bits for every address, whatever the
 * size of an address on this machine: the offset of the address's relocation, for a field at an
 * offset.
 */
uint64_t arch_wide_address(const struct arch *arch, uint64_t offset);
/* arch_is_big - whether data and instructions are big-endian. */
bool arch_is_big(const struct arch *arch);
/* arch_symbol_mark - of a symbol of any kind; MARK_NONE for one that names a thing. */
enum symbol_mark arch_symbol_mark(const struct arch *arch, const struct symbol *symbol);

/*
 * arch_listed_entry - for arch_entries.find(): the lowest place in the function that the entries of
 * a table for it (__patchable_function_entries) name, in bytes from its start, or -1.
 */
int64_t arch_listed_entry(struct object *object, const struct atom *function, const char *table);
/* arch_lists_entry - whether they name a place at this distance from the function's start. */
bool arch_lists_entry(struct object *object, const struct atom *function, const char *table,
		      int64_t distance);

/* arch_all - every architecture; ends with NULL.  arch/machines.c defines it. */
extern const struct arch *const arch_all[];

#endif /* POKEPATCH_ARCH_H */
