/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The relocations of a module that is a parent. */
#ifndef POKEPATCH_PARENT_RELOCS_H
#define POKEPATCH_PARENT_RELOCS_H

#include "common/util.h"

struct arch;
struct parent;

struct parent_reloc {
	uint64_t offset; /* in the section that it applies to */
	uint32_t type;
	int64_t addend;
	const char *name; /* of its symbol; "" of a section's */
	bool global;	  /* the symbol is global, weak or undefined */
	uint32_t section; /* number of the symbol's section, or SHN_ */
	uint64_t value;	  /* of the symbol */
};

struct parent_relocs {
	VEC(struct parent_reloc) list; /* by offset */
};

/*
 * parent_relocs - of a module's section, by its number, less than SHN_LORESERVE.  They are read
 * once and belong to the parent.  Relocations without addends (SHT_REL) are left out.
 */
const struct parent_relocs *parent_relocs(const struct parent *parent, const struct arch *arch,
					  uint32_t section);
/* parent_relocs_free - for parent_close(). */
void parent_relocs_free(struct parent *parent);

#endif /* POKEPATCH_PARENT_RELOCS_H */
