/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is known of the module while it is proved (proof.c), and of everything else it is proved
 * with.  Every file of the proof adds to these.
 */
#ifndef POKEPATCH_PROOF_CHECK_H
#define POKEPATCH_PROOF_CHECK_H

#include "object/object.h"
#include "object/symvers.h"
#include "proof/proof.h"
#include "proof/proof_rules.h"
#include "proof/proof_source.h"
#include "proof/proof_symtab.h"

/* Bytes of a section that belong to something. */
struct extent {
	uint64_t start, end, align;
	enum extent_kind {
		PLACED, /* to one thing */
		SHARED, /* a string or constant, which others may share or have a part of */
		WHOLE,	/* to several things, but each of them has all of it */
	} kind;
	const char *name;
};

/* A relocation that pokepatch's core makes: a row of the image. */
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

/* A special section of the module. */
struct module_table {
	const struct proof_table *rule;
	const struct section *section;
	uint64_t size; /* of an entry */
	VEC(struct module_entry) entries; /* by code and start */
};

/* A jump that pokepatch added. */
struct our_jump {
	const struct section *section;
	uint64_t place;
	int64_t from; /* place of the only jump that leads to it; -1: calls lead to it */
};

/* The proof of one module. */
struct check {
	struct proof *proof;
	struct object object;
	VEC(struct extent) *extents; /* for each section's index */
	VEC(struct row) rows;	   /* by section and place */
	VEC(struct row_symbol) symbols;
	VEC(struct symtab *) parents; /* of the image's table */
	VEC(struct module_table) tables;
	VEC(struct thing *) todo; /* placed, and not compared yet */
	struct map by_name; /* struct symbol *, global, defined in the module */
	VEC(struct our_jump) veneers;
	struct states *unwind; /* unwind_check() reads them; NULL: none */
};

/* What does not depend on the module. */
struct proof {
	const struct proof_input *input;
	VEC(struct source *) sources; /* units, then the glue, then modpost's part */
	VEC(struct symtab *) parents; /* vmlinux first */
	struct map parents_by_name;
	struct symvers symvers, core_symvers;
	struct map globals; /* struct source *, by name of a global symbol and by "PARENT:NAME" */
	VEC(char *) keys;
	const struct arch *arch;
	const struct proof_rules *rules;
};

/* wrong - the error that the module is not what it should be. */
struct error *wrong(const struct check *check, const char *format, ...)
	__attribute__((format(printf, 2, 3), warn_unused_result));

/* extent_add - these bytes belong to name.  Errors: they leave the section, or are not aligned. */
struct error *extent_add(struct check *check, const struct section *section, uint64_t start,
			 uint64_t length, uint64_t align, enum extent_kind kind, const char *name);

/* check_constant - error: the section is not loaded, or is writable or executable. */
struct error *check_constant(const struct check *check, const struct section *section);

/* proof_parent - the symbol table of a parent, or NULL. */
struct symtab *proof_parent(const struct proof *proof, const char *name);
/*
 * proof_definer - the source that defines a global symbol which another one refers to; or NULL.
 * Units of several parents may define one of that name: a module's own comes first.
 */
struct source *proof_definer(const struct proof *proof, const struct source *from,
			     const char *name);
/* proof_provides - does the loader find that symbol in vmlinux or in the core? */
bool proof_provides(const struct proof *proof, const char *name);

#endif /* POKEPATCH_PROOF_CHECK_H */
