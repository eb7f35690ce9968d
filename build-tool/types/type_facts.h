/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The attributes of an entry of the debug information (a DIE) that say something about a type. */
#ifndef POKEPATCH_TYPE_FACTS_H
#define POKEPATCH_TYPE_FACTS_H

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "common/util.h"

struct type_facts {
	int tag;
	const char *name; /* NULL: it has none */
	bool declaration; /* what it declares is defined elsewhere, or in another entry */
	bool external;
	bool has_type;
	Dwarf_Die type;      /* has_type */
	bool sized;          /* it has a size in bytes, or in bits */
	uint64_t byte_size;  /* 0: not known */
	uint64_t bit_size;   /* of a bit-field; 0: it is none */
	uint64_t bit_offset; /* of a member, from the start of its struct or union */
	uint64_t encoding;   /* DW_ATE_ of a base type */
	uint64_t count;      /* elements of an array's dimension; 0: not known, or none */
	int64_t value;       /* of an enumerator */
};

/* type_facts_read - read them, in one pass. */
void type_facts_read(Dwarf_Die *die, struct type_facts *ret);

/* type_follow - the type of an entry; false: it has none, as "void". */
bool type_follow(Dwarf_Die *die, Dwarf_Die *ret);

/*
 * type_peel - leave out typedef, const, volatile and the like.  False: the rest is "void".
 * @ret_typedef: the name of the last typedef, or NULL
 */
bool type_peel(const Dwarf_Die *die, Dwarf_Die *ret, const char **ret_typedef);

/* type_bits - size of a type in bits; 0: of a flexible array, a function, or not known. */
uint64_t type_bits(const Dwarf_Die *die);

/* How many elements an array has, from the outermost dimension to the innermost. */
struct type_dimensions {
	VEC(uint64_t) list; /* of each; 0: flexible, or not known */
	Dwarf_Die element;
};
/*
 * type_dimensions_read - of an array, or of an array of arrays behind typedefs; of any other type
 * none.  False: what it is made of is not known.
 */
bool type_dimensions_read(const Dwarf_Die *die, struct type_dimensions *ret);
void type_dimensions_deinit(struct type_dimensions *dimensions);

/*
 * type_is_static - whether a variable has an address in the object file, and is there as long as
 * the module is.
 */
bool type_is_static(Dwarf_Die *variable);

/* type_text - a type as C writes it: "struct foo *", "char [16]", "int (*)(void *)". */
char *type_text(const Dwarf_Die *die) __attribute__((returns_nonnull));
/* type_text_of - the same for the type of a member, parameter or variable; or "void". */
char *type_text_of(const struct type_facts *facts) __attribute__((returns_nonnull));

/* type_is_aggregate - a structure or union, by its tag. */
static inline bool type_is_aggregate(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

#endif /* POKEPATCH_TYPE_FACTS_H */
