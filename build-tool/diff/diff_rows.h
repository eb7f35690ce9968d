/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of changed functions and callbacks that an output object has for pokepatch-build,
 * whose finalize.c turns them into the module's tables.
 *
 * A row has the layout of the structure of pokepatch_format.h that replaces it in place, so that
 * the relocations of its addresses stay where they are.  An output object does not know the
 * module's tables.  Where the module's row has an index into one of them, the differ's row has an
 * index into struct externals.
 */
#ifndef POKEPATCH_DIFF_ROWS_H
#define POKEPATCH_DIFF_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "pokepatch_format.h"

/* One struct diff_func_row for each changed function. */
#define DIFF_SECTION_FUNCS ".pokepatch.funcs"
/* One struct diff_callback_row for each callback. */
#define DIFF_SECTION_CALLBACKS ".pokepatch.callbacks"

struct diff_func_row {
	uint64_t new_addr;	/* relocated: entry of the new function */
	uint64_t new_cold_addr; /* relocated, or 0: its .cold part */
	uint32_t new_size;	/* bytes, stubs included */
	uint32_t new_cold_size;
	/* The old function and its .cold part: index of the external, or POKEPATCH_NONE. */
	uint32_t old;
	uint32_t old_cold;
	uint32_t mode;	/* enum pokepatch_mode */
	uint32_t flags; /* enum pokepatch_func_flags */
	uint32_t room[2]; /* 0; the module's row has offsets of the old code here */
};

struct diff_callback_row {
	uint64_t func;	 /* relocated: entry of the callback */
	uint32_t parent; /* index into the externals' parents, or POKEPATCH_NONE */
	uint32_t kind;	 /* enum pokepatch_callback_kind */
};

/* finalize.c writes the module's row over the differ's and leaves the addresses in place. */
#define SAME_PLACE(row, field, format)                                                             \
	_Static_assert(sizeof(struct row) == sizeof(struct format) &&                              \
			       offsetof(struct row, field) == offsetof(struct format, field),      \
		       #row " has the layout of " #format)
SAME_PLACE(diff_func_row, new_addr, pokepatch_func);
SAME_PLACE(diff_func_row, new_cold_addr, pokepatch_func);
SAME_PLACE(diff_callback_row, func, pokepatch_callback);
#undef SAME_PLACE

#endif /* POKEPATCH_DIFF_ROWS_H */
