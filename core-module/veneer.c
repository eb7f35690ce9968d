// SPDX-License-Identifier: GPL-2.0-only
/*
 * Veneers.  If the jump at an entry does not reach the new function, it leads to a veneer instead:
 * a few instructions in its reach, which load the address of the new function and jump there.
 *
 * Veneers lie in pages of their own, which the core allocates near the entry.  A veneer is for one
 * new function and serves every entry that reaches it.  The core writes it before any jump leads to
 * it.  It stays until the module of the new function, or that of the old function, goes.  By then
 * no task is in it.  A task that was stopped in it is about to enter the new function and counts as
 * being in it (layout.c), so neither a switch nor the unloading of the patch's module goes past
 * such a task.  And when a parent is unloaded, no task runs its code any more, so none of its
 * entries can have led a task there.
 *
 * pp_mutex protects all data here.  Any task may execute the code of a veneer, at any time.
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
	unsigned long target;		/* the new function; 0: not in use */
	unsigned long at;		/* the address of its code */
	struct veneers *page;
};

/* A page of veneers. */
struct veneers {
	struct list_head node;		/* in with_room; empty while all are in use */
	unsigned long start;
	unsigned int nr;		/* the number in use */
	struct veneer veneer[];
};

static LIST_HEAD(with_room);
static DEFINE_HASHTABLE(by_target, 9);

static unsigned int veneer_slots(void)
{
	return PAGE_SIZE / pp_arch.veneer.size;
}

/* Does the jump at the entry at @ip reach @target? */
static bool veneer_entry_reaches(unsigned long ip, unsigned long target)
{
	u8 insn[PP_TEXT_WORD_MAX];

	return !pp_arch.entry.insn(ip, target, insn);
}

/*
 * The veneer through which the entry at @ip reaches @target, or NULL: then *@nr is the number of
 * veneers that lead to @target.
 */
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

/* Allocate a page within [@start, @end).  Return: the page, or NULL. */
static __nocfi void *veneer_alloc_within(unsigned long start, unsigned long end)
{
	if (start >= end || !pp_kernel.vmalloc_node_range || PP_FAULT("vmalloc_node_range"))
		return NULL;
	/*
	 * __GFP_ZERO, because old contents of the page must not become text.  __GFP_NOWARN, because
	 * one range may have no room while another has.
	 */
	return pp_kernel.vmalloc_node_range(PAGE_SIZE, PAGE_SIZE, start, end,
					    GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN, PAGE_KERNEL,
					    VM_FLUSH_RESET_PERMS, NUMA_NO_NODE,
					    __builtin_return_address(0));
}

/* The same, where the architecture wants such pages to be. */
static void *veneer_alloc_code(unsigned long start, unsigned long end)
{
	pp_arch.veneer.limit(&start, &end);
	return veneer_alloc_within(start, end);
}

/*
 * Allocate a page that the entry at @ip reaches.  If the entry is in the kernel itself, try for a
 * page that all of the kernel reaches, so that one page serves many functions.
 */
static void *veneer_alloc_code_near(unsigned long ip)
{
	const unsigned long reach = pp_arch.veneer.reach - PAGE_SIZE;
	void *code = NULL;

	if (ip >= pp_kernel.stext && ip < pp_kernel.etext)
		code = veneer_alloc_code(pp_kernel.etext - reach, pp_kernel.stext + reach);
	return code ?: veneer_alloc_code(ip - reach, ip + reach);
}

/* Make a page of unused veneers that the entry at @ip reaches.  Return: the page, or NULL. */
static struct veneers *veneer_new_page(unsigned long ip)
{
	struct veneers *page = kvzalloc(struct_size(page, veneer, veneer_slots()), GFP_KERNEL);
	unsigned int i;
	void *code;

	if (!page)
		return NULL;
	code = veneer_alloc_code_near(ip);
	/* seal() makes the page executable, which it never was before, and no longer writable. */
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

/* A page with room whose veneers the entry at @ip all reaches, or NULL. */
static struct veneers *veneer_page_for(unsigned long ip)
{
	struct veneers *page;

	list_for_each_entry(page, &with_room, node)
		if (veneer_entry_reaches(ip, page->start) &&
		    veneer_entry_reaches(ip, page->veneer[veneer_slots() - 1].at))
			return page;
	return veneer_new_page(ip);
}

/* Write the code of the veneer at @at, which no CPU executes yet. */
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
	/* Search one page at most, and only when a veneer is made. */
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
