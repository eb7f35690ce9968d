/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of struct arch that describe symbols, functions and instructions as compilers for the
 * architecture write them (arch.h).
 */
#ifndef POKEPATCH_ARCH_CODE_H
#define POKEPATCH_ARCH_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct atom;
struct disasm_mode;
struct object;
struct reloc;
struct section;

/* What a symbol without a type says about the place where it is. */
enum symbol_mark {
	MARK_NONE,  /* nothing: it is an ordinary name */
	MARK_LABEL, /* a compiler's label that the assembler kept (riscv ".L12") */
	MARK_CODE,  /* instructions begin here (arm64 "$x") */
	MARK_DATA,  /* data begins here ("$d") */
};

/* How an instruction uses an address that stands in it. */
enum operand_kind {
	OPERAND_DIRECT = 0,	   /* called, jumped to, read or written there */
	OPERAND_VALUE = 1 << 0,	   /* the address itself goes to a register or memory */
	OPERAND_STORED = 1 << 1,   /* to memory */
	OPERAND_INDEXED = 1 << 2,  /* a register, or another offset, is or may be added to it */
	OPERAND_COMPARED = 1 << 3, /* the address itself is compared with */
};

/* A reference to another place in the same section that the assembler resolved by itself. */
struct local_reference {
	uint64_t offset; /* where its relocation would be */
	uint64_t target; /* the place that it reaches, an offset in the section */
	uint32_t type;	 /* that relocation's type, or 0 if no loader knows one */
	uint8_t size;	 /* bytes of the field, where type is 0 */
	int32_t upper;	 /* as in struct reloc */
};
typedef void (*found_reference)(void *context, const struct local_reference *reference);

/* Why a call cannot leave the module. */
struct call_refusal {
	const char *code; /* common/refusal.c */
	const char *text; /* follows the names of caller and callee */
};

/* One instruction, or several in a row, that put a constant into a register or memory. */
#define CONSTANT_LOAD_MAX 16
struct constant_load {
	uint64_t start, end;		 /* in the section; at most CONSTANT_LOAD_MAX apart */
	uint64_t value;			 /* zero-extended from the field's size */
	uint8_t rest[CONSTANT_LOAD_MAX]; /* its bytes, the constant's bits cleared */
};

/* Instructions at the beginning of a function, which a jump overwrites (core-module/detour.c). */
struct first_insns {
	uint8_t pad;	/* bytes of a landing pad in front of them */
	uint8_t length; /* their bytes */
	uint8_t field;	/* where in these a distance from an instruction's end is; 0: nowhere */
};

/* What symbols mean, and which bytes they count. */
struct arch_symbols {
	/* mark - of a local symbol without a type, by its name. */
	enum symbol_mark (*mark)(const char *name);
	/*
	 * lead_in - size in bytes of what lies right before the function at start and is read by
	 * its code relative to the function's address (ppc64: the distance to the TOC).
	 * 0 for a function without one.
	 */
	uint64_t (*lead_in)(const struct object *object, const struct section *section,
			    uint64_t start);
	/*
	 * Code and constants without symbols may follow the last function of a section:
	 * replacements of alternatives (.subsection 1), literals (.ltorg).
	 */
	bool code_tails;
	/*
	 * Size in bytes of an instruction that code elsewhere executes (s390's "exrl"); 0: the
	 * machine has no such.  clang puts only these into .text, without symbols.
	 */
	uint8_t executed;
	/*
	 * The size of a variable's symbol may leave out its flexible array, as in "struct pid
	 * init_struct_pid = { .numbers = { { ... } } }" (gcc for MIPS).
	 */
	bool short_sizes;
};

