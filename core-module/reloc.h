/* SPDX-License-Identifier: GPL-2.0-only */
/* Relocations that the module loader could not make: reloc.c. */
#ifndef POKEPATCH_RELOC_H
#define POKEPATCH_RELOC_H

struct pp_patch;

/*
 * Write the relocations against the symbols of object @obj, which are resolved.  All values are
 * checked before the first is written.  Under pp_mutex; may sleep.
 * Return: 0; -ENOEXEC, -ERANGE, or -EBUSY if a probe is in the way (all logged); or -ENOMEM.
 */
int pp_relocs_apply(struct pp_patch *patch, unsigned int obj);

#endif /* POKEPATCH_RELOC_H */
