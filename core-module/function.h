/* SPDX-License-Identifier: GPL-2.0-only */
/* Finding the function that a user names: function.c. */
#ifndef POKEPATCH_FUNCTION_H
#define POKEPATCH_FUNCTION_H

#include <linux/kallsyms.h>
#include <linux/types.h>

struct pp_function {
	unsigned long addr;
	unsigned int namesakes;		/* symbols of the name that the user gave, in its object */
	bool core, ours;		/* in the kernel's text; in this module's text */
	char name[KSYM_SYMBOL_LEN];	/* "NAME" or "MODULE:NAME" */
};

/* The address of NAME, MODULE:NAME, or 0xADDRESS; or 0. */
unsigned long pp_function_address(const char *text);
/*
 * Find the function that @text names, in text that stays.  Under pp_mutex.
 * Return: 0; -ENOENT if there is none; -EINVAL if several functions have the name, or if the
 * function is in a module and @text does not name the module (all logged).
 */
int pp_function_look_up(const char *text, struct pp_function *function);

#endif /* POKEPATCH_FUNCTION_H */
