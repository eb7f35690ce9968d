// SPDX-License-Identifier: GPL-2.0-or-later
/* Iterating over compilation units; see dwarf_units.h. */
#include <fcntl.h>
#include <unistd.h>

#include "pokepatch-build/dwarf_units.h"

struct error *dwarf_units_open(const char *path, struct dwarf_units *ret)
{
	*ret = (struct dwarf_units){.fd = open(path, O_RDONLY | O_CLOEXEC)};
	if (ret->fd < 0)
		return error_errno("cannot open %s", path);
	ret->dwarf = dwarf_begin(ret->fd, DWARF_C_READ);
	if (ret->dwarf)
		return NULL;
	close(ret->fd);
	return error_new(STATUS_FAILED, "%s: no DWARF debugging data: %s", path, dwarf_errmsg(-1));
}

bool dwarf_units_next(struct dwarf_units *units, Dwarf_Die *ret)
{
	Dwarf_Off at = units->next;
	size_t header;

	while (dwarf_nextcu(units->dwarf, at, &units->next, &header, NULL, NULL, NULL) == 0) {
		if (dwarf_offdie(units->dwarf, at + header, ret))
			return true;
		at = units->next;
	}
	return false;
}

void dwarf_units_close(struct dwarf_units *units)
{
	dwarf_end(units->dwarf);
	close(units->fd);
}
