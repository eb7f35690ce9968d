/* SPDX-License-Identifier: GPL-2.0-only */
/* Writable mappings of a module's write-protected memory: alias.c. */
#ifndef POKEPATCH_ALIAS_H
#define POKEPATCH_ALIAS_H

#include "module_memory.h"

struct page;

/*
 * Map [@region.start, @region.end), memory of a module that begins at a page, a second time,
 * writable and not executable.  May sleep.  Return: the mapping, which the caller passes to
 * vunmap(), or NULL.
 */
void *pp_alias_map(struct pp_region region);

/* The page at @addr in a module's memory, which stays as long as the module.  May sleep. */
struct page *pp_alias_page(unsigned long addr);

#endif /* POKEPATCH_ALIAS_H */
