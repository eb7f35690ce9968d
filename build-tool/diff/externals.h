/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds in the parent, or in another module, the symbols that included code refers to, and adds
 * them to the list of externals (struct externals, diff.h).
 */
#ifndef POKEPATCH_EXTERNALS_H
#define POKEPATCH_EXTERNALS_H

#include "diff/select.h"

/* externals_add_parent - index of a parent that gets a callback; POKEPATCH_NONE for NULL. */
uint32_t externals_add_parent(struct externals *externals, const struct parent *parent);

/*
 * externals_find_old - find the parent's symbol of a changed function, or of its .cold part.
 * @atom: of the original
 * @ret: index of the external; POKEPATCH_NONE if there is no parent, or if the symbol was refused
 */
struct error *externals_find_old(struct selection *selection, const struct atom *atom,
				 uint32_t *ret);

/*
 * externals_refuse_second - refuse a new global function or variable of a name that the parent has
 * already.  It would be one of two: a linker would take a new function in place of a weak one, but
 * nothing does in a running kernel.
 */
void externals_refuse_second(struct selection *selection, const char *name);

/*
 * externals_find_atom - find the symbol of an atom of the original that stays in the parent.
 * @ret_link_name: name of the undefined symbol that the output object gets for it
 */
struct error *externals_find_atom(struct selection *selection, const struct atom *atom,
				  const char **ret_link_name);

/*
 * externals_look_up - find the symbol of the kernel for a symbol of the original, or an undefined
 * one, without adding it to the list.
 * @ret: NULL if there is none
 */
struct error *externals_look_up(struct selection *selection, const struct symbol *symbol,
				struct parent **ret_parent, const struct parent_symbol **ret);

/*
 * externals_find_name - find an undefined symbol of the unit where the kernel defines it.
 * @ret_link_name: name of the undefined symbol that the output object gets for it
 * @ret_external: NULL if the module loader resolves it, or if another unit of the patch defines it
 */
struct error *externals_find_name(struct selection *selection, const char *name,
				  const char **ret_link_name, const struct external **ret_external);

#endif /* POKEPATCH_EXTERNALS_H */
