// SPDX-License-Identifier: GPL-2.0-only
/* Levels that are revoked; see levels.h. */
#include <linux/module.h>
#include <linux/printk.h>

#include "levels.h"
#include "module.h"
#include "pp_patch.h"

/* Patches of lower levels are revoked; 0: none is.  Written and read under pp_mutex. */
static u32 levels_least;

int pp_level_check(const struct pp_patch *patch)
{
	const u32 level = patch->image->level;

	lockdep_assert_held(&pp_mutex);
	if (!level || level >= levels_least)
		return 0;
	pr_err("patch %s is not switched on: it is of level %u, and levels below %u are revoked\n",
	       patch->name, level, levels_least);
	return -EKEYREVOKED;
}

void pp_level_enabled(const struct pp_patch *patch)
{
	lockdep_assert_held(&pp_mutex);
	if (patch->image->least_level <= levels_least)
		return;
	/*
	 * The core must not be removed any more: a new one would not know of the revocation.  The
	 * caller runs in this module's code, so it can take the reference.
	 */
	if (!levels_least)
		__module_get(THIS_MODULE);
	levels_least = patch->image->least_level;
	pr_info("levels below %u are revoked until the next boot\n", levels_least);
}
