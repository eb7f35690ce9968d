/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the core compares live code with: the original's bytes, without those that the
 * linker, the loader or the running kernel may change (pokepatch_format.h, "runs").
 */
#ifndef POKEPATCH_TEXTS_H
#define POKEPATCH_TEXTS_H

#include "object/object.h"
#include "object/parent.h"

/* Places in an object's code that are rewritten, by section and start. */
struct rewritten_place {
	const struct section *section;
	uint64_t start, length;
};

struct rewritten {
	VEC(struct rewritten_place) places;
};
void rewritten_init(const struct object *object, struct rewritten *ret);
void rewritten_deinit(struct rewritten *rewritten);

/* A piece of code as kbuild compiled it, and as the parent has it. */
struct text_source {
	const struct object *object;
	const struct rewritten *rewritten;
	const struct symbol *symbol;
	const struct parent *parent;
	const struct parent_symbol *old; /* of the same size */
	const unsigned char *bytes;	 /* in the parent */
};

/* text_runs - append its runs. */
void text_runs(const struct text_source *source, struct buffer *ret);

#endif /* POKEPATCH_TEXTS_H */
