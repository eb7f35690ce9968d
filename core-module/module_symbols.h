/* SPDX-License-Identifier: GPL-2.0-only */
/* The symbols and the build id of a parent that is a module: module_symbols.c. */
#ifndef POKEPATCH_MODULE_SYMBOLS_H
#define POKEPATCH_MODULE_SYMBOLS_H

struct module;
struct pokepatch_object;
struct pp_patch;

/* @mod has the build id of @want, an object of @patch: 0, or -ENOEXEC (logged). */
int pp_module_check_build_id(const struct pp_patch *patch, const struct pokepatch_object *want,
			     const struct module *mod);

/*
 * Fill in patch->addr[] for the symbols of object @obj, which is module @mod.  Under pp_mutex;
 * may sleep.
 * Return: 0, -ENOENT if a symbol is not where the patch says (logged), or -ENOMEM.  On an error
 * no address has changed.
 */
int pp_module_resolve(struct pp_patch *patch, unsigned int obj, struct module *mod);

#endif /* POKEPATCH_MODULE_SYMBOLS_H */
