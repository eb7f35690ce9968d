/* SPDX-License-Identifier: GPL-2.0-only */
/* A function that a user names: function.c. */
#ifndef POKEPATCH_FUNCTION_H
#define POKEPATCH_FUNCTION_H

#include <linux/kallsyms.h>
#include <linux/types.h>

struct pp_function {
	unsigned long addr;
	unsigned int namesakes;		/* symbols of the name that was asked for, where it is */
	bool core, ours;		/* in the kernel's text; in this module's */
	char name[KSYM_SYMBOL_LEN];	/* "NAME" or "MODULE:NAME" */
};

/* The address of NAME, MODULE:NAME, or 0xADDRESS; or 0. */
unsigned long pp_function_address(const char *text);
/*
 * The one function, in text that stays, that @text is.  Under pp_mutex.  Return: 0, -ENOENT, or
 * -EINVAL if it is not the only one of that name, or in a module that was not told (logged).
 */
int pp_function_look_up(const char *text, struct pp_function *function);

#endif /* POKEPATCH_FUNCTION_H */
