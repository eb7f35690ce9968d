/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Jumps for calls that the kernel's module loader or the core cannot make directly: calls from code
 * that the module loader rewrites, and calls that do not reach their target.
 */
#ifndef POKEPATCH_VENEERS_H
#define POKEPATCH_VENEERS_H

#include "diff/select.h"

struct veneers {
	struct map by_name; /* struct symbol * of the output object, by name */
};
void veneers_deinit(struct veneers *veneers);

/*
 * veneer_needed - whether a relocation of an included atom needs a veneer.  It does if it is a call
 * or jump to an external, in code that the module loader rewrites or on a machine where calls do
 * not reach so far.  On a machine whose module loader makes no veneers, a call to a symbol that
 * vmlinux exports needs one too.
 */
bool veneer_needed(const struct selection *selection, const struct atom *from,
		   const struct section *section, const struct reloc *reloc,
		   const char *link_name);

/*
 * veneer_to - the veneer to call instead of a target; added to @out when it is first needed.
 * @target: undefined symbol of @out
 */
struct symbol *veneer_to(struct veneers *veneers, struct object *out,
			 const struct veneer *veneer, struct symbol *target);

#endif /* POKEPATCH_VENEERS_H */
