/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the final check share. */
#ifndef POKEPATCH_PROOF_INTERNAL_H
#define POKEPATCH_PROOF_INTERNAL_H

#include "object/object.h"
#include "object/symvers.h"
#include "pokepatch_format.h"
#include "pokepatch_mark.h"
#include "proof/proof.h"
#include "proof/proof_rules.h"

/* ---- symtab.c: the parents' own symbol tables --------------------------------------- */

struct known_symbol {
	const char *name;
	uint64_t value, size;
	const char *section; /* "" for an absolute one */
	size_t section_number;
	bool global, function, percpu, absolute;
	uint32_t block; /* number of the FILE symbol before it */
	uint32_t order;
	struct known_symbol *next; /* of the same name, as kallsyms counts */
};

struct symtab {
	const char *name;
	bool vmlinux;
	char *path;
	int fd;
	void *elf;
	void *data; /* Elf_Data of the symbol table */
	size_t strings, count;
	const char **sections;
	size_t section_count;
	unsigned char build_id[POKEPATCH_BUILD_ID_MAX];
	uint32_t build_id_length;
	uint64_t text; /* vmlinux: address of _stext */
	struct map by_name;
	VEC(struct known_symbol *) symbols;
	VEC(char *) names;
};

struct error *symtab_open(const char *name, const char *path, struct symtab **ret);
void symtab_close(struct symtab *symtab);
/* symtab_load - find the symbols of these names, in one pass for all that are not known yet. */
void symtab_load(struct symtab *symtab, const char *const *names, size_t count);
/* symtab_get - the first of a name that was loaded, or NULL. */
const struct known_symbol *symtab_get(const struct symtab *symtab, const char *name);
/* symtab_bytes - of a symbol, all of it, where the file has them; borrowed, or NULL. */
const unsigned char *symtab_bytes(const struct symtab *symtab, const struct known_symbol *symbol);
uint32_t symtab_position(const struct symtab *symtab, const struct known_symbol *symbol);

/*
 * symtab_blocks - the FILE symbols of that base name that the most of these local
 * symbols (name and size) follow, as a list of numbers.
 */
struct local_symbol {
	uint64_t size;
};
struct blocks {
	VEC(uint32_t) list;
};
void symtab_blocks(const struct symtab *symtab, const char *base, const struct map *locals,
		   struct blocks *ret);

/* ---- source.c: what the compiler wrote, in pieces ------------------------------------- */

struct source;

/* An entry of a special section, with the code that it belongs to. */
struct table_entry {
	const struct proof_table *table;
	const struct section *section;
	uint64_t start, code; /* in that section; in the code's */
};

/* A jump that objtool makes a NOP. */
struct nop {
	uint64_t start, length; /* in the section; bytes */
};

/* A jump to a neighbour in the section, with one byte for the distance. */
struct short_jump {
	uint64_t field, target; /* in the section */
};

/* A function, a cold part, a variable, a replacement: carried as a whole or not at all. */
struct thing {
	struct source *source;
	const struct section *section;
	uint64_t start, end;
	const struct symbol *symbol; /* NULL: bytes without a name */
	struct thing *function;	     /* of a cold part: its function; of a replacement: its user */
	struct thing *cold;	     /* of a function: its cold part */
	VEC(struct table_entry) entries; /* by table, code and start */
	VEC(struct reloc) branches;	 /* to neighbours, which have no relocation */
	VEC(struct short_jump) short_jumps; /* by field */
	VEC(struct nop) nops;		 /* by start */
	bool prepared;			 /* branches, NOPs and instruction ends are there */
	enum { CLAIM_NONE, CLAIM_NEW, CLAIM_CHANGED } claim;
	/* What this check found. */
	bool replaced; /* by way of the table of functions */
	bool carried;  /* likewise, but the original has no entry: its callers are replaced */
	const struct section *at; /* in the module; NULL: not there */
	uint64_t place;
};

struct code_place {
	const struct section *section;
	uint64_t place;
};

/* Code that somebody rewrites when the kernel runs. */
struct live_place {
	const struct section *section;
	uint64_t start, length;
};

