/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the host programs know about an architecture: one table of operations
 * each, in a file of its own, listed in arch.c.  Whatever an operation may be
 * without, it may be NULL.
 */
#ifndef POKEPATCH_ARCH_H
#define POKEPATCH_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct atom;
struct disasm_mode;
struct error;
struct object;
struct reloc;
struct section;
struct section_rule;

/* What a relocation type does; from the architecture's psABI. */
struct reloc_kind {
	uint32_t type; /* composite types of MIPS64: ssym << 24 | type3 << 16 | type2 << 8 | type */
	const char *name;
	uint8_t size;	  /* bytes at its offset that it writes to; 0: none */
	bool pc_relative; /* S + A - P */
	bool branch;	  /* used on calls and jumps */
	/*
	 * Bits that it writes, in the integer of size bytes at its offset (of the code's
	 * byte order); 0: all.  The assembler may leave anything there, so they are
	 * cleared when an object is read.
	 */
	uint64_t mask;
	bool adds;	/* to what stands there (R_RISCV_ADD32); nothing is cleared */
	bool subtracts; /* likewise, if adds is set */
	bool idle;	/* writes nothing, only helps the linker (NONE, RELAX, ALIGN): not kept */
	bool linker;	/* the linker knows it and the module loader does not: never carried */
	/*
	 * In code: where it counts from, in bytes from its offset, so that symbol + addend +
	 * origin is what is reached; measure_relocs() may know better.
	 */
	int8_t origin;
	bool near;	/* reaches less far than a module may be from the kernel */
	uint32_t same_as; /* the type that writes the same where both fit; 0: itself */
	/*
	 * Where addends stand in the fields (struct arch, addends_in_fields): it is those bits,
	 * as a signed number, times 2 to the power of this.
	 */
	uint8_t shift;
};

#define RELOC(number, ...) {.type = number, .name = #number, ##__VA_ARGS__}

/* A table of places in code that the module loader rewrites. */
struct site_table {
	const char *section;
	uint8_t entry;	   /* bytes of an entry, which begins with the relocated address */
	uint8_t length_at; /* where a byte with the length of the place stands, or 0 */
	uint8_t length;	   /* the length otherwise */
	/* Where the address of what is copied there stands, and its length, if it is among code; or 0. */
	uint8_t piece_at, piece_length_at;
};

/* A table of places in code that the kernel rewrites, as it boots or later. */
struct late_table {
	const char *section;
	uint8_t entry;	/* as above */
	uint8_t length; /* of the place ... */
	/* ... but if its first byte is one of these, it is that long. */
	const char *first;
	uint8_t first_length;
	/* Or no longer than there are NOPs, words of zeroes: how many an entry has is a choice. */
	bool nops;
};

/* A jump to a function, as far away as one is called. */
struct veneer {
	/*
	 * For calls of whatever the core resolves, and not only where the loader rewrites: they
	 * reach less far than modules may be from the kernel, and the loader counts its own
	 * veneers by the relocations that it sees.
	 */
	bool every_call;
	bool exported; /* likewise for what vmlinux exports: the loader makes no veneers */
	const char *kind; /* what tells its name from that of another one, or NULL */
	const uint8_t *code;
	uint8_t size, align;
	uint8_t reloc_at; /* where the relocation of reloc_type and addend stands */
	uint32_t reloc_type;
	int64_t addend;
	uint8_t second_at; /* another with that addend, or type 0 */
	uint32_t second_type;
};

/* Relocations that, made by the core, must not lie at offset % align >= from. */
struct late_limit {
	uint32_t types[2];
	uint32_t align, from;
};

/* How an instruction uses an address that stands in it. */
enum operand_kind {
	OPERAND_DIRECT = 0,	   /* called, jumped to, read or written there */
	OPERAND_VALUE = 1 << 0,	   /* the address itself goes to a register or memory */
	OPERAND_STORED = 1 << 1,   /* to memory */
	OPERAND_INDEXED = 1 << 2,  /* a register, or another offset, is or may be added to it */
	OPERAND_COMPARED = 1 << 3, /* the address itself is compared with */
};

/* What a symbol without a type says about the place where it is. */
enum symbol_mark {
	MARK_NONE,  /* nothing: it is somebody's name */
	MARK_LABEL, /* a compiler's label that the assembler kept (riscv ".L12") */
	MARK_CODE,  /* instructions begin here (arm64 "$x") */
	MARK_DATA,  /* data begins here ("$d") */
};

/* A reference to another place in the section that the assembler resolved by itself. */
struct local_reference {
	uint64_t offset; /* where its relocation would stand */
	uint64_t target; /* where it leads to, an offset in the section */
	uint32_t type;	 /* that relocation's type, or 0 if no loader knows one */
	uint8_t size;	 /* bytes of the field where there is no type */
	int32_t upper;	 /* as in struct reloc */
};
typedef void (*found_reference)(void *context, const struct local_reference *reference);

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

