/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Source lines of an object, from its DWARF; everything is optional in it. */
#ifndef POKEPATCH_DEBUGINFO_H
#define POKEPATCH_DEBUGINFO_H

#include <stddef.h>
#include <stdint.h>

struct debuginfo;

/* debuginfo_open - never fails; without DWARF all answers are NULL. */
struct debuginfo *debuginfo_open(const char *path);
void debuginfo_close(struct debuginfo *debuginfo);

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

#endif /* POKEPATCH_DEBUGINFO_H */
