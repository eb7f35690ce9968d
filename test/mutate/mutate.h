/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the mutation test share: a change of a module, and the ways to change one. */
#ifndef POKEPATCH_MUTATE_H
#define POKEPATCH_MUTATE_H

#include "object/object.h"
#include "common/util.h"

/* ---- mutate.c ----------------------------------------------------------------------- */

struct mutation {
	const struct object *before;
	struct object *object;	 /* a copy, to be changed */
	struct section *section; /* of object: the change counts for this section */
	char *what;		 /* owned */
	const char *same;	 /* why the change does not matter, or NULL */
	const char *vmlinux;	 /* path of the kernel's */
	uint32_t type;		 /* of the changed relocation; 0: another change */
};

/* random_below - the same numbers for the same seed, on every machine. */
uint64_t random_below(uint64_t limit);
void tell(struct mutation *mutation, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- meaning.c: changes that do not matter ------------------------------------------ */

/* A section whose entries the kernel sorts, or reads in any order. */
struct table {
	const char *name;
	uint16_t machine; /* EM_ of the machine with such entries; 0: every machine without a row */
	uint8_t size;
	uint8_t used;	/* bytes of an entry that are read */
	bool ordered;	/* of two entries for one place of code, the later wins */
	uint8_t piece;	/* offset of a replacement's address, or 0 */
	uint8_t length; /* offset of the byte with the replacement's length */
};
const struct table *find_table(const struct object *object, const struct section *section);

/* is_loaded - is the section loaded, and does the kernel read it? */
bool is_loaded(const struct section *section);
const struct reloc *reloc_over(const struct object *object, const struct section *section,
			       uint64_t at);
bool same_place(const struct symbol *a, const struct symbol *b);
bool is_used(const struct object *object, const struct symbol *symbol);
/* same_contents - do two places of vmlinux, as distances from _stext, hold the same bytes? */
bool same_contents(const char *vmlinux, uint64_t a, uint64_t b, uint64_t size);

/* bit_argument - why a flipped bit of the section's data does not matter; NULL: it does. */
const char *bit_argument(const struct object *object, const struct section *section, uint64_t at,
			 uint8_t bit);
/* plt_argument - why the section's flags and size do not matter; NULL: they do. */
const char *plt_argument(const struct section *section);
/* entries_argument - why a changed table says the same as before; NULL: it does not. */
const char *entries_argument(const struct mutation *mutation);

/* ---- relocs.c, contents.c, image.c: ways to change a module ------------------------- */

struct way {
	const char *name;
	bool (*apply)(struct mutation *mutation); /* false: it does not apply to the section */
	uint8_t weight; /* factor for the number of changes of a section; 0 means 1 */
};
extern const struct way reloc_ways[], content_ways[], image_ways[]; /* end with a NULL name */

#endif /* POKEPATCH_MUTATE_H */
