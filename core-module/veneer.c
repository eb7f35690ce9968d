// SPDX-License-Identifier: GPL-2.0-only
/*
 * Veneers: where the jump at an entry reaches less far than modules may be away, it leads to a
 * few instructions in reach of it, which load the new function's address and go there.
 *
 * They lie in pages of their own, which are asked for near the entry.  A veneer is for one new
 * function, and serves every entry that it is in reach of. It is written before any jump leads
 * to it, and stays until the module of the new function goes, or that of the old one. By then
 * nobody is in it: a task that was stopped there is at the entry of the new function, and counts
 * as being in it (layout.c), so that neither a switch nor the patch's module goes past it; and a
 * parent that goes is run by nobody, so that none of its entries can have led there.
 *
 * Everything under pp_mutex, but the code of veneers, which anybody runs.
 */
#include <linux/bitmap.h>
#include <linux/hashtable.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include "arch/pp_arch.h"
#include "debug.h"
#include "kernel_symbols.h"
#include "module.h"
#include "pp_patch.h"
#include "stack.h"
#include "text.h"
#include "veneer.h"

struct veneer {
	struct hlist_node node;		/* by_target, while it is in use */
	unsigned long target;
	unsigned long at;
	struct veneers *page;
};

/* A page of them. */
struct veneers {
	struct list_head node;		/* with_room, or empty: all are in use */
	unsigned long start;
	unsigned int nr;		/* in use */
	struct veneer veneer[];
};

static LIST_HEAD(with_room);
static DEFINE_HASHTABLE(by_target, 9);

static unsigned int veneer_slots(void)
{
	return PAGE_SIZE / pp_arch.veneer.size;
}

static bool veneer_entry_reaches(unsigned long ip, unsigned long target)
{
	u8 insn[PP_TEXT_WORD_MAX];

	return !pp_arch.entry.insn(ip, target, insn);
}

/* The one by which the entry at @ip comes to @target, or NULL; *nr: how many lead there. */
static struct veneer *veneer_find(unsigned long ip, unsigned long target, unsigned int *nr)
{
	struct veneer *veneer;

	*nr = 0;
	hash_for_each_possible(by_target, veneer, node, target) {
		if (veneer->target != target)
			continue;
		++*nr;
		if (veneer_entry_reaches(ip, veneer->at))
			return veneer;
	}
	return NULL;
}

unsigned long pp_veneer_route(unsigned long ip, unsigned long target)
{
	const struct veneer *veneer = NULL;
	unsigned int nr;

	lockdep_assert_held(&pp_mutex);
	if (target && pp_arch.veneer.size)
		veneer = veneer_find(ip, target, &nr);
	return veneer ? veneer->at : target;
}

/* A page that lies within [@start, @end), or NULL. */
static void *veneer_alloc_code(unsigned long start, unsigned long end)
{
	start = max(start, pp_arch.veneer.min);
	end = min(end, pp_arch.veneer.max);
	if (start >= end || !pp_kernel.vmalloc_node_range || PP_FAULT("vmalloc_node_range"))
		return NULL;
	/*
	 * Zeroed: whatever was there before must not become text.  No warning: there may be
	 * no room in one range while there is in another.
	 */
	return pp_kernel.vmalloc_node_range(PAGE_SIZE, PAGE_SIZE, start, end,
					    GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN, PAGE_KERNEL,
					    VM_FLUSH_RESET_PERMS, NUMA_NO_NODE,
					    __builtin_return_address(0));
}

/*
 * For an entry of the kernel itself a page that all of the kernel reaches, so that one page
 * does for many functions.  A module's is asked for near that function.
 */
static void *veneer_alloc_code_near(unsigned long ip)
{
	const unsigned long reach = pp_arch.veneer.reach - PAGE_SIZE;
	void *code = NULL;

	if (ip >= pp_kernel.stext && ip < pp_kernel.etext)
		code = veneer_alloc_code(pp_kernel.etext - reach, pp_kernel.stext + reach);
	return code ?: veneer_alloc_code(ip - reach, ip + reach);
}

