/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes that the core compares live code with: the original code without the bytes that the
 * linker, the loader or the running kernel may change ("runs" in pokepatch_format.h).
 */
#ifndef POKEPATCH_TEXTS_H
#define POKEPATCH_TEXTS_H

#include "object/object.h"
#include "object/parent.h"

/* A place in an object's code that the running kernel rewrites. */
struct rewritten_place {
	const struct section *section;
	uint64_t start, length; /* bytes from the start of the section */
	const struct late_table *table; /* NULL: a site of the loader */
};

/* All such places of an object, sorted by section and start. */
struct rewritten {
	VEC(struct rewritten_place) places;
};
/* rewritten_init - collect them from the tables in the object, which must outlive *ret. */
void rewritten_init(const struct object *object, struct rewritten *ret);
void rewritten_deinit(struct rewritten *rewritten);

/* A piece of code as kbuild compiled it, and as the parent has it.  All pointers are borrowed. */
struct text_source {
	const struct object *object; /* kbuild's */
	const struct rewritten *rewritten; /* of the object */
	const struct symbol *symbol; /* in the object */
	const struct parent *parent;
	const struct parent_symbol *old; /* the same code in the parent, of the same size */
	const unsigned char *bytes;	 /* its bytes in the parent's file */
};

/* text_source_add_runs - append the code as runs. */
void text_source_add_runs(const struct text_source *source, struct buffer *ret);

#endif /* POKEPATCH_TEXTS_H */
