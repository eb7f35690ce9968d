/* SPDX-License-Identifier: GPL-2.0-only */
/* Veneers, through which entries reach functions that are far away: veneer.c. */
#ifndef POKEPATCH_VENEER_H
#define POKEPATCH_VENEER_H

#include <linux/types.h>

struct pp_busy;
struct pp_func;

/* The most veneers that lead to one function. */
#define PP_VENEERS_OF_FUNC 2

/* Callers of all functions hold pp_mutex.  pp_veneer_make() and pp_veneers_free() may sleep. */

/*
 * Make a veneer if the entry at @ip needs one to reach @target and has none.
 * Return: can the entry lead to @target?
 */
bool pp_veneer_make(unsigned long ip, unsigned long target);
/* Where the entry at @ip must jump to reach @target: a veneer, or @target itself (also if 0). */
unsigned long pp_veneer_route(unsigned long ip, unsigned long target);
/* A task inside a veneer of @func will enter the new function next, so count it as busy. */
void pp_veneers_add_busy(struct pp_busy *busy, const struct pp_func *func);
/*
 * Free the veneers that lead to @target.  No task is in one, and no entry that a task may still run
 * leads to one.
 */
void pp_veneers_free(unsigned long target);

#endif /* POKEPATCH_VENEER_H */
