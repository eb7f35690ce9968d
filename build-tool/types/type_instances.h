/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a unit has objects of a structure or union. */
#ifndef POKEPATCH_TYPE_INSTANCES_H
#define POKEPATCH_TYPE_INSTANCES_H

#include <elfutils/libdw.h>

#include "common/util.h"

struct type_instances {
	/*
	 * There are, or may be, others than automatic variables: a variable with a lifetime of its
	 * own, a member of a type, or a pointer that may lead to an allocated object.  A pointer
	 * that is a parameter does not count: it leads to what a caller has.
	 */
	bool elsewhere;
	/* Names of functions with code; each may repeat. */
	VEC(const char *) functions; /* with such automatic variables, or inlined copies */
	VEC(const char *) takers;    /* that get a pointer from their callers */
	VEC(const char *) inlined;   /* with an inlined copy of one that gets a pointer */
};

/* type_instances_find - of the structure or union with a tag; the names belong to dwarf. */
void type_instances_find(Dwarf *dwarf, const char *tag, struct type_instances *ret);
void type_instances_deinit(struct type_instances *instances);

#endif /* POKEPATCH_TYPE_INSTANCES_H */
