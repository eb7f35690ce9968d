/* SPDX-License-Identifier: GPL-2.0-only */
/* Veneers, by way of which entries reach functions that are far away: veneer.c. */
#ifndef POKEPATCH_VENEER_H
#define POKEPATCH_VENEER_H

#include <linux/types.h>

struct pp_busy;
struct pp_func;

/* No function has more of them. */
#define PP_VENEERS_OF_FUNC 2

/* All under pp_mutex; the first and the last may sleep. */
/* See to it that the entry at @ip can be led to @target.  Return: false if it cannot. */
bool pp_veneer_make(unsigned long ip, unsigned long target);
/* What the entry at @ip jumps to, to come to @target (or 0). */
unsigned long pp_veneer_route(unsigned long ip, unsigned long target);
/* Who is in a veneer of @func's is about to be in its new function. */
void pp_veneers_add_busy(struct pp_busy *busy, const struct pp_func *func);
/* Those to the function at @target go; nobody is there, and no entry that anybody runs leads there. */
void pp_veneers_free(unsigned long target);

#endif /* POKEPATCH_VENEER_H */
