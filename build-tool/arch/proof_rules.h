/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the final check (build-tool/proof) knows of an architecture.  Written from
 * the kernel's headers and objtool's documentation, and on purpose not from the
 * tables that the differ uses: each is the other's proof.
 */
#ifndef POKEPATCH_PROOF_RULES_H
#define POKEPATCH_PROOF_RULES_H

#include <stdbool.h>
#include <stdint.h>

struct object;

/* A special section whose entries each begin with the address of code. */
struct proof_table {
	const char *section;
	uint8_t sizes[2];   /* of an entry; the first one that fits */
	bool ordered;	    /* of one function, they must keep their order */
	uint8_t piece;	    /* where the address of a replacement stands, or 0 ... */
	int8_t piece_length; /* ... and, counted from the entry's end, the byte with its length */
	uint8_t key;	    /* where the address of a static key stands, or 0 */
	/* The loader reads what stands there before the core makes its relocations. */
	bool key_is_read;
	/* This bit of the key's addend: objtool makes a NOP of the jump. */
	uint8_t nop_flag;
	/*
	 * objtool makes the entries: one for each call of or jump to a symbol whose
	 * name begins so.  call_key: the address of a static call's key follows, with
	 * tail_flag added for a jump.
	 */
	const char *callee;
	bool call_key;
	uint8_t tail_flag;
	/*
	 * The loader rewrites the code there before the core makes its relocations: so
	 * many bytes, or as many as the byte says that stands there, counted from the
	 * entry's end.
	 */
	uint8_t site;
	int8_t site_length;
	/* What of it somebody rewrites once the kernel runs. */
	enum {
		LIVE_NOTHING,
		LIVE_BYTE,	  /* the first */
		LIVE_INSTRUCTION, /* one, which is as long before and afterwards */
		LIVE_WORD,	  /* likewise, of four bytes; what follows may look like part of it */
		LIVE_SITE,	  /* as many bytes as site_length tells */
	} live;
};

/* A jump of pokepatch's own, for calls from code that the loader rewrites, or that reach less far. */
struct proof_veneer {
	const char *code; /* zeroes where it is relocated */
	uint8_t size, align, place;
	uint32_t type;
	int8_t addend;
	uint8_t second_place; /* another with that addend, or type 0 */
	uint32_t second_type;
	/* Calls of what vmlinux exports must have one too: the loader makes none. */
	bool exported;
	/*
	 * The same in another way, for calls to which that of code does something: needs_other() is
	 * given the call and what follows it, eight bytes.  Or for all calls of an object.
	 */
	const char *other;
	bool (*needs_other)(const unsigned char *call);
	bool (*other_in)(const struct object *object);
};

struct proof_rules {
	const struct proof_table *tables; /* ends with a NULL section */
	const char *const *piece_sections; /* code without names that tables or jumps point to */
	/*
	 * Behind a section's last function there may be code without names: with one function in
	 * the section it is a part of that, else tables point to its pieces (.subsection 1).
	 */
	bool tails;
	/* A function that can be rerouted calls this, with the field at one of these places, ... */
	const char *entry_call;
	uint8_t entry_places[2];
	uint8_t entry_opcode;	 /* ... so many bytes behind the instruction's start, ... */
	const char *entry_table; /* ... which is in this table, where the compiler makes it. */
	/* Or it calls nothing, but is in that table, at its start or so many bytes behind that. */
	bool entry_listed;
	uint8_t entry_behind;
	const char *copied;	 /* code that the loader copies to where it rewrites */
	struct proof_veneer veneer; /* .code NULL: none */
	/*
	 * What is wrong with a relocation that the core is to make in code, by type and offset in
	 * a section of late_align, or NULL; goes on after "... of type T at P, ".
	 */
	const char *(*late_problem)(uint32_t type, uint64_t place);
	uint32_t late_align;
	bool (*late_bound)(uint32_t type); /* is it one whose place matters? */
	/* PC-relative fields of instructions count from the instruction's end, not its start. */
	bool counts_from_end;
	uint32_t pc32;			   /* type of a 32-bit PC-relative relocation */
	const char *const *nops;	   /* as objtool writes them; [length] */
	uint8_t longest_nop;
	const char *padding; /* bytes that padding in code is made of, besides 0 */
	uint8_t padding_length;
	const char *unwind, *unwind_ip; /* parallel tables; NULL: none */
	bool zero_fields; /* the loader refuses a field that is not 0 before it is relocated */
	/* Sections with which the linker sums up what it has linked; they have names of their own. */
	const char *const *linkers;
	/* How long is what stands at a place of LIVE_INSTRUCTION?  Sixteen bytes or less. */
	uint8_t (*live_length)(const unsigned char *instruction);
	/* Is there a jump (not a call) at the instruction? */
	bool (*is_jump)(const unsigned char *instruction);
};

extern const struct proof_rules proof_rules_arm64, proof_rules_mips64, proof_rules_mips64el;
extern const struct proof_rules proof_rules_x86_64;

#endif /* POKEPATCH_PROOF_RULES_H */
