/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which types differ between two builds of a unit, and how, by their DWARF.  The library keeps no
 * state between calls.  The differ decides what is refused (diff/judge_types.c).
 */
#ifndef POKEPATCH_TYPES_H
#define POKEPATCH_TYPES_H

#include <elfutils/libdw.h>

#include "common/util.h"

enum type_kind { TYPE_STRUCT, TYPE_UNION, TYPE_ENUM, TYPE_VARIABLE, TYPE_FUNCTION };

enum member_change {
	MEMBER_MOVED,   /* to another offset, or to other bits of its word */
	MEMBER_RETYPED, /* its bytes have another meaning, or another word for the same one */
	MEMBER_RESIZED,
	MEMBER_NEW, /* in bytes that were a hole, padding or behind the end */
	MEMBER_REMOVED,
	MEMBER_SHARED,     /* new, in bytes that an old member had */
	MEMBER_RENUMBERED, /* an enumerator that has another value */
	MEMBER_RENAMED,
};

/* A member of a struct or union, an enumerator, or a parameter ("return", "#1") of a function. */
struct type_member {
	char *name;     /* "flags", "lock.owner" within a member without a named type */
	char *old_name; /* MEMBER_RENAMED; else NULL */
	enum member_change change;
	bool harmless;                   /* what one build writes, the other reads as the same */
	bool bit_field;                  /* in either build */
	bool was, is;                    /* in the original, in the patched unit */
	uint64_t old_offset, new_offset; /* in bits */
	uint64_t old_size, new_size;     /* in bits */
	int64_t old_value, new_value;    /* of an enumerator */
	char *old_type, *new_type;       /* as C writes it; NULL for enumerators */
};

/* member_is_enumerator - of an enumeration, or of a variable whose type is one without a name. */
static inline bool member_is_enumerator(const struct type_member *member)
{
	return !member->old_type && !member->new_type;
}

enum type_verdict {
	TYPE_HARMLESS, /* either build reads correctly what the other has written */
	TYPE_FOLLOWS,  /* changed only because it contains a type that changed */
	TYPE_ON_STACK, /* by the differ: misread, but no object of it lives at a switch */
	TYPE_MISREAD,  /* one build misreads what the other has written */
};

struct type_change {
	enum type_kind kind;
	enum type_verdict verdict;
	char *name;     /* of an enum without one: its first enumerator that both builds have */
	char *location; /* "include/linux/fs.h:620" in the patched unit; NULL: not known */
	char *cause;    /* TYPE_FOLLOWS: the type that it contains */
	bool defined;   /* TYPE_FUNCTION: here, in both builds; else it is only declared */
	bool global;    /* TYPE_FUNCTION: other units may call it by its name */
	uint64_t old_size, new_size;     /* in bytes; 0 for functions */
	VEC(struct type_member) members; /* those that changed, in the order of the source */
};

struct type_changes {
	VEC(struct type_change) list; /* by name, then by kind */
};

/*
 * types_compare - find the structures, unions, enumerations, variables and prototypes of functions
 * that both builds have and that differ.  A type that only one build has is new or unused, so
 * nothing of the other is misread.  Takes time proportional to the debug information, whatever
 * types refer to each other.
 */
void types_compare(Dwarf *orig, Dwarf *patched, struct type_changes *ret);
void type_changes_deinit(struct type_changes *changes);

/* type_kind_name, member_change_name - words for messages and the report; constant. */
const char *type_kind_name(enum type_kind kind);
const char *member_change_name(enum member_change change);

#endif /* POKEPATCH_TYPES_H */
