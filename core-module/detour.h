/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions without an entry, whose first instructions the jump overwrites: detour.c. */
#ifndef POKEPATCH_DETOUR_H
#define POKEPATCH_DETOUR_H

#include <linux/types.h>

struct pp_func;
struct pp_site;

/* All functions but pp_detour_site_of() are called under pp_mutex and may sleep. */

/* The address that the jump to the new function of @func overwrites, or 0 (logged). */
unsigned long pp_detour_address(const struct pp_func *func);
/*
 * Make the detour of the site of @func, which no patch has hooked, unless it has one.
 * Return: NULL, or the reason why the function cannot be overwritten.
 */
const char *pp_detour_make(const struct pp_func *func);
/* Does @site hold the instructions that were there before any jump? */
bool pp_detour_is_restored(const struct pp_site *site);
/* Give back the detour of @site, which is about to be freed. */
void pp_detour_put(struct pp_site *site);
/*
 * The site of the function at @func if its first instructions are overwritten, or NULL.  Any
 * context; the caller holds pp_mutex or keeps preemption off.
 */
struct pp_site *pp_detour_site_of(unsigned long func);

#endif /* POKEPATCH_DETOUR_H */
