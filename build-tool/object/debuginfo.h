/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers from an object's DWARF, in which everything is optional. */
#ifndef POKEPATCH_DEBUGINFO_H
#define POKEPATCH_DEBUGINFO_H

#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

struct debuginfo;
struct object;

/*
 * debuginfo_of - the debug information of an object that was read from a file; the first call opens
 * the file again.  Never NULL: without DWARF all answers are NULL or empty.  All answers live as
 * long as the object.
 */
struct debuginfo *debuginfo_of(struct object *object);
void debuginfo_close(struct debuginfo *debuginfo); /* NULL is allowed */

/* debuginfo_dwarf - the relocated DWARF, for questions that are not below; NULL: there is none. */
Dwarf *debuginfo_dwarf(struct debuginfo *debuginfo);

/* debuginfo_address - what that DWARF calls an offset in a section (by number). */
uint64_t debuginfo_address(const struct debuginfo *debuginfo, size_t section, uint64_t offset);

/* debuginfo_line - "fs/foo.c:120" for an offset in a section (by number); owned by the caller. */
char *debuginfo_line(struct debuginfo *debuginfo, size_t section, uint64_t offset);
/* debuginfo_declaration - "fs/foo.c:120" where a function or variable is declared, or NULL. */
const char *debuginfo_declaration(struct debuginfo *debuginfo, const char *name);

/* debuginfo_die_location - the same for any entry that has a place in the source; the caller's. */
char *debuginfo_die_location(Dwarf_Die *die);

/* Names of the functions that hold an inlined copy of another, in order of the object; borrowed. */
struct debuginfo_names {
	const char **list;
	size_t count, room;
};
/* debuginfo_inlined_into - NULL: no function holds a copy of name. */
const struct debuginfo_names *debuginfo_inlined_into(struct debuginfo *debuginfo,
						     const char *name);

/*
 * debuginfo_lines - the line numbers of the instruction at an offset in a section: its own, then
 * the lines of the calls by whose inlining it is there, innermost first.  Returns how many numbers
 * it has stored in ret, at most room.
 */
size_t debuginfo_lines(struct debuginfo *debuginfo, size_t section, uint64_t offset, int *ret,
		       size_t room);

/*
 * debuginfo_function - the source's name of the function whose code is at an offset of a section;
 * NULL: not known.  A symbol there may be an alias: a module's init_module().
 */
const char *debuginfo_function(struct debuginfo *debuginfo, size_t section, uint64_t offset);

/*
 * debuginfo_inlined_at - the function whose inlining put the instruction at an offset of a section
 * there, the innermost of several; NULL: none did.
 */
const char *debuginfo_inlined_at(struct debuginfo *debuginfo, size_t section, uint64_t offset);

/*
 * debuginfo_inlined_names - add the functions that have copies inlined into the one whose code is
 * at an offset of a section, once each; borrowed.  The caller frees ret->list.
 */
void debuginfo_inlined_names(struct debuginfo *debuginfo, size_t section, uint64_t offset,
			     struct debuginfo_names *ret);

/*
 * debuginfo_result_size - bytes of the result of the function whose code is at an offset of a
 * section; 0: it returns nothing, -1: not known.
 */
int64_t debuginfo_result_size(struct debuginfo *debuginfo, size_t section, uint64_t offset);

/* A static variable that is declared in a function. */
struct debuginfo_static {
	uint64_t place;	   /* private to debuginfo.c */
	const char *owner; /* the function's name in the source; NULL where clang lost it */
	char *type;	   /* as text; equal for equal types */
	size_t order;	   /* of declaration within the unit */
};
/* debuginfo_static - the static variable at an offset of a section, or NULL. */
const struct debuginfo_static *debuginfo_static(struct debuginfo *debuginfo, size_t section,
						uint64_t offset);

#endif /* POKEPATCH_DEBUGINFO_H */
