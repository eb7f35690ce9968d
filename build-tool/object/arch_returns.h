/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of struct arch that describes functions which do nothing but return, as pokepatch-build
 * --return makes them without a compiler (arch.h).
 */
#ifndef POKEPATCH_ARCH_RETURNS_H
#define POKEPATCH_ARCH_RETURNS_H

#include <stddef.h>
#include <stdint.h>

struct arch;
struct object;
struct section;

/* One of the kernel's error numbers: "EPERM" is 1. */
struct error_number {
	const char *name;
	uint16_t number;
};

/* Bytes that arch_returns.load() writes at most. */
#define RETURN_LOAD_MAX 32

/* Instructions, with one relocation at most. */
struct return_piece {
	const char *code; /* NULL: there is no such piece */
	uint8_t length;	  /* bytes */
	const char *symbol; /* that a relocation leads to, or NULL: there is none */
	uint8_t at;	    /* offset of the relocation */
	uint32_t type;
	int64_t addend;
};

/*
 * Called for a field that changes when the kernel moves in memory as a whole.
 * @offset: of the field in the section
 * @value: what the relocation's symbol and addend give together, an address in vmlinux
 */
typedef void (*found_moving)(void *context, uint64_t offset, uint32_t type, uint64_t value);

/* The image of a vmlinux, with its end, which is an address too (_end): [start, end]. */
struct image_range {
	uint64_t start, end;
};

struct arch_returns {
	/*
	 * load - write the instructions that put a value into the register in which functions
	 * return integers and pointers; returns their length.  NULL: --return does not know the
	 * machine.
	 * @value: extended to 64 bits as its type is, with its sign or with zeroes
	 * @size: of the type in bytes, 1 to 8
	 */
	size_t (*load)(const struct arch *arch, uint64_t value, uint8_t size,
		       uint8_t ret[RETURN_LOAD_MAX]);
	struct return_piece leave; /* return to the caller */
	struct return_piece thunk; /* likewise, if vmlinux exports the piece's symbol */
	/* The table in which compilers list the entries, and the flags of its section. */
	const char *entry_table;
	uint64_t entry_flags;
	/*
	 * entry_end - where an entry ends, in bytes from the function's start.
	 * @code: @length bytes from the function's start on
	 * @place: what the table names, in bytes from the function's start; may be negative
	 */
	uint64_t (*entry_end)(const uint8_t *code, uint64_t length, int64_t place);
	struct return_piece call; /* what compilers write at that place, if the kernel has a NOP */
	uint32_t distance; /* the relocation that writes the distance to a place in 4 bytes */
	/*
	 * moving_fields - call found() for each field in a function of a linked vmlinux that
	 * KASLR changes.  NULL: instructions have distances within the image alone.
	 * @object, @section: with the function's bytes at [start, end)
	 * @address: of start in vmlinux
	 */
	void (*moving_fields)(struct object *object, const struct section *section, uint64_t start,
			      uint64_t end, uint64_t address, struct image_range image,
			      found_moving found, void *context);
	/* Numbers that are not those of asm-generic/errno.h; ends with a NULL name; or NULL. */
	const struct error_number *errors;
};

/*
 * arch_error_number - the number of an error on a machine, by a name such as "EPERM"; 0: the kernel
 * has no such error.
 */
unsigned int arch_error_number(const struct arch *arch, const char *name);

#endif /* POKEPATCH_ARCH_RETURNS_H */