/* In reach of @ip, and nobody's yet. */
static struct veneers *veneer_new_page(unsigned long ip)
{
	struct veneers *page = kvzalloc(struct_size(page, veneer, veneer_slots()), GFP_KERNEL);
	unsigned int i;
	void *code;

	if (!page)
		return NULL;
	code = veneer_alloc_code_near(ip);
	/* It has never been executable before, and is not writable afterwards. */
	if (!code || PP_FAULT("veneers_seal") || pp_arch.veneer.seal((unsigned long)code)) {
		vfree(code);
		kvfree(page);
		return NULL;
	}
	page->start = (unsigned long)code;
	for (i = 0; i < veneer_slots(); i++) {
		page->veneer[i].at = page->start + i * pp_arch.veneer.size;
		page->veneer[i].page = page;
	}
	list_add(&page->node, &with_room);
	return page;
}

static struct veneers *veneer_page_for(unsigned long ip)
{
	struct veneers *page;

	list_for_each_entry(page, &with_room, node)
		if (veneer_entry_reaches(ip, page->start) &&
		    veneer_entry_reaches(ip, page->veneer[veneer_slots() - 1].at))
			return page;
	return veneer_new_page(ip);
}

/* Nobody runs it yet. */
static int veneer_write(unsigned long at, unsigned long target)
{
	u8 code[PP_VENEER_MAX] __aligned(8);
	unsigned int i;

	pp_arch.veneer.code(at, target, code);
	for (i = 0; i < pp_arch.veneer.size; i += pp_arch.text.word)
		if (PP_FAULT("text_store") || pp_arch.text.store(at + i, *(u32 *)(code + i)))
			return -EIO;
	pp_arch.text.written(at, at + pp_arch.veneer.size);
	return 0;
}

static void veneer_free_page_if_empty(struct veneers *page)
{
	if (page->nr)
		return;
	list_del(&page->node);
	vfree((void *)page->start);
	kvfree(page);
}

bool pp_veneer_make(unsigned long ip, unsigned long target)
{
	struct veneer *veneer;
	struct veneers *page;
	unsigned int nr;

	lockdep_assert_held(&pp_mutex);
	if (veneer_entry_reaches(ip, target) && !pp_debug_far_entries)
		return true;
	if (!pp_arch.veneer.size)
		return false;
	if (veneer_find(ip, target, &nr))
		return true;
	if (nr >= PP_VENEERS_OF_FUNC)
		return false;
	page = veneer_page_for(ip);
	if (!page)
		return false;
	/* At most a page of them to look at, when a new one is made. */
	for (veneer = page->veneer; veneer->target;)
		veneer++;
	if (veneer_write(veneer->at, target)) {
		veneer_free_page_if_empty(page);
		return false;
	}
	veneer->target = target;
	hash_add(by_target, &veneer->node, target);
	if (++page->nr == veneer_slots())
		list_del_init(&page->node);
	return true;
}

void pp_veneers_add_busy(struct pp_busy *busy, const struct pp_func *func)
{
	const struct veneer *veneer;

	lockdep_assert_held(&pp_mutex);
	hash_for_each_possible(by_target, veneer, node, func->desc->new_addr)
		if (veneer->target == func->desc->new_addr)
			busy->range[busy->nr++] = (struct pp_range){
				veneer->at, veneer->at + pp_arch.veneer.size - 1, func };
}

void pp_veneers_free(unsigned long target)
{
	struct veneer *veneer;
	struct hlist_node *next;

	lockdep_assert_held(&pp_mutex);
	hash_for_each_possible_safe(by_target, veneer, next, node, target) {
		struct veneers *page = veneer->page;

		if (veneer->target != target)
			continue;
		hash_del(&veneer->node);
		veneer->target = 0;
		if (page->nr-- == veneer_slots())
			list_add(&page->node, &with_room);
		veneer_free_page_if_empty(page);
	}
}
