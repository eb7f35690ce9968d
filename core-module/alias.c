// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writable mappings of a module's write-protected memory.
 *
 * A module's text and read-only data are write-protected when the notifiers of its COMING, and its
 * init, run.  The core writes to them through a second mapping of the same pages.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "alias.h"

void *pp_alias_map(struct pp_region region)
{
	const unsigned int nr = DIV_ROUND_UP(region.end - region.start, PAGE_SIZE);
	struct page **pages = kvmalloc_array(nr, sizeof(*pages), GFP_KERNEL);
	void *alias = NULL;
	unsigned int i;

	if (!pages)
		return NULL;
	for (i = 0; i < nr; i++) {
		pages[i] = vmalloc_to_page((void *)(region.start + i * PAGE_SIZE));
		if (WARN_ON(!pages[i]))
			goto out;
	}
	alias = vmap(pages, nr, VM_MAP, PAGE_KERNEL);
out:
	kvfree(pages);
	return alias;
}
