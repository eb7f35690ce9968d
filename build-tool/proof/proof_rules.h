/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the proof knows about each machine: one struct proof_rules for each, in rules_ARCH.c.
 * The authors wrote these tables from the kernel's headers and from objtool's documentation.
 * They did not take them from build-tool/arch, so that each can prove the other.
 */
#ifndef POKEPATCH_PROOF_RULES_H
#define POKEPATCH_PROOF_RULES_H

#include <stdbool.h>
#include <stdint.h>

struct object;
struct object;
struct symbol;

/* A special section.  Each of its entries begins with the address of code. */
struct proof_table {
	const char *section; /* as the compiler or objtool calls it */
	const char *linked;  /* as scripts/module.lds calls it; NULL: the same */
	uint8_t sizes[2];   /* bytes of an entry; the first size that fits counts */
	bool ordered;	    /* the entries of one function must keep their order */
	bool leads;	    /* an entry may have the address of NOPs in front of a function */
	/* objtool makes it, and the entries in the unit's whole object count. */
	bool unwound;
	uint8_t piece;	    /* offset of a replacement's address in an entry, or 0 */
	int8_t piece_length; /* byte with the replacement's length, from the entry's end */
	uint8_t key;	    /* offset of a static key's address, or 0 */
	/* The loader reads the key before the core makes its relocations. */
	bool key_is_read;
	/* If the key's addend has this bit, objtool replaces the jump by a NOP. */
	uint8_t nop_flag;
	/*
	 * objtool makes the entries: one for each call of or jump to a symbol whose name begins
	 * with this.  With call_key, the address of a static call's key follows; a jump's key
	 * has tail_flag added.
	 */
	const char *callee;
	bool call_key;
	uint8_t tail_flag;
	/*
	 * The loader rewrites the code at the entry's address before the core makes its
	 * relocations: this many bytes, or as many as the byte at site_length says, which counts
	 * from the entry's end.
	 */
	uint8_t site;
	int8_t site_length;
	/* How much of that code the kernel rewrites when it runs. */
	enum {
		LIVE_NOTHING,
		LIVE_BYTE,	  /* the first byte */
		LIVE_INSTRUCTION, /* one instruction, whose length stays the same */
		LIVE_WORD,	  /* four bytes, even if more NOPs follow */
		LIVE_SITE,	  /* as many bytes as site_length says */
	} live;
	uint8_t live_before; /* and so many bytes in front of it */
};

/* Sections whose name begins so have entries of 4 bytes, which begin with an address of code. */
struct proof_constants {
	const char *prefix;
	uint8_t length; /* bytes of that code, which the kernel fills in while it boots */
};

/*
 * A jump that pokepatch adds, for calls from code that the loader rewrites, and for calls that
 * do not reach as far as the kernel may be.
 */
struct proof_veneer {
	const char *code; /* with zeroes in the relocated fields; NULL: the machine needs none */
	uint8_t size, align;
	uint8_t place; /* of the relocation with this type and addend */
	uint32_t type;
	int8_t addend;
	uint8_t second_place; /* of a second relocation with that addend, if its type is not 0 */
	uint32_t second_type;
	/* Calls of symbols that vmlinux exports need one too: the loader makes none. */
	bool exported;
	/*
	 * Another jump, which leaves alone what the first one would spoil.  A call needs it if
	 * needs_other() says so about the call and what follows it, eight bytes; and all calls of
	 * an object need it if other_in() says so.
	 */
	const char *other;
	bool (*needs_other)(const unsigned char *call);
	bool (*other_in)(const struct object *object);
};

struct proof_rules {
	uint16_t machine; /* EM_ */
	uint8_t elf_class, elf_data;
	const struct proof_table *tables; /* ends with a NULL section */
	const struct proof_constants *constants; /* ends with a NULL prefix; or NULL */
	const char *const *piece_sections; /* code without symbols that tables or jumps point to */
	/*
	 * Code without symbols may follow a section's last function.  If the section has a single
	 * function, that code is part of it; else tables point to its pieces (.subsection 1).
	 */
	bool tails;
	/*
	 * The core can reroute a function that calls this symbol with the call's field at one of
	 * these places.  The call's opcode is entry_opcode bytes before the field.  Where the
	 * compiler makes entry_table, the call must be in it.
	 */
	const char *entry_call;
	uint8_t entry_places[2];
	uint8_t entry_opcode;
	const char *entry_table;
	/*
	 * Or the function calls nothing, but its start or this offset behind it is in
	 * entry_table.
	 */
	bool entry_listed;
	uint8_t entry_behind;
	/*
	 * Or entry_table has the address of so many bytes of NOPs in front of the function, and as
	 * many follow at the function's start, or entry_behind bytes behind it; 0: no such.
	 */
	uint8_t entry_lead;
	/*
	 * The core can also overwrite the first instructions of a function without an entry, with a
	 * jump of so many bytes; 0: it cannot.
	 */
	uint8_t overwriting;
	/*
	 * call_changes - the registers that callers in the unit may take for changed by a call of
	 * a function, as bits; false: they are not known.
	 * @cold: its cold part, or NULL
	 */
	bool (*call_changes)(struct object *object, const struct symbol *function,
			     const struct symbol *cold, uint64_t *ret);
	const char *copied;	 /* section of code that the loader copies over other code */
	struct proof_veneer veneer;
	/*
	 * late_problem - why the core must not make a relocation of this type in code at this
	 * offset of a section that is aligned to late_align; NULL: it may.  The text goes on after
	 * "... of type T at P, ".
	 * late_bound - does the answer depend on the offset?
	 */
	const char *(*late_problem)(uint32_t type, uint64_t place);
	uint32_t late_align;
	bool (*late_bound)(uint32_t type);
	/* An instruction's PC-relative field counts from the instruction's end, not its start. */
	bool counts_from_end;
	uint32_t pc32;			   /* type of a 32-bit PC-relative relocation */
	const char *const *nops;	   /* as objtool writes them, by length */
	uint8_t longest_nop;
	const char *padding; /* bytes of padding in code, besides 0 */
	uint8_t padding_length;
	const char *dead_end; /* an instruction that may follow a function; NULL: none */
	uint8_t dead_end_length;
	const char *unwind, *unwind_ip; /* parallel tables; NULL: none */
	/*
	 * The kernel rewrites the landing pads, these four bytes, that this table lists, so that
	 * the processor refuses indirect calls of their functions; NULL: none.
	 */
	const char *seals, *landing_pad;
	/* With this and a function's name, clang names what an indirect call compares; or NULL. */
	const char *type_prefix;
	bool zero_fields; /* the loader refuses a field that is not 0 before it is relocated */
	/* Sections of the linker's own that sum up what it linked; NULL: none.  Ends with NULL. */
	const char *const *linkers;
	/* live_length - bytes of the instruction at a LIVE_INSTRUCTION place; reads at most 16. */
	uint8_t (*live_length)(const unsigned char *instruction);
	/* is_jump - does the instruction jump, and not call? */
	bool (*is_jump)(const unsigned char *instruction);
};

extern const struct proof_rules proof_rules_arm64, proof_rules_mips64, proof_rules_mips64el;
extern const struct proof_rules proof_rules_x86_64;

/* proof_rules_of - the rules for the machine that the object's header names; NULL: none. */
const struct proof_rules *proof_rules_of(const struct object *object);

/* x86_changes_of_call - struct proof_rules' call_changes of x86-64. */
bool x86_changes_of_call(struct object *object, const struct symbol *function,
			 const struct symbol *cold, uint64_t *ret);

#endif /* POKEPATCH_PROOF_RULES_H */