struct source {
	const struct proof_unit *unit; /* NULL: the glue, or modpost's .mod.o */
	const char *name;
	const struct proof_rules *rules;
	bool whole; /* all of it is in the module, sections as they are */
	struct object object, orig, unwound, exact;
	bool have_orig, have_unwound, have_exact;
	bool other_veneers; /* its calls need the other kind (proof_rules.h) */
	struct symtab *parent;
	const struct section *inert; /* in the module: its static key that stays off, and ... */
	uint64_t inert_at;	     /* ... where; NULL: none found yet */
	struct blocks blocks;	   /* where its local symbols are in the parent */
	struct map by_name;	   /* struct symbol *, defined in object */
	struct map orig_by_name;   /* struct symbol *, defined in orig */
	VEC(struct thing *) things; /* all */
	VEC(struct thing *) *by_section; /* by start; of each section's index */
	struct map functions;	   /* struct thing *, by name */
	/* Places in orig that its table of the tracer's calls names, where there is one. */
	VEC(struct code_place) orig_entries;
	struct map exact_by_name;  /* struct symbol *, functions defined in exact */
	VEC(struct live_place) live; /* in exact, by section and start */
};

struct error *source_open(struct source *source, const struct proof_unit *unit, const char *name,
			  const char *path, const char *unwound);
void source_close(struct source *source);
/* source_at - the thing at an offset of a section, or the one that ends there; or NULL. */
struct thing *source_at(struct source *source, const struct section *section, int64_t offset);
const char *thing_name(const struct thing *thing);
/* bare_name - without the numbers that a compiler adds ("count.12", "foo.isra.0"); owned. */
char *bare_name(const char *name);
/* section_first_reloc - index of the first relocation at or behind offset. */
size_t section_first_reloc(const struct section *section, uint64_t offset);
/* table_entry_size - bytes, by the spacing of the section's relocations; 0: none fits. */
uint8_t table_entry_size(const struct proof_table *table, const struct section *section);
/* thing_nop - the NOP that begins at or spans an offset of the section, or NULL. */
const struct nop *thing_nop(const struct thing *thing, uint64_t offset);
/* source_had_entry - can calls of the original's function be rerouted? */
bool source_had_entry(const struct source *source, const struct symbol *function);
/* thing_prepare - relocations' behind fields and branches, by decoding. */
void thing_prepare(struct thing *thing);
uint64_t *thing_instructions(const struct thing *thing);

static inline bool section_is_loaded(const struct section *section)
{
	return section && (section->flags & SHF_ALLOC);
}

static inline bool section_is_content(const struct section *section)
{
	return (section->flags & SHF_MERGE) && section->entsize;
}

/* ---- the module ------------------------------------------------------------------------ */

enum claim_kind {
	PLACED,	 /* belongs to one thing */
	SHARED,	 /* a string or constant: others may have it too, or a part of it */
	WHOLE,	 /* what several use, but always all of it */
};

struct claim {
	uint64_t start, end, align;
	enum claim_kind kind;
	const char *name;
};

/* A relocation that pokepatch's core makes. */
struct row {
	const struct section *section;
	uint64_t place;
	int64_t addend;
	uint32_t symbol, type;
	bool used;
};

/* A symbol of the image's table, found in its parent. */
struct row_symbol {
	const char *name;
	struct symtab *parent;
	const struct known_symbol *known;
	bool used;
};

struct module_entry {
	const struct section *section; /* of the code */
	uint64_t code, start;
	bool used;
};

struct module_table {
	const struct proof_table *rule;
	const struct section *section;
	uint64_t size; /* of an entry */
	VEC(struct module_entry) entries; /* by code and start */
};

/* A jump of pokepatch's own. */
struct our_jump {
	const struct section *section;
	uint64_t place;
	int64_t from; /* whose only way to it is a jump from there; or -1: calls lead to it */
};

struct check {
	struct proof *proof;
	struct object object;
	VEC(struct claim) *claims; /* of each section's index */
	VEC(struct row) rows;	   /* by section and place */
	VEC(struct row_symbol) symbols;
	VEC(struct symtab *) parents; /* of the image's table */
	VEC(struct module_table) tables;
	VEC(struct thing *) todo;
	struct map by_name; /* struct symbol *, defined in the module; FUNC and OBJECT */
	VEC(struct our_jump) veneers;
	struct states *unwind; /* once unwind_check() has read them; or NULL */
};

struct proof {
	const struct proof_input *input;
	VEC(struct source *) sources; /* units, then glue, then mod */
	VEC(struct symtab *) parents;
	struct map parents_by_name;
	struct symvers symvers, core_symvers;
	struct map globals; /* struct thing's source *, by name of a global symbol */
	const struct arch *arch;
	const struct proof_rules *rules;
};

