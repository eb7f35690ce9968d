/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Iterating over the compilation units in the DWARF of a kernel or an object. */
#ifndef POKEPATCH_DWARF_UNITS_H
#define POKEPATCH_DWARF_UNITS_H

#include <elfutils/libdw.h>

#include "common/error.h"

struct dwarf_units {
	Dwarf *dwarf;
	int fd;
	Dwarf_Off next; /* offset of the next unit in .debug_info */
};

/*
 * dwarf_units_open - open a file; the caller closes *ret with dwarf_units_close().
 * Errors: the file cannot be opened, or it has no DWARF; there is then nothing to close.
 */
struct error *dwarf_units_open(const char *path, struct dwarf_units *ret);
/* dwarf_units_next - get the next unit's own DIE, in the file's order; false: there is none. */
bool dwarf_units_next(struct dwarf_units *units, Dwarf_Die *ret);
/* dwarf_units_close - close the file; DIEs of it are invalid afterwards. */
void dwarf_units_close(struct dwarf_units *units);

#endif /* POKEPATCH_DWARF_UNITS_H */
