/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the host programs know about an architecture: one table of operations
 * each, in a file of its own, listed in arch.c.
 */
#ifndef POKEPATCH_ARCH_H
#define POKEPATCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object;
struct section;
struct section_rule;

/* What a relocation type does; from the architecture's psABI. */
struct reloc_kind {
	uint32_t type;
	const char *name;
	uint8_t size;	  /* bytes that it writes */
	bool pc_relative; /* S + A - P */
	bool branch;	  /* used on calls and jumps */
};

/* A table of places in code that the module loader rewrites. */
struct site_table {
	const char *section;
	uint8_t entry;	   /* bytes of an entry, which begins with the relocated address */
	uint8_t length_at; /* where a byte with the length of the place stands, or 0 */
	uint8_t length;	   /* the length otherwise */
};

/* How an instruction uses an address that stands in it. */
enum operand_kind {
	OPERAND_DIRECT = 0,	   /* called, jumped to, read or written there */
	OPERAND_VALUE = 1 << 0,	   /* the address itself goes to a register or memory */
	OPERAND_STORED = 1 << 1,   /* to memory */
	OPERAND_INDEXED = 1 << 2,  /* a register is added to it */
	OPERAND_COMPARED = 1 << 3, /* the address itself is compared with */
};

struct arch {
	const char *name;	 /* as in the kernel's ARCH: "x86_64" */
	const char *debian;	 /* Debian's: "amd64" */
	const char *source_arch; /* folder below arch/ in the kernel: "x86" */
	uint16_t machine;	 /* EM_ */
	uint8_t elf_class, elf_data;

	const struct reloc_kind *relocs; /* ends with a NULL name */
	/* Sections that only this architecture has; ends with a NULL name. */
	const struct section_rule *sections;

	const struct site_table *site_tables; /* ends with a NULL section */
	const char *replacement_section;      /* code that is copied over such places */

	/*
	 * patchable_entry - where in the function at [start, end) of a text section
	 * of compiler output the patchable entry lies: bytes from start, or -1.
	 */
	int64_t (*patchable_entry)(const struct object *object, const struct section *section,
				   uint64_t start, uint64_t end);
	/*
	 * instruction_ends - decode [start, end) of a text section; ends[i] is the
	 * offset in the section just behind the instruction that holds byte
	 * start + i, or 0 where nothing could be decoded.
	 */
	void (*instruction_ends)(const struct section *section, uint64_t start, uint64_t end,
				 uint64_t *ends);
	/*
	 * direct_branches - call found() for every direct call or jump in [start, end)
	 * of a text section: where its displacement stands, in how many bytes, and
	 * where it leads to, all as offsets in the section.
	 */
	void (*direct_branches)(const struct section *section, uint64_t start, uint64_t end,
				void (*found)(void *context, uint64_t field, unsigned int size,
					      uint64_t target),
				void *context);
	/*
	 * operand_kinds - for every byte start + i of a text section at which a field
	 * of an instruction begins, kinds[i]: how the address in it is used, a set of
	 * enum operand_kind.
	 */
	void (*operand_kinds)(const struct section *section, uint64_t start, uint64_t end,
			      uint8_t *kinds);
	uint32_t address_reloc; /* type for a pointer */
	uint32_t branch_reloc; /* type for such a displacement, with addend -4 counted from it */
};

/* arch_find - by ELF machine, class and byte order; NULL if not supported. */
const struct arch *arch_find(uint16_t machine, uint8_t elf_class, uint8_t elf_data);
/* arch_reloc - NULL for a type that the table does not have. */
const struct reloc_kind *arch_reloc(const struct arch *arch, uint32_t type);

extern const struct arch arch_x86_64;

#endif /* POKEPATCH_ARCH_H */
