/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What refers to a symbol of a parent, by the relocations that its file has. */
#ifndef POKEPATCH_PARENT_USERS_H
#define POKEPATCH_PARENT_USERS_H

#include "object/arch.h"
#include "object/parent.h"

/*
 * Called for each reference to one of the names.
 * @user: the function or variable that it is in
 */
typedef void (*found_user)(void *context, const char *name, const struct parent_symbol *user);

/*
 * parent_users - find the functions and variables that refer to global functions of the parent.
 * Modules have relocations, and so has a vmlinux that was linked with --emit-relocs (x86, and MIPS
 * with CONFIG_RELOCATABLE).  Of another vmlinux, the instructions that call and jump are read, and
 * data is not.  Tables about code, such as those of objtool and of exports, are left out.
 * @names: of the functions; the values do not matter
 */
void parent_users(const struct parent *parent, const struct arch *arch, const struct map *names,
		  found_user found, void *context);

#endif /* POKEPATCH_PARENT_USERS_H */
