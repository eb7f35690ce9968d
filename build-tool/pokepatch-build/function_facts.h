/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the debug information of a kernel or a module says about a function, for --return. */
#ifndef POKEPATCH_FUNCTION_FACTS_H
#define POKEPATCH_FUNCTION_FACTS_H

#include <elfutils/libdw.h>

#include "common/args.h"
#include "pokepatch-build/return_value.h"

struct function_facts {
	char *source;	/* of its unit: "fs/proc/version.c" */
	char *location; /* "fs/proc/version.c:9"; NULL: not known */
	bool returns; /* false: __noreturn, so callers have no code behind their calls */
	struct return_type type;
	struct args inlined_into; /* functions of the unit with an inlined copy, once each */
};

/*
 * function_facts_read - read them of the function that has code at an address.  False: no unit has
 * code there, or it has no function there (assembly); then *ret is empty but for its source.
 */
bool function_facts_read(Dwarf *dwarf, uint64_t address, struct function_facts *ret);
/* function_source - the unit's source alone, which the caller frees; NULL: there is no unit. */
char *function_source(Dwarf *dwarf, uint64_t address);
void function_facts_deinit(struct function_facts *facts);

#endif /* POKEPATCH_FUNCTION_FACTS_H */
