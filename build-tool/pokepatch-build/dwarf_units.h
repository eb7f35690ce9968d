/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The compilation units of a kernel, as its DWARF has them. */
#ifndef POKEPATCH_DWARF_UNITS_H
#define POKEPATCH_DWARF_UNITS_H

#include <elfutils/libdw.h>

#include "common/error.h"

struct dwarf_units {
	Dwarf *dwarf;
	int fd;
	Dwarf_Off next;
};

/* dwarf_units_open - Errors: there is no such file, or no DWARF in it; nothing is open then. */
struct error *dwarf_units_open(const char *path, struct dwarf_units *ret);
/* dwarf_units_next - the next unit's own entry in *ret, in the file's order; false: no more. */
bool dwarf_units_next(struct dwarf_units *units, Dwarf_Die *ret);
void dwarf_units_close(struct dwarf_units *units);

#endif /* POKEPATCH_DWARF_UNITS_H */