struct arch {
	const char *name;	 /* as in the kernel's ARCH: "x86_64" */
	const char *debian;	 /* Debian's: "amd64" */
	const char *source_arch; /* folder below arch/ in the kernel: "x86"; also good for ARCH= */
	const char *gnu;	 /* what Debian's tools for it begin with: "x86_64-linux-gnu" */
	const char *emulator;	 /* of package qemu-user, for that compiler; NULL: none */
	/*
	 * Its compiler puts patchable entries in the wrong place, and pokepatch-as into the right
	 * one; a kernel has them by KCFLAGS (pokepatch-as --build), not by its configuration.
	 */
	bool entries_by_as;
	bool live; /* pokepatch's core can switch patches on it while everything runs */
	uint16_t machine;	 /* EM_ */
	uint8_t elf_class, elf_data;
	uint8_t code_data;	 /* ELFDATA2LSB or MSB of instructions; 0: as elf_data */
	uint32_t foreign_flags;	 /* of e_flags: what has one of them is for another ABI */

	const struct reloc_kind *relocs; /* sorted by type */
	size_t reloc_count;
	/* Sections that only this architecture has; ends with a NULL name. */
	const struct section_rule *sections;
	const struct disasm_mode *disasm; /* disasm.h; NULL: capstone does not know it */

	const struct site_table *site_tables; /* ends with a NULL section */
	const struct late_table *late_tables; /* beside these; likewise */
	const char *replacement_section; /* code that is copied over such places, or NULL */
	/* What functions call without their source's saying so (__fentry__); ends with NULL. */
	const char *const *common_callees;
	const struct veneer *veneer;	 /* for calls that cannot lead there by themselves, or NULL */
	/* veneer_for - which one, where the call at an offset needs another; never NULL. */
	const struct veneer *(*veneer_for)(const struct object *object,
					   const struct section *section, uint64_t offset);
	/* veneer_of - or which one all calls of an object need, from what it notes of itself. */
	const struct veneer *(*veneer_of)(const struct object *object);

	const struct late_limit *late_limit; /* or NULL */
	/*
	 * The loader reads the static keys of a module's branches before pokepatch's core has made
	 * relocations (jump_label_apply_nops()).
	 */
	bool reads_keys;

	/*
	 * reloc_info, reloc_info_join - symbol number and type in r_info where it is not as
	 * in the gABI (little-endian MIPS64).
	 */
	void (*reloc_info)(uint64_t info, uint32_t *ret_symbol, uint32_t *ret_type);
	uint64_t (*reloc_info_join)(uint32_t symbol, uint32_t type);
	/*
	 * Objects have relocations without addends (SHT_REL), for the module loader knows no
	 * others; both kinds are read, these are written.  Fields have 4 bytes or less.
	 */
	bool addends_in_fields;
	/*
	 * join_addends - after such a section was read, in the order of the file: of what stands
	 * in several fields (MIPS' HI16 and LO16), give each relocation the whole addend.  Errors:
	 * fields that do not belong together.
	 * split_addends - the reverse, before writing: order the list, a copy of the section's
	 * relocations, as the loader needs it, and leave each what stands in its own field.
	 */
	struct error *(*join_addends)(struct object *object, struct section *section);
	struct error *(*split_addends)(struct object *object, const struct section *section,
				       struct reloc *list, size_t count);
	/*
	 * fold_relocs - after reading an allocated section: make one relocation of each
	 * thing that takes several (riscv ADD32 and SUB32), and let each name its real target
	 * (PCREL_LO12).  Only then are they sorted.  Errors: what makes no sense.
	 */
	struct error *(*fold_relocs)(struct object *object, struct section *section);
	/* unfold_relocs - the reverse, before writing; may add symbols. */
	void (*unfold_relocs)(struct object *object, struct section *section);
	/* symbol_mark - for local symbols without a type. */
	enum symbol_mark (*symbol_mark)(const char *name);
	/*
	 * lead_in - bytes right before a function at start, which has a place of its own there,
	 * that its code reads relative to its address; the same for all functions that have
	 * such (ppc64).
	 */
	uint64_t (*lead_in)(const struct object *object, const struct section *section,
			    uint64_t start);
	/* local_entry - bytes from a function's symbol to where local calls enter it, by st_other. */
	uint64_t (*local_entry)(uint8_t other);

