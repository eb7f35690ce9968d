/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the compiler wrote for a unit, in pieces (source.c).  The proof reads four objects of a
 * unit: the changed source's as the compiler wrote it, which is split; the unchanged source's;
 * the changed one after objtool; and the unchanged one as kbuild makes it.
 */
#ifndef POKEPATCH_PROOF_SOURCE_H
#define POKEPATCH_PROOF_SOURCE_H

#include "object/object.h"
#include "proof/proof.h"
#include "proof/proof_rules.h"
#include "proof/proof_symtab.h"

struct source;

/* An entry of a special section, attached to the code that its first address names. */
struct table_entry {
	const struct proof_table *table;
	const struct section *section;
	uint64_t start; /* offset in that section */
	uint64_t code;	/* offset in the code's section */
};

/* A jump that objtool replaces by a NOP. */
struct nop {
	uint64_t start, length; /* in the section; bytes */
};

/* A jump to a neighbour in the section, with one byte for the distance. */
struct short_jump {
	uint64_t field, target; /* in the section */
};

/* A function, a cold part, a variable or a replacement: in the module as a whole or not at all. */
struct thing {
	struct source *source;
	const struct section *section;
	uint64_t start, end;
	uint64_t lead; /* bytes of NOPs in front of a function that go with it */
	const struct symbol *symbol; /* NULL: bytes without a name */
	struct thing *function;	     /* of a cold part or a type; or the user of a replacement */
	struct thing *cold;	     /* of a function: its cold part */
	struct thing *type;	     /* of a function: the hash of its type, in front of it */
	VEC(struct table_entry) entries; /* by table, code and start */
	VEC(struct reloc) branches;	 /* to neighbours; the assembler left no relocation */
	VEC(struct short_jump) short_jumps; /* by field */
	VEC(struct nop) nops;		 /* by start */
	bool prepared;			 /* thing_prepare() has filled the last three */
	enum { REPORTED_NOT, REPORTED_NEW, REPORTED_CHANGED } reported; /* by the differ */
	/* What the proof found in the module. */
	bool replaced; /* a row of the table of functions replaces it */
	bool carried;  /* likewise, but the original has no entry: its callers are replaced */
	const struct section *at; /* section of the module; NULL: not in it */
	uint64_t place;		  /* offset in that section */
};

struct code_place {
	const struct section *section;
	uint64_t place;
};

/* Code that the running kernel rewrites. */
struct live_place {
	const struct section *section;
	uint64_t start, length;
	bool entry; /* in the rules' entry_table */
};

struct source {
	const struct proof_unit *unit; /* NULL: the glue, or modpost's .mod.o */
	const char *name;
	const struct proof_rules *rules;
	bool whole; /* the module has all of it, each section in one piece */
	struct object object, orig, unwound, exact;
	bool have_orig, have_unwound, have_exact;
	bool other_veneers; /* all its calls need the other veneer (proof_rules.h) */
	struct symtab *parent;
	const struct section *inert; /* section of the module with its static key that stays off */
	uint64_t inert_at;	     /* offset of that key; inert is NULL: none found yet */
	struct blocks blocks;	   /* the parent's FILE symbols that may be this unit's */
	struct map by_name;	   /* struct symbol *, defined in object */
	struct map orig_by_name;   /* struct symbol *, defined in orig */
	VEC(struct thing *) things; /* all */
	VEC(struct thing *) *by_section; /* for each section's index, its things by start */
	struct map functions;	   /* struct thing *, by name */
	VEC(struct code_place) orig_entries; /* of orig's table of entries, if it has one; sorted */
	struct map exact_by_name;  /* struct symbol *, functions defined in exact */
	VEC(struct live_place) live; /* in exact, by section and start */
};

/*
 * source_open - read a unit's objects, or one object as a whole (unit NULL), into an empty
 * source.
 */
struct error *source_open(struct source *source, const struct proof_unit *unit, const char *name,
			  const char *path, const char *unwound);
void source_close(struct source *source);
/*
 * source_at - the thing at an offset of a section, or the one whose NOPs in front of it are there,
 * or the one that ends there; or NULL.
 */
struct thing *source_at(struct source *source, const struct section *section, int64_t offset);
/*
 * cold_suffix - where the end of a cold part's name begins, or NULL.  gcc calls them "foo.cold",
 * "foo.isra.0.cold" or "foo.cold.3".
 */
const char *cold_suffix(const char *name);
/*
 * source_lead_nops - where the NOPs of an entry are in a function, as an offset of its section, if
 * the table names NOPs in front of it; -1: nowhere.
 */
int64_t source_lead_nops(const struct source *source, const struct symbol *function);
/*
 * source_objtool_lists_entries - has objtool made the table of entries, and not the compiler?  gcc
 * makes it (-mrecord-mcount).  For clang objtool does, and since Linux 6.2 it makes NOPs of the
 * calls of the tracer (objtool --mcount --mnop).
 */
bool source_objtool_lists_entries(const struct source *source);
/* source_had_entry - can calls of the original's function be rerouted? */
bool source_had_entry(const struct source *source, const struct symbol *function);

const char *thing_name(const struct thing *thing);
/* thing_nop - the NOP that begins at or spans an offset of the section, or NULL. */
const struct nop *thing_nop(const struct thing *thing, uint64_t offset);
/*
 * thing_prepare - decode its code: branches, short jumps, NOPs, and where relocations count from.
 */
void thing_prepare(struct thing *thing);
/* thing_instructions - for each byte, where its instruction ends; 0: no instruction.  Owned. */
uint64_t *thing_instructions(const struct thing *thing);

/* bare_name - a name without the numbers that a compiler adds ("count.12", "foo.isra.0"); owned. */
char *bare_name(const char *name);
/* section_first_reloc - index of the first relocation at or behind an offset. */
size_t section_first_reloc(const struct section *section, uint64_t offset);
/* table_entry_size - bytes, from the spacing of the section's relocations; 0: no size fits. */
uint8_t table_entry_size(const struct proof_table *table, const struct section *section);

static inline bool section_is_loaded(const struct section *section)
{
	return section && (section->flags & SHF_ALLOC);
}

/* section_is_content - does the linker merge its strings or constants (gABI, SHF_MERGE)? */
static inline bool section_is_content(const struct section *section)
{
	return (section->flags & SHF_MERGE) && section->entsize;
}

#endif /* POKEPATCH_PROOF_SOURCE_H */