struct error *wrong(const struct check *check, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

struct error *claim(struct check *check, const struct section *section, uint64_t start,
		    uint64_t length, uint64_t align, enum claim_kind kind, const char *name);

/* check_constant - its section is loaded, and neither written nor run. */
struct error *check_constant(const struct check *check, const struct section *section);

/* proof_parent - the symbol table of a parent, or NULL. */
struct symtab *proof_parent(const struct proof *proof, const char *name);
/* proof_provides - does the loader find that symbol in vmlinux or in the core? */
bool proof_provides(const struct proof *proof, const char *name);

/* ---- image.c ------------------------------------------------------------------------------ */

/* Read and check pokepatch's own tables; then rows and symbols are filled in. */
struct error *image_check(struct check *check);
/* Everything in them was used. */
struct error *image_check_used(struct check *check);

/* ---- texts.c ------------------------------------------------------------------------------ */

/* Of the unit's exact object: where its code is rewritten. */
void texts_read(struct source *source);
/*
 * text_check - is the text at runs, of room bytes, that of the old symbol?  ret: how many bytes
 * it takes.
 */
struct error *text_check(const struct check *check, const struct source *source,
			 const struct row_symbol *old, const unsigned char *runs, uint64_t room,
			 uint64_t *ret);

/* ---- match.c ------------------------------------------------------------------------------ */

/* A field of the module that is relocated, by the loader or by the core. */
struct fixup {
	uint64_t place;
	uint32_t type;
	int64_t addend;
	const struct symbol *symbol; /* the loader's, or ... */
	struct row *row;	     /* ... the core's */
};
struct cursor {
	struct check *check;
	const struct section *section;
	size_t reloc, row;
};
struct cursor cursor_at(struct check *check, const struct section *section, uint64_t start);
/* cursor_next - the next field before end; false if there is none. */
bool cursor_next(struct cursor *cursor, uint64_t end, struct fixup *ret);
/* cursor_at_row - does the core relocate what is at @place, after what came there last? */
bool cursor_at_row(const struct cursor *cursor, uint64_t place);

/* place_thing - it must be exactly there; looked at later, by match_todo(). */
struct error *place_thing(struct check *check, struct thing *thing, const struct section *section,
			  int64_t place);
struct error *match_todo(struct check *check);
struct error *match_target(struct check *check, struct thing *from, const struct proof_table *table,
			   const struct reloc *reloc, bool in_code, const struct fixup *fixup);

/* ---- tables.c ------------------------------------------------------------------------------ */

struct error *tables_read(struct check *check);
/* tables_check_header - flags and alignment as the compiler, or objtool, made the section. */
struct error *tables_check_header(const struct check *check, const struct section *section);
/* All entries that the thing has in the special sections, once each. */
struct error *tables_match(struct check *check, struct thing *thing);
struct error *tables_check_used(struct check *check);

/* ---- sites.c --------------------------------------------------------------------------------- */

/* Nothing that the loader rewrites or copies is relocated by the core. */
struct error *sites_check(struct check *check);
/*
 * veneer_follow - does a call or jump in from lead to a jump of pokepatch's own, out of the
 * module?  Then ret is the field of that jump, as if it were the call's.
 */
struct error *veneer_follow(struct check *check, const struct thing *from,
			    const struct reloc *reloc, const struct fixup *fixup, bool *is_veneer,
			    struct fixup *ret);

/*
 * Where a thing jumps to a neighbour with one byte, its code is followed by jumps of
 * pokepatch's own that the byte leads to.
 */
bool is_short_field(const struct thing *thing, uint64_t offset);
/* thing_tail - how many bytes long they are, by what the module has at that place. */
uint64_t thing_tail(const struct check *check, const struct thing *thing,
		    const struct section *section, uint64_t place);
/* match_tail - each leads where the thing's short jump does. */
struct error *match_tail(struct check *check, struct thing *thing);

/* ---- unwind.c -------------------------------------------------------------------------------- */

struct error *unwind_check(struct check *check);
/* unwind_check_gap - between pieces of code, the tables say that there is none. */
struct error *unwind_check_gap(const struct check *check, const struct section *section,
			       uint64_t start, uint64_t end);
void unwind_deinit(struct check *check);

#endif /* POKEPATCH_PROOF_INTERNAL_H */
