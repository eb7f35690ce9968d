/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of struct arch that describes an architecture's relocations (arch.h). */
#ifndef POKEPATCH_ARCH_RELOCS_H
#define POKEPATCH_ARCH_RELOCS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct object;
struct reloc;
struct section;

/* What a relocation type does; from the architecture's psABI. */
struct reloc_kind {
	uint32_t type; /* composite types of MIPS64: ssym << 24 | type3 << 16 | type2 << 8 | type */
	const char *name;
	uint8_t size;	  /* bytes that it writes, at its offset; 0: none */
	bool pc_relative; /* S + A - P */
	bool branch;	  /* used on calls and jumps */
	/*
	 * The bits that it writes in the integer of size bytes at its offset, which has the
	 * byte order of code; 0: all.  The assembler may leave anything in these bits, so
	 * they are cleared when an object is read.
	 */
	uint64_t mask;
	bool adds;	/* to the field's old value (R_RISCV_ADD32), so that value is kept */
	bool subtracts; /* from the field's old value; only with adds */
	bool idle;	/* writes nothing, only helps the linker (NONE, RELAX, ALIGN): not kept */
	bool linker;	/* known to the linker and not to the module loader: never included */
	/*
	 * In code: where the value counts from, in bytes from the relocation's offset, so that
	 * symbol + addend + origin is the place that the instruction reaches.  Where it depends
	 * on the instruction, arch_code.measure_relocs() corrects it.
	 */
	int8_t origin;
	bool near;	  /* reaches less far than a module may be from the kernel */
	uint32_t same_as; /* a type that writes the same value where both fit; 0: none */
	/*
	 * Where fields hold addends (arch_addends.in_fields): the addend is the field's bits, as
	 * a signed number, times 2 to the power of shift.
	 */
	uint8_t shift;
};

#define RELOC(number, ...) {.type = number, .name = #number, ##__VA_ARGS__}

/* Relocation types, and how a file encodes relocations. */
struct arch_relocs {
	const struct reloc_kind *kinds; /* sorted by type */
	size_t count;
	uint32_t address; /* type that writes a pointer; its size is the size of an address */
	/*
	 * info, info_join - take r_info apart into symbol number and type and put it together,
	 * where it is not laid out as in the gABI (little-endian MIPS64).
	 */
	void (*info)(uint64_t info, uint32_t *ret_symbol, uint32_t *ret_type);
	uint64_t (*info_join)(uint32_t symbol, uint32_t type);
	/*
	 * encode - for a type with a mask: the bits of the field for S + A = @value and P = @place,
	 * as the psABI says.  False: not for this type.
	 */
	bool (*encode)(uint32_t type, uint64_t value, uint64_t place, uint64_t *ret);
	/*
	 * relaxed - whether a linker may have made the instruction found of the instruction here,
	 * where they differ in other bits than the relocation's.
	 */
	bool (*relaxed)(uint32_t type, uint64_t here, uint64_t found);
	/*
	 * fold - after an allocated section was read and before its relocations are sorted: merge
	 * several relocations that express one thing (riscv ADD32 and SUB32) into one, and let
	 * each name its real target (PCREL_LO12).  Errors: relocations that make no sense.
	 */
	struct error *(*fold)(struct object *object, struct section *section);
	/* unfold - undo fold() before writing; may add symbols. */
	void (*unfold)(struct object *object, struct section *section);
};

/* Addends that are in the fields and not in the relocations. */
struct arch_addends {
	/*
	 * The module loader knows only relocations without addends (SHT_REL), so objects are
	 * written with these; both kinds are read.  Fields have at most 4 bytes.
	 */
	bool in_fields;
	/*
	 * join - after a section of SHT_REL was read, its relocations still in the order of the
	 * file: where several fields hold one addend (MIPS' HI16 and LO16), give each of their
	 * relocations the whole addend.  Errors: fields that do not belong together.
	 */
	struct error *(*join)(struct object *object, struct section *section);
	/*
	 * split - undo join() before writing: put the list, a copy of the section's relocations,
	 * into the order that the loader needs, and leave in each the part for its own field.
	 */
	struct error *(*split)(struct object *object, const struct section *section,
			       struct reloc *list, size_t count);
};

#endif /* POKEPATCH_ARCH_RELOCS_H */