/* Where a function can be patched at its beginning. */
struct arch_entries {
	/*
	 * find - where the patchable entry lies in a function of compiler output, whose tables'
	 * entries are attached: bytes from its start, or -1.
	 */
	int64_t (*find)(struct object *object, const struct atom *function);
	/*
	 * first_insns - the instructions that a jump at the beginning of a function without a
	 * patchable entry would overwrite.  false if it is too short, or if the core could not
	 * make a copy of them that does the same in another place.  NULL: the core overwrites none
	 * on this machine.
	 *
	 * call_changes - which registers callers in the unit may take for changed by a call of the
	 * function, as bits that only comparing makes sense of.  false if that is not known.
	 */
	bool (*first_insns)(struct object *object, const struct atom *function,
			    struct first_insns *ret);
	bool (*call_changes)(struct object *object, const struct atom *function, uint64_t *ret);
	/*
	 * The compiler puts patchable entries in the wrong place, and pokepatch-as puts them in
	 * the right one.  A kernel has them by KCFLAGS (pokepatch-as --build), not by its
	 * configuration.
	 */
	bool by_as;
	/* Bytes at which the kernel wants what is in front of a function's entry; 0: any. */
	uint8_t lead_align;
};

/* What instructions do.  A place is an offset in the section; a range is [start, end). */
struct arch_code {
	const struct disasm_mode *disasm; /* disasm.h; NULL: capstone does not know the machine */
	/* What functions call without a call in their source (__fentry__); ends with NULL. */
	const char *const *common_callees;
	/*
	 * measure_relocs - set "behind" of the PC-relative relocations of a range of code, where
	 * it follows from the instruction and not from the relocation's type alone.
	 */
	void (*measure_relocs)(struct object *object, const struct section *section,
			       uint64_t start, uint64_t end, struct reloc *relocs, size_t count);
	/*
	 * local_references - call found() for every instruction in a range of a text section that
	 * names another place of the section relative to itself: calls and jumps, but also an
	 * address that is taken or read in this way (arm64 adr, s390 larl).
	 */
	void (*local_references)(struct object *object, const struct section *section,
				 uint64_t start, uint64_t end, found_reference found,
				 void *context);
	/*
	 * linked_jumps - call found() for every call and jump of a linked section that names its
	 * target by a part of the target's own address (MIPS j, jal).  Objects have relocations
	 * for these.  NULL: the machine has none.
	 * @address: of the section
	 */
	void (*linked_jumps)(struct object *object, const struct section *section, uint64_t address,
			     found_reference found, void *context);
	/*
	 * must_stay - whether a range of code cannot run in a module's memory, because it writes
	 * what maps that.  NULL: the kernel's own code is mapped in the same way.
	 */
	bool (*must_stay)(struct object *object, const struct section *section, uint64_t start,
			  uint64_t end);
	/*
	 * operand_kinds - how a range of a text section uses the addresses in it: for every byte
	 * start + i at which a relocation stands, set kinds[i] to a set of enum operand_kind.
	 */
	void (*operand_kinds)(struct object *object, const struct section *section,
			      uint64_t start, uint64_t end, uint8_t *kinds);
	/*
	 * constant_loads - call found() for every constant that a range of a text section loads,
	 * in order of place.
	 */
	void (*constant_loads)(struct object *object, const struct section *section,
			       uint64_t start, uint64_t end,
			       void (*found)(void *context, const struct constant_load *load),
			       void *context);
	/*
	 * An instruction behind which objtool follows the code no further, which emit.c puts behind
	 * a function that ends with a call; or NULL.
	 */
	const char *dead_end;
	uint8_t dead_end_length;
	/* is_padding - whether a range of a text section only fills a gap between functions. */
	bool (*is_padding)(struct object *object, const struct section *section, uint64_t start,
			   uint64_t end);
	/*
	 * unlinkable_call - why the call or jump at a relocation of a text section cannot lead
	 * out of the module and come back; NULL if it can.
	 */
	const struct call_refusal *(*unlinkable_call)(struct object *object,
						      const struct section *section,
						      const struct reloc *reloc);
};

#endif /* POKEPATCH_ARCH_CODE_H */
