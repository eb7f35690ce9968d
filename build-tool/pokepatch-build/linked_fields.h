/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fields that relocations wrote when vmlinux was linked, or that a module's relocations will write:
 * do they lead where the exact object's relocations say?  verify.c compares the other bytes.
 */
#ifndef POKEPATCH_LINKED_FIELDS_H
#define POKEPATCH_LINKED_FIELDS_H

#include "common/util.h"
#include "object/object.h"
#include "object/parent.h"

/* The named functions and objects of an exact object, by section and place. */
struct exact_names {
	const struct object *object;
	const char *prefix; /* that vmlinux's build puts in front of each; or NULL */
	VEC(const struct symbol *) by_place;
};

/* exact_names_init - of an object that lives longer; the caller deinits it. */
void exact_names_init(const struct object *object, struct exact_names *ret);
void exact_names_deinit(struct exact_names *names);

struct linked_fields {
	size_t checked, unknown; /* relocations whose target the parent tells, and others */
	uint64_t at;	      /* of the first that leads elsewhere, in bytes from the function */
	const char *target;   /* what it should lead to; NULL: none leads elsewhere */
};

/*
 * linked_fields_check - compare the fields of a function.
 * @symbol: the function, of names' object
 * @old: the parent's function, which has the same size; bytes: its contents there
 *
 * A target is unknown where the parent has no symbol of that name, or of any name near it in its
 * section, and where a linker may have written another instruction.
 */
void linked_fields_check(const struct exact_names *names, const struct symbol *symbol,
			 const struct parent *parent, const struct parent_symbol *old,
			 const unsigned char *bytes, struct linked_fields *ret);

#endif /* POKEPATCH_LINKED_FIELDS_H */