	/*
	 * patchable_entry - where in a function of compiler output (its tables' entries are
	 * attached) the patchable entry lies: bytes from its start, or -1.
	 */
	int64_t (*patchable_entry)(struct object *object, const struct atom *function);
	/*
	 * measure_relocs - set "behind" of the PC-relative relocations of code in [start, end)
	 * where it follows from the instruction and not from the type alone.
	 */
	void (*measure_relocs)(struct object *object, const struct section *section,
			       uint64_t start, uint64_t end, struct reloc *relocs, size_t count);
	/*
	 * local_references - call found() for every instruction in [start, end) of a text
	 * section that names another place of the section relative to itself: calls and
	 * jumps, but also an address taken or read that way (arm64 adr, s390 larl).
	 */
	void (*local_references)(struct object *object, const struct section *section,
				 uint64_t start, uint64_t end, found_reference found,
				 void *context);
	/*
	 * point_branch - let the branch with this field, of those that found() got no type
	 * for, lead so many bytes on from the field; false, and nothing written, if that is too
	 * far.  NULL: without veneers.
	 */
	bool (*point_branch)(unsigned char *field, uint64_t distance);
	/*
	 * operand_kinds - for every byte start + i of a text section at which a relocation
	 * stands, kinds[i]: how the address in it is used, a set of enum operand_kind.
	 */
	void (*operand_kinds)(struct object *object, const struct section *section,
			      uint64_t start, uint64_t end, uint8_t *kinds);
	/* is_padding - are these bytes of a text section what fills gaps between functions? */
	bool (*is_padding)(struct object *object, const struct section *section, uint64_t start,
			   uint64_t end);
	/*
	 * unlinkable_call - why the call or jump at a relocation of a text section cannot lead
	 * out of the module and come back; NULL if it can.
	 */
	const struct call_refusal *(*unlinkable_call)(struct object *object,
						      const struct section *section,
						      const struct reloc *reloc);
	/*
	 * constant_loads - call found() for every constant that code in [start, end) of
	 * a text section loads, in order of place.
	 */
	void (*constant_loads)(struct object *object, const struct section *section,
			       uint64_t start, uint64_t end,
			       void (*found)(void *context, const struct constant_load *load),
			       void *context);
	uint32_t address_reloc; /* type for a pointer, and of its size */
	/*
	 * Behind the last function of a section there may be code and constants without
	 * symbols: replacements of alternatives (.subsection 1), literals (.ltorg).
	 */
	bool code_tails;
	/*
	 * Bytes of an instruction that others execute from elsewhere (s390's "exrl"); clang has
	 * nothing but these in .text, without symbols.
	 */
	uint8_t executed;
	/*
	 * A variable's symbol may not count its flexible array, "struct pid init_struct_pid = {
	 * .numbers = { { ... } } }" (gcc for MIPS).
	 */
	bool short_sizes;
	/*
	 * References to variables may go by a neighbour's address (-fsection-anchors), which
	 * the assembler then writes as section and offset.
	 */
	bool section_anchors;
};

/* arch_find - by ELF machine, class and byte order; NULL if not supported. */
const struct arch *arch_find(uint16_t machine, uint8_t elf_class, uint8_t elf_data);
/* arch_of_file - of an ELF file; NULL if it is none, or of a machine that is not supported. */
const struct arch *arch_of_file(const char *path);
/* arch_is_native - does this program itself run on it? */
bool arch_is_native(const struct arch *arch);
/* arch_reloc - NULL for a type that the table does not have. */
const struct reloc_kind *arch_reloc(const struct arch *arch, uint32_t type);
/* arch_reloc_meaning - the same number for two types exactly if they write the same. */
uint32_t arch_reloc_meaning(const struct arch *arch, uint32_t type);
/* arch_address_size - bytes of a pointer, and of C's long. */
unsigned int arch_address_size(const struct arch *arch);
/*
 * arch_wide_address - where the relocation of an address stands that has a field of 64 bits at an
 * offset, as all have in pokepatch_format.h, whatever the size of an address.
 */
uint64_t arch_wide_address(const struct arch *arch, uint64_t offset);
/* arch_code_is_big - byte order of instructions. */
bool arch_code_is_big(const struct arch *arch);
/* arch_symbol_mark - of a symbol of any kind; MARK_NONE where it names something. */
struct symbol;
enum symbol_mark arch_symbol_mark(const struct arch *arch, const struct symbol *symbol);

/*
 * arch_listed_entry - for patchable_entry(): the lowest place in the function that its
 * entries of a table (__patchable_function_entries) name, as bytes from its start, or -1.
 */
int64_t arch_listed_entry(struct object *object, const struct atom *function, const char *table);

/* arch_all - every architecture; ends with NULL.  arch/machines.c defines it. */
extern const struct arch *const arch_all[];

#endif /* POKEPATCH_ARCH_H */
