/* SPDX-License-Identifier: GPL-2.0-only */
/* Relocations that the module loader could not make: reloc.c. */
#ifndef POKEPATCH_RELOC_H
#define POKEPATCH_RELOC_H

struct pp_patch;

/*
 * Write the relocations against the symbols of object @obj, which are resolved.
 * All are checked before the first is written.  May sleep.
 * Return: 0, -ENOEXEC or -ERANGE (logged), or -ENOMEM.
 */
int pp_relocs_apply(struct pp_patch *patch, unsigned int obj);

#endif /* POKEPATCH_RELOC_H */
