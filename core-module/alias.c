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
#include "kernel_symbols.h"

/*
 * Where modules share large blocks of executable memory (ARCH_HAS_EXECMEM_ROX), the load of one
 * module may have the page tables of another one's text freed, because it makes one large page of
 * the block (cpa_collapse_large_pages()).  The kernel's own writer of text holds the same lock
 * against that (poke_vmalloc_pages()), under text_mutex too.
 */
struct page *pp_alias_page(unsigned long addr)
{
	struct mm_struct *mm = IS_ENABLED(CONFIG_ARCH_HAS_EXECMEM_ROX) ? pp_kernel.init_mm : NULL;
	struct page *page;

	if (mm)
		mmap_read_lock(mm);
	page = vmalloc_to_page((void *)addr);
	if (mm)
		mmap_read_unlock(mm);
	return page;
}

void *pp_alias_map(struct pp_region region)
{
	const unsigned int nr = DIV_ROUND_UP(region.end - region.start, PAGE_SIZE);
	struct page **pages = kvmalloc_array(nr, sizeof(*pages), GFP_KERNEL);
	void *alias = NULL;
	unsigned int i;

	if (!pages)
		return NULL;
	for (i = 0; i < nr; i++) {
		pages[i] = pp_alias_page(region.start + i * PAGE_SIZE);
		if (WARN_ON(!pages[i]))
			goto out;
	}
	alias = vmap(pages, nr, VM_MAP, PAGE_KERNEL);
out:
	kvfree(pages);
	return alias;
}
