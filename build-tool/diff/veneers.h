/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls from where the module loader rewrites code, or that do not reach as far as they must. */
#ifndef POKEPATCH_VENEERS_H
#define POKEPATCH_VENEERS_H

#include "diff/select.h"

struct veneers {
	struct map by_name; /* struct symbol * of the output, by its own name */
};
void veneers_deinit(struct veneers *veneers);

/*
 * veneer_needed - is this relocation of a carried atom's code a call or jump, in a
 * place that the loader rewrites or that does not reach so far, to a symbol that only the
 * core can find, or where the loader does not help?
 */
bool veneer_needed(const struct selection *selection, const struct atom *from,
		   const struct section *section, const struct reloc *reloc,
		   const char *link_name);

/* veneer_to - the symbol to call instead, made in out; target is undefined there. */
struct symbol *veneer_to(struct veneers *veneers, struct object *out,
			 const struct veneer *veneer, struct symbol *target);

#endif /* POKEPATCH_VENEERS_H */
