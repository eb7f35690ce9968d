/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the mutation test share. */
#ifndef POKEPATCH_MUTATE_H
#define POKEPATCH_MUTATE_H

#include "object/object.h"
#include "common/util.h"

/* ---- mutate.c ------------------------------------------------------------------------------ */

struct mutation {
	const struct object *before;
	struct object *object;	 /* the same, to be changed */
	struct section *section; /* of object: what the change is counted for */
	char *what;		 /* owned */
	const char *same;	 /* why all that matters is as before, or NULL */
	uint32_t type;		 /* of the relocation that is changed; 0: none is */
};

/* random_below - the same numbers for the same seed, on every machine. */
uint64_t random_below(uint64_t limit);
void tell(struct mutation *mutation, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- meaning.c: when is a change none? ---------------------------------------------------------- */

/* A section whose entries the kernel sorts, or reads in any order. */
struct table {
	const char *name;
	uint16_t machine; /* whose entries are of that form; 0: all, or those that no other row has */
	uint8_t size;
	uint8_t used;	/* bytes of an entry that mean something */
	bool ordered;	/* of entries for one place of code, the later wins */
	uint8_t piece;	/* where the address of a replacement stands, or 0 ... */
	uint8_t length; /* ... and where its length stands */
};
const struct table *find_table(const struct object *object, const struct section *section);

/* is_loaded - and does anybody read it there? */
bool is_loaded(const struct section *section);
const struct reloc *reloc_over(const struct object *object, const struct section *section,
			       uint64_t at);
bool same_place(const struct symbol *a, const struct symbol *b);
bool is_used(const struct object *object, const struct symbol *symbol);

/* bit_argument - why a bit of a section's data could as well be the other; NULL: it could not. */
const char *bit_argument(const struct object *object, const struct section *section, uint64_t at,
			 uint8_t bit);
/* plt_argument - why flags and size of a section do not matter; NULL: they do. */
const char *plt_argument(const struct section *section);
/* entries_argument - why a table that was changed holds the same as before; NULL: it does not. */
const char *entries_argument(const struct mutation *mutation);

/* ---- relocs.c, contents.c, image.c: ways to change a module --------------------------------------- */

struct way {
	const char *name;
	bool (*apply)(struct mutation *mutation); /* false: it does not apply there */
	uint8_t weight; /* how many times as many changes of a section; 0: 1 */
};
extern const struct way reloc_ways[], content_ways[], image_ways[]; /* end with a NULL name */

#endif /* POKEPATCH_MUTATE_H */
