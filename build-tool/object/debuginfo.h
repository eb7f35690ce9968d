/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an object's DWARF tells; everything is optional in it. */
#ifndef POKEPATCH_DEBUGINFO_H
#define POKEPATCH_DEBUGINFO_H

#include <stddef.h>
#include <stdint.h>

struct debuginfo;
struct object;

/*
 * debuginfo_of - of an object that was read from a file, which is read again for
 * it when it is first asked for; never NULL.  Without DWARF all answers are
 * NULL or empty.  Everything that it gives lives as long as the object.
 */
struct debuginfo *debuginfo_of(struct object *object);
void debuginfo_close(struct debuginfo *debuginfo); /* NULL is allowed */

/* debuginfo_dwarf - all of it, relocated, for a question of its own; NULL if there is none. */
struct Dwarf *debuginfo_dwarf(struct debuginfo *debuginfo);

/* debuginfo_line - "fs/foo.c:120" for an offset in a section (by number); owned by the caller. */
char *debuginfo_line(struct debuginfo *debuginfo, size_t section, uint64_t offset);
/* debuginfo_declaration - where a function or variable of that symbol name is declared. */
const char *debuginfo_declaration(struct debuginfo *debuginfo, const char *name);

/* The functions that hold an inlined copy of another; names borrowed, in order of the object. */
struct debuginfo_names {
	const char **list;
	size_t count, room;
};
/* debuginfo_inlined_into - NULL where there are none. */
const struct debuginfo_names *debuginfo_inlined_into(struct debuginfo *debuginfo,
						     const char *name);

/*
 * debuginfo_lines - the line numbers of the instruction at an offset in a
 * section: its own, then those of the calls that brought it there by inlining,
 * innermost first.  Gives how many were stored in ret, at most room.
 */
size_t debuginfo_lines(struct debuginfo *debuginfo, size_t section, uint64_t offset, int *ret,
		       size_t room);

/*
 * debuginfo_result_size - of what the function returns whose code is at an offset of a section, in
 * bytes; 0 if that is nothing, -1 if it is not known.
 */
int64_t debuginfo_result_size(struct debuginfo *debuginfo, size_t section, uint64_t offset);

/* A static variable that is declared in a function. */
struct debuginfo_static {
	uint64_t place;	   /* private to debuginfo.c */
	const char *owner; /* the function's name in the source; NULL where clang lost it */
	char *type;	   /* as text; equal for equal types */
	size_t order;	   /* of declaration within the unit */
};
/* debuginfo_static - what lies at an offset of a section; NULL if nothing of that kind does. */
const struct debuginfo_static *debuginfo_static(struct debuginfo *debuginfo, size_t section,
						uint64_t offset);

#endif /* POKEPATCH_DEBUGINFO_H */
