/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a declaration that mentions a name makes of it.  A structure that has a pointer to a type is
 * the same whatever the type is: only code that mentions the pointer can tell.
 */
#ifndef POKEPATCH_MENTION_ROLES_H
#define POKEPATCH_MENTION_ROLES_H

#include "pokepatch-build/item_index.h"

/*
 * mention_roles - judge the mentions of a name in an item.
 * @number: an item that is text
 * @name: what it mentions, and no macro
 * @ret: gets the names of the members through which code gets to what the name is, if what the item
 *	declares is the same whatever that is
 * Return: false if what the item declares may differ; *ret is not valid then
 */
bool mention_roles(const struct item_index *index, uint32_t number, uint32_t name, name_list *ret);

#endif /* POKEPATCH_MENTION_ROLES_H */
